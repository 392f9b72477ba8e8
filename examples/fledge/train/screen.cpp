#include "examples/fledge/train/screen.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/support/drawn.h"
#include "examples/support/text.h"

namespace fledge::train {

using support::counted, support::formatted, support::printable, support::thousands,
    support::text_width, support::terminal_width, support::unicode_wanted, support::display_width;

namespace {

constexpr std::size_t curve_points = 10;
// Of the plot, and of a terminal that has room for it above the bar.
constexpr int plot_rows = 12, tall_rows = 36;

// Some of the losses so far, evenly spaced.
std::vector<double> thinned(const RunCurves::Points& curve) {
  std::size_t every = 1;
  while (curve.size() / every > 2 * curve_points) every *= 2;
  std::vector<double> losses;
  for (std::size_t i = every - 1; i < curve.size(); i += every) losses.push_back(curve[i].second);
  return losses;
}

}  // namespace

std::string clock_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "-";
  const long long whole = std::llround(seconds);
  const long long h = whole / 3600, m = whole / 60 % 60, s = whole % 60;
  return h > 0 ? formatted("%lld:%02lld:%02lld", h, m, s) : formatted("%lld:%02lld", m, s);
}

Screen::Screen(bool quiet) : quiet_(quiet), bar_(!quiet && support::obeys_escapes(stderr)) {}

Screen::~Screen() {
  if (lines_on_screen_ > 0) std::fputs("\n", stderr);
}

double Screen::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - began_).count();
}

void Screen::wipe() {
  if (lines_on_screen_ > 1) std::fprintf(stderr, "\x1b[%dA", lines_on_screen_ - 1);
  if (lines_on_screen_ > 0) std::fputs("\r\x1b[J", stderr);  // erases what is below too
  lines_on_screen_ = 0;
}

void Screen::say(std::string_view text, int indent) {
  if (!text.empty()) say_lines(support::wrapped(text, text_width(stderr), indent));
}

void Screen::say_lines(std::string_view lines) {
  if (!quiet_) warn(lines);
}

void Screen::warn(std::string_view lines) {
  wipe();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(lines.size()), lines.data());
  std::fflush(stderr);
}

double Screen::seconds_left() const {
  if (step_ == steps_) return 0;
  return steps_per_second_ > 0 ? static_cast<double>(steps_ - step_) / steps_per_second_ : NAN;
}

// The progress in one line of at most columns − 1 cells:
//
//   62%|#####   | 1,240/2,000 loss 0.612 held-out 0.710 309k tokens/s 0:02 left
//
// A line that is too long loses, in this order: the pair, the curve, the elapsed time, the bar, the
// tokens per second, the held-out loss.
std::string Screen::bar_line(int columns) const {
  const bool unicode = unicode_wanted();
  const double fraction = steps_ > 0 ? static_cast<double>(step_) / static_cast<double>(steps_) : 0;
  const std::vector<double> curve = thinned(curves_.training);
  const std::string percent = formatted("%3.0f%%", 100 * fraction);
  const std::string steps = " " + thousands(step_) + "/" + thousands(steps_) +
                            formatted(" loss %.3f", curves_.training.back().second);
  const double rest = seconds_left();
  const std::string left = rest >= 0 ? " " + clock_text(rest) + " left" : "";
  std::string bar = "|" + support::bar(fraction, 8, unicode) + "|";
  std::string drawn = curve.size() > 1 ? " " + support::sparkline(curve, {}, unicode) : "";
  std::string held_out =
      curves_.held_out.empty() ? "" : formatted(" held-out %.3f", curves_.held_out.back().second);
  const double speed = tokens_ * steps_per_second_ / 1e3;
  std::string tokens =
      speed > 0 ? formatted(speed < 10 ? " %.1fk tokens/s" : " %.0fk tokens/s", speed) : "";
  std::string elapsed = " " + clock_text(this->elapsed()) + (left.empty() ? " gone" : " gone,");
  std::string pair = pair_.empty() ? "" : "  " + pair_;
  const auto line = [&] {
    return percent + bar + steps + drawn + held_out + tokens + elapsed + left + pair;
  };
  for (std::string* part : {&pair, &drawn, &elapsed, &bar, &tokens, &held_out}) {
    if (display_width(line()) < columns) break;
    part->clear();
  }
  return support::cut(line(), std::max(columns - 1, 1), "");
}

// step=1240 of=2000 loss=0.6120 …, for grep and awk.
std::string Screen::plain_line() const {
  const double speed = steps_per_second_;
  return "step=" + std::to_string(step_) + " of=" + std::to_string(steps_) +
         formatted(" loss=%.4f", curves_.training.back().second) +
         (curves_.held_out.empty()
              ? ""
              : formatted(" held_out=%.4f held_out_step=%.0f", curves_.held_out.back().second,
                          curves_.held_out.back().first)) +
         formatted(" lr=%.3g", rate_) +
         (speed > 0 ? formatted(" tokens_per_s=%.0f", tokens_ * speed) : "") +
         formatted(" elapsed=%.1fs", elapsed()) +
         (speed > 0 ? formatted(" left=%.0fs", seconds_left()) : "");
}

void Screen::show_progress() {
  const Clock::time_point now = Clock::now();
  if (first_step_ < 0) {  // the first step that is shown starts the clock of the speed
    first_step_ = step_;
    first_ = now;
  }
  // A mean over all steps, with the evaluations between them: that of the last ones jumps.
  const double since = std::chrono::duration<double>(now - first_).count();
  if (since >= 0.2) steps_per_second_ = static_cast<double>(step_ - first_step_) / since;
  if (quiet_) return;
  const double pause = std::chrono::duration<double>(now - drawn_).count();
  const bool is_tall = support::terminal_height(stderr) >= tall_rows;
  if (drawn_step_ >= 0 && pause < (!bar_ ? 10 : is_tall ? 0.25 : 0.1)) return;
  drawn_ = now;
  draw(true);
}

void Screen::draw(bool shows_plot) {
  drawn_step_ = step_;
  if (!bar_) return warn(plain_line());
  const int columns = terminal_width(stderr);
  std::string picture;
  if (shows_plot && support::terminal_height(stderr) >= tall_rows)
    picture = support::plot_text(plot_of(curves_), columns - 1, plot_rows);
  wipe();
  std::fputs((picture + bar_line(columns)).c_str(), stderr);
  std::fflush(stderr);
  lines_on_screen_ = 1 + static_cast<int>(std::count(picture.begin(), picture.end(), '\n'));
}

void Screen::finish() {
  if (quiet_ || step_ == 0) return;
  wipe();
  if (bar_ || drawn_step_ != step_) draw(false);  // the last state is one line
  if (lines_on_screen_ > 0) std::fputs("\n", stderr);
  lines_on_screen_ = 0;
}

void Screen::warn_wrapped(const std::string& line, int indent) {
  warn(support::is_terminal(stderr) ? support::wrapped(line, terminal_width(stderr), indent)
                                    : line);
}

void Screen::on_event(const Event& event) {
  std::visit([this](const auto& e) { show(e); }, event);
}

void Screen::show(const Started& event) {
  curves_.guessing = event.baselines.uniform;
  if (!event.config.sizes.recipe.sees_later_tokens()) curves_.counting = event.baselines.counting;
  steps_ = event.config.training.schedule.steps;
  tokens_ = static_cast<double>(event.config.training.batch) *
            mean_window(event.corpus.train, event.config.sizes.context);
}

void Screen::show(const Stepped& event) {
  const auto& [number, loss, norm, rate] = event.step;
  curves_.training.emplace_back(static_cast<double>(number), loss);
  step_ = number;
  rate_ = rate;
}

void Screen::show(const Evaluated& event) {
  curves_.held_out.emplace_back(static_cast<double>(event.step), event.held_out);
}

void Screen::show(const Overfitting& event) {
  const std::string best = thousands(event.since);
  say("Overfitting since step " + best +
      ": the training loss falls, the held-out loss rises. The weights of step " + best +
      " are kept.");
  curves_.overfits_since = static_cast<double>(event.since);
}

void Screen::show(const PairMeasurement& event) {
  const auto& [step, words, is_first, control, pair, control_pair] = event;
  const std::string name = printable(words.word) + " -> " + printable(words.looks_at);
  const auto percent = [](double share) { return formatted("%.0f %%", 100 * share); };
  const std::string share = percent(pair.attention);
  if (is_first) pair_ = name + " " + share;
  const bool has_control = control_pair.pairs > 0;
  const std::string head = "  step " + thousands(step) + ": ";
  const std::string even = percent(pair.chance), second = support::quoted(control);
  const std::string beside = percent(control_pair.attention);
  if (known_.insert(name).second)
    say(head + printable(words.word) + " gives " + printable(words.looks_at) + " " + share +
            " of its attention. An even split would give " + even +
            (has_control ? "; the control word " + second + " gets " + beside : "") +
            ". Mean over " + counted(pair.pairs, "position") + ".",
        4);
  else
    say(head + name + " " + share + " (even split " + even +
            (has_control ? "; " + second + " " + beside : "") + ")",
        4);
}

void Screen::show(const Sampled& event) {
  if (event.is_final) return;  // the report has all of them together
  say_lines("  At step " + thousands(event.step) + " it writes:\n" +
            sample_rows(event.text, text_width(stderr), 4, 4));
}

void Screen::plot() {
  if (curves_.training.size() < 2) return;
  std::string picture = support::plot_text(plot_of(curves_), terminal_width(stderr), plot_rows,
                                           unicode_wanted(), {support::colour_wanted(stderr)});
  if (!picture.empty()) picture.pop_back();  // its last line end is that of say_lines()
  say_lines(picture);
}

}  // namespace fledge::train
