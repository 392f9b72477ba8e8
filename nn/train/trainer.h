// One training run: batches in, a model that guesses better out.
//
// Not here: files (checkpoint.h), screens (examples/fledge/train). Key idea: what a step does
// depends on the weights, the moments, the seed and the step's number alone. So these are all that
// a checkpoint holds, and a run that goes on after one gives the same bits.     Next: trainer.cpp.
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
  Dim batch = 12;           // windows, or documents, a pass
  Dim accumulate = 1;       // passes a step: their gradients are averaged
  CosineSchedule schedule;  // steps, and the rate of each
  double clip = 1;          // the most that the gradients' norm may be; 0: no clipping
  double decay = 0.1;       // of matrices and embeddings; vectors do not decay
  double beta1 = 0.9, beta2 = 0.99;
  std::uint64_t seed = 1;  // of the batches and of dropout
};

/// A loss, a gradient or a weight is not finite. what() names the step and the first op or parameter
/// that has such a number. What to try depends on the program, which adds it.
struct Diverged : NumericError {
  using NumericError::NumericError;
};

class Trainer {
 public:
  /// Trains this very model, of which it keeps a handle, on the text, which must outlive it. Throws
  /// ValueError for sizes that are not positive and for a text shorter than one window.
  Trainer(LanguageModel model, const TokenText& text, const TrainerOptions& options);

  struct Step {
    std::int64_t number;  // 1, 2, …
    double loss;          // of the batch before the weights moved, nats per token
    double gradient_norm, rate;
  };
  /// Forward, backward, clip, move. Throws Diverged when the loss or a gradient is not finite,
  /// GraphError when a graph or an Array of the caller holds the numbers of a weight, Interrupted
  /// when an InterruptScope (engine/base/interrupt.h) ends it. After any exception weights, moments and
  /// the step's number are as they were before.
  Step step();
  /// Computes what the next step will compute, and moves nothing: to see how long it takes.
  void dry_run();

  /// The loss that the next step() will report, computed without gradients; no weight, moment or
  /// gradient changes. Throws Diverged when it is not finite.
  double next_loss() const;
  /// mean_loss() of the model over `text`. Throws Diverged when it is not finite.
  double loss_on(const TokenText& text, Dim batch, Dim most = 0) const;
  /// Throws Diverged: `what`, then the first weight that is not finite, or else the first op that
  /// gives such a number while compute() runs. For numbers that are computed outside step(): samples.
  /// Gradients are then forgotten.
  [[noreturn]] void throw_diverged(const std::string& what,
                                   const std::function<void()>& compute) const;

  /// How many steps are behind it.
  std::int64_t steps_done() const { return done_; }
  const LanguageModel& model() const { return model_; }
  const TrainerOptions& options() const { return options_; }

  /// What a run goes on from, besides the weights: moments in the order of named_parameters().
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

/// Copies of all weights, in the order of parameters(), and back. set_weights() throws ValueError
/// or ShapeError for weights of another model, and GraphError when a graph or an Array of the caller
/// holds the numbers of a weight; it has then changed nothing.
std::vector<Array> weights_of(const LanguageModel& model);
void set_weights(const LanguageModel& model, const std::vector<Array>& weights);

/// Mean loss over every token of a text, in nats, each guessed once from what stands before it in
/// its window (batches.h); of at most `most` windows, spread evenly, when that is not 0. Records
/// nothing. Over all windows it is the same, to the bit, for any batch.
double mean_loss(const LanguageModel& model, const TokenText& text, Dim batch, Dim most = 0);

}  // namespace fledge
