// The progress of a run on stderr: a bar on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fledge::train {

/// The progress of a run after a step.
struct Progress {
  std::int64_t step = 0, steps = 0;
  double loss = 0;               // smoothed
  double validation = INFINITY;  // the last one; infinite: there is none
  double rate = 0, gradient_norm = 0;
  std::string pair{};  // "walk->birds 0.38"; empty: no watched pair
};

/// "0:03", "1:02:07"; "-" for a time that is not known.
std::string clock_text(double seconds);

/// The progress in one line of at most columns − 1 cells. A line that is too long loses, in this
/// order: the pair, the validation loss, the curve, the bar itself.
std::string bar_line(const Progress& progress, const std::vector<double>& curve, double elapsed,
                     double steps_per_second, int columns, bool unicode);

/// step=1240 of=2000 loss=0.6120 …, for grep and awk.
std::string plain_line(const Progress& progress, double elapsed, double steps_per_second);

/// With a bar: at most ten draws a second. Without: a line for the first step, then one every ten
/// seconds.
class ProgressDisplay {
 public:
  ProgressDisplay(bool quiet, bool no_progress);
  /// Leaves the last state on the terminal.
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  /// A message, above the bar. Users' text in it must be printable.
  void say(std::string_view text);
  /// The same, also when quiet.
  void warn(std::string_view text);
  void show(const Progress& progress);
  /// Draws the last state, which then stays.
  void finish();
  /// Seconds since the display was made.
  double elapsed() const;

 private:
  using Clock = std::chrono::steady_clock;
  void draw();
  void wipe();

  bool quiet_, bar_;
  Clock::time_point began_ = Clock::now(), drawn_{}, counted_ = began_;
  std::int64_t counted_step_ = -1, drawn_step_ = -1;
  double steps_per_second_ = 0;
  Progress progress_;
  std::vector<double> curve_;
  std::int64_t curve_every_ = 1;
  bool on_screen_ = false;
};

}  // namespace fledge::train
