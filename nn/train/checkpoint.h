// A run on disk: everything that the next step depends on, in one file.
//
// Not here: writing the file (io/folder.h), the weights for other programs (gpt/folder.h).
// Key idea: one file, so that no stop can leave half of a state; a checksum over all of it, because
// the format of the tensors has none.                                          Next: checkpoint.cpp.
#pragma once

#include <string>
#include <string_view>

#include "nn/train/trainer.h"

namespace fledge {

/// What a run remembers besides weights and moments.
struct RunNotes {
  std::int64_t best_step = 0;  // of the lowest held-out loss; 0: not evaluated yet
  double best_loss = infinity;
  double last_loss = infinity;                   // of the last evaluation
  std::int64_t since_best = 0;                   // evaluations that were no better
  double train_loss = infinity;                  // smoothed
  std::uint64_t text_hash = 0;                   // of the text it learns from
  std::uint64_t csv_bytes = 0, jsonl_bytes = 0;  // of the metrics, up to this step
  std::string run_id;          // of the run's settings; "" in checkpoints of version 1
  std::string model_checksum;  // of the model's file that belongs to it; "" in version 1
};

/// The bytes of a checkpoint: a safetensors file with the weights under their names, the moments
/// under "adamw.m." and "adamw.v." + name, and in its metadata the notes, the step and the
/// checksum. The same state gives the same bytes.
std::string checkpoint_bytes(const Trainer& trainer, const RunNotes& notes);

/// The largest state.safetensors of a model of these sizes in bytes. A larger file is not read.
std::uint64_t most_checkpoint_bytes(const LanguageModelSizes& sizes);

/// Throws FormatError unless the file is large enough for such a model: before the model is built.
void require_checkpoint(std::string_view bytes, const LanguageModelSizes& sizes);

/// Sets the trainer and its model to a checkpoint's state. Throws FormatError for what is no such
/// file, was damaged, is of a later format, or holds a number that no run has saved: NaN, infinity,
/// a negative mean of squares; and for a checkpoint of another model, listing all differences. The
/// trainer is then as it was.
RunNotes load_checkpoint(std::string_view bytes, Trainer& trainer);

}  // namespace fledge
