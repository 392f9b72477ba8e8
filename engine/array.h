// Array: a shape and a shared, aligned, contiguous, row-major block of numbers.
//
// Not here: gradients, views with strides. Key idea: copying an Array copies a handle. Only a block
// with a single handle may be written, so a value that a graph keeps cannot change.
// Next: array_math.h (arithmetic), tensor.h (gradients).
#pragma once

#include <atomic>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/shape.h"
#include "engine/real.h"

#if defined(__SANITIZE_THREAD__)
#define FLEDGE_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FLEDGE_THREAD_SANITIZER
#endif
#endif

namespace fledge {

/// Whether this is the only handle to its object. After `true` the object may be written: reads and
/// writes of other threads, through handles that they have dropped, have happened before.
template <class T>
bool is_only_handle(const std::shared_ptr<T>& handle) {
  if (handle.use_count() != 1) return false;  // a relaxed load, which orders nothing
#if defined(FLEDGE_THREAD_SANITIZER)
  // It does not understand fences. Dropping a second handle reads the count in acquire order.
  const std::shared_ptr<T> second = handle;
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  return true;
}

class Array {
 public:
  /// No array at all; `exists()` is false.
  Array() = default;
  /// An array of this shape. Its numbers are not initialised.
  explicit Array(const Shape& shape);
  /// An array of this shape holding `values` row by row. Throws ShapeError when the counts differ.
  Array(const Shape& shape, std::initializer_list<double> values);
  Array(const Shape& shape, const std::vector<double>& values);

  static Array full(const Shape& shape, Real value);
  static Array zeros(const Shape& shape) { return full(shape, Real(0)); }
  static Array ones(const Shape& shape) { return full(shape, Real(1)); }

  bool exists() const { return block_ != nullptr; }
  const Shape& shape() const { return shape_; }
  Dim size() const { return shape_.size(); }
  int rank() const { return shape_.rank(); }
  Dim dim(int axis) const { return shape_.dim(axis); }

  /// The numbers, row by row. Throws ValueError when there is no array.
  const Real* data() const {
    const Real* const numbers = block_.get();
    if (numbers == nullptr) refuse_nothing();
    return numbers;
  }
  Real operator[](Dim i) const { return block_[i]; }
  /// One element by its indices. Throws ValueError outside the array.
  Real at(std::initializer_list<Dim> indices) const;
  /// The only element. Throws ShapeError when there is not exactly one.
  Real item() const;

  /// The numbers, to be written before this Array is copied again: copies share the block. Throws
  /// GraphError when it is shared now: with a graph that will need the old values in its backward
  /// pass, or with another Array.
  Real* write();
  /// Whether this is the only handle to the block.
  bool is_unique() const { return is_only_handle(block_); }

  /// The same block under another shape of equal size (unchecked; ops.h has the checked reshape).
  Array with_shape(const Shape& shape) const;
  /// A copy with a block of its own.
  Array clone() const;

 private:
  [[noreturn]] static void refuse_nothing();

  Shape shape_;
  std::shared_ptr<Real[]> block_;
};

/// An array of independent draws from uniform [low, high).
Array random_uniform(const Shape& shape, double low, double high, Rng& rng);

/// An array of independent normal draws with the given mean and standard deviation.
Array random_normal(const Shape& shape, double mean, double deviation, Rng& rng);

/// "[[1, 2], [3, 4]]" with at most 6 digits a number.
std::string to_string(const Array& array);

/// The numbers as doubles, row by row.
std::vector<double> to_vector(const Array& array);

}  // namespace fledge
