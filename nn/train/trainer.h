// Training: batches, loss, gradients, steps of the optimiser.
//
// A step depends only on the weights, the moments, the seed and the number of the step. A checkpoint
// holds these, so a resumed run gives the same bits.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nn/gpt/language_model.h"
#include "nn/optim/adamw.h"
#include "nn/optim/schedule.h"
#include "nn/text/batches.h"

namespace fledge {

struct TrainerOptions {
  Dim batch = 12;           // windows or documents per pass
  Dim accumulate = 1;       // passes per step; their gradients are averaged
  CosineSchedule schedule;  // the number of steps, and the learning rate of each
  double clip = 1;          // the largest norm of the gradients; 0: no clipping
  double decay = 0.1;       // weight decay of matrices and embeddings; vectors have none
  double beta1 = 0.9, beta2 = 0.99;
  std::uint64_t seed = 1;  // for batches and dropout
};

/// A loss, a gradient or a weight is not finite. what() names the step and the first op or parameter
/// with such a number. The program adds advice.
struct Diverged : NumericError {
  using NumericError::NumericError;
};

class Trainer {
 public:
  /// Trains this model, whose parameters it shares. The text must outlive the trainer. Throws ValueError
  /// for sizes that are not positive and for a text shorter than one window.
  Trainer(LanguageModel model, const TokenText& text, const TrainerOptions& options);

  struct Step {
    std::int64_t number;  // 1, 2, …
    double loss;          // of the batch before the weights moved, nats per token
    double gradient_norm, rate;
  };
  /// Forward, backward, clip, update. Throws Diverged if the loss or a gradient is not finite,
  /// GraphError if a graph or an Array of the caller holds the numbers of a weight, Interrupted if an
  /// InterruptScope (engine/base/interrupt.h) ends it. After any exception weights, moments and step
  /// number are unchanged.
  Step step();
  /// Computes the gradients of the next step and discards them, to measure the time of a step.
  void dry_run();

  /// The loss that the next step() will report. No weight, moment or gradient changes. Throws Diverged
  /// if it is not finite.
  double next_loss() const;
  /// mean_loss() of the model over `text`. Throws Diverged if it is not finite.
  double loss_on(const TokenText& text, Dim batch, Dim most = 0) const;
  /// Throws Diverged with the message `what` and the first weight that is not finite, or else the first
  /// op with such a result while compute() runs. Removes all gradients. For numbers that are computed
  /// outside step(), such as samples.
  [[noreturn]] void throw_diverged(const std::string& what,
                                   const std::function<void()>& compute) const;

  /// The number of steps done so far.
  std::int64_t steps_done() const { return done_; }
  const LanguageModel& model() const { return model_; }
  const TrainerOptions& options() const { return options_; }

  /// The state of a run without its weights. Moments are in the order of named_parameters().
  struct State {
    std::int64_t done = 0;
    std::vector<AdamW::Memory> moments;
  };
  State state() const;
  /// Throws ValueError or ShapeError if the state or the weights belong to another model, and
  /// GraphError if a graph or an Array of the caller holds the numbers of a weight. After an exception
  /// nothing has changed.
  void restore(const State& state, const std::vector<Array>& weights);

 private:
  Tensor loss_of_pass(Dim pass) const;
  [[noreturn]] void explain_step(const std::string& what) const;
  void require_finite_loss(double loss) const;
  std::string overflowing_square() const;

  LanguageModel model_;
  const TokenText* text_;
  TrainerOptions options_;
  std::vector<std::pair<std::string, Tensor>> named_;
  std::vector<Tensor> parameters_;
  AdamW optimizer_;
  std::int64_t done_ = 0;
};

/// Copies of all weights, in the order of parameters().
std::vector<Array> weights_of(const LanguageModel& model);
/// Sets all weights. Throws ValueError or ShapeError for weights of another model, and GraphError if a
/// graph or an Array of the caller holds the numbers of a weight. After an exception nothing has changed.
void set_weights(const LanguageModel& model, const std::vector<Array>& weights);

/// The mean loss in nats over every token of a text, each predicted once (evaluation_windows()). If
/// `most` is not 0, at most `most` evenly spaced windows are used. Records no gradients. Over all
/// windows, the result has the same bits for any batch size.
double mean_loss(const LanguageModel& model, const TokenText& text, Dim batch, Dim most = 0);

}  // namespace fledge
