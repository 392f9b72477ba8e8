#include "examples/fledge/train/run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "examples/fledge/unusable.h"
#include "examples/support/options.h"
#include "examples/support/text.h"
#include "nn/io/digits.h"
#include "nn/models/model_folder.h"
#include "nn/text/tokenizer_json.h"

namespace fledge::train {

namespace {

constexpr std::int64_t version = 1;
constexpr const char* config_name = "config.json";
constexpr const char* model_name = "model.safetensors";
constexpr const char* state_name = "state.safetensors";

// What was asked for cannot be done; the input is not to blame.
[[noreturn]] void refuse(const std::string& what, const std::string& advice) {
  throw support::Refusal(support::Exit::failed, "fledge train", what, advice);
}

bool exists(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

void make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0) return;
  const int error = errno;
  struct stat status {};
  const bool there = stat(path.c_str(), &status) == 0;
  if (there && S_ISDIR(status.st_mode)) return;
  if (there) refuse(support::quoted(path) + " is a file, not a folder", "name another: -o DIR");
  refuse("cannot make the folder " + support::quoted(path) + ": " +
             std::generic_category().message(error),
         "name a folder in one that is there and that you may write to: -o DIR");
}

bool holds_anything(const std::string& path) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error))
    if (entry.path().filename() != ".lock") return true;
  if (error)
    refuse("cannot read the folder " + support::quoted(path) + ": " + error.message(),
           "name another: -o DIR");
  return false;
}

}  // namespace

std::string config_text(const RunConfig& config) {
  return config_json(config.plan.sizes, [&](JsonWriter& json) {
    json.begin_object().field("version", version);
    json.field("text_bytes", config.text_bytes).field("text_hash", hexadecimal(config.text_hash));
    json.key("run");
    write_plan(json, config.plan);
    json.key("tokenizer");
    write_tokenizer(json, config.tokenizer);
    json.end_object();
  });
}

namespace {

RunConfig run_config(const std::string& text) {
  const ModelConfig config = read_config(text);
  if (config.own.is_null())
    throw ValueError(
        "it has no part of fledge's: without the tokenizer of its text the "
        "model reads and writes no words");
  const JsonValue& own = config.own;
  const std::int64_t found = own["version"].integer(1, 1'000'000);
  if (found > version)
    own.fail("version " + std::to_string(found) +
             " is newer than this fledge, which reads version " + std::to_string(version) +
             ": use a newer fledge");
  own.allow_only({"version", "text_bytes", "text_hash", "run", "tokenizer"});
  Plan plan;
  plan.sizes = config.sizes;
  read_plan(own["run"], plan);
  Tokenizer tokenizer = read_tokenizer(own["tokenizer"]);
  plan.corpus.tokens = tokenizer.kind();
  if (tokenizer.size() != plan.sizes.vocabulary)
    own["tokenizer"].fail("has " + std::to_string(tokenizer.size()) + " symbols, the model " +
                          std::to_string(plan.sizes.vocabulary));
  const std::optional<std::uint64_t> hash = unsigned_number(own["text_hash"].string(), 16);
  if (!hash) own["text_hash"].fail("must be a hexadecimal number");
  const auto bytes = own["text_bytes"].integer(0, std::int64_t{1} << 53);
  return {std::move(plan), std::move(tokenizer), static_cast<std::uint64_t>(bytes), *hash};
}

}  // namespace

RunConfig read_run_config(const std::string& folder) {
  const std::string path = folder + "/" + config_name;
  const std::string text = read_file(path);
  return of_file(path, "it was not written by fledge train, or was changed since",
                 [&] { return run_config(text); });
}

RunFolder::RunFolder(const std::string& path) : path_(path) {
  try {
    lock_ = std::make_unique<FolderLock>(path);
  } catch (const FileError& error) {
    refuse(error.what(), "name another folder: -o DIR; or wait, if another run is in it");
  }
}

RunFolder RunFolder::begin(const std::string& path, const RunConfig& config, bool replaces) {
  make_folder(path);
  RunFolder folder(path);
  if (!replaces && holds_anything(path))
    refuse("the folder " + support::quoted(path) + " is not empty",
           "--resume goes on with the run in it, --force begins anew");
  // The old run goes from its state backwards, so that nothing of it can be taken for the new run.
  for (const char* name : {state_name, model_name})
    if (unlink(folder.file(name).c_str()) != 0 && errno != ENOENT)
      refuse("cannot remove " + support::quoted(folder.file(name)) + ": " +
                 std::generic_category().message(errno),
             "name another folder: -o DIR");
  try {
    write_file(folder.file(config_name), config_text(config));
  } catch (const FileError& error) {
    refuse(error.what(), "name another folder: -o DIR");
  }
  return folder;
}

void RunFolder::rewrite(const RunConfig& config) const {
  write_file(file(config_name), config_text(config));
}

RunFolder RunFolder::resume(const std::string& path) {
  if (!exists(path + "/" + config_name))
    throw Unusable("there is no run in " + support::quoted(path) + ": it has no config.json",
                   "begin one: fledge train FILE -o DIR");
  RunFolder folder(path);
  return folder;
}

std::optional<std::string> RunFolder::bytes(const char* name) const {
  if (!exists(file(name))) return {};
  return read_file(file(name));
}

void RunFolder::open_metrics(const RunNotes& notes) {
  csv_ = std::make_unique<LineFile>(file("metrics.csv"), notes.csv_bytes);
  jsonl_ = std::make_unique<LineFile>(file("metrics.jsonl"), notes.jsonl_bytes);
  if (notes.csv_bytes == 0) csv_->append(csv_header());
}

void RunFolder::append(const Metrics& row) {
  csv_->append(as_csv(row));
  append_json(as_json(row));
}

void RunFolder::append_json(const std::string& line) { jsonl_->append(line + "\n"); }

Checkpoint RunFolder::checkpoint(const Trainer& trainer, RunNotes& notes) {
  notes.csv_bytes = csv_->sync();
  notes.jsonl_bytes = jsonl_->sync();
  return {checkpoint_bytes(trainer, notes), trainer.steps_done()};
}

void RunFolder::write(const Checkpoint& checkpoint) const {
  write_file(file(state_name), checkpoint.bytes);
}

void RunFolder::save_model(const LanguageModel& model, std::int64_t step, double loss) {
  write_file(file(model_name), weights_bytes(model, {{"format", "pt"},
                                                     {"step", std::to_string(step)},
                                                     {"loss", json_number(loss)}}));
}

}  // namespace fledge::train
