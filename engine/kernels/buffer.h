// Scratch memory of the kernels.
#pragma once

#include "engine/real.h"

namespace fledge {

/// Numbers without initial values: std::vector would set them to 0 first.
class Buffer {
 public:
  /// Throws std::bad_alloc when there is not enough memory.
  explicit Buffer(Dim count) : bytes_(static_cast<std::size_t>(count) * sizeof(Real)) {
    if (count < 0 || bytes_ / sizeof(Real) != static_cast<std::size_t>(count))
      throw std::bad_alloc();
    numbers_ = static_cast<Real*>(allocate_memory(bytes_));
  }
  ~Buffer() { deallocate_memory(numbers_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Real* data() { return numbers_; }
  const Real* data() const { return numbers_; }

 private:
  std::size_t bytes_;
  Real* numbers_;
};

}  // namespace fledge
