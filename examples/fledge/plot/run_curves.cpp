#include "examples/fledge/plot/run_curves.h"

#include <algorithm>
#include <cmath>

#include "examples/fledge/train/run_folder.h"
#include "examples/support/errors.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge {

namespace {

/// Calls f(line) for each complete line. A line that a killed run left without its end is skipped.
template <class F>
void for_lines(std::string_view text, F f) {
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1)
    f(text.substr(begin, end - begin));
}

void add_event(RunCurves& run, const JsonValue& event) {
  const std::string type = event["type"].string();
  if (type == "start") {
    const JsonValue tables = event["baselines"];
    run.guessing = tables["uniform"].number();
    run.counting.clear();
    for (const char* name : {"unigram", "bigram", "trigram", "fourgram"})
      if (tables.has(name)) run.counting.push_back(tables[name].number());
  } else if (type == "overfitting") {
    run.overfits_since = event["since"].number();
  } else if (type == "step" || type == "eval") {
    if (type == "step") {
      std::vector<std::string>& row = run.steps.emplace_back();
      for (const char* name : {"step", "loss", "held_out_loss", "lr", "grad_norm"})
        row.push_back(event.find(name).is_null() ? "" : event[name].shown());
    }
    const char* const key = type == "step" ? "loss" : "held_out_loss";
    if (event[key].is_null()) return;  // a loss that is not finite
    (type == "step" ? run.training : run.held_out)
        .emplace_back(event["step"].number(), event[key].number());
  }
}

std::string shown_loss(double loss) { return support::formatted(" %.4f", loss); }

// Losses far above guessing are those of the first steps, or of a run that diverges.
std::optional<double> top_of(const RunCurves& run) {
  if (!run.guessing) return {};
  return 1.1 * *run.guessing;
}

}  // namespace

std::optional<std::pair<double, double>> RunCurves::best() const {
  const Points& points = held_out.empty() ? training : held_out;
  if (points.empty()) return {};
  return *std::min_element(points.begin(), points.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

bool RunCurves::is_overfitting() const {
  return overfits_since && !held_out.empty() && best()->first == *overfits_since;
}

RunCurves curves_of_events(std::string_view lines) {
  RunCurves run;
  for_lines(lines, [&](std::string_view line) {
    try {
      add_event(run, read_json(std::string(line)));
    } catch (const FormatError&) {
      return;  // of another program
    }
  });
  return run;
}

RunCurves read_curves(const std::string& folder) {
  constexpr const char* advice = "name the folder of a run: fledge train FILE -o DIR";
  RunCurves run = curves_of_events(
      support::with_advice(advice, [&] { return train::saved_events(Folder(folder)); }));
  if (run.training.empty())
    throw support::InputError("there is no loss in " + support::quoted(folder) + ": its " +
                                  train::log_file + " has no step of the run that is saved",
                              "plot it after its next save, or go on: fledge train --resume " +
                                  support::shell_word(folder));
  run.name = folder;
  return run;
}

support::LinePlot plot_of(const RunCurves& run) {
  support::LinePlot plot{.x_name = "steps"};
  plot.curves.push_back({"training loss", "·", ".", run.training});
  if (!run.held_out.empty())
    plot.curves.push_back(
        {"held-out loss, best" + shown_loss(run.best()->second), "●", "o", run.held_out});
  if (run.guessing) plot.levels.push_back({"guessing", *run.guessing});
  if (!run.counting.empty())
    plot.levels.push_back(
        {"best counting table", *std::min_element(run.counting.begin(), run.counting.end())});
  if (const auto best = run.best(); best && !run.held_out.empty()) plot.best = best->first;
  plot.is_worse_after = run.is_overfitting();
  plot.top = top_of(run);
  return plot;
}

support::LinePlot comparison_of(const std::vector<RunCurves>& runs) {
  support::LinePlot plot{.x_name = "steps"};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunCurves& run = runs[i];
    const std::string mark(1, static_cast<char>('a' + i % 26));
    const auto best = run.best();
    plot.curves.push_back(
        {support::printable(run.name) + (best ? ", best" + shown_loss(best->second) : ""), mark,
         mark, run.held_out.empty() ? run.training : run.held_out});
    if (const auto top = top_of(run)) plot.top = std::max(plot.top.value_or(0), *top);
  }
  return plot;
}

}  // namespace fledge
