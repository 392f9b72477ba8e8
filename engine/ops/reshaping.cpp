// Ops that move numbers and compute nothing: each rule moves the numbers of dy back.
#include <algorithm>

#include "engine/array_math.h"
#include "engine/autograd.h"
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

Tensor stack(const std::vector<Tensor>& parts, int axis) {
  require(!parts.empty(), "stack", "needs at least one tensor: got none");
  const Shape& first = parts[0].shape();
  const int along = axis_of(axis, first.append({1}), "stack");
  std::vector<Dim> sizes(first.begin(), first.end());
  sizes.insert(sizes.begin() + along, 1);
  std::vector<Tensor> rows;
  for (const Tensor& part : parts) {
    require(part.shape() == first, "stack", "shapes differ: ", first, " and ", part.shape());
    rows.push_back(reshape(part, Shape(std::span<const Dim>(sizes))));
  }
  return concat(rows, along);
}

Tensor pad(const Tensor& x, int axis, Dim before, Dim after, double value) {
  const int along = axis_of(axis, x.shape(), "pad");
  require<ValueError>(before >= 0 && after >= 0, "pad", "the numbers of elements must be 0 or more",
                      ": got ", before, " and ", after);
  const auto filled = [&](Dim n) { return Array::full(x.shape().with(along, n), Real(value)); };
  return concat({filled(before), x, filled(after)}, along);
}

namespace {

// Which element of x each index means.      ids has the shape of x but along the axis
std::vector<Dim> elements_of(std::string_view op, const Shape& shape, int axis,
                             const Indices& ids) {
  const int along = axis_of(axis, shape, op);
  require(ids.shape().rank() == shape.rank() && ids.shape().with(along, 0) == shape.with(along, 0),
          op, "indices of shape ", ids.shape(), " differ off axis ", axis, " from shape ", shape);
  const Around x(shape, along), from(ids.shape(), along);
  std::vector<Dim> elements(static_cast<std::size_t>(ids.size()));
  for (Dim i = 0; i < ids.size(); ++i) {
    require<ValueError>(ids[i] >= 0 && ids[i] < x.length, op, "index ", ids[i], " at position ", i,
                        " is outside axis ", axis, " of shape ", shape);
    const Dim row = i / (from.length * from.inner) * x.length + ids[i];
    elements[static_cast<std::size_t>(i)] = row * x.inner + i % from.inner;
  }
  return elements;
}

}  // namespace

/// y_i = x[ids_i]                   dx[ids_i] += dy_i
Tensor gather(const Tensor& x, int axis, const Indices& ids) {
  const std::vector<Dim> elements = elements_of("gather", x.shape(), axis, ids);
  Array y(ids.shape());
  std::transform(elements.begin(), elements.end(), y.write(),
                 [from = x.value().data()](Dim i) { return from[i]; });
  return record("gather", y, wrt_adding(x, [elements](const Array& dy, Real* dx) {
                  const Real* d = dy.data();
                  for (const Dim i : elements) dx[i] += *d++;
                }));
}

/// y = x, then y[ids_i] += values_i      dx = dy      dvalues_i = dy[ids_i]
Tensor scatter_add(const Tensor& x, int axis, const Indices& ids, const Tensor& values) {
  const std::vector<Dim> elements = elements_of("scatter_add", x.shape(), axis, ids);
  require(values.shape() == ids.shape(), "scatter_add", "values of shape ", values.shape(),
          " for indices of shape ", ids.shape(), "; one value per index");
  Array y = x.value().clone();
  Real* const to = y.write();
  const Real* value = values.value().data();
  for (const Dim i : elements) to[i] += *value++;
  return record("scatter_add", y, wrt(x, [](const Array& dy) { return dy; }),
                wrt(values, [elements, shape = ids.shape()](const Array& dy) {
                  Array dvalues(shape);
                  std::transform(elements.begin(), elements.end(), dvalues.write(),
                                 [from = dy.data()](Dim i) { return from[i]; });
                  return dvalues;
                }));
}

}  // namespace fledge
