// What happens in a run, as a stream of events. The screen, --json, the log, plots and the page are
// views of it.
//
// An event has one serialisation, a line of JSON. events.jsonl has it, and --json prints it
// with the few members more that differ between equal runs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "examples/fledge/train/report.h"
#include "examples/support/drawn.h"
#include "nn/io/json.h"
#include "nn/train/trainer.h"

namespace fledge::train {

/// A call of `fledge train` begins its steps, after `step`.
struct Started {
  const TrainConfig& config;
  const Corpus& corpus;
  const LanguageModel& model;
  const Baselines& baselines;
  std::int64_t step;
};
/// A step of the optimiser, and the held-out loss after it if it was evaluated.
struct Stepped {
  Trainer::Step step = {};
  std::optional<double> held_out;
};
/// The losses of the same model on both parts of the text.
struct Evaluated {
  std::int64_t step;
  double held_out, training;
};
/// The held-out loss of this step is the lowest so far.
struct Best {
  std::int64_t step;
  double held_out;
};
/// The held-out loss has risen since the step of the best evaluation, and the training loss falls.
struct Overfitting {
  std::int64_t step, since;
};
/// A text that the model of this step generated.
struct Sampled {
  std::int64_t step;
  std::string text;
  bool is_final = false;  // of the model that is kept
};
/// The weights after a step, for a page (examples/page/page_data.h).
struct Snapshot {
  Json::Members members;
};
/// `status` is "ok", "interrupted" or "diverged". A loss is infinite where there is none.
struct Ended {
  std::string status;
  std::int64_t step;
  double training, held_out;  // of the model of the last step
  double best_held_out;
  std::optional<double> bits_per_byte;     // of the loss in the final report
  std::optional<std::int64_t> model_step;  // of the model that is kept
  const Baselines& baselines;
  double seconds;
};

using Event = std::variant<Started, Stepped, Evaluated, Best, Overfitting, PairMeasurement, Sampled,
                           Snapshot, Ended>;
/// A view of the events.
using Observer = std::function<void(const Event&)>;

/// An event as text, without a line end: "" for a step that is not logged.
struct EventLine {
  std::string logged, printed;  // of events.jsonl, of --json
};
EventLine line_of(const Event& event);

/// The losses of a run over its steps, collected while it trains or from its log.
struct RunCurves {
  using Points = std::vector<std::pair<double, double>>;  // step and loss, in nats per token

  std::string name, token;  // the folder; "character"
  Points training, held_out;
  /// Of each step that was logged: step, loss, held-out loss, learning rate, norm of the gradients;
  /// none for a number that is missing or not finite.
  std::vector<std::vector<std::optional<double>>> steps;
  std::optional<double> guessing;        // ln V
  std::vector<double> counting;          // of tables with 0, 1, … tokens of history
  std::optional<double> overfits_since;  // a step, as the run said it
  std::int64_t damaged_lines = 0;        // which are left out

  /// The lowest held-out loss (of training, if nothing is held out) and its step.
  std::optional<std::pair<double, double>> best() const;
  /// Losses far above guessing are those of the first steps, or of a run that diverges: a plot has
  /// them at its upper edge.
  std::optional<double> top() const {
    return guessing ? std::optional(1.1 * *guessing) : std::nullopt;
  }
};

/// The events of a log: "start" has the tables, "step" the training losses, "eval" the
/// held-out losses, "overfitting" since when. Lines that are no such event are skipped.
RunCurves curves_of_events(std::string_view lines);
/// One run: training and held-out loss, with guessing and the best table as labelled lines.
support::LinePlot plot_of(const RunCurves& run);

/// The lines of a log. The last is left out if it has no end: the run was killed while it wrote it.
std::vector<std::string> event_lines(std::string_view log);

}  // namespace fledge::train
