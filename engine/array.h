// Array: a shape and a shared, aligned, contiguous, row-major block of numbers.
// The shape lives in the shared block: copying a handle stays one pointer. Only a block with a
// single handle may be written, so a value that a graph keeps cannot change. Next: array_math.h.
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <string>
#include <vector>

#include "engine/real.h"

namespace fledge {

class Array {
 public:
  /// No array at all: `exists()` is false, size() is 0, and every other use but assignment and
  /// to_string() throws ValueError.
  Array() = default;
  /// An array of this shape. Its numbers are not initialised.
  explicit Array(const Shape& shape);
  /// An array of this shape holding `values` row by row. Throws ShapeError when the counts differ.
  Array(const Shape& shape, const std::vector<double>& values);

  static Array full(const Shape& shape, Real value);
  static Array zeros(const Shape& shape) { return full(shape, Real(0)); }
  static Array ones(const Shape& shape) { return full(shape, Real(1)); }

  bool exists() const { return block_ != nullptr; }
  const Shape& shape() const {
    if (block_ == nullptr) refuse_nothing("shape");
    return block_->shape;
  }
  Dim size() const { return block_ != nullptr ? block_->shape.size() : 0; }
  int rank() const { return shape().rank(); }
  Dim dim(int axis) const { return shape().dim(axis); }

  /// The numbers, row by row: loops read through this pointer.
  const Real* data() const {
    if (block_ == nullptr) refuse_nothing("data");
    return block_->numbers;
  }
  /// Element i, row by row. Throws ValueError outside the array.
  Real operator[](Dim i) const {
    if (i < 0 || i >= size()) refuse_index(i);
    return block_->numbers[i];
  }
  /// One element by its indices. Throws ValueError outside the array.
  Real at(std::initializer_list<Dim> indices) const;
  /// The only element. Throws ShapeError when there is not exactly one.
  Real item() const;

  /// The numbers, to be written before this Array is copied again: copies share the block. Throws
  /// GraphError when it is shared now: with a graph that will need the old values in its backward
  /// pass, or with another Array.
  Real* write() {
    if (!is_unique()) refuse_shared();
    return block_->numbers;
  }
  /// Whether this is the only handle to the block.
  bool is_unique() const {
    return block_.is_only() && (block_->owner == nullptr || block_->owner.is_only());
  }

  /// The same block under another shape. Throws ShapeError when the sizes differ.
  Array with_shape(const Shape& shape) const;
  /// A copy with a block of its own.
  Array clone() const;

 private:
  // The numbers follow in the same piece of memory, or they are those of another block.
  struct Block {
    HandleCount handles;
    Shape shape;
    Real* numbers = nullptr;
    Handle<Block> owner{};  // after with_shape(): the block that holds the numbers
    static void destroy(Block* block) noexcept;
  };

  [[noreturn]] static void refuse_nothing(const char* use);
  [[noreturn]] void refuse_index(Dim i) const;
  [[noreturn]] void refuse_shared() const;
  static Block* new_block(const Shape& shape);

  Handle<Block> block_;
};

/// An array of independent draws from uniform [low, high), rounded to Real, which may be `high`.
Array random_uniform(const Shape& shape, double low, double high, Rng& rng);

/// An array of independent normal draws with the given mean and standard deviation.
Array random_normal(const Shape& shape, double mean, double deviation, Rng& rng);

/// "[[1, 2], [3, 4]]" with at most 6 digits a number.
std::string to_string(const Array& array);

/// For the eye: a row on a line; of an axis longer than 8 the first three and the last three.
std::ostream& operator<<(std::ostream& out, const Array& array);

/// The numbers as doubles, row by row.
std::vector<double> to_vector(const Array& array);

}  // namespace fledge
