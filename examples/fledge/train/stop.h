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
  int asked() const;
  /// Whether there was one; for InterruptScope.
  static bool is_asked();
  /// From now on a closed output pipe (SIGPIPE) does not end the program: it still has to save.
  void outlive_readers() const;
  /// Ends the program with the signal it received, so that a shell loop stops too.
  [[noreturn]] void end_by_signal() const;
};

}  // namespace fledge::train
