// Sums, means, extremes and sums of exponentials over any axes; running sums along one.
#include <algorithm>
#include <functional>
#include <limits>

#include "engine/array_math.h"
#include "engine/autograd.h"
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

// Returns how many elements a result is of. Throws ShapeError unless there is one.
Dim require_some(std::string_view op, const Shape& shape, const Axes& axes) {
  Dim count = 1;
  for (const int axis : axes) count *= shape[axis];
  require(count > 0, op, "over nothing is not defined: got shape ", shape);
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
  const Dim count = require_some("mean", x.shape(), over);
  return sum(x, over, keep_axes) / static_cast<double>(count);
}

/// y = Σ (x − mean)² / n
Tensor var(const Tensor& x, const Axes& axes, bool keep_axes) {
  const Axes over = axes_of(axes, x.shape(), "var");
  require_some("var", x.shape(), over);
  const Tensor centred = x - mean(x, over, true);
  return mean(centred * centred, over, keep_axes);
}

namespace {

// For each row the first element that none beats; a NaN beats all numbers.   x (rows, n)
template <class Beats>
std::vector<Dim> first_best(const Array& x, Beats beats) {
  const Real* const at = x.data();
  const RowShape rows = rows_of(x.shape());
  std::vector<Dim> winner(static_cast<std::size_t>(rows.count));
  for (Dim r = 0; r < rows.count; ++r) {
    Dim first = r * rows.length;
    for (Dim i = first + 1; i < (r + 1) * rows.length; ++i)
      if (beats(at[i], at[first]) || (isnan(at[i]) && !isnan(at[first]))) first = i;
    winner[static_cast<std::size_t>(r)] = first;
  }
  return winner;
}

// The axes that stay, then those that go.
Axes last_axes(const Shape& shape, const Axes& over) {
  Axes order;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (std::find(over.begin(), over.end(), axis) == over.end()) order.push_back(axis);
  order.insert(order.end(), over.begin(), over.end());
  return order;
}

/// y_r = x_rj of the first j that no other beats      dx_rj = dy_r there, else 0
template <class Beats>
Tensor best_of(std::string_view op, const Tensor& x, const Axes& axes, bool keep_axes,
               Beats beats) {
  const Shape from = x.shape();
  const Axes over = axes_of(axes, from, op);
  const Dim count = require_some(op, from, over);
  const Shape to = keep_axes ? with_ones(from, over) : without_axes(from, over);
  const Tensor rows = reshape(permute(x, last_axes(from, over)), {to.size(), count});
  const std::vector<Dim> winner = first_best(rows.value(), beats);
  Array y({to.size()});
  std::transform(winner.begin(), winner.end(), y.write(),
                 [at = rows.value().data()](Dim i) { return at[i]; });
  return reshape(record(op, y,
                        wrt_adding(rows,
                                   [winner](const Array& dy, Real* dx) {
                                     for (std::size_t r = 0; r < winner.size(); ++r)
                                       dx[winner[r]] += dy[static_cast<Dim>(r)];
                                   })),
                 to);
}

}  // namespace

Tensor max(const Tensor& x, const Axes& axes, bool keep_axes) {
  return best_of("max", x, axes, keep_axes, std::greater<>());
}

Tensor min(const Tensor& x, const Axes& axes, bool keep_axes) {
  return best_of("min", x, axes, keep_axes, std::less<>());
}

Indices argmax(const Tensor& x, int axis) {
  const Shape shape = x.shape();
  const int along = axis_of(axis, shape, "argmax");
  const Dim length = require_some("argmax", shape, {along});
  const Array moved = permuted(x.value(), last_axes(shape, {along}));
  std::vector<Dim> winner = first_best(moved, std::greater<>());
  for (Dim& i : winner) i %= length;
  return {shape.without(along), winner};
}

/// y = log Σ exp(x) = top + log Σ exp(x − top), where top, the largest number, is a constant.
Tensor logsumexp(const Tensor& x, const Axes& axes, bool keep_axes) {
  const Shape from = x.shape();
  const Axes over = axes_of(axes, from, "logsumexp");
  require_some("logsumexp", from, over);
  const Real most = std::numeric_limits<Real>::max();
  const Array top = map(max(x.detach(), over, true).value(),  // ∞ − ∞ is not a number
                        [=](Real v) { return isfinite(v)   ? v
                                             : v > Real(0) ? most
                                                           : Real(0); });
  const Tensor y = log(sum(exp(x - top), over, true)) + top;
  return keep_axes ? y : reshape(y, without_axes(from, over));
}

/// y_i = x_0 + … + x_i along an axis      dx_i = dy_i + dy_{i+1} + … to its end
Tensor cumsum(const Tensor& x, int axis) {
  const Shape shape = x.shape();
  const int along = axis_of(axis, shape, "cumsum");
  const Dim length = shape[along];
  Dim step = 1;  // from an element to the next along the axis
  for (int later = along + 1; later < shape.rank(); ++later) step *= shape[later];
  const Array X = x.value();
  Array y(shape);
  Real* const to = y.write();
  for (Dim i = 0; i < X.size(); ++i)
    to[i] = i / step % length == 0 ? X.data()[i] : to[i - step] + X.data()[i];
  return record("cumsum", y, wrt(x, [shape, length, step](const Array& dy) {
                  Array dx(shape);
                  Real* const d = dx.write();
                  for (Dim i = dy.size() - 1; i >= 0; --i)
                    d[i] =
                        i / step % length == length - 1 ? dy.data()[i] : d[i + step] + dy.data()[i];
                  return dx;
                }));
}

}  // namespace fledge
