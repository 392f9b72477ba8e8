// What a run shows: lines for people on stderr and, with --json, one object a line on stdout.
//
// Key idea: the training loop reports each event once, and each event is written in both forms
// here.
//                                                                            Next: reporter.cpp.
#pragma once

#include <optional>
#include <string>

#include "examples/fledge/train/metrics.h"
#include "examples/fledge/train/progress_display.h"
#include "examples/fledge/train/report.h"
#include "examples/fledge/train/train_config.h"
#include "nn/inspect/probes.h"

namespace fledge::train {

/// How much one word looked at another.
struct PairWatched {
  std::int64_t step;
  const WordPair& words;
  bool is_first;
  std::string control;       // the word that the second word is compared with
  WatchedPair seen, beside;  // of the pair, and of the first word with the control
};
/// How a run ended.
struct RunEnded {
  enum class Status { done, interrupted, diverged };
  Status status;
  std::int64_t step;
  double train_loss, last_loss, best_loss;  // infinite where there is none
  std::optional<std::int64_t> model_step;
  const Baselines& baselines;
  double seconds;
};

class Reporter {
 public:
  /// The config must outlive it.
  explicit Reporter(const TrainConfig& config)
      : config_(&config), display_(config.quiet, config.no_progress) {}

  /// A message for people alone; with --quiet only warnings are shown. Users' text in it must be
  /// printable.
  void say(const std::string& text) { display_.say(text); }
  void warn(const std::string& text) { display_.warn(text); }

  void start(const Corpus& corpus, const LanguageModel& model, const Baselines& baselines,
             std::int64_t step);
  void watched(const PairWatched& pair);
  /// A text that the model drew after this step.
  void sample(std::int64_t step, const std::string& text);
  void progress(Progress progress);
  /// No more steps: the progress line stays as it is.
  void end_steps() { display_.finish(); }
  /// The attention in a sentence.
  void sentence(std::int64_t step, const std::string& sentence, const Tokenizer& tokenizer,
                const AttentionRows& attention);
  void end(const RunEnded& end);
  /// Writes one object if --json was given.
  void json_line(const std::string& line) const;

 private:
  const TrainConfig* config_;
  ProgressDisplay display_;
  std::string pair_;  // the first watched pair, as the progress line shows it
};

/// {"type":"watch",…}, without a line end: metrics.jsonl has it too.
std::string as_json(const PairWatched& pair);

}  // namespace fledge::train
