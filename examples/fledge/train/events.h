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

#include "examples/fledge/attention.h"
#include "examples/fledge/train/report.h"
#include "examples/fledge/train/watch.h"
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
  bool is_logged = false;  // by --log-every; otherwise it is no line
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
/// The attention in a sentence of --probe, at the end.
struct Probed {
  std::int64_t step;
  std::string sentence;
  AttentionWeights attention;
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
                           Probed, Snapshot, Ended>;
/// A view of the events.
using Observer = std::function<void(const Event&)>;

/// An event as text, without a line end: "" for a step that is not logged.
struct EventLine {
  std::string logged, printed;  // of events.jsonl, of --json
};
EventLine line_of(const Event& event);

/// The lines of a log. The last is left out if it has no end: the run was killed while it wrote it.
std::vector<std::string> event_lines(std::string_view log);

}  // namespace fledge::train
