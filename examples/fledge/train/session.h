// One call of `fledge train`: from its text to its last line.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <optional>

#include "examples/fledge/train/report.h"
#include "examples/fledge/train/run_folder.h"
#include "examples/fledge/train/screen.h"
#include "examples/fledge/train/stop.h"
#include "examples/fledge/train/train_config.h"
#include "nn/inspect/probes.h"

namespace fledge::train {

class Session {
 public:
  /// Reads the text, makes or loads the model, takes the folder. Throws what reading throws.
  explicit Session(TrainConfig plan);
  /// Trains, and returns the exit status.
  int run();

 private:
  using Warn = std::function<void(const std::string&)>;
  std::optional<std::string> read_state() const;
  bool load_state(const std::optional<std::string>& state, const Warn& warn);
  bool load_best(const Warn& warn);
  void save_config(RunConfig config);
  void find_watched();
  void find_probed();
  void require_memory() const;
  void report_start();
  void report_no_peek();
  void forecast();
  void report_samples();
  void report_probed(std::int64_t step);
  void train();
  bool is_evaluated(std::int64_t step) const;
  void after_step(const Trainer::Step& step);
  void note_evaluation(double loss);
  void print_sample();
  struct Watched {
    Dim control = 0;
    WatchedPair seen, beside;  // the pair, and its first word with the control
  };
  std::vector<Watched> watch() const;
  void note(const Metrics& row, const std::vector<Watched>& watched);
  void say_watched(const std::vector<Watched>& watched);
  Checkpoint beginning() const;
  Checkpoint checkpoint();
  void write(const Checkpoint& now);
  void save();
  void save_best();
  double finite_loss() const;
  void keep_if_resumed_good();
  void finish();
  [[noreturn]] void stop_early();
  int stop_diverged(const std::string& what);
  void go_back();
  void keep_pace() const;

  bool is_out_of_patience() const;
  bool is_over() const;
  /// Whether there is a held-out token with another before it.
  bool holds_out() const { return corpus_->valid.size() > 1; }
  /// The loss of a model that gives every token the same probability: ln V.
  double guessing_loss() const { return std::log(static_cast<double>(plan_.sizes.vocabulary)); }
  /// The step of the model that is kept: of the best evaluation, or else the last.
  std::int64_t kept_step() const {
    return best_.empty() ? trainer_->steps_done() : notes_.best_step;
  }
  std::string sample(Dim count, std::int64_t step) const;
  void say_json(const std::string& line) const;
  void write_baselines(JsonWriter& json) const;
  struct Final {        // over the whole held-out text
    double last, kept;  // of the last weights, and of the model that is kept
    std::int64_t kept_step;
  };
  void end(const char* status, const std::optional<Final>& loss = {});

  static constexpr Dim evaluated_windows = 480;  // of the held-out text, while the run lasts

  std::optional<StopSignals> stop_;  // from the first step on
  TrainConfig plan_;
  Screen screen_;
  std::optional<Corpus> corpus_;
  std::optional<RunFolder> folder_;
  std::optional<LanguageModel> model_;
  std::unique_ptr<Trainer> trainer_;
  std::vector<Array> best_;  // weights, in the order of parameters()
  ModelFile kept_;           // the best model as the folder has it
  Checkpoint good_;          // what a run that diverges goes back to; no state: to its beginning
  struct Before {
    std::vector<Array> weights;
    Trainer::State state;
  };
  std::optional<Before> before_;  // state before the current step, until its evaluation is done
  bool all_saved_ = false;        // the last step too: what is left is to report
  std::int64_t saved_step_ = 0;   // of what is on disk; 0: the beginning
  RunNotes notes_;
  Baselines baselines_;
  std::vector<WordPair> watched_words_;
  std::vector<std::pair<Dim, Dim>> watched_;  // their tokens
  std::string pair_;                          // of words, as the screen shows it
  std::vector<Probe> probes_;
  std::vector<std::vector<Dim>> probed_;  // their tokens
  double saved_ = 0;                      // seconds
};

}  // namespace fledge::train
