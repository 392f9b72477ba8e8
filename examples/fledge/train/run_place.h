// Where a new run is saved: the name of its folder, and what may be at that path.
//
// Key idea: mkdir() creates a folder or fails, in one call of the system. So two runs that begin
// together never choose the same folder.
#pragma once

#include <string>
#include <vector>

#include "nn/io/folder.h"

namespace fledge::train {

/// The names of a run's files.
inline constexpr const char* run_file = "run.safetensors";
inline constexpr const char* log_file = "events.jsonl";
/// The largest log in bytes that is read.
inline constexpr std::uint64_t most_log_bytes = std::uint64_t{1} << 30;

/// The name of a run's folder when none was given: "poems-run" for "texts/poems.txt", "text-run"
/// for standard input. It has no control characters, and begins with neither a dot nor a hyphen.
std::string run_name(const std::string& text_path);
/// The first of poems-run, poems-run-2, poems-run-3, … that does not exist.
std::string free_name(const std::string& name);

/// Makes a folder, and the folders above it that are missing. Returns those that it made, the
/// outermost first; nothing when the path exists. Throws CommandError; then it has removed them.
std::vector<std::string> make_folders(const std::string& path);
/// Removes these folders, the last one first, if they are empty.
void remove_folders(const std::vector<std::string>& folders);

/// Throws CommandError unless the folder is empty or, with `replaces`, has no file in the way of a run:
/// none of a model, and none with the name of a run's that was not written by fledge train. Such a
/// file counts as written by it if it is empty or if its first 4096 bytes look like its output.
void require_replaceable(const Folder& folder, bool replaces);
/// The same for a path, at which there may be nothing.
void require_place(const std::string& path, bool replaces);

/// Throws CommandError with exit status 1: the run is not possible here, though its input is usable.
[[noreturn]] void refuse_folder(const std::string& what, const std::string& advice);
inline constexpr const char* another_folder = "name another folder: -o DIR";

}  // namespace fledge::train
