// Ops that move numbers and compute nothing: each rule moves the numbers of dy back.
#include <algorithm>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"

namespace fledge {

/// y = x under another shape          dx = dy under x's shape
Tensor reshape(const Tensor& x, const Shape& shape) {
  const Shape from = x.shape();
  require(from.size() == shape.size(), "reshape", "sizes differ: ", from, " to ", shape, ", ",
          from.size(), " vs ", shape.size(), " numbers");
  return record("reshape", x.value().with_shape(shape),
                wrt(x, [from](const Array& dy) { return dy.with_shape(from); }));
}

/// axis i of y is axis order[i] of x   dx = dy with the order undone
Tensor permute(const Tensor& x, const Axes& order) {
  require(static_cast<int>(order.size()) == x.rank(), "permute", "names ", order.size(),
          " axes for shape ", x.shape());
  Axes axes = order;
  for (int& axis : axes) axis = axis_of(axis, x.shape(), "permute");
  axes_of(axes, x.shape(), "permute");  // refuses an axis named twice
  return record("permute", permuted(x.value(), axes),
                wrt(x, [axes](const Array& dy) { return permuted(dy, inverse_order(axes)); }));
}

Tensor transpose(const Tensor& x, int axis_a, int axis_b) {
  require(x.rank() >= 2, "transpose", "needs at least two axes: got shape ", x.shape());
  Axes order = axes_of({}, x.shape(), "transpose");
  std::swap(order[static_cast<std::size_t>(axis_of(axis_a, x.shape(), "transpose"))],
            order[static_cast<std::size_t>(axis_of(axis_b, x.shape(), "transpose"))]);
  return permute(x, order);
}

namespace {

// An array seen around one axis: (outer, length, inner).
struct Around {
  Dim outer = 1, length = 1, inner = 1;
  Around(const Shape& shape, int axis) : length(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
};

}  // namespace

/// y = x[begin … end − 1] along an axis      dx = dy there, 0 elsewhere
Tensor slice(const Tensor& x, int axis, Dim begin, Dim end) {
  const int along = axis_of(axis, x.shape(), "slice");
  const Around from(x.shape(), along);
  require(0 <= begin && begin <= end && end <= from.length, "slice", "elements ", begin, " to ",
          end, " of axis ", axis, " are not inside shape ", x.shape());
  const Dim run = (end - begin) * from.inner, stride = from.length * from.inner;
  const Dim start = begin * from.inner, outer = from.outer;

  Array y(x.shape().with(along, end - begin));
  Real* to = y.write();
  for (Dim o = 0; o < outer; ++o)
    std::copy_n(x.value().data() + o * stride + start, run, to + o * run);

  return record("slice", y, wrt_adding(x, [=](const Array& dy, Real* dx) {
                  const Real* const d = dy.data();
                  for (Dim o = 0; o < outer; ++o)
                    for (Dim i = 0; i < run; ++i) dx[o * stride + start + i] += d[o * run + i];
                }));
}

/// y = the parts, one after another      d part = its stretch of dy
Tensor concat(const std::vector<Tensor>& parts, int axis) {
  require(!parts.empty(), "concat", "needs at least one tensor: got none");
  const Shape& first = parts[0].shape();
  const int along = axis_of(axis, first, "concat");
  Dim total = 0;
  for (const Tensor& part : parts) {
    require(part.rank() == first.rank() && part.shape().with(along, 0) == first.with(along, 0),
            "concat", "shapes differ off axis ", axis, ": ", first, " and ", part.shape());
    total += part.shape()[along];
  }
  Array y(first.with(along, total));
  const Dim stride = Around(y.shape(), along).length * Around(y.shape(), along).inner;
  Real* to = y.write();
  PoolVector<Edge> edges;
  Dim start = 0;
  for (const Tensor& part : parts) {
    const Around piece(part.shape(), along);
    const Dim run = piece.length * piece.inner, outer = piece.outer;
    for (Dim o = 0; o < outer; ++o)
      std::copy_n(part.value().data() + o * run, run, to + o * stride + start);
    edges.push_back(wrt(part, [shape = part.shape(), run, outer, stride, start](const Array& dy) {
      Array dx(shape);
      Real* into = dx.write();
      for (Dim o = 0; o < outer; ++o)
        std::copy_n(dy.data() + o * stride + start, run, into + o * run);
      return dx;
    }));
    start += run;
  }
  return record("concat", y, std::move(edges));
}

std::vector<Tensor> split(const Tensor& x, Dim parts, int axis) {
  const Dim length = x.shape()[axis_of(axis, x.shape(), "split")];
  require(parts >= 1 && length % parts == 0, "split", "axis ", axis, " of shape ", x.shape(),
          " does not split into ", parts, " equal parts");
  std::vector<Tensor> pieces;
  for (Dim i = 0; i < parts; ++i)
    pieces.push_back(slice(x, axis, i * (length / parts), (i + 1) * (length / parts)));
  return pieces;
}

}  // namespace fledge
