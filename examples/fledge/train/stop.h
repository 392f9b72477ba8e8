// Ctrl-C: the first asks the run to break off its step and save, the second ends the program. A
// hangup asks as well, but not twice: a terminal that closes may send it from the kernel and from
// the shell.
#pragma once

namespace fledge::train {

/// While it lives, SIGINT, SIGTERM and SIGHUP ask for a stop; before and after they mean what they
/// meant. One at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that asked; 0: none did.
  int asked() const;
  /// Whether any did; for InterruptScope.
  static bool is_asked();
  /// From now on a closed output pipe (SIGPIPE) does not end the program: it still has to save.
  void outlive_readers() const;
  /// Ends the program with the signal it received, so that a shell loop stops too.
  [[noreturn]] void end_by_signal() const;
};

}  // namespace fledge::train
