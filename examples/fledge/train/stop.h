// Ctrl-C: the first interrupts the step, and the run saves; the second ends the program. A hangup
// counts as the first only: a terminal that closes may send it twice, from the kernel and from the
// shell.
#pragma once

namespace fledge::train {

/// During its lifetime SIGINT, SIGTERM and SIGHUP request a stop; at other times they end the
/// program. There may be one object at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that requested a stop; 0: none.
  int stop_signal() const;
  /// Whether there was one; for InterruptScope.
  static bool stop_requested();
  /// Ignores SIGPIPE from now on: the run must still be saved if the output pipe is closed.
  void ignore_broken_pipe() const;
  /// Ends the program with the signal it received, so that a calling shell script stops too.
  [[noreturn]] void end_by_signal() const;
};

}  // namespace fledge::train
