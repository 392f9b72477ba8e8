#include "examples/fledge/train/run_folder.h"

#include <sys/stat.h>

#include <cerrno>

#include "examples/fledge/train/run_place.h"
#include "examples/support/errors.h"
#include "examples/support/text.h"
#include "nn/gpt/weights.h"
#include "nn/io/json.h"
#include "nn/text/tokenizer_export.h"

namespace fledge::train {

namespace {

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

// Whether the last of these events is the end of a run that was not stopped.
bool ends_with_end(const std::string& events) {
  if (!events.ends_with('\n')) return false;
  const std::size_t before = events.rfind('\n', events.size() - 2);
  const std::size_t last = before == std::string::npos ? 0 : before + 1;
  return events.compare(last, end_of_run.size(), end_of_run) == 0;
}

}  // namespace

NamedTexts texts_for_others(const RunConfig& config) {
  NamedTexts texts = tokenizer_files(config.tokenizer, config.settings.sizes.context);
  texts.emplace_back("generation_config.json",
                     generation_config_json(saved_marks(config.tokenizer)));
  return texts;
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

RunFolder RunFolder::begin(const std::string& path, RunConfig config, Place place,
                           const Checkpoint& first) {
  const std::string text = config_text(config);
  support::with_advice(
      "no command could read this model again: use a text with fewer symbols, or --tokens bpe",
      [&] { return run_config(text); }, support::quoted(path + "/" + config_name));
  const bool replaces = place == Place::replaceable;
  if (place != Place::unused) require_place(path, replaces);
  const std::vector<std::string> made = make_folders(path);
  if (place == Place::unused && made.empty()) throw FolderExists(path);
  try {
    RunFolder run(path);
    require_replaceable(*run.folder_, replaces);
    const std::string header = csv_header();
    const NamedTexts others = texts_for_others(config);
    NewFiles files{{config_name, text},
                   {model_name, first.model.bytes},
                   {state_name, first.state},
                   {csv_name, header},
                   {jsonl_name, ""}};
    files.insert(files.end(), others.begin(), others.end());
    run.folder_->replace(files);
    run.config_ = std::move(config);
    run.written_model_ = first.model.checksum;
    return run;
  } catch (const FileError& error) {
    remove_folders(made);
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

void RunFolder::open_metrics(RunNotes& notes, bool is_over,
                             const std::function<void(const std::string&)>& warn) {
  const std::optional<std::string> csv = bytes(csv_name), jsonl = bytes(jsonl_name);
  require_not_removed();
  std::string rows = kept_lines(csv, notes.csv_bytes, file(csv_name), warn);
  has_end_ = is_over && jsonl && std::ssize(*jsonl) > notes.jsonl_bytes && ends_with_end(*jsonl);
  const std::string lines =
      has_end_ ? *jsonl : kept_lines(jsonl, notes.jsonl_bytes, file(jsonl_name), warn);
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
}

void RunFolder::append_event(const std::string& line) {
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
