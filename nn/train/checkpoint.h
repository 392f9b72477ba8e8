// A training run in one file: weights, optimiser moments, notes and settings.
//
// The file is in safetensors format (nn/io/safetensors.h). For each parameter NAME it has
//
//   NAME                         what is kept, of the best step or else of the last: the average of
//                                the weights, if the trainer has one, or else the weights
//   average.NAME                 the average after the last step, if there is one that is not kept
//   last.NAME                    the weights of the last step, if they are not kept
//   adamw.m.NAME, adamw.v.NAME   the moments after the last step; none without a gradient so far
//   muon.m.NAME                  instead of both, for a matrix that Muon moves
//
// and in the metadata "format" (run_format), "notes" (RunNotes and, of each parameter, how many
// gradients it has had, as JSON), "settings" (a text that is not read here) and "checksum".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nn/gpt/language_model.h"
#include "nn/io/files.h"
#include "nn/io/safetensors.h"
#include "nn/train/trainer.h"

namespace fledge {

inline constexpr std::string_view run_format = "fledge run 4";

/// What a run keeps besides weights, moments and settings.
struct RunNotes {
  std::int64_t step = 0;
  std::int64_t best_step = 0;  // of the lowest validation loss; 0: no evaluation yet
  double best_loss = infinity;
  double last_loss = infinity;        // of the last evaluation
  std::int64_t since_best = 0;        // number of evaluations since the best one
  double train_loss = infinity;       // smoothed
  double best_train_loss = infinity;  // the same after the step of the best evaluation
  std::int64_t overfitting_step =
      0;                       // when overfitting since the best evaluation was found; 0: never
  std::int64_t log_bytes = 0;  // of the log of events: what it has of this run up to this step
  /// The last step, if the run was interrupted between it and its evaluation: a run that goes on
  /// evaluates it first. Rare, so a file without one does not name it.
  std::optional<Trainer::Step> unrecorded{};

  /// The step of the weights that are kept.
  std::int64_t kept_step() const { return best_step > 0 ? best_step : step; }

  /// Calls f(key, value) for each of them but `unrecorded`. Writing and reading share this list.
  template <class F>
  void visit(F f) {
    f("step", step), f("best_step", best_step), f("best_loss", best_loss);
    f("last_loss", last_loss), f("since_best", since_best), f("train_loss", train_loss);
    f("best_train_loss", best_train_loss), f("overfitting_step", overfitting_step);
    f("log_bytes", log_bytes);
  }
};

/// The bytes of the file. `best`: the weights of notes.best_step, in the order of parameters(); not
/// used if this is 0 or the trainer's step. The same state gives the same bytes. The step in them is
/// the trainer's, not that of the notes.
std::string checkpoint_bytes(const Trainer& trainer, RunNotes notes, const std::vector<Array>& best,
                             const std::string& settings);

/// A file whose numbers are not read yet.
struct Checkpoint {
  ByteSource file;
  StoredHeader header;
  RunNotes notes;
  std::string settings;
};
/// Reads the header and checks all bytes. Throws FormatError if they are no such file, are damaged or
/// have another format.
Checkpoint open_checkpoint(ByteSource file);

/// The model of these sizes with the weights that are kept. Throws FormatError if the file is of
/// another model, and as read_numbers() does.
LanguageModel kept_model(const Checkpoint& checkpoint, const LanguageModelSizes& sizes);

/// Sets the trainer and its model to the last step. Returns the weights that are kept, in the order
/// of parameters(). Throws FormatError if the file is of another model or holds a number that no run
/// saves (NaN, infinity, a negative second moment). After an exception the trainer is unchanged.
std::vector<Array> restore(const Checkpoint& checkpoint, Trainer& trainer);

}  // namespace fledge
