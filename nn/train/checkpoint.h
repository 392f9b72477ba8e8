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
  std::int64_t best_step = 0;  // of the lowest validation loss; 0: no evaluation yet
  double best_loss = infinity;
  double last_loss = infinity;                   // of the last evaluation
  std::int64_t since_best = 0;                   // number of evaluations since the best one
  double train_loss = infinity;                  // smoothed
  std::uint64_t text_hash = 0;                   // of the training text
  std::uint64_t csv_bytes = 0, jsonl_bytes = 0;  // sizes of the metrics files at this step
  std::string run_id;                            // of the settings; "" in version 1
  std::string model_checksum;  // of the model.safetensors that belongs to it; "" in version 1
};

/// The bytes of a checkpoint: a safetensors file. It has the weights under their names, the moments
/// under "adamw.m." + name and "adamw.v." + name, and in the metadata the notes, the step and the
/// checksum. The same state gives the same bytes.
std::string checkpoint_bytes(const Trainer& trainer, const RunNotes& notes);

/// The largest possible state.safetensors of a model of these sizes in bytes. A larger file is not
/// read.
std::uint64_t most_checkpoint_bytes(const LanguageModelSizes& sizes);

/// Throws FormatError unless the file is large enough for such a model. It is called before the
/// model is built.
void require_checkpoint(std::string_view bytes, const LanguageModelSizes& sizes);

/// Sets the trainer and its model to the state in a checkpoint. Throws FormatError if the bytes are
/// no checkpoint, are damaged, have a newer format, hold a number that no run saves (NaN, infinity,
/// a negative second moment), or belong to another model; then the message lists the differences.
/// After an exception the trainer is unchanged.
RunNotes load_checkpoint(std::string_view bytes, Trainer& trainer);

}  // namespace fledge
