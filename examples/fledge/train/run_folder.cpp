#include "examples/fledge/train/run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "examples/support/errors.h"
#include "examples/support/text.h"
#include "nn/gpt/weights.h"
#include "nn/io/json.h"

namespace fledge::train {

namespace {

constexpr const char* config_name = "config.json";
constexpr const char* model_name = "model.safetensors";
constexpr const char* state_name = "state.safetensors";
constexpr const char* csv_name = "metrics.csv";
constexpr const char* jsonl_name = "metrics.jsonl";

// Exit status 1: the run is not possible here, though its input is usable.
[[noreturn]] void refuse_folder(const std::string& what, const std::string& advice) {
  throw support::CommandError(support::Exit::failed, what, advice);
}

constexpr const char* another_folder = "name another folder: -o DIR";

// Whether a file of this name begins as fledge writes it. An empty file may be replaced too.
bool is_of_a_run(const std::string& name, const std::optional<std::string>& bytes) {
  if (!bytes) return false;  // a link to no file
  const std::string& beginning = *bytes;
  const auto has = [&](const char* part) { return beginning.find(part) != std::string::npos; };
  if (beginning.empty()) return true;
  if (name == config_name) return beginning[0] == '{' && has("\"fledge\"");
  if (name == csv_name) return beginning.starts_with(csv_header().substr(0, beginning.size()));
  if (name == jsonl_name) return beginning.starts_with("{\"type\":\"");
  const bool is_stored = beginning.size() > 8 && beginning[8] == '{' && has("\"__metadata__\"");
  return is_stored && (name == state_name ? has("\"run\"") : has("\"step\"") && has("\"loss\""));
}

// What a crashed writer left does not count.
bool is_empty(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entry;
  do entry = std::filesystem::directory_iterator(folder, error);
  while (error.value() == EINTR);
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename() != ".lock" && entry->path().filename() != ".fledge-uncommitted")
      return false;
  if (error) throw FileError("read", folder, error.value());
  return true;
}

void require_replaceable(const Folder& folder, bool replaces) {
  if (is_empty(folder.path())) return;
  if (!replaces)
    refuse_folder("the folder " + support::quoted(folder.path()) + " is not empty",
                  "--resume goes on with the run in it, --force begins anew");
  for (const std::string& name : run_files())
    if (folder.has(name) && !is_of_a_run(name, folder.beginning(name, 4096)))
      refuse_folder(support::quoted(folder.file(name)) + " was not written by fledge train",
                    "move it away, or name another folder: -o DIR");
}

// Checks the path before anything is made there.
void require_place(const std::string& path, bool replaces) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode))
    refuse_folder(support::quoted(path) + " is a file, not a folder", "name another: -o DIR");
  try {
    require_replaceable(Folder(path, run_files()), replaces);
  } catch (const FileError& error) {
    refuse_folder(error.what(), another_folder);
  }
}

bool make(const std::string& path) {
  try {
    return make_folder(path);
  } catch (const FileError& error) {
    refuse_folder(error.what(),
                  "name a folder in one that is there and that you may write to: -o DIR");
  }
}

// The rows of a metrics file at the checkpoint (its first `keep` bytes). If the file is shorter or
// missing, warns and returns the complete rows that exist.
std::string kept_lines(const std::optional<std::string>& bytes, std::int64_t size,
                       const std::string& path,
                       const std::function<void(const std::string&)>& warn) {
  const auto keep = static_cast<std::size_t>(size);
  if (bytes && bytes->size() >= keep) return bytes->substr(0, keep);
  if (keep == 0) return "";
  warn(support::quoted(path) +
       (bytes ? " is shorter than when the checkpoint was made: rows are missing from it"
              : " is missing: it begins again with the next step"));
  return bytes ? bytes->substr(0, bytes->rfind('\n') + 1) : "";
}

}  // namespace

std::vector<std::string> run_files() {
  return {config_name, model_name, state_name, csv_name, jsonl_name};
}

ModelFile model_file(const LanguageModel& model, const std::string& id, std::int64_t step,
                     double loss) {
  std::string bytes = weights_bytes(
      model,
      {{"format", "pt"}, {"id", id}, {"step", std::to_string(step)}, {"loss", json_number(loss)}});
  std::string checksum = stored_header(bytes).text("checksum");
  return {std::move(bytes), std::move(checksum)};
}

RunFolder::RunFolder(const std::string& path) {
  try {
    folder_ = std::make_unique<LockedFolder>(path, run_files());
  } catch (const FileError& error) {
    const bool is_held = error.error_number == EWOULDBLOCK;
    refuse_folder(
        error.what(),
        std::string(is_held ? "wait until the other run has ended, or " : "") + another_folder);
  }
}

void RunFolder::require_not_removed() const {
  if (folder_->is_removed())
    refuse_folder("the folder " + support::quoted(folder_->path()) +
                      " was removed while the run was in it: nothing of the run is left",
                  "begin again: fledge train FILE -o DIR");
}

template <class F>
auto RunFolder::guarded(F f) const {
  try {
    return f();
  } catch (const WriteError&) {
    require_not_removed();
    throw;
  }
}

RunFolder RunFolder::begin(const std::string& path, RunConfig config, bool replaces,
                           const Checkpoint& first) {
  const std::string text = config_text(config);
  support::with_advice(
      "no command could read this model again: use a text with fewer symbols, or --tokens bpe",
      [&] { return run_config(text); }, support::quoted(path + "/" + config_name));
  require_place(path, replaces);
  const bool is_new = make(path);
  try {
    RunFolder run(path);
    require_replaceable(*run.folder_, replaces);
    run.folder_->replace({{config_name, text},
                          {model_name, first.model.bytes},
                          {state_name, first.state},
                          {csv_name, csv_header()},
                          {jsonl_name, ""}});
    run.config_ = std::move(config);
    run.written_model_ = first.model.checksum;
    return run;
  } catch (const FileError& error) {
    if (is_new) ::rmdir(path.c_str());
    refuse_folder(error.what(), another_folder);
  }
}

RunFolder RunFolder::resume(const std::string& path) {
  struct stat status {};
  const bool is_folder = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (!is_folder || !Folder(path, run_files()).has(config_name))
    throw support::InputError(
        "there is no run in " + support::quoted(path) + ": it has no config.json",
        "begin one: fledge train FILE -o DIR");
  read_run_config(Folder(path, run_files()));  // checked before the folder gets a lock file
  RunFolder run(path);
  run.config_ = read_run_config(*run.folder_);
  return run;
}

void RunFolder::rewrite(const RunConfig& config) {
  config_ = config;
  const std::string text = config_text(*config_);
  replace({{config_name, text}});
}

std::optional<std::string> RunFolder::bytes(const char* name, std::uint64_t most) const {
  std::optional<std::string> found = folder_->read(name, most);
  if (!found) require_not_removed();
  return found;
}

void RunFolder::open_metrics(RunNotes& notes, const std::function<void(const std::string&)>& warn) {
  const std::optional<std::string> csv = bytes(csv_name), jsonl = bytes(jsonl_name);
  require_not_removed();
  std::string rows = kept_lines(csv, notes.csv_bytes, file(csv_name), warn);
  const std::string lines = kept_lines(jsonl, notes.jsonl_bytes, file(jsonl_name), warn);
  if (rows.empty()) rows = csv_header();
  if (csv != rows || jsonl != lines) replace({{csv_name, rows}, {jsonl_name, lines}});
  notes.csv_bytes = static_cast<std::int64_t>(rows.size());
  notes.jsonl_bytes = static_cast<std::int64_t>(lines.size());
  guarded([&] {
    csv_ = std::make_unique<LineFile>(*folder_, csv_name);
    jsonl_ = std::make_unique<LineFile>(*folder_, jsonl_name);
  });
}

void RunFolder::append(const Metrics& row) {
  guarded([&] { csv_->append(as_csv(row)); });
  append_json(as_json(row));
}

void RunFolder::append_json(const std::string& line) {
  guarded([&] { jsonl_->append(line + "\n"); });
}

void RunFolder::sync_metrics(RunNotes& notes) {
  require_not_removed();
  guarded([&] {
    notes.csv_bytes = csv_->sync();
    notes.jsonl_bytes = jsonl_->sync();
  });
}

void RunFolder::replace(const NewFiles& files) {
  guarded([&] { folder_->replace(files); });
}

void RunFolder::write(const Checkpoint& checkpoint) {
  require_not_removed();
  // A config.json that was removed meanwhile is written again.
  const bool writes_config = !folder_->has(config_name);
  const std::string text = writes_config ? config_text(*config_) : "";
  NewFiles files{{state_name, checkpoint.state}};
  if (writes_config) files.push_back({config_name, text});
  if (checkpoint.model.checksum != written_model_ || !folder_->has(model_name))
    files.push_back({model_name, checkpoint.model.bytes});
  replace(files);
  written_model_ = checkpoint.model.checksum;
  if (folder_->is_at_its_path()) return;
  require_not_removed();
  const std::string now = folder_->path_now();
  refuse_folder("the folder " + support::quoted(folder_->path()) + " was moved to " +
                    support::quoted(now) + " while the run was in it",
                "all is saved up to step " + std::to_string(checkpoint.step) +
                    ". go on with: fledge train --resume " + support::shell_word(now));
}

}  // namespace fledge::train
