// Shape: the sizes of an array's axes, at most eight, kept inline.
// Arrays are contiguous and row-major. Shapes align at their last axis, and a size of 1 stretches
// (NumPy's broadcasting rule).                                                  Next: array.h.
#pragma once

#include <array>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/dim.h"

namespace fledge {

class Shape {
 public:
  static constexpr int max_rank = 8;

  /// (): the shape of a single number.
  constexpr Shape() = default;
  /// Throws ShapeError on a negative size, a rank over 8, or more than 2⁶³ − 1 elements.
  Shape(std::initializer_list<Dim> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const Dim> sizes);

  int rank() const { return rank_; }
  /// Number of elements: the product of the sizes, 1 for ().
  Dim size() const { return size_; }
  /// Size of axis 0 … rank − 1, unchecked.
  Dim operator[](int axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
  /// Size of an axis; negative axes count from the end. Throws ShapeError when there is no such
  /// axis.
  Dim dim(int axis) const {
    const int at = axis < 0 ? axis + rank_ : axis;
    if (at < 0 || at >= rank_) refuse_axis(axis);
    return sizes_[static_cast<std::size_t>(at)];
  }

  const Dim* begin() const { return sizes_.data(); }
  const Dim* end() const { return sizes_.data() + rank_; }

  /// This shape with one axis of another size.
  Shape with(int axis, Dim size) const;
  /// This shape without an axis.
  Shape without(int axis) const;
  /// This shape with axes appended.
  Shape append(std::initializer_list<Dim> sizes) const;

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_ || a.size_ != b.size_) return false;
    for (int axis = 0; axis < a.rank_; ++axis)  // std::equal calls memcmp: 25 instructions
      if (a[axis] != b[axis]) return false;
    return true;
  }

 private:
  [[noreturn]] void refuse_axis(int axis) const;

  std::array<Dim, max_rank> sizes_{};
  int rank_ = 0;
  Dim size_ = 1;
};

/// "(2, 3)", "(3)", "()".
std::string to_string(const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Shape& shape);

/// axis in 0 … rank − 1; negative axes count from the end. Throws ShapeError naming `op`.
int axis_of(int axis, const Shape& shape, std::string_view op);

/// The given axes as 0 … rank − 1, sorted; all axes when the list is empty. Refuses duplicates.
std::vector<int> axes_of(std::span<const int> axes, const Shape& shape, std::string_view op);

/// The common shape of a and b, if there is one. It is b where a stretches to exactly b.
std::optional<Shape> common_shape(const Shape& a, const Shape& b);

/// The same. Throws ShapeError naming `op` and both shapes when there is none.
Shape broadcast(const Shape& a, const Shape& b, std::string_view op);

/// A shape seen as `count` rows of `length` along its last axis.
struct RowShape {
  Dim count, length;
};

/// Rows of a shape of rank ≥ 1.
RowShape rows_of(const Shape& shape);

}  // namespace fledge
