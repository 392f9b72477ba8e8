// Small blocks, memory full of NaN, and sizes around the end of a block.
#pragma once

#include <array>

#include "engine/base/memory.h"
#include "engine/kernels/blocking.h"
#include "tests/support/arrays.h"
#include "tests/support/threads.h"

namespace tests {

using kernels::Blocking;

inline const Real nan_number = Real(quiet_nan);

/// Until it ends: other sizes of blocks, memory from the pool full of NaN, so many threads.
class Blocked {
 public:
  explicit Blocked(const Blocking& sizes, int threads = 1) : threads_(threads) {
    kernels::blocking = sizes;
    memory_is_filled = true;
  }
  ~Blocked() {
    kernels::blocking = blocking_;
    memory_is_filled = filled_;
  }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

 private:
  Blocking blocking_ = kernels::blocking;
  bool filled_ = memory_is_filled;
  Threads threads_;
};

/// Fills the part of the stack that the next call uses with NaN.
[[gnu::noinline]] inline void fill_stack() {
  unsigned char bytes[1 << 16];
  std::memset(bytes, 0xff, sizeof bytes);
  asm volatile("" : : "r"(bytes) : "memory");  // the compiler must not leave the writes out
}

/// The sizes at which a loop in steps of `step` goes wrong first.
inline std::array<Dim, 4> around(Dim step) { return {step - 1, step, step + 1, 2 * step + 1}; }

}  // namespace tests
