// What a run shows people, on stderr: messages, events in words, and its progress, as a bar on a
// terminal and as plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "examples/fledge/train/events.h"

namespace fledge::train {

/// "0:03", "1:02:07"; "-" for a time that is not known.
std::string clock_text(double seconds);

/// With a bar: at most ten draws a second. Without: a line for the first step, then one every ten
/// seconds. On a tall terminal the plot of the losses stands above the bar and is redrawn in place,
/// four times a second.
class Screen {
 public:
  explicit Screen(bool quiet);
  /// Leaves the last state on the terminal.
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// A message, above the bar, in lines of text_width() columns, all but the first indented; none
  /// if the text is empty. Users' text in it must be printable.
  void say(std::string_view text, int indent = 0);
  /// Lines that stay as they are: a picture, or commands to copy.
  void say_lines(std::string_view lines);
  /// The same, also when quiet.
  void warn(std::string_view lines);
  /// The same; on a terminal it is wrapped, otherwise it is one line.
  void warn_wrapped(const std::string& line, int indent = 0);
  /// A warning: "fledge train: TEXT". Advice stands below it, without the name.
  void problem(const std::string& text) { warn_wrapped("fledge train: " + text, 14); }
  void advice(const std::string& text) { warn_wrapped("              " + text, 14); }

  /// An event in words, if it has any; losses are kept for the plot.
  void on_event(const Event& event);
  /// The steps of a run before it was resumed, as the log of the run has them.
  void resume(std::string_view events) { curves_ = curves_of_events(events); }
  /// The progress, after all events of a step.
  void show_progress();
  /// Draws the last state, which then stays.
  void finish();
  /// The losses of the run until here, as a plot.
  void plot();
  /// Seconds since the screen was made.
  double elapsed() const;

 private:
  using Clock = std::chrono::steady_clock;
  void show(const Started& event);
  void show(const Stepped& event);
  void show(const Evaluated& event);
  void show(const Overfitting& event);
  void show(const PairMeasurement& event);
  void show(const Sampled& event);
  template <class Other>  // which has no words
  void show(const Other&) {}
  std::string bar_line(int columns) const;
  std::string plain_line() const;
  double seconds_left() const;
  void draw(bool shows_plot);
  void wipe();

  bool quiet_, bar_;
  RunCurves curves_;             // the last losses are those of the progress
  std::set<std::string> known_;  // the watched pairs whose line has been explained
  Clock::time_point began_ = Clock::now(), drawn_{}, first_ = began_;
  std::int64_t step_ = 0, steps_ = 0, first_step_ = -1, drawn_step_ = -1;
  double rate_ = 0, tokens_ = 0;  // learning rate; tokens of a step, on average
  double steps_per_second_ = 0;   // 0: not known yet
  std::string pair_;              // the first watched pair: "walk->birds 0.38"; "": none
  int lines_on_screen_ = 0;       // of the plot and the bar
};

}  // namespace fledge::train
