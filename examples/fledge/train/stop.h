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
  /// From now on nobody who stops reading ends the program: after a hangup the reader of its
  /// messages may be gone, and what is left to do is to save.
  void outlive_readers() const;
  /// Ends the program by the signal that asked, so that a shell's loop stops as well.
  [[noreturn]] void end_by_signal() const;
};

}  // namespace fledge::train
