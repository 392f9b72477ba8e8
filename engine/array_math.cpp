#include "engine/array_math.h"

#include <algorithm>

#include "engine/base/errors.h"
#include "engine/base/memory.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/sums.h"

namespace fledge {

namespace {

using Strides = std::array<Dim, Shape::max_rank>;

// How far one step along each axis of `out` moves in a row-major array of shape `from`; 0 if
// stretched.
Strides strides_into(const Shape& from, const Shape& out) {
  Strides strides{};
  Dim step = 1;
  for (int axis = 1; axis <= from.rank(); ++axis) {
    const Dim size = from[from.rank() - axis];
    strides[static_cast<std::size_t>(out.rank() - axis)] = size == 1 ? 0 : step;
    step *= size;
  }
  return strides;
}

}  // namespace

detail::BroadcastRows::BroadcastRows(const Shape& a, const Shape& b, const Shape& out)
    : rank_(out.rank()), stride_a_(strides_into(a, out)), stride_b_(strides_into(b, out)) {
  std::copy(out.begin(), out.end(), sizes_.begin());
  const auto last = static_cast<std::size_t>(std::max(rank_ - 1, 0));
  length = rank_ == 0 ? 1 : sizes_[last];
  rows = length == 0 ? 0 : out.size() / length;
  step_a = rank_ == 0 ? 1 : stride_a_[last];
  step_b = rank_ == 0 ? 1 : stride_b_[last];
}

void detail::BroadcastRows::next() {
  for (int axis = rank_ - 2; axis >= 0; --axis) {
    const auto i = static_cast<std::size_t>(axis);
    at_a += stride_a_[i];
    at_b += stride_b_[i];
    if (++index_[i] < sizes_[i]) return;
    at_a -= stride_a_[i] * sizes_[i];
    at_b -= stride_b_[i] * sizes_[i];
    index_[i] = 0;
  }
}

Array broadcast_to(const Array& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return zip("broadcast_to", x, Array::zeros(shape), [](Real value, Real) { return value; });
}

Array sum_over(const Array& x, std::span<const int> axes) {
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
  require(broadcasts_to(shape, dy.shape()), "sum_to", "gradient of shape ", dy.shape(),
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

Array product(const MatrixOperand& a, const MatrixOperand& b) {
  const Dim n = a.rows(), k = a.columns(), m = b.columns();
  const auto matrix = [](const MatrixOperand& operand, Dim at) -> kernels::Matrix {
    const kernels::Matrix plain{operand.array.data() + at, operand.array.dim(-1), 1};
    return operand.transposed ? plain.transposed() : plain;
  };
  if (a.array.rank() == 2 && b.array.rank() == 2) {
    Array c({n, m});
    kernels::gemm(matrix(a, 0), matrix(b, 0), c.write(), m, n, k, m);
    return c;
  }
  const Shape lead_a = a.array.shape().without(-1).without(-1);
  const Shape lead_b = b.array.shape().without(-1).without(-1);
  const Shape lead = broadcast(lead_a, lead_b, "matmul");
  Array c(lead.append({n, m}));
  Real* to = c.write();

  const Strides stride_a = strides_into(lead_a, lead);
  const Strides stride_b = strides_into(lead_b, lead);
  kernels::parallel_for(lead.size(), lead.size() * n * k * m, [&](Dim batch) {
    Dim at_a = 0, at_b = 0, rest = batch;
    for (int axis = lead.rank() - 1; axis >= 0; --axis) {
      const Dim index = rest % lead[axis];
      rest /= lead[axis];
      at_a += index * stride_a[static_cast<std::size_t>(axis)];
      at_b += index * stride_b[static_cast<std::size_t>(axis)];
    }
    kernels::gemm(matrix(a, at_a * n * k), matrix(b, at_b * k * m), to + batch * n * m, m, n, k, m);
  });
  return c;
}

Array permuted(const Array& x, std::span<const int> order) {
  const Shape& from = x.shape();
  Shape to = from;
  Strides stride{};  // in x, of a step along each axis of the result
  for (int axis = 0; axis < from.rank(); ++axis) {
    const int source = order[static_cast<std::size_t>(axis)];
    to = to.with(axis, from[source]);
    Dim step = 1;
    for (int later = source + 1; later < from.rank(); ++later) step *= from[later];
    stride[static_cast<std::size_t>(axis)] = step;
  }
  Array y(to);
  Real* out = y.write();
  const Real* in = x.data();
  std::array<Dim, Shape::max_rank> index{};
  Dim at = 0;
  for (Dim i = 0; i < y.size(); ++i) {
    out[i] = in[at];
    for (int axis = to.rank() - 1; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      at += stride[a];
      if (++index[a] < to[axis]) break;
      at -= stride[a] * to[axis];
      index[a] = 0;
    }
  }
  return y;
}

std::vector<int> inverse_order(std::span<const int> order) {
  std::vector<int> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  return inverse;
}

}  // namespace fledge
