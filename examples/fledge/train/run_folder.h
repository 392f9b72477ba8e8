// The folder of a run, locked while the run lasts.
//
//   config.json          GPT-2's sizes; under "fledge" tokenizer, hash of the text and settings
//   model.safetensors    the weights of the best evaluation, or the latest if there is none
//   state.safetensors    the last checkpoint, from which --resume continues
//   metrics.csv          a row for each logged step
//   tokenizer.json, …    what other programs need besides; never read again
//   metrics.jsonl        an object for each event: start, steps, evaluations, samples, …, end
//
// Key idea: the model and the checkpoint that it belongs to are replaced together, and all files of
// a new run are written at once. So at any moment the folder has a run that can be resumed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "examples/fledge/train/metrics.h"
#include "examples/fledge/train/run_config.h"
#include "examples/fledge/train/run_place.h"
#include "nn/train/checkpoint.h"

namespace fledge::train {

/// The files of files_for_others() that this tokenizer can have.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;
NamedTexts texts_for_others(const RunConfig& config);

/// The bytes of model.safetensors and their checksum.
struct ModelFile {
  std::string bytes, checksum;
};
/// The weights of `step`, and their loss if it is finite.
ModelFile model_file(const LanguageModel& model, const std::string& id, std::int64_t step,
                     double loss);

/// A checkpoint of a step, with the model that belongs to it.
struct Checkpoint {
  ModelFile model;
  std::string state;
  std::int64_t step = 0;
};

/// What may be at the path of a new run.
enum class Place {
  unused,      // nothing, and no other run may begin there at the same time
  empty,       // nothing or an empty folder
  replaceable  // also a run, which stays whole until the new run replaces it
};

/// There is something at the path of a run whose place must be unused.
struct FolderExists : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class RunFolder {
 public:
  /// A new run. Makes its folder and the folders above it. Before it writes, it checks that the new
  /// config.json can be parsed; throws InputError if not. Throws FolderExists for a place that is
  /// not unused, and CommandError when the run cannot begin here. No file has changed then.
  static RunFolder begin(const std::string& path, RunConfig config, Place place,
                         const Checkpoint& first);
  /// The run that the folder has.
  static RunFolder resume(const std::string& path);

  const RunConfig& config() const { return *config_; }
  /// Writes config.json again, with other settings.
  void rewrite(const RunConfig& config);
  /// The bytes of a file of the folder; none when there is no such file. Throws FileError for one
  /// that has more than `most` bytes, which is not read; CommandError when the folder was removed.
  std::optional<std::string> bytes(const char* name,
                                   std::uint64_t most = std::uint64_t{1} << 40) const;

  /// Cuts the metrics files back to the rows of the checkpoint and opens them. Events after the
  /// checkpoint stay if the run is over and the last of them is its end. `warn` gets a message about
  /// missing rows, and `notes` the sizes of the files.
  void open_metrics(RunNotes& notes, bool is_over,
                    const std::function<void(const std::string&)>& warn);
  /// Whether metrics.jsonl has the end of the run.
  bool has_end() const { return has_end_; }
  void append(const Metrics& row);
  /// Appends a line to metrics.jsonl.
  void append_event(const std::string& line);
  /// Flushes the metrics files to disk (fsync) and stores their sizes in `notes`.
  void sync_metrics(RunNotes& notes);
  /// Saves the checkpoint, from which --resume then continues. Throws WriteError; throws
  /// CommandError when the folder was removed, or after writing when it was moved.
  void write(const Checkpoint& checkpoint);

  std::string file(const char* name) const { return folder_->file(name); }

 private:
  explicit RunFolder(const std::string& path);
  void require_not_removed() const;
  /// f(); throws CommandError instead of WriteError when the folder was removed meanwhile.
  template <class F>
  auto guarded(F f) const;
  void replace(const NewFiles& files);

  std::unique_ptr<LockedFolder> folder_;
  std::optional<RunConfig> config_;
  std::string written_model_;  // the checksum of model.safetensors
  std::unique_ptr<LineFile> csv_, jsonl_;
  bool has_end_ = false;
};

}  // namespace fledge::train
