#include <cstdio>

#include "examples/fledge/commands.h"
#include "examples/fledge/plot/run_curves.h"
#include "examples/support/csv.h"
#include "examples/support/options.h"
#include "examples/support/picture_file.h"
#include "examples/support/table.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge {

namespace {

struct PlotConfig {
  std::vector<std::string> folders;
  std::string svg;
  std::int64_t rows = 12;
  bool has_log_axis = false, json = false, csv = false;
};

/// The text that the best loss is measured on.
const char* best_of(const RunCurves& run) { return run.held_out.empty() ? "training" : "held-out"; }

Json as_json(const RunCurves::Points& points) {
  std::vector<Json> pairs;
  for (const auto& [step, loss] : points) pairs.emplace_back(std::vector<double>{step, loss});
  return pairs;
}

std::string as_json(const std::vector<RunCurves>& runs) {
  std::vector<Json> objects;
  for (const RunCurves& run : runs) {
    const auto best = run.best();
    objects.push_back(Json::object({{"folder", run.name},
                                    {"best_step", best->first},
                                    {"best_loss", best->second},
                                    {"best_of", best_of(run)},
                                    {"guessing", run.guessing},
                                    {"counting", run.counting},
                                    {"training", as_json(run.training)},
                                    {"held_out", as_json(run.held_out)}}));
  }
  return Json::object({{"runs", objects}}).text() + "\n";
}

std::string as_csv(const std::vector<RunCurves>& runs) {
  std::string rows = "folder,step,loss,held_out_loss,lr,grad_norm\n";
  for (const RunCurves& run : runs)
    for (std::vector<std::string> row : run.steps) {
      row.insert(row.begin(), run.name);
      rows += support::csv_row(row);
    }
  return rows;
}

/// The best of each run, below the curves.
std::string best_table(const std::vector<RunCurves>& runs, support::Paint paint) {
  using Align = support::Table::Align;
  support::Table table({{"", Align::left},
                        {"run", Align::left},
                        {"best loss", Align::right},
                        {"of", Align::left},
                        {"at step", Align::right},
                        {"steps", Align::right}});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto best = *runs[i].best();
    table.row({std::string(1, static_cast<char>('a' + i % 26)),
               support::cut(support::printable(runs[i].name), 40),
               support::formatted("%.4f", best.second), best_of(runs[i]),
               support::thousands(static_cast<std::int64_t>(best.first)),
               support::thousands(static_cast<std::int64_t>(runs[i].training.back().first))});
  }
  return table.text(support::unicode_wanted(), paint, support::terminal_width(stdout));
}

}  // namespace

int plot_command(int argc, char** argv) {
  PlotConfig config;
  support::Options options("fledge plot", "The losses of finished runs, as a plot.");
  options.arguments("DIR", 1, 26);
  options.example("fledge plot run", "training and held-out loss of a run");
  options.example("fledge plot run other", "two runs in one plot");
  options.example("fledge plot run --svg losses.svg", "the same as a picture");
  options.add("--rows", "N", config.rows, "height of the plot", {4, 100});
  options.add("--log", "", config.has_log_axis, "each power of ten steps gets the same room");
  options.add("--svg", "FILE", config.svg, "writes the plot as an SVG picture");
  options.add("--json", "", config.json, "the points as one JSON object on stdout");
  options.add("--csv", "", config.csv,
              "the steps as CSV on stdout: folder, step, losses, lr, grad_norm");
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  options.parse(argc, argv);
  if (config.json && config.csv)
    support::refuse_usage("--json and --csv are two forms of the same", "use one of them");
  if (!config.svg.empty()) support::require_picture_place(config.svg);

  std::vector<RunCurves> runs;
  for (const std::string& folder : options.arguments()) runs.push_back(read_curves(folder));
  support::LinePlot plot = runs.size() == 1 ? plot_of(runs[0]) : comparison_of(runs);
  plot.has_log_axis = config.has_log_axis;
  if (!config.svg.empty()) support::write_picture(config.svg, support::plot_picture(plot));
  const support::Paint paint{support::colour_wanted(stdout)};
  std::string text;
  if (config.json) {
    text = as_json(runs);
  } else if (config.csv) {
    text = as_csv(runs);
  } else {
    text = support::plot_text(plot, support::terminal_width(stdout), static_cast<int>(config.rows),
                              support::unicode_wanted(), paint);
    if (runs.size() > 1) text += "\n" + best_table(runs, paint);
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace fledge
