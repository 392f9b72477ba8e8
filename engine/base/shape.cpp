#include "engine/base/shape.h"

#include <algorithm>
#include <ostream>

#include "engine/base/errors.h"

namespace fledge {

Shape::Shape(std::span<const Dim> sizes) {
  require(sizes.size() <= max_rank, "Shape", "at most ", max_rank, " axes: got ", sizes.size());
  rank_ = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());

  // The product is checked without the zeros too: (0, 2^63, 2^63) has no elements, yet no strides.
  bool empty = false;
  for (const Dim size : sizes) {
    require(size >= 0, "Shape", "sizes must not be negative: got ", size);
    empty = empty || size == 0;
    const bool counted = !__builtin_mul_overflow(size_, size == 0 ? 1 : size, &size_);
    require(counted, "Shape", "more elements than can be counted: axis sizes up to ", size);
  }
  if (empty) size_ = 0;
}

void Shape::refuse_axis(int axis) const {
  axis_of(axis, *this, "dim");
  throw ShapeError("dim: no such axis");  // not reached
}

// The others work on a copy of the sizes on the stack: shapes are made in every op.
Shape Shape::with(int axis, Dim size) const {
  std::array<Dim, max_rank> sizes = sizes_;
  sizes[static_cast<std::size_t>(axis_of(axis, *this, "with"))] = size;
  return Shape(std::span(sizes.data(), static_cast<std::size_t>(rank_)));
}

Shape Shape::without(int axis) const {
  std::array<Dim, max_rank> sizes{};
  const int gone = axis_of(axis, *this, "without");
  std::copy(begin() + gone + 1, end(), std::copy(begin(), begin() + gone, sizes.begin()));
  return Shape(std::span(sizes.data(), static_cast<std::size_t>(rank_ - 1)));
}

Shape Shape::append(std::initializer_list<Dim> more) const {
  require(static_cast<std::size_t>(rank_) + more.size() <= max_rank, "Shape", "at most ", max_rank,
          " axes: got ", static_cast<std::size_t>(rank_) + more.size());
  std::array<Dim, max_rank> sizes = sizes_;
  std::copy(more.begin(), more.end(), sizes.begin() + rank_);
  return Shape(std::span(sizes.data(), static_cast<std::size_t>(rank_) + more.size()));
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

int axis_of(int axis, const Shape& shape, std::string_view op) {
  const int rank = shape.rank();
  require(axis >= -rank && axis < rank, op, "no axis ", axis, " in shape ", shape);
  return axis < 0 ? axis + rank : axis;
}

std::vector<int> axes_of(std::span<const int> axes, const Shape& shape, std::string_view op) {
  std::vector<int> named, sorted;
  for (const int axis : axes) named.push_back(axis_of(axis, shape, op));
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto times = std::count(named.begin(), named.end(), axis);
    require(times <= 1, op, "an axis is named twice for shape ", shape);
    if (times == 1 || axes.empty()) sorted.push_back(axis);
  }
  return sorted;
}

namespace {

// Size of `axis` counted from the end (1 is the last); 1 where the shape has no such axis.
Dim size_from_end(const Shape& shape, int axis) {
  return axis <= shape.rank() ? shape[shape.rank() - axis] : 1;
}

}  // namespace

std::optional<Shape> common_shape(const Shape& a, const Shape& b) {
  Shape common = a.rank() >= b.rank() ? a : b;
  for (int axis = 1; axis <= common.rank(); ++axis) {
    const Dim size_a = size_from_end(a, axis), size_b = size_from_end(b, axis);
    if (size_a != size_b && size_a != 1 && size_b != 1) return {};
    const Dim size = size_a == 1 ? size_b : size_a;
    if (size != common.dim(-axis)) common = common.with(-axis, size);
  }
  return common;
}

Shape broadcast(const Shape& a, const Shape& b, std::string_view op) {
  const std::optional<Shape> common = common_shape(a, b);
  for (int axis = 1; !common.has_value(); ++axis) {  // throws at the first axis that does not fit
    const Dim size_a = size_from_end(a, axis), size_b = size_from_end(b, axis);
    require(size_a == size_b || size_a == 1 || size_b == 1, op, "shapes do not broadcast: ", a,
            " and ", b, "; sizes ", size_a, " and ", size_b, " differ and neither is 1");
  }
  return *common;
}

RowShape rows_of(const Shape& shape) {
  const Dim length = shape.dim(-1);
  Dim count = 1;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) count *= shape[axis];
  return {count, length};
}

}  // namespace fledge
