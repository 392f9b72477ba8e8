// Training: batches, loss, gradients, steps of the optimiser.
//
// A step depends only on the text, the options (seed included), the weights, the moments and the
// step number. A checkpoint stores all of these but the text. So a resumed run gives the same bits.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nn/gpt/language_model.h"
#include "nn/optim/adamw.h"
#include "nn/optim/weight_average.h"
#include "nn/text/batches.h"

namespace fledge {

/// Numbers of the random streams (Rng::stream) of a run's seed: batches, dropout, and the samples
/// that a run prints. A changed number changes the results of all runs.
enum RandomStream : std::uint64_t { batch_stream = 1, dropout_stream = 2, sample_stream = 3 };

/// What moves the matrices of the blocks. All else is moved by AdamW.
enum class Optimizer { adamw, muon };

struct TrainerOptions {
  Dim batch = 12;           // windows or documents per step
  CosineSchedule schedule;  // the number of steps, and the learning rate of each
  double clip = 1;          // the largest norm of the gradients; 0: no clipping
  double decay = 0.1;       // weight decay of matrices and embeddings; vectors have none
  double beta1 = 0.9, beta2 = 0.99;
  Optimizer optimizer = Optimizer::adamw;
  double average = 0;      // β of the average of the weights; 0: none
  std::uint64_t seed = 1;  // for batches and dropout
};

/// Training produced a number that is not finite, or a square that overflows. what() gives the step
/// and, where known, the op or parameter.
struct Diverged : NumericError {
  using NumericError::NumericError;
};

class Trainer {
 public:
  /// Prepares to train `model`. The trainer and the caller share its parameters. The text must
  /// outlive the trainer. Throws ValueError for invalid options and for a text shorter than one
  /// window.
  Trainer(LanguageModel model, const TokenText& text, const TrainerOptions& options);

  struct Step {
    std::int64_t number;  // 1, 2, …
    double loss;          // mean over this step's targets before the update, in nats per token
    double gradient_norm, rate;
  };
  /// Forward, backward, clip, update. Throws Diverged if the loss or a gradient is not finite,
  /// GraphError if a graph or an Array of the caller holds the numbers of a weight, Interrupted if
  /// an InterruptScope (engine/base/interrupt.h) ends it. After any exception weights, moments and
  /// step number are unchanged.
  Step step();
  /// Computes the gradients of the next step and discards them, to measure the time of a step.
  void dry_run();

  /// The loss that the next step() will report. No weight, moment or gradient changes. Throws
  /// Diverged if it is not finite; then all gradients are removed.
  double next_loss() const;
  /// mean_loss() of the model over `text`, with a history of half a context. Throws Diverged if it
  /// is not finite; then all gradients are removed.
  double loss_on(const TokenText& text, Dim batch, Dim max_windows = 0) const;
  /// Throws Diverged(what + first_not_finite(compute)); if there is no such number, the largest
  /// gradient is named. Removes all gradients. For numbers that are computed outside step(), such
  /// as samples.
  [[noreturn]] void throw_diverged(const std::string& what,
                                   const std::function<void()>& compute) const;

  /// The number of steps done so far.
  std::int64_t steps_done() const { return done_; }
  const LanguageModel& model() const { return model_; }
  const TrainerOptions& options() const { return options_; }
  /// For WeightAverage::InPlace. While it lives, no step may be taken and no state be read.
  WeightAverage& average() { return average_; }
  /// Copies of the average of the weights, or of the weights if there is none.
  std::vector<Array> kept_weights() const;

  /// The state of a run without its weights. Moments and average are in the order of named_parameters().
  struct State {
    std::int64_t done = 0;
    std::vector<Moments> moments;
    std::vector<Array> average{};
  };
  State state() const;
  /// Throws ValueError or ShapeError if the state or the weights belong to another model, and
  /// GraphError if a graph or an Array of the caller holds the numbers of a weight. After an
  /// exception nothing has changed.
  void restore(const State& state, const std::vector<Array>& weights);

 private:
  Tensor loss_of_step() const;
  [[noreturn]] void throw_step_diverged(const std::string& what) const;
  void require_finite_loss(double loss) const;

  LanguageModel model_;
  const TokenText* text_;
  TrainerOptions options_;
  std::vector<NamedTensor> named_;
  std::vector<Tensor> parameters_;
  AdamW optimizer_;
  HeldParameters held_;
  WeightAverage average_;
  std::int64_t done_ = 0;
};

/// Describes the first of these parameters that is not finite; if all are finite, the first op in
/// compute() with a value or gradient that is not, and its inputs that are parameters. Returns ""
/// if there is neither. A NumericError of compute() ends it.
std::string first_not_finite(const std::vector<NamedTensor>& parameters,
                             const std::function<void()>& compute);

/// The largest absolute value and the name of its array: "3e+38 in h.0.mlp.c_fc.weight".
std::string largest_number(const std::vector<std::pair<std::string, Array>>& arrays);

/// Copies of all weights, in the order of parameters().
std::vector<Array> weights_of(const LanguageModel& model);
/// Sets all weights. Throws ValueError or ShapeError for weights of another model, and GraphError
/// if a graph or an Array of the caller holds the numbers of a weight. After an exception nothing
/// has changed.
void set_weights(const LanguageModel& model, const std::vector<Array>& weights);

/// The mean loss in nats over every token of a text, each counted once (evaluation_windows(), with
/// this `history`). If `max_windows` is not 0, it is rounded up to whole batches, and at most so many
/// windows are used: the batches are evenly spaced, the windows of a batch are adjacent. Records no
/// gradients. Over all windows, the result has the same bits for any batch size.
double mean_loss(const LanguageModel& model, const TokenText& text, Dim batch, Dim max_windows = 0,
                 Dim history = 0);

}  // namespace fledge
