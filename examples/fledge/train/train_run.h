// One call of `fledge train`, from reading the text to the last report.
//
// Not here: what is saved (run_state.h), what is shown (reporter.h). Read next: train_run.cpp.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "examples/fledge/train/measure.h"
#include "examples/fledge/train/page_recorder.h"
#include "examples/fledge/train/reporter.h"
#include "examples/fledge/train/run_state.h"
#include "examples/fledge/train/samples.h"
#include "examples/fledge/train/stop.h"

namespace fledge::train {

/// Calls f() twice and returns how long the second call took, in seconds: the first one also makes
/// threads and fills caches. If the first took more than a second, that is small beside it, and f() is
/// not called again.
template <class Clock, class F>
double seconds_when_warm(F f) {
  const auto seconds = [&] {
    const auto begin = Clock::now();
    f();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const double first = seconds();
  return first > 1 ? first : seconds();
}

class TrainRun {
 public:
  /// Reads the text, makes or loads the model, and locks the folder. Throws InputError, FileError
  /// or CommandError.
  explicit TrainRun(TrainConfig config);
  /// Trains, and returns the exit status.
  int run();
  /// The folder of the run; "" if nothing is saved.
  const std::string& folder() const { return config_.folder(); }

 private:
  void begin_folder();
  std::string shell_folder() const;
  void train();
  void report_start();
  void check_causality_at_start();
  void forecast();
  void finish();
  void report_result();
  [[noreturn]] void stop_early();
  int stop_diverged(const std::string& what);

  void keep(const Metrics& row, const std::vector<PairMeasurement>& watched,
            const std::optional<std::string>& sample, const std::vector<Json::Members>& snapshot);
  void begin_page();
  void write_page(std::int64_t kept_step);
  bool shows_samples() const;
  void report_final_samples(std::int64_t step);
  void report_kept(double best_loss, double last_loss);
  void report_sentences(std::int64_t step);
  void report_end(const std::string& status, double last_loss, double best_loss,
                  double train_loss = infinity);
  double tokens_of_step() const;

  using Clock = std::chrono::steady_clock;

  std::optional<StopSignals> stop_;  // from the first step on
  TrainConfig config_;
  Reporter report_;
  std::optional<Corpus> corpus_;
  std::optional<LanguageModel> model_;
  std::unique_ptr<Trainer> trainer_;
  std::optional<RunState> state_;
  std::string chosen_;  // which options were chosen from the text
  Baselines baselines_;
  std::optional<double> training_loss_;  // of the last evaluation of this call
  std::optional<double> bits_per_byte_;  // of the loss in the final report
  std::vector<WordPair> pairs_;          // of --watch
  std::vector<Probe> sentences_;         // of --probe
  std::optional<PageRecorder> page_;     // of --page
  std::string folder_name_;  // if the folder is named after the text; a number may follow
  bool all_saved_ = false;   // the last step is saved, and only the reports remain
};

}  // namespace fledge::train
