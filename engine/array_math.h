// Arithmetic on arrays: the functions in which the rules of the ops are written.
//
// Not here: gradients. Key idea: each loop exists once (map, zip, the sums); a formula is a function
// that is passed to it.
// Next: tensor.h.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/array.h"
#include "engine/base/errors.h"
#include "engine/kernels/parallel.h"

namespace fledge {

namespace detail {

/// y_i = f(x_i)      or      y_i = f(a_i, b_i)
template <class F, class... From>
void transform(Dim size, F f, Real* to, const From*... from) {
  kernels::parallel_ranges(size, kernels::grain_of(size), size, [=](Dim begin, Dim end) {
    for (Dim i = begin; i < end; ++i) to[i] = f(from[i]...);
  });
}

}  // namespace detail

/// y_i = f(x_i)
template <class F>
Array map(const Array& x, F f) {
  Array y(x.shape());
  detail::transform(x.size(), f, y.write(), x.data());
  return y;
}

namespace detail {

/// Goes through the rows of a broadcast result: where each row starts in a and in b, and the step
/// between neighbours there.
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

/// y_i = f(a_i, b_i) for equal shapes, f as in map.
template <class F>
Array zip_equal(std::string_view op, const Array& a, const Array& b, F f) {
  require(a.shape() == b.shape(), op, "shapes differ: ", a.shape(), " and ", b.shape());
  Array y(a.shape());
  detail::transform(y.size(), f, y.write(), a.data(), b.data());
  return y;
}

/// y = f(a, b) element by element, after broadcasting. Throws ShapeError naming `op`.
template <class F>
Array zip(std::string_view op, const Array& a, const Array& b, F f) {
  if (a.shape() == b.shape()) return zip_equal(op, a, b, f);
  Array y(broadcast(a.shape(), b.shape(), op));
  const Real* from_a = a.data();
  const Real* from_b = b.data();
  Real* to = y.write();
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
Array broadcast_to(const Array& x, const Shape& shape);

/// The sum over `axes` (0 … rank − 1, sorted), which stay as size 1. Pairwise, in a fixed order.
Array sum_over(const Array& x, std::span<const int> axes);

/// The transpose of broadcasting: dy summed over every axis along which `shape` was stretched.
Array sum_to(Array dy, const Shape& shape);

/// An operand of a product: an array, or its transpose over the last two axes, read where it lies.
struct MatrixOperand {
  Array array;
  bool transposed = false;
  MatrixOperand(Array a) : array(std::move(a)) {}
  MatrixOperand(Array a, bool t) : array(std::move(a)), transposed(t) {}
  Dim rows() const { return array.dim(transposed ? -1 : -2); }
  Dim columns() const { return array.dim(transposed ? -2 : -1); }
};

inline MatrixOperand transposed(const Array& x) { return {x, true}; }

/// C = A·B over the last two axes; leading axes broadcast.  A (…, n, k)   B (…, k, m)   C (…, n, m)
Array product(const MatrixOperand& a, const MatrixOperand& b);

/// The axes in another order: axis i of the result is axis order[i] of x.
Array permuted(const Array& x, std::span<const int> order);

/// The order that undoes `order`.
std::vector<int> inverse_order(std::span<const int> order);

}  // namespace fledge
