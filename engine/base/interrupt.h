// Stops long-running work early, for Ctrl-C. The work calls a test function often and throws
// Interrupted when it returns true.
//
// Not here: signals (examples/fledge/train/run.cpp).                       Next: kernels/parallel.h.
#pragma once

#include <exception>
#include <utility>

namespace fledge {

/// Thrown by work that an InterruptScope ends. The result of that work does not exist then.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

/// Returns whether work is to end. It is called often and by several threads at once.
using InterruptTest = bool (*)();

namespace process {
inline constinit thread_local InterruptTest interrupt_test = nullptr;
}  // namespace process

/// While it lives, work that this thread starts throws Interrupted soon after `test` returns true:
/// parallel work before each of its tasks, backward() when it is called. With nullptr nothing is
/// interrupted: for code that must be done completely, such as the update of all weights. Of nested
/// scopes only the innermost counts.
class InterruptScope {
 public:
  explicit InterruptScope(InterruptTest test)
      : before_(std::exchange(process::interrupt_test, test)) {}
  ~InterruptScope() { process::interrupt_test = before_; }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  InterruptTest before_;
};

/// For long work of other kinds, about once a millisecond: throws Interrupted when it is to end.
inline void check_interrupt() {
  if (process::interrupt_test != nullptr && process::interrupt_test()) throw Interrupted();
}

}  // namespace fledge
