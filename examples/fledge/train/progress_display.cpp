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

/// "309k tokens/s"
std::string tokens_text(double tokens_per_second) {
  if (!(tokens_per_second > 0)) return "";
  return formatted(tokens_per_second < 10e3 ? "%.1f" : "%.0f", tokens_per_second / 1e3) +
         "k tokens/s";
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

std::string bar_line(const Progress& s, const std::vector<double>& curve, Speed speed, int columns,
                     bool unicode) {
  const double fraction =
      s.steps > 0 ? static_cast<double>(s.step) / static_cast<double>(s.steps) : 0;
  const std::string percent = formatted("%3.0f%%", 100 * fraction);
  const std::string steps = " " + support::thousands(s.step) + "/" + support::thousands(s.steps) +
                            formatted(" loss %.3f", s.loss);
  const std::string left = " " + clock_text(remaining(s, speed.steps_per_second)) + " left";
  std::string bar = "|" + support::bar(fraction, 8, unicode) + "|";
  std::string drawn = curve.size() > 1 ? " " + support::sparkline(curve, unicode) : "";
  std::string held_out =
      std::isfinite(s.validation) ? formatted(" held-out %.3f", s.validation) : "";
  std::string tokens = tokens_text(s.tokens * speed.steps_per_second);
  if (!tokens.empty()) tokens.insert(0, " ");
  std::string elapsed = " " + clock_text(speed.elapsed) + " +";
  std::string pair = s.pair.empty() ? "" : "  " + s.pair;
  const auto line = [&] {
    return percent + bar + steps + drawn + held_out + tokens + elapsed + left + pair;
  };
  for (std::string* part : {&pair, &drawn, &elapsed, &bar, &tokens, &held_out}) {
    if (support::display_width(line()) < columns) break;
    part->clear();
  }
  return support::cut(line(), std::max(columns - 1, 1), "");
}

std::string plain_line(const Progress& s, Speed speed) {
  const double rate = speed.steps_per_second;
  return "step=" + std::to_string(s.step) + " of=" + std::to_string(s.steps) +
         formatted(" loss=%.4f", s.loss) +
         (std::isfinite(s.validation) ? formatted(" held_out=%.4f", s.validation) : "") +
         formatted(" lr=%.3g", s.rate) +
         (rate > 0 ? formatted(" tokens_per_s=%.0f", s.tokens * rate) : "") +
         formatted(" elapsed=%.1fs", speed.elapsed) +
         (rate > 0 ? formatted(" left=%.0fs", remaining(s, rate)) : "");
}

ProgressDisplay::ProgressDisplay(bool quiet, bool no_progress)
    : quiet_(quiet), bar_(!quiet && !no_progress && support::obeys_escapes(stderr)) {}

ProgressDisplay::~ProgressDisplay() {
  if (lines_on_screen_ > 0) std::fputs("\n", stderr);
}

double ProgressDisplay::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - began_).count();
}

void ProgressDisplay::wipe() {
  if (lines_on_screen_ > 1) std::fprintf(stderr, "\x1b[%dA", lines_on_screen_ - 1);
  if (lines_on_screen_ > 0) std::fputs("\r\x1b[J", stderr);  // erases what is below too
  lines_on_screen_ = 0;
}

void ProgressDisplay::say(std::string_view text, int indent) {
  say_lines(support::wrapped(text, support::text_width(stderr), indent));
}

void ProgressDisplay::say_lines(std::string_view lines) {
  if (!quiet_) warn(lines);
}

void ProgressDisplay::show_work(std::string_view name, double share) {
  if (!bar_) return;
  const std::string line = std::string(name) + formatted(" %3.0f%%|", 100 * share) +
                           support::bar(share, 8, support::unicode_wanted()) + "|";
  wipe();
  std::fputs(support::cut(line, std::max(support::terminal_width(stderr) - 1, 1), "").c_str(),
             stderr);
  std::fflush(stderr);
  lines_on_screen_ = 1;
}

void ProgressDisplay::warn(std::string_view lines) {
  wipe();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(lines.size()), lines.data());
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
  const bool is_tall = picture_ && support::terminal_height(stderr) >= picture_lines_;
  if (!first && pause < (!bar_ ? 10 : is_tall ? 0.25 : 0.1)) return;
  drawn_ = now;
  draw();
}

void ProgressDisplay::draw() {
  drawn_step_ = progress_.step;
  const Speed speed{elapsed(), steps_per_second_};
  if (!bar_) {
    warn(plain_line(progress_, speed));
    return;
  }
  const int columns = support::terminal_width(stderr);
  std::string picture;
  if (picture_ && support::terminal_height(stderr) >= picture_lines_)
    picture = picture_(columns - 1);
  const std::string line = bar_line(progress_, curve_, speed, columns, support::unicode_wanted());
  wipe();
  std::fprintf(stderr, "%s%s", picture.c_str(), line.c_str());
  std::fflush(stderr);
  lines_on_screen_ = 1 + static_cast<int>(std::count(picture.begin(), picture.end(), '\n'));
}

void ProgressDisplay::finish() {
  if (quiet_ || progress_.step == 0) return;
  wipe();
  picture_ = {};  // the last state is one line
  if (bar_ || drawn_step_ != progress_.step) draw();
  if (lines_on_screen_ > 0) std::fputs("\n", stderr);
  lines_on_screen_ = 0;
}

}  // namespace fledge::train
