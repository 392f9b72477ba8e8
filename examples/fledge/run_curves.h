// The losses of a run over its steps, collected while it trains or read from its folder, and the
// plot of them (plot_command.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "examples/support/drawn.h"

namespace fledge {

struct RunCurves {
  using Points = std::vector<std::pair<double, double>>;  // step and loss, in nats per token

  std::string name;  // the folder
  Points training, held_out;
  /// Of each step that was logged: step, loss, held-out loss, learning rate, norm of the gradients, as
  /// the log has them; "" for a number that is missing or not finite.
  std::vector<std::vector<std::string>> steps;
  std::optional<double> guessing;        // ln V
  std::vector<double> counting;          // of tables with 0, 1, … tokens of history
  std::optional<double> overfits_since;  // a step, as the run said it

  /// The lowest held-out loss (of training, if nothing is held out) and its step.
  std::optional<std::pair<double, double>> best() const;
  /// Whether the run said that it overfits since the best step, and no better one came after it.
  bool is_overfitting() const;
};

/// The events of a log: "start" has the tables, "step" the training losses, "eval" the
/// held-out losses, "overfitting" since when. Lines that are no such event are skipped.
RunCurves curves_of_events(std::string_view lines);
/// Of the run in a folder. Throws InputError, also if its log has no loss.
RunCurves read_curves(const std::string& folder);

/// One run: training and held-out loss, with guessing and the best table as labelled lines.
support::LinePlot plot_of(const RunCurves& run);
/// Several runs: the held-out loss of each (of training, if nothing was held out).
support::LinePlot comparison_of(const std::vector<RunCurves>& runs);

}  // namespace fledge
