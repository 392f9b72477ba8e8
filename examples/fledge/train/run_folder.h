// The folder of a run, locked while the run lasts.
//
//   config.json          GPT-2's sizes; under "fledge" tokenizer, hash of the text and settings
//   model.safetensors    the weights of the best evaluation, or the latest if there is none
//   state.safetensors    the last checkpoint, from which --resume continues
//   metrics.csv, .jsonl  a row for each logged step up to then; .jsonl also has the watched pairs
//
// Key idea: a checkpoint, the model that belongs to it and the rows up to it are replaced together,
// and all files of a new run are written at once. So at any moment the folder has a run that can be
// resumed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nn/io/folder.h"

namespace fledge::train {

inline constexpr const char *config_name = "config.json", *model_name = "model.safetensors",
                            *state_name = "state.safetensors", *csv_name = "metrics.csv",
                            *jsonl_name = "metrics.jsonl";

/// The names of a run's files.
std::vector<std::string> run_files();

/// Writes the files of a new run into an empty or new folder. With `replaces` the folder may have a
/// run, which stays whole until the new run replaces it. A file is replaced only if it is empty or
/// begins as fledge writes it. Throws CommandError when the run cannot begin here. No file has
/// changed then.
LockedFolder begin_folder(const std::string& path, bool replaces, const NewFiles& files);
/// The folder of the run that is resumed. Throws CommandError, before anything in it is touched, if
/// its config.json was not written by fledge.
LockedFolder resume_folder(const std::string& path);

/// The bytes of a file; none if it is missing. Throws FileError for a file of more than `most`
/// bytes, which is not read, and CommandError if the folder was removed.
std::optional<std::string> read_file_of(const Folder& folder, const char* name,
                                        std::uint64_t most = most_file_size);
/// The first `size` bytes of a metrics file: its rows at the checkpoint. If the file is shorter or
/// missing, warns and returns the complete rows that exist.
std::string rows_of(const Folder& folder, const char* name, std::int64_t size,
                    const std::function<void(const std::string&)>& warn);

/// Throws CommandError if the folder was removed.
void require_not_removed(const Folder& folder);
/// Replaces files of the run at this step. Throws WriteError; throws CommandError if the folder was
/// removed or, after writing, if it was moved.
void save_files(LockedFolder& folder, const NewFiles& files, std::int64_t step);

}  // namespace fledge::train
