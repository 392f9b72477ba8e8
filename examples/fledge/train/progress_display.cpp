#include "examples/fledge/train/progress_display.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/support/plots.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"

namespace fledge::train {

using support::formatted;

namespace {

constexpr std::size_t curve_points = 10;

std::string speed(double steps_per_second) {
  if (!(steps_per_second > 0)) return "- steps/s";
  if (steps_per_second < 1) return formatted("%.1f s/step", 1 / steps_per_second);
  return formatted(steps_per_second < 10 ? "%.1f steps/s" : "%.0f steps/s", steps_per_second);
}

double remaining(const Progress& s, double steps_per_second) {
  return steps_per_second > 0 ? static_cast<double>(s.steps - s.step) / steps_per_second : NAN;
}

}  // namespace

std::string clock_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "-";
  const long long whole = std::llround(seconds);
  const long long h = whole / 3600, m = whole / 60 % 60, s = whole % 60;
  return h > 0 ? formatted("%lld:%02lld:%02lld", h, m, s) : formatted("%lld:%02lld", m, s);
}

std::string bar_line(const Progress& s, const std::vector<double>& curve, double elapsed,
                     double steps_per_second, int columns, bool unicode) {
  const double fraction =
      s.steps > 0 ? static_cast<double>(s.step) / static_cast<double>(s.steps) : 0;
  const std::string percent = formatted("train %3.0f%%", 100 * fraction);
  const std::string counts = " " + std::to_string(s.step) + "/" + std::to_string(s.steps) + " [" +
                             clock_text(elapsed) + "<" +
                             clock_text(remaining(s, steps_per_second)) + ", " +
                             speed(steps_per_second) + "] loss " + formatted("%.3f", s.loss);
  std::string bar = "|" + support::bar(fraction, 16, unicode) + "|";
  std::string drawn = curve.size() > 1 ? " " + support::sparkline(curve, unicode) : "";
  std::string validation = std::isfinite(s.validation) ? formatted(" val %.3f", s.validation) : "";
  std::string pair = s.pair.empty() ? "" : "  " + s.pair;
  for (std::string* part : {&pair, &validation, &drawn, &bar}) {
    std::string line = percent + bar + counts + drawn + validation + pair;
    if (support::display_width(line) < columns) return line;
    part->clear();
  }
  return support::cut(percent + counts, std::max(columns - 1, 1), "");
}

std::string plain_line(const Progress& s, double elapsed, double steps_per_second) {
  return "step=" + std::to_string(s.step) + " of=" + std::to_string(s.steps) +
         formatted(" loss=%.4f", s.loss) +
         (std::isfinite(s.validation) ? formatted(" val=%.4f", s.validation) : "") +
         formatted(" lr=%.3g grad_norm=%.3g", s.rate, s.gradient_norm) +
         (steps_per_second > 0 ? formatted(" steps_per_s=%.3g", steps_per_second) : "") +
         formatted(" elapsed=%.1fs", elapsed) +
         (steps_per_second > 0 ? formatted(" eta=%.0fs", remaining(s, steps_per_second)) : "");
}

ProgressDisplay::ProgressDisplay(bool quiet, bool no_progress)
    : quiet_(quiet), bar_(!quiet && !no_progress && support::obeys_escapes(stderr)) {}

ProgressDisplay::~ProgressDisplay() {
  if (on_screen_) std::fputs("\n", stderr);
}

double ProgressDisplay::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - began_).count();
}

void ProgressDisplay::wipe() {
  if (on_screen_) std::fputs("\r\x1b[K", stderr);
  on_screen_ = false;
}

void ProgressDisplay::say(std::string_view text) {
  if (!quiet_) warn(text);
}

void ProgressDisplay::warn(std::string_view text) {
  wipe();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
  std::fflush(stderr);
}

void ProgressDisplay::show(const Progress& progress) {
  const Clock::time_point now = Clock::now();
  if (counted_step_ < 0) {  // the first step that is shown starts the clock of the speed
    counted_step_ = progress.step;
    counted_ = now;
  }
  const double since = std::chrono::duration<double>(now - counted_).count();
  if (since >= 0.2 && progress.step > counted_step_) {  // an exponential mean over about a second
    const double rate = static_cast<double>(progress.step - counted_step_) / since;
    const double weight = steps_per_second_ > 0 ? 1 - std::exp(-since) : 1;
    steps_per_second_ += weight * (rate - steps_per_second_);
    counted_step_ = progress.step;
    counted_ = now;
  }
  // The curve has every n-th loss. When it has too many points, n doubles.
  if (progress.step % curve_every_ == 0) curve_.push_back(progress.loss);
  if (curve_.size() > 2 * curve_points) {
    for (std::size_t i = 0; 2 * i < curve_.size(); ++i) curve_[i] = curve_[2 * i];
    curve_.resize((curve_.size() + 1) / 2);
    curve_every_ *= 2;
  }
  const bool first = progress_.step == 0;
  progress_ = progress;
  if (quiet_) return;
  const double pause = std::chrono::duration<double>(now - drawn_).count();
  if (!first && pause < (bar_ ? 0.1 : 10)) return;
  drawn_ = now;
  draw();
}

void ProgressDisplay::draw() {
  drawn_step_ = progress_.step;
  if (!bar_) {
    warn(plain_line(progress_, elapsed(), steps_per_second_));
    return;
  }
  const std::string line = bar_line(progress_, curve_, elapsed(), steps_per_second_,
                                    support::terminal_width(stderr), support::unicode_wanted());
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
  on_screen_ = true;
}

void ProgressDisplay::finish() {
  if (quiet_ || progress_.step == 0) return;
  if (bar_ || drawn_step_ != progress_.step) draw();
  if (on_screen_) std::fputs("\n", stderr);
  on_screen_ = false;
}

}  // namespace fledge::train
