// The progress of a run on stderr: a bar on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fledge::train {

/// The progress of a run after a step.
struct Progress {
  std::int64_t step = 0, steps = 0;
  double loss = 0;               // of this step
  double validation = INFINITY;  // the last one; infinite: there is none
  double rate = 0, gradient_norm = 0;
  double tokens = 0;   // of a step, on average
  std::string pair{};  // "walk->birds 0.38"; empty: no watched pair
};

/// "0:03", "1:02:07"; "-" for a time that is not known.
std::string clock_text(double seconds);

/// What the display measures itself.
struct Speed {
  double elapsed = 0, steps_per_second = 0;  // 0: not known yet
};

/// The progress in one line of at most columns − 1 cells:
///
///   62%|#####   | 1,240/2,000 loss 0.612 held-out 0.710 309k tokens/s 0:02 left
///
/// A line that is too long loses, in this order: the pair, the curve, the elapsed time, the bar, the
/// tokens per second, the held-out loss.
std::string bar_line(const Progress& progress, const std::vector<double>& curve, Speed speed,
                     int columns, bool unicode);

/// step=1240 of=2000 loss=0.6120 …, for grep and awk.
std::string plain_line(const Progress& progress, Speed speed);

/// With a bar: at most ten draws a second. Without: a line for the first step, then one every ten
/// seconds. On a tall terminal a picture stands above the bar and is redrawn in
/// place, four times a second.
class ProgressDisplay {
 public:
  ProgressDisplay(bool quiet, bool no_progress);
  /// Leaves the last state on the terminal.
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  /// A message, above the bar, in lines of text_width() columns, all but the first indented. Users'
  /// text in it must be printable.
  void say(std::string_view text, int indent = 0);
  /// Lines that stay as they are: a picture, or commands to copy.
  void say_lines(std::string_view lines);
  /// The same, also when quiet.
  void warn(std::string_view lines);
  void show(const Progress& progress);
  /// With a bar: how much of this work is done. The next message takes its place.
  void show_work(std::string_view name, double share);
  /// The picture above the bar, at most `columns` wide; each line ends with a line end. "": none.
  /// It is drawn if the terminal has this many lines or more.
  void set_picture(std::function<std::string(int columns)> picture, int lines) {
    picture_ = std::move(picture);
    picture_lines_ = lines;
  }
  /// Draws the last state, which then stays.
  void finish();
  /// Seconds since the display was made.
  double elapsed() const;

 private:
  using Clock = std::chrono::steady_clock;
  void draw();
  void wipe();

  bool quiet_, bar_;
  std::function<std::string(int columns)> picture_;
  int picture_lines_ = 0;
  Clock::time_point began_ = Clock::now(), drawn_{}, counted_ = began_;
  std::int64_t counted_step_ = -1, drawn_step_ = -1;
  double steps_per_second_ = 0;
  Progress progress_;
  std::vector<double> curve_;
  std::int64_t curve_every_ = 1;
  int lines_on_screen_ = 0;  // of the picture and the bar
};

}  // namespace fledge::train
