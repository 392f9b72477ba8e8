// The state of a training run in one file: weights, optimiser moments, step number and run notes.
//
// It is one file, so that a crash cannot leave half of a state.
#pragma once

#include <string>
#include <string_view>

#include "nn/train/trainer.h"

namespace fledge {

/// What a run keeps besides weights and moments.
struct RunNotes {
  std::int64_t step = 0;
  std::int64_t best_step = 0;  // of the lowest validation loss; 0: no evaluation yet
  double best_loss = infinity;
  double last_loss = infinity;        // of the last evaluation
  std::int64_t since_best = 0;        // number of evaluations since the best one
  double train_loss = infinity;       // smoothed
  double best_train_loss = infinity;  // the same after the step of the best evaluation
  std::int64_t overfitting_step =
      0;  // when overfitting since the best evaluation was found; 0: never
  std::int64_t csv_bytes = 0, jsonl_bytes = 0;  // sizes of the metrics files at this step
  std::string run_id;                           // of the settings
  std::string model_checksum;                   // of the model.safetensors that belongs to it

  /// Calls f(key, value) for each of them. Writing and reading share this list.
  template <class F>
  void visit(F f) {
    f("step", step), f("best_step", best_step), f("best_loss", best_loss);
    f("last_loss", last_loss), f("since_best", since_best), f("train_loss", train_loss);
    f("best_train_loss", best_train_loss), f("overfitting_step", overfitting_step);
    f("csv_bytes", csv_bytes), f("jsonl_bytes", jsonl_bytes);
    f("id", run_id), f("model", model_checksum);
  }
};

/// The bytes of a checkpoint: a safetensors file. It has the weights under their names, the moments
/// under "adamw.m." + name and "adamw.v." + name, and in the metadata the notes and the checksum.
/// The same state gives the same bytes. The step in it is the trainer's, not that of the notes.
std::string checkpoint_bytes(const Trainer& trainer, RunNotes notes);

/// Sets the trainer and its model to the state in a checkpoint. Throws FormatError if the bytes are
/// no checkpoint, are damaged, have another format, hold a number that no run saves (NaN, infinity,
/// a negative second moment), or belong to another model. After an exception the trainer is
/// unchanged.
RunNotes load_checkpoint(std::string_view bytes, Trainer& trainer);

}  // namespace fledge
