// What a run shows: lines for people on stderr and, with --json, one object a line on stdout.
//
// Key idea: an event is reported by one call, which writes both forms; the JSON is also kept in
// the log of the run. For a step, the training loop calls progress() for people and event() for programs.
// Read next: reporter.cpp.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "examples/fledge/attention/attention_weights.h"
#include "examples/fledge/plot/run_curves.h"
#include "examples/fledge/train/progress_display.h"
#include "examples/fledge/train/report.h"
#include "examples/fledge/train/train_config.h"
#include "examples/fledge/train/watched_words.h"
#include "nn/inspect/probes.h"
#include "nn/io/json.h"

namespace fledge::train {

/// One step as it is logged. No times: two runs of the same seed log the same bytes.
struct Metrics {
  std::int64_t step = 0;
  double loss = 0, rate = 0, gradient_norm = 0;
  std::optional<double> validation;
  double training = 0;  // beside `validation`: of the same model; not in the step's event
};

/// How much one word attends to another.
struct PairMeasurement {
  std::int64_t step;
  const WordPair& words;
  bool is_first;
  std::string control;             // the word that the second word is compared with
  WatchedPair pair, control_pair;  // the two words; the first word with the control
};

/// Its say() and warn() print to stderr only, not as JSON.
class Reporter : public ProgressDisplay {
 public:
  /// The config must outlive it.
  explicit Reporter(const TrainConfig& config);

  /// From here on keep(line) gets each event, for the log of the run.
  void keep_events(std::function<void(const std::string& line)> keep) { keep_ = std::move(keep); }
  /// A warning, also when quiet: "fledge train: TEXT". On a terminal it is wrapped, otherwise it is
  /// one line. Advice stands below a warning, without the name.
  void problem(const std::string& text) { warn_wrapped("fledge train: " + text); }
  void advice(const std::string& text) { warn_wrapped("              " + text); }

  /// One event. The members of `printed` are not kept: they differ between equal runs.
  void event(Json::Members members, const Json::Members& printed = {}, bool is_kept = true) const;
  void event(const std::string& line) const;

  /// The first line: the text that is read.
  void reading(const std::string& name);
  /// The line after it: where the run is saved, when its text was read and its folder made.
  void saved_in_folder();
  /// The event is kept only if `is_first`: a resumed run has it already.
  void start(const Corpus& corpus, const LanguageModel& model, const Baselines& baselines,
             std::int64_t step, bool is_first);
  /// The loss of the held-out text after this step, and whether it is the lowest so far.
  /// `training`: the loss of the training text, of the same model.
  void evaluated(std::int64_t step, double loss, double training, bool is_best);
  /// The held-out loss rises since this step of the best evaluation; the training loss falls.
  void overfitting(std::int64_t step, std::int64_t since);
  void watched(const PairMeasurement& measured);
  /// A text that the model generated after this step.
  void sample(std::int64_t step, const std::string& text);
  /// The samples of the model that is kept, which is of this step.
  void final_samples(std::int64_t step, const std::vector<std::string>& samples);
  /// A step, and its event if it is logged.
  void recorded(const Metrics& row, bool is_logged);
  void progress(Progress progress);
  /// The steps of a run before it is resumed, as the log of the run has them.
  void resume_curves(std::string_view events) { curves_ = curves_of_events(events); }
  /// The losses of the run until here, as a plot.
  void plot();
  /// The attention weights in a sentence.
  void sentence(std::int64_t step, const std::string& sentence, const AttentionWeights& attention);
  /// `status` is "ok", "interrupted" or "diverged". A loss is infinite where there is none.
  /// `train_loss` and `last_loss`: of the model of the last step, on both parts of the text.
  void end(const std::string& status, std::int64_t step, double train_loss, double last_loss,
           double best_loss, std::optional<double> bits_per_byte,
           std::optional<std::int64_t> model_step, const Baselines& baselines);

 private:
  void print(const std::string& line) const;
  void warn_wrapped(const std::string& line);

  std::function<void(const std::string& line)> keep_;
  const TrainConfig* config_;
  RunCurves curves_;
  std::string pair_;             // the first watched pair, as the progress line shows it
  std::set<std::string> known_;  // the watched pairs whose line has been explained
};

/// {"type":"step",…} and {"type":"watch",…}, without a line end.
std::string as_json(const Metrics& row);
std::string as_json(const PairMeasurement& measured);

}  // namespace fledge::train
