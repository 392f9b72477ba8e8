// Arithmetic on arrays: the functions in which the rules of the ops are written.
// Each loop exists once (map, zip, the sums); a formula is a function that is passed to it.
//                                                                              Next: node.h.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/array.h"
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

/// x stretched to `shape`; x must broadcast to it.
Array broadcast_to(const Array& x, const Shape& shape);

/// y = f(a, b) element by element, after broadcasting; f as in map. Throws ShapeError naming `op`,
/// and ValueError for an array that does not exist.
template <class F>
Array zip(std::string_view op, const Array& a, const Array& b, F f) {
  require<ValueError>(a.exists() && b.exists(), op, "needs two arrays: the ",
                      a.exists() ? "second" : "first", " was never given values");
  if (a.shape() != b.shape()) {
    const Shape shape = broadcast(a.shape(), b.shape(), op);
    if (b.size() == 1 && a.shape() == shape)
      return map(a, [f, number = b.item()](Real x) { return f(x, number); });
    return zip(op, broadcast_to(a, shape), broadcast_to(b, shape), f);
  }
  Array y(a.shape());
  detail::transform(y.size(), f, y.write(), a.data(), b.data());
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
inline Array operator*(Real factor, const Array& a) { return a * factor; }
inline Array operator+(const Array& a, Real number) {
  return map(a, [number](Real x) { return x + number; });
}
inline Array operator+(Real number, const Array& a) { return a + number; }
inline Array operator-(const Array& a, Real number) { return a + -number; }
inline Array operator-(Real number, const Array& a) {
  return map(a, [number](Real x) { return number - x; });
}

/// The sum over `axes` (0 … rank − 1, sorted), which stay as size 1. Pairwise, in a fixed order.
Array sum_over(const Array& x, std::span<const int> axes);

/// The transpose of broadcasting: dy summed over every axis along which `shape` was stretched.
Array sum_to(Array dy, const Shape& shape);

/// An operand of a product: an array, or its transpose over the last two axes, read in place.
/// The array must outlive the operand.
struct MatrixOperand {
  const Array& array;
  bool transposed = false;
  MatrixOperand(const Array& a, bool t = false) : array(a), transposed(t) {}
  Dim rows() const { return array.dim(transposed ? -1 : -2); }
  Dim columns() const { return array.dim(transposed ? -2 : -1); }
};

inline MatrixOperand transposed(const Array& x) { return {x, true}; }

/// C = A·B over the last two axes; leading axes broadcast.  A (…, n, k)   B (…, k, m)   C (…, n, m)
Array product(const MatrixOperand& a, const MatrixOperand& b);

/// C = initial + A·B of two matrices, in the given shape. The leading axes of an array are more
/// rows: (…, n, k) is one matrix.   initial (m), added to each row, or no array
Array product_of_rows(const Shape& shape, const MatrixOperand& a, const MatrixOperand& b,
                      const Array& initial = {});

/// The axes in another order: axis i of the result is axis order[i] of x.
Array permuted(const Array& x, std::span<const int> order);

/// The order that undoes `order`.
std::vector<int> inverse_order(std::span<const int> order);

}  // namespace fledge
