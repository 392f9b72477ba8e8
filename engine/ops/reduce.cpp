// Sums, means and maxima over any axes.
#include <algorithm>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"

namespace fledge {

namespace {

Shape with_ones(Shape shape, const Axes& axes) {
  for (const int axis : axes) shape = shape.with(axis, 1);
  return shape;
}

Shape without_axes(Shape shape, const Axes& axes) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) shape = shape.without(*axis);
  return shape;
}

Dim count_over(const Shape& shape, const Axes& axes) {
  Dim count = 1;
  for (const int axis : axes) count *= shape[axis];
  return count;
}

}  // namespace

/// y = Σ x              dx = dy, stretched back over the axes that went
Tensor sum(const Tensor& x, const Axes& axes, bool keep_axes) {
  const Shape from = x.shape();
  const Axes over = axes_of(axes, from, "sum");
  const Shape kept = with_ones(from, over);
  const Array y = sum_over(x.value(), over).with_shape(keep_axes ? kept : without_axes(from, over));
  return record("sum", y, wrt(x, [from, kept](const Array& dy) {
                  return broadcast_to(dy.with_shape(kept), from);
                }));
}

/// y = Σ x / n          dx = dy / n, stretched back
Tensor mean(const Tensor& x, const Axes& axes, bool keep_axes) {
  const Axes over = axes_of(axes, x.shape(), "mean");
  const Dim count = count_over(x.shape(), over);
  require(count > 0, "mean", "over nothing is not defined: got shape ", x.shape());
  return sum(x, over, keep_axes) / static_cast<double>(count);
}

namespace {

/// y_r = max_j x_rj     dx_rj = dy_r for the first j that reaches the maximum, else 0   x (rows, n)
Tensor max_of_rows(const Tensor& x) {
  const Array X = x.value();
  const Real* const at = X.data();
  const RowShape rows = rows_of(X.shape());
  Array y({rows.count});
  Real* largest = y.write();
  std::vector<Dim> winner(static_cast<std::size_t>(rows.count));
  for (Dim r = 0; r < rows.count; ++r) {
    Dim first = r * rows.length;
    for (Dim i = first + 1; i < (r + 1) * rows.length; ++i)
      if (at[i] > at[first] || (isnan(at[i]) && !isnan(at[first]))) first = i;
    largest[r] = at[first];
    winner[static_cast<std::size_t>(r)] = first;
  }
  return record("max", y, wrt_adding(x, [winner](const Array& dy, Real* dx) {
                  for (std::size_t r = 0; r < winner.size(); ++r)
                    dx[winner[r]] += dy[static_cast<Dim>(r)];
                }));
}

}  // namespace

Tensor max(const Tensor& x, const Axes& axes, bool keep_axes) {
  const Shape from = x.shape();
  const Axes over = axes_of(axes, from, "max");
  const Dim count = count_over(from, over);
  require(count > 0, "max", "over nothing is not defined: got shape ", from);
  Axes order;  // the axes that stay, then those that go
  for (int axis = 0; axis < from.rank(); ++axis)
    if (std::find(over.begin(), over.end(), axis) == over.end()) order.push_back(axis);
  order.insert(order.end(), over.begin(), over.end());
  const Shape to = keep_axes ? with_ones(from, over) : without_axes(from, over);
  return reshape(max_of_rows(reshape(permute(x, order), {to.size(), count})), to);
}

}  // namespace fledge
