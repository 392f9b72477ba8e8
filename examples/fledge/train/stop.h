// Ctrl-C: the first asks the run to stop after its step, the second ends the program at once.
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
  /// Ends the program by the signal that asked, so that a shell's loop stops as well.
  [[noreturn]] void end_by_signal() const;
};

}  // namespace fledge::train
