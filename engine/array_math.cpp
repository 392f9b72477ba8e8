#include "engine/array_math.h"

#include "engine/kernels/gemm.h"
#include "engine/kernels/sums.h"

namespace fledge {

namespace {

using Strides = std::array<Dim, Shape::max_rank>;

// How far one step along each axis moves in a row-major array of this shape.
Strides strides_of(const Shape& shape) {
  Strides strides{};
  Dim step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = step;
    step *= shape[axis];
  }
  return strides;
}

// y of this shape: its number at index (i, j, …) is x[i·strides[0] + j·strides[1] + …].
Array gather(const Array& x, const Shape& shape, const Strides& strides) {
  Array y(shape);
  const Real* const from = x.data();
  Real* to = y.write();
  const int last = std::max(shape.rank() - 1, 0);
  const Dim length = shape.rank() == 0 ? 1 : shape[last];
  const Dim step = strides[static_cast<std::size_t>(last)];
  std::array<Dim, Shape::max_rank> index{};
  Dim at = 0;  // in x, of the first number of a row of y
  for (const Real* const end = to + y.size(); to < end; to += length) {
    for (Dim i = 0; i < length; ++i) to[i] = from[at + i * step];
    for (int axis = last - 1; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      at += strides[a];
      if (++index[a] < shape[axis]) break;
      at -= strides[a] * shape[axis];
      index[a] = 0;
    }
  }
  return y;
}

}  // namespace

Array broadcast_to(const Array& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const Strides from = strides_of(x.shape());
  Strides strides{};  // 0 along the axes where x is stretched
  const auto rank = static_cast<std::size_t>(x.rank());
  const auto new_axes = static_cast<std::size_t>(shape.rank()) - rank;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (x.shape()[static_cast<int>(axis)] != 1) strides[new_axes + axis] = from[axis];
  return gather(x, shape, strides);
}

Array sum_over(const Array& x, std::span<const int> axes) {
  require<ValueError>(x.exists(), "sum_over", "needs an array: got none");
  Array result = x;
  // One run of neighbouring axes at a time, last first: (outer, reduced, inner) -> (outer, inner).
  for (auto last = static_cast<int>(axes.size()) - 1; last >= 0;) {
    int first = last;
    const auto axis = [&](int i) { return axes[static_cast<std::size_t>(i)]; };
    while (first > 0 && axis(first - 1) == axis(first) - 1) --first;

    const Shape& from = result.shape();
    Dim outer = 1, reduced = 1, inner = 1;
    Shape to = from;
    for (int i = 0; i < from.rank(); ++i) {
      if (i < axis(first)) outer *= from[i];
      if (i > axis(last)) inner *= from[i];
      if (i >= axis(first) && i <= axis(last)) {
        reduced *= from[i];
        to = to.with(i, 1);
      }
    }
    Array sums(to);
    kernels::sum_columns(result.data(), sums.write(), outer, reduced, inner);
    result = sums;
    last = first - 1;
  }
  return result;
}

Array sum_to(Array dy, const Shape& shape) {
  if (dy.shape() == shape) return dy;
  require(common_shape(shape, dy.shape()) == dy.shape(), "sum_to", "gradient of shape ", dy.shape(),
          " does not come from an argument of shape ", shape);
  const int extra = dy.rank() - shape.rank();
  if (std::equal(shape.begin(), shape.end(), dy.shape().begin() + extra)) {  // a bias, mostly
    Array sums(shape);
    const Dim inner = shape.size();
    kernels::sum_columns(dy.data(), sums.write(), 1, inner == 0 ? 0 : dy.size() / inner, inner);
    return sums;
  }
  PoolVector<int> axes;
  for (int axis = 0; axis < dy.rank(); ++axis)
    if (axis < extra || shape[axis - extra] != dy.shape()[axis]) axes.push_back(axis);
  return sum_over(dy, axes).with_shape(shape);
}

namespace {

// The matrix that starts at number `at` of the array.
kernels::Matrix matrix(const MatrixOperand& x, Dim at) {
  const kernels::Matrix plain{x.array.data() + at, x.array.dim(-1), 1};
  return x.transposed ? plain.transposed() : plain;
}

// The shape of the leading axes.
Shape batches_of(const MatrixOperand& x) { return x.array.shape().without(-1).without(-1); }

// The array stretched to these leading axes.
Array stretched(const MatrixOperand& x, const Shape& batches) {
  return broadcast_to(x.array, batches.append({x.array.dim(-2), x.array.dim(-1)}));
}

}  // namespace

Array product_of_rows(const Shape& shape, const MatrixOperand& a, const MatrixOperand& b,
                      const Array& initial) {
  const RowShape rows_a = rows_of(a.array.shape()), rows_b = rows_of(b.array.shape());
  const Dim n = a.transposed ? rows_a.length : rows_a.count;
  const Dim k = a.transposed ? rows_a.count : rows_a.length;
  const Dim m = b.transposed ? rows_b.count : rows_b.length;
  Array c(shape);
  kernels::gemm(matrix(a, 0), matrix(b, 0), c.write(), m, n, k, m,
                {initial.exists() ? initial.data() : nullptr, 0});
  return c;
}

Array product(const MatrixOperand& a, const MatrixOperand& b) {
  const Dim n = a.rows(), k = a.columns(), m = b.columns();
  if (a.array.rank() == 2 && b.array.rank() == 2) return product_of_rows({n, m}, a, b);
  const Shape batches = broadcast(batches_of(a), batches_of(b), "matmul");
  const Array A = stretched(a, batches), B = stretched(b, batches);
  Array c(batches.append({n, m}));
  Real* const to = c.write();
  kernels::parallel_for(batches.size(), batches.size() * n * k * m, [&](Dim i) {
    kernels::gemm(matrix({A, a.transposed}, i * n * k), matrix({B, b.transposed}, i * k * m),
                  to + i * n * m, m, n, k, m);
  });
  return c;
}

Array permuted(const Array& x, std::span<const int> order) {
  const Strides from = strides_of(x.shape());
  Shape shape = x.shape();
  Strides strides{};
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int source = order[static_cast<std::size_t>(axis)];
    shape = shape.with(axis, x.shape()[source]);
    strides[static_cast<std::size_t>(axis)] = from[static_cast<std::size_t>(source)];
  }
  return gather(x, shape, strides);
}

std::vector<int> inverse_order(std::span<const int> order) {
  std::vector<int> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  return inverse;
}

}  // namespace fledge
