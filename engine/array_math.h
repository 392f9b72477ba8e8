// Arithmetic on arrays: the words in which the rules of the ops are written.
//
// Not here: gradients. Key idea: the loops exist once (map, zip, the sums); formulas are functors.
// Next: tensor.h.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/array.h"

namespace fledge::inline FLEDGE_BUILD {

/// y_i = f(x_i)
template <class F>
Array map(const Array& x, F f) {
  Array y(x.shape());
  const Real* from = x.data();
  Real* to = y.write();
  for (Dim i = 0; i < x.size(); ++i) to[i] = f(from[i]);
  return y;
}

namespace detail {

/// Walks the rows of a broadcast result: where each row starts in a and b, and whether it moves there.
class BroadcastRows {
 public:
  BroadcastRows(const Shape& a, const Shape& b, const Shape& out);

  Dim rows, length;    // of the result
  Dim step_a, step_b;  // 1, or 0 where the last axis is stretched
  Dim at_a = 0, at_b = 0;
  void next();

 private:
  int rank_;
  std::array<Dim, Shape::max_rank> sizes_{}, index_{}, stride_a_{}, stride_b_{};
};

}  // namespace detail

/// y = f(a, b) element by element, after broadcasting. Throws ShapeError naming `op`.
template <class F>
Array zip(std::string_view op, const Array& a, const Array& b, F f) {
  const bool same = a.shape() == b.shape();
  Array y(same ? a.shape() : broadcast(a.shape(), b.shape(), op));
  const Real* from_a = a.data();
  const Real* from_b = b.data();
  Real* to = y.write();
  if (same) {
    for (Dim i = 0; i < y.size(); ++i) to[i] = f(from_a[i], from_b[i]);
    return y;
  }
  detail::BroadcastRows walk(a.shape(), b.shape(), y.shape());
  for (Dim row = 0; row < walk.rows; ++row, walk.next(), to += walk.length) {
    const Real* row_a = from_a + walk.at_a;
    const Real* row_b = from_b + walk.at_b;
    if (walk.step_a == 1 && walk.step_b == 1)
      for (Dim i = 0; i < walk.length; ++i) to[i] = f(row_a[i], row_b[i]);
    else if (walk.step_a == 1)
      for (Dim i = 0; i < walk.length; ++i) to[i] = f(row_a[i], *row_b);
    else
      for (Dim i = 0; i < walk.length; ++i) to[i] = f(*row_a, row_b[i * walk.step_b]);
  }
  return y;
}

inline Array operator+(const Array& a, const Array& b) {
  return zip("+", a, b, [](Real x, Real y) { return x + y; });
}
inline Array operator-(const Array& a, const Array& b) {
  return zip("-", a, b, [](Real x, Real y) { return x - y; });
}
inline Array operator*(const Array& a, const Array& b) {
  return zip("*", a, b, [](Real x, Real y) { return x * y; });
}
inline Array operator/(const Array& a, const Array& b) {
  return zip("/", a, b, [](Real x, Real y) { return x / y; });
}
inline Array operator-(const Array& a) {
  return map(a, [](Real x) { return -x; });
}
inline Array operator*(const Array& a, Real factor) {
  return map(a, [factor](Real x) { return x * factor; });
}

/// x stretched to `shape`; x must broadcast to it.
Array stretched(const Array& x, const Shape& shape);

/// The sum over `axes` (0 … rank − 1, sorted), which stay as size 1. Pairwise, in a fixed order.
Array sum_over(const Array& x, std::span<const int> axes);

/// The transpose of broadcasting: dy summed over every axis along which `shape` was stretched.
Array sum_to(const Array& dy, const Shape& shape);

/// C = A·B over the last two axes; leading axes broadcast.   A (…, n, k)   B (…, k, m)   C (…, n, m)
Array product(const Array& a, const Array& b);

/// The axes in another order: axis i of the result is axis order[i] of x.
Array permuted(const Array& x, std::span<const int> order);

/// The last two axes swapped.
Array transposed(const Array& x);

/// The order that undoes `order`.
std::vector<int> inverse_order(std::span<const int> order);

}  // namespace fledge::inline FLEDGE_BUILD
