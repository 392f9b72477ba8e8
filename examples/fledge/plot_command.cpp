#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/fledge/commands.h"
#include "examples/fledge/train/events.h"
#include "examples/fledge/train/store.h"
#include "examples/support/options.h"
#include "examples/support/run_main.h"
#include "examples/support/table.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge {

namespace {

using train::RunCurves;

/// Of the run in a folder. Throws InputError, also if its log has no loss.
RunCurves read_curves(const std::string& folder) {
  constexpr const char* advice = "name the folder of a run: fledge train FILE -o DIR";
  RunCurves run = train::curves_of_events(
      support::with_advice(advice, [&] { return train::saved_events(Folder(folder)); }));
  if (run.training.empty())
    throw support::InputError("there is no loss in " + support::quoted(folder) + ": its " +
                                  train::log_file + " has no step of the run that is saved",
                              "plot it after its next save, or go on: fledge train --resume " +
                                  support::shell_word(folder));
  if (run.damaged_lines > 0)
    support::say(stderr, support::counted(run.damaged_lines, "damaged line") + " of " +
                             support::quoted(Folder(folder).file(train::log_file)) + " left out.");
  run.name = folder;
  return run;
}

/// Several runs: the held-out loss of each (of training, if nothing was held out).
support::LinePlot comparison_of(const std::vector<RunCurves>& runs) {
  support::LinePlot plot;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunCurves& run = runs[i];
    const std::string mark(1, static_cast<char>('a' + i % 26));
    const auto best = run.best();
    plot.curves.push_back({support::printable(run.name) +
                               (best ? ", best" + support::formatted(" %.4f", best->second) : ""),
                           mark, mark, run.held_out.empty() ? run.training : run.held_out});
    if (const auto top = run.top()) plot.top = std::max(plot.top.value_or(0), *top);
  }
  return plot;
}

/// The steps of all runs.
support::Rows rows_of(const std::vector<RunCurves>& runs) {
  support::Rows rows({"folder", "step", "loss", "held_out_loss", "lr", "grad_norm"});
  for (const RunCurves& run : runs)
    for (const std::vector<std::optional<double>>& step : run.steps) {
      std::vector<support::Cell> cells{run.name};
      for (const std::optional<double>& number : step) cells.emplace_back(Json(number), "");
      rows.add(cells);
    }
  return rows;
}

/// The best of each run, below the curves, and the text that it is measured on.
std::string best_table(const std::vector<RunCurves>& runs, support::Paint paint) {
  support::Rows rows(
      {{"", " "}, {"", "run"}, {"", "best loss"}, {"", "of"}, {"", "at step"}, {"", "steps"}});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto best = *runs[i].best();
    rows.add({std::string(1, static_cast<char>('a' + i % 26)),
              {runs[i].name, support::cut(support::printable(runs[i].name), 40)},
              {best.second, "%.4f"},
              std::string(runs[i].held_out.empty() ? "training" : "held-out"),
              std::llround(best.first),
              std::llround(runs[i].training.back().first)});
  }
  return rows.text(support::terminal_width(stdout), paint);
}

}  // namespace

int plot_command(int argc, char** argv) {
  constexpr int height = 12;
  bool json = false, csv = false;
  support::Options options("fledge plot", "The losses of finished runs, as a plot.");
  options.arguments("DIR", 1, 26);
  options.example("fledge plot run", "training and held-out loss of a run");
  options.example("fledge plot run other", "two runs in one plot");
  options.add("--json", "", json, "the steps as one JSON array on stdout: the rows of --csv");
  options.add("--csv", "", csv, "the steps as CSV on stdout: folder, step, losses, lr, grad_norm");
  options.parse(argc, argv);
  if (json && csv)
    support::refuse_usage("--json and --csv are two forms of the same", "use one of them");

  std::vector<RunCurves> runs;
  for (const std::string& folder : options.arguments()) runs.push_back(read_curves(folder));
  const support::LinePlot plot = runs.size() == 1 ? train::plot_of(runs[0]) : comparison_of(runs);
  const support::Paint paint{support::colour_wanted(stdout)};
  std::string text;
  if (json) {
    text = rows_of(runs).json().text() + "\n";
  } else if (csv) {
    text = rows_of(runs).csv();
  } else {
    text = support::plot_text(plot, support::terminal_width(stdout), height,
                              support::unicode_wanted(), paint);
    if (runs.size() > 1) text += "\n" + best_table(runs, paint);
    if (std::any_of(runs.begin(), runs.end(),
                    [&](const RunCurves& run) { return run.token != runs[0].token; }))
      text +=
          support::paragraph("Their tokens differ: compare bits per byte, fledge eval --on FILE.");
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace fledge
