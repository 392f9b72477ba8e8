// The folder of a run, held against other programs while the run lasts.
//
//   config.json          GPT-2's sizes; under "fledge" the tokenizer, the text's hash and the plan
//   model.safetensors    the best weights so far, in GPT-2's layout
//   state.safetensors    the last checkpoint: what --resume goes on from
//   metrics.csv, .jsonl  a row a step
//
// Key idea: each file is whole at any moment, and all that follows from state.safetensors is made
// again in the same bytes, so that a run may be killed between any two of them.
#pragma once

#include <optional>
#include <string>

#include "examples/fledge/train/metrics.h"
#include "examples/fledge/train/plan.h"
#include "nn/io/files.h"
#include "nn/train/checkpoint.h"

namespace fledge::train {

/// What config.json says of a run.
struct RunConfig {
  Plan plan;  // with the sizes, vocabulary included
  Tokenizer tokenizer;
  std::uint64_t text_bytes = 0, text_hash = 0;
};
std::string config_text(const RunConfig& config);
/// Of a folder. Throws FileError, and Unusable for what fledge has not written.
RunConfig read_run_config(const std::string& folder);

/// The bytes of state.safetensors, and the step that they are of.
struct Checkpoint {
  std::string bytes;
  std::int64_t step = 0;
};

class RunFolder {
 public:
  /// A new run in an empty or new folder; with `replaces`, in one that has a run, which goes.
  static RunFolder begin(const std::string& path, const RunConfig& config, bool replaces);
  /// The run that is there.
  static RunFolder resume(const std::string& path);

  /// Puts other settings into config.json.
  void rewrite(const RunConfig& config) const;
  /// The bytes of a file of the folder; none when there is no such file.
  std::optional<std::string> bytes(const char* name) const;

  /// Cuts the metrics back to a checkpoint's.
  void open_metrics(const RunNotes& notes);
  void append(const Metrics& row);
  void append_json(const std::string& line);
  /// The state, and how far the metrics go, which are brought to the disk.
  Checkpoint checkpoint(const Trainer& trainer, RunNotes& notes);
  /// Makes it the one that --resume goes on from.
  void write(const Checkpoint& checkpoint) const;
  void save_model(const LanguageModel& model, std::int64_t step, double loss);

  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  explicit RunFolder(const std::string& path);

  std::string path_;
  std::unique_ptr<FolderLock> lock_;
  std::unique_ptr<LineFile> csv_, jsonl_;
};

}  // namespace fledge::train
