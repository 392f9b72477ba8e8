// The events of a run, and what turns them into text: the screen writes lines for people to stderr,
// --json one object a line to stdout.
//
// Key idea: the training loop says what happened, once; each reporter decides what it writes.
//                                                      Next: screen_reporter.cpp, json_reporter.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/fledge/train/metrics.h"
#include "examples/fledge/train/progress_display.h"
#include "examples/fledge/train/report.h"
#include "examples/fledge/train/train_config.h"
#include "nn/inspect/probes.h"

namespace fledge::train {

/// A message for people alone; with --quiet only warnings are shown. Users' text in it must be
/// printable.
struct Said {
  std::string text;
};
struct Warned {
  std::string text;
};

struct RunStarted {
  const TrainConfig& config;
  const Corpus& corpus;
  const LanguageModel& model;
  const Baselines& baselines;
  std::int64_t step;
};
/// A step's row of metrics.
struct StepLogged {
  const Metrics& row;
};
struct PairWatched {
  std::int64_t step;
  const WordPair& words;
  bool is_first;
  std::string control;       // the word that the second word is compared with
  WatchedPair seen, beside;  // of the pair, and of the first word with the control
};
struct SampleDrawn {
  std::int64_t step;
  std::string text;
};
/// No more steps: the progress line stays as it is.
struct StepsEnded {};
struct SentenceProbed {
  std::int64_t step;
  const std::string& sentence;
  const Tokenizer& tokenizer;
  Looked looked;
};
struct RunEnded {
  enum class Status { done, interrupted, diverged };
  Status status;
  const TrainConfig& config;
  std::int64_t step;
  double train_loss, last_loss, best_loss;  // infinite where there is none
  std::optional<std::int64_t> model_step;
  const Baselines& baselines;
  double seconds;
};

/// Ignores each event that it does not override. `Progress` is an event too.
class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void report(const Said&) {}
  virtual void report(const Warned&) {}
  virtual void report(const RunStarted&) {}
  virtual void report(const StepLogged&) {}
  virtual void report(const PairWatched&) {}
  virtual void report(const SampleDrawn&) {}
  virtual void report(const Progress&) {}
  virtual void report(const StepsEnded&) {}
  virtual void report(const SentenceProbed&) {}
  virtual void report(const RunEnded&) {}
};

class ScreenReporter : public Reporter {
 public:
  ScreenReporter(bool quiet, bool no_progress) : display_(quiet, no_progress) {}

  using Reporter::report;
  void report(const Said& event) override { display_.say(event.text); }
  void report(const Warned& event) override { display_.warn(event.text); }
  void report(const RunStarted& event) override;
  void report(const PairWatched& event) override;
  void report(const SampleDrawn& event) override;
  void report(const Progress& event) override;
  void report(const StepsEnded&) override { display_.finish(); }
  void report(const SentenceProbed& event) override;
  void report(const RunEnded& event) override;

 private:
  ProgressDisplay display_;
  std::string pair_;  // the first watched pair, as the progress line shows it
};

class JsonReporter : public Reporter {
 public:
  using Reporter::report;
  void report(const RunStarted& event) override;
  void report(const StepLogged& event) override;
  void report(const PairWatched& event) override;
  void report(const SampleDrawn& event) override;
  void report(const SentenceProbed& event) override;
  void report(const RunEnded& event) override;
};

/// {"type":"watch",…}, without a line end: metrics.jsonl has it too.
std::string as_json(const PairWatched& event);

/// The reporters of a run.
class Reporters {
 public:
  explicit Reporters(const TrainConfig& config) {
    reporters_.push_back(std::make_unique<ScreenReporter>(config.quiet, config.no_progress));
    if (config.json) reporters_.push_back(std::make_unique<JsonReporter>());
  }
  template <class Event>
  void operator()(const Event& event) const {
    for (const auto& reporter : reporters_) reporter->report(event);
  }
  void say(std::string text) const { (*this)(Said{std::move(text)}); }
  void warn(std::string text) const { (*this)(Warned{std::move(text)}); }

 private:
  std::vector<std::unique_ptr<Reporter>> reporters_;
};

}  // namespace fledge::train
