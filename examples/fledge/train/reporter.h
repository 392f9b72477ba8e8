// What a run shows: lines for people on stderr and, with --json, one object a line on stdout.
//
// Key idea: most events are reported by one call, which writes both forms. For a step, the training
// loop calls progress() for people and json_line() for programs. Read next: reporter.cpp.
#pragma once

#include <optional>
#include <string>

#include "examples/fledge/attention/attention_weights.h"
#include "examples/fledge/train/metrics.h"
#include "examples/fledge/train/progress_display.h"
#include "examples/fledge/train/report.h"
#include "examples/fledge/train/train_config.h"
#include "nn/inspect/probes.h"

namespace fledge::train {

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
  explicit Reporter(const TrainConfig& config)
      : ProgressDisplay(config.quiet, config.no_progress), config_(&config) {}

  /// The first line: the text that is read, and where the run is saved.
  void reading(const std::string& name);
  void start(const Corpus& corpus, const LanguageModel& model, const Baselines& baselines,
             std::int64_t step);
  void watched(const PairMeasurement& measured);
  /// A text that the model generated after this step.
  void sample(std::int64_t step, const std::string& text);
  void progress(Progress progress);
  /// The attention weights in a sentence.
  void sentence(std::int64_t step, const std::string& sentence, const AttentionWeights& attention);
  /// `status` is "ok", "interrupted" or "diverged". A loss is infinite where there is none.
  void end(const std::string& status, std::int64_t step, double train_loss, double last_loss,
           double best_loss, std::optional<std::int64_t> model_step, const Baselines& baselines);
  /// Writes one object if --json was given.
  void json_line(const std::string& line) const;

 private:
  const TrainConfig* config_;
  std::string pair_;  // the first watched pair, as the progress line shows it
};

/// {"type":"watch",…}, without a line end. The same object is also written to metrics.jsonl.
std::string as_json(const PairMeasurement& measured);

}  // namespace fledge::train
