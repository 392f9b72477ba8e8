#include "examples/fledge/train/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>

#include "examples/fledge/train/source.h"
#include "examples/support/run_main.h"
#include "examples/support/text.h"

namespace fledge::train {

using support::InputError, support::with_advice;
namespace fs = std::filesystem;

namespace {

// Of a name of a folder. File systems accept 255; a number and a suffix follow.
constexpr std::size_t most_name_bytes = 200;

// Whether a file of a run begins as fledge writes it. An empty file may be replaced too.
bool is_of_a_run(const std::string& name, const std::string& beginning) {
  if (beginning.empty()) return true;
  if (name == log_file) return beginning.starts_with("{\"type\":\"");
  return beginning.find("\"format\":\"fledge run") != std::string::npos;
}

bool path_exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

constexpr const char* damage_advice_of_run = "restore the file, or begin a new run";

// For a folder without run.safetensors.
[[noreturn]] void refuse_missing_run(const std::string& path) {
  const std::string name = support::quoted(path);
  std::error_code none;
  if (fs::exists(path + "/state.safetensors", none))
    throw InputError("the run in " + name + " is of an older fledge",
                     "commit 44c42e9 of fledge reads it");
  if (fs::is_regular_file(path, none))
    throw InputError(name + " is a file, not the folder of a run",
                     "begin a run with it as text: fledge train FILE -o DIR");
  throw InputError("there is no run in " + name + ": it has no " + run_file,
                   "begin one: fledge train FILE -o DIR");
}

constexpr double smoothing = 0.02;  // the smallest weight of a new loss in the smoothed one
// Overfitting: this number of evaluations or more have passed since the best one, the loss is higher
// than the best by this share, and the training loss is lower.
constexpr std::int64_t evaluations_of_a_rise = 3;
constexpr double least_rise = 0.02;
// The beginning of the last event of a run that was not stopped.
constexpr std::string_view end_of_run = R"({"type":"end","status":"ok",)";

// The first `most` bytes of an open log, "" of none. The rest, which may be long, is not read.
std::string read_log(const std::optional<ByteSource>& log, const Folder& folder,
                     std::uint64_t most = most_file_size) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  const std::uint64_t bytes = std::min(most, log ? log->size() : 0);
  if (bytes > most_bytes)
    throw FileError("read", folder.file(log_file), "its run has more than 1 GiB of events");
  return log ? log->beginning(bytes) : "";
}

bool is_out_of_patience(const TrainConfig& settings, std::int64_t since_best) {
  return settings.patience > 0 && since_best >= settings.patience;
}

bool is_over(const TrainConfig& settings, const RunNotes& notes) {
  return !notes.unrecorded && (is_out_of_patience(settings, notes.since_best) ||
                               notes.step >= settings.training.schedule.steps);
}

// The lines of a log that belong to the saved run with these notes.
std::string lines_of_run(const std::optional<ByteSource>& log, const Folder& folder,
                         const RunNotes& notes, bool is_over) {
  std::string lines =
      read_log(log, folder, is_over ? most_file_size : static_cast<std::uint64_t>(notes.log_bytes));
  lines.resize(lines.rfind('\n') + 1);  // npos + 1 is 0
  return lines;
}

void remove_folders(const std::vector<std::string>& folders) {
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) ::rmdir(folder->c_str());
}

// Returns the folders that it made, the outermost first; nothing when the path exists.
std::vector<std::string> make_folders(const std::string& path) {
  std::vector<std::string> missing{path}, made;  // the innermost first; the outermost first
  for (fs::path above = fs::path(path).parent_path();
       !above.empty() && !path_exists(above.string()); above = above.parent_path())
    missing.push_back(above.string());
  try {
    for (auto folder = missing.rbegin(); folder != missing.rend(); ++folder)
      if (make_folder(*folder)) made.push_back(*folder);
  } catch (const FileError& error) {
    remove_folders(made);
    refuse_folder(error.what(), "name a folder in one that you may write to: -o DIR");
  }
  return made;
}

// Throws CommandError, also when another process has the lock.
std::unique_ptr<LockedFolder> lock_folder(const std::string& path) {
  try {
    return std::make_unique<LockedFolder>(path);
  } catch (const FileError& error) {
    const bool is_held = error.error_number == EWOULDBLOCK;
    refuse_folder(
        error.what(),
        std::string(is_held ? "wait until the other run has ended, or " : "") + another_folder);
  }
}

}  // namespace

SavedRun open_run(const Folder& folder) {
  const std::string path = support::quoted(folder.file(run_file));
  return with_advice(
      damage_advice_of_run,
      [&]() -> SavedRun {
        const std::optional<ByteSource> file = folder.open(run_file);
        if (!file) refuse_missing_run(folder.path());
        Checkpoint checkpoint = open_checkpoint(*file);
        RunConfig config = located_at("its settings",
                                      [&] { return run_config(read_config(checkpoint.settings)); });
        // Before such a model is built.
        if (4 * parameter_count(config.settings.sizes) > static_cast<double>(file->size()))
          throw FormatError("it has too few bytes for the model of its settings");
        return {std::move(checkpoint), std::move(config)};
      },
      path);
}

// The log is opened first: while a new run takes this one's place, the notes are not older than it.
std::string saved_events(const Folder& folder) {
  return with_advice(damage_advice_of_run, [&] {
    const std::optional<ByteSource> log = folder.open(log_file);
    const SavedRun run = open_run(folder);
    const RunNotes& notes = run.checkpoint.notes;
    return lines_of_run(log, folder, notes, is_over(run.config.settings, notes));
  });
}

std::string run_name(const std::string& text_path) {
  if (text_path == "-") return "text-run";
  std::error_code no_folder;  // the current folder may have been removed
  fs::path path = fs::absolute(text_path, no_folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "poems/"
  std::string name =
      fs::is_directory(path, no_folder) ? path.filename().string() : path.stem().string();
  name.erase(0, std::min(name.find_first_not_of(".-"), name.size()));
  if (name.size() > most_name_bytes) {  // cut in front of a character
    std::size_t end = most_name_bytes;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    name.resize(end);
  }
  for (char& byte : name)
    if (std::iscntrl(static_cast<unsigned char>(byte))) byte = '_';
  return (name.empty() ? "text" : name) + "-run";
}

std::string free_name(const std::string& name) {
  std::string free = name;
  for (int number = 2; path_exists(free); ++number) free = name + "-" + std::to_string(number);
  return free;
}

void require_replaceable(const Folder& folder, bool replaces) {
  for (const char* name : {"config.json", "model.safetensors"})
    if (folder.has(name))
      refuse_folder(
          support::quoted(folder.file(name)) + " is in the way: it is of a model, not of a run",
          "move it away, or name another folder: -o DIR");
  if (!replaces && !folder.names().empty())
    refuse_folder("the folder " + support::quoted(folder.path()) + " is not empty",
                  "--resume goes on with the run in it, --force begins anew");
  for (const char* name : {run_file, log_file})
    if (const auto beginning = folder.beginning(name, 4096);
        folder.has(name) && !(beginning && is_of_a_run(name, *beginning)))
      refuse_folder(support::quoted(folder.file(name)) + " was not written by fledge train",
                    "move it away, or name another folder: -o DIR");
}

void require_place(const std::string& path, bool replaces) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode))
    refuse_folder(support::quoted(path) + " is a file, not a folder", "name another: -o DIR");
  try {
    require_replaceable(Folder(path), replaces);
  } catch (const FileError& error) {
    refuse_folder(error.what(), another_folder);
  }
}

void refuse_folder(const std::string& what, const std::string& advice) {
  throw support::CommandError(support::Exit::failed, what, advice);
}

std::unique_ptr<LockedFolder> new_folder(const std::string& path,
                                         const std::vector<std::string>& files, bool must_be_new,
                                         const std::function<void(const LockedFolder&)>& fill) {
  const std::vector<std::string> made = make_folders(path);
  if (must_be_new && made.empty()) return nullptr;
  try {
    std::unique_ptr<LockedFolder> folder = lock_folder(path);
    fill(*folder);
    return folder;
  } catch (const FileError& error) {
    for (const std::string& name : files)
      if (!made.empty()) ::unlink((path + "/" + name).c_str());
    remove_folders(made);
    refuse_folder(error.what(), another_folder);
  }
}

ResumedRun resume_run(const std::string& path) {
  std::error_code none;
  if (!fs::is_directory(path, none)) refuse_missing_run(path);
  open_run(Folder(path));  // checked before the folder gets a lock file
  std::unique_ptr<LockedFolder> folder = lock_folder(path);
  SavedRun saved = open_run(*folder);
  return {std::move(folder), std::move(saved)};
}

Store::Store(const TrainConfig& config, const RunConfig& run, const Corpus& corpus,
             Trainer& trainer, std::optional<ResumedRun> resumed)
    : config_(&config), corpus_(&corpus), trainer_(&trainer) {
  RunConfig saved = run;
  saved.settings = config;
  saved.settings.texts = names_without_folders(config.texts);
  if (!config.from.empty()) saved.settings.from = names_without_folders({config.from})[0];
  settings_ = config_text(saved);
  if (!resumed) return;
  folder_ = std::move(resumed->folder);
  load(resumed->saved);
}

bool Store::is_out_of_patience() const {
  return train::is_out_of_patience(*config_, notes_.since_best);
}

bool Store::is_over() const { return train::is_over(*config_, notes_); }

std::string Store::events() const {
  return folder_ ? read_log(folder_->open(log_file), *folder_) : waiting_;
}

bool Store::begin(bool must_be_new) {
  with_advice(
      "no command could read this model again: use a text with fewer symbols, or --tokens bpe",
      [&] { return run_config(read_config(settings_)); }, "the settings of this run");
  rollback_ = this_save();
  const std::string& path = config_->folder();
  if (!must_be_new) require_place(path, config_->force);
  folder_ = new_folder(path, {run_file, log_file}, must_be_new, [&](const LockedFolder& folder) {
    require_replaceable(folder, config_->force);
    // In this order: no event of an old log belongs to the new run, whose log has no byte yet.
    folder.replace(run_file, rollback_.bytes);
    open_log(folder, "");
  });
  return folder_ != nullptr;
}

void Store::load(const SavedRun& run) {
  const Checkpoint& saved = run.checkpoint;
  with_advice(
      "begin a new run in another folder with -o, or here with --force",
      [&] {
        std::vector<Array> kept = restore(saved, *trainer_);
        if (saved.notes.best_step > 0) best_ = std::move(kept);
        try {
          loaded_loss_ = trainer_->next_loss();
          const WeightAverage::InPlace average(trainer_->average());
          if (trainer_->average().exists()) trainer_->next_loss();
        } catch (const NumericError& error) {
          throw FormatError(std::string("its weights are of a run that diverged: ") + error.what());
        }
      },
      support::quoted(folder_->file(run_file)));
  notes_ = saved.notes;
  has_new_settings_ = saved.settings != settings_;
  saved_step_ = step();
  const std::optional<ByteSource> log = folder_->open(log_file);
  kept_events_ = lines_of_run(log, *folder_, notes_, is_over());
  const std::size_t last = kept_events_.rfind('\n', kept_events_.size() - 2) + 1;
  has_end_ = is_over() && kept_events_.compare(last, end_of_run.size(), end_of_run) == 0;
  if (!has_end_) kept_events_ = lines_of_run(log, *folder_, notes_, false);
}

bool Store::go_on() {
  if (has_end_) return false;
  const std::int64_t log_bytes = notes_.log_bytes;
  open_log(*folder_, kept_events_);
  const bool is_short = std::ssize(kept_events_) < log_bytes;
  if (is_over()) return is_short;
  // A run that began with other weights cannot have those of its seed.
  const bool is_good = step() == 0 || !config_->from.empty() || loaded_loss_ < guessing_loss() ||
                       notes_.best_loss < guessing_loss();
  Save now = this_save();
  if (has_new_settings_ || notes_.log_bytes != log_bytes) write(now);
  rollback_ = is_good ? std::move(now) : initial_save();
  return is_short;
}

void Store::take(const Trainer::Step& step) {
  notes_.step = step.number;
  notes_.unrecorded = step;
}

void Store::record(std::optional<double> held_out) {
  // The mean of the first 50 losses, then an exponential mean over about 50.
  const auto& [number, loss, norm, rate] = *notes_.unrecorded;
  const double weight = std::max(smoothing, 1 / static_cast<double>(number));
  notes_.train_loss = std::isfinite(notes_.train_loss)
                          ? notes_.train_loss + weight * (loss - notes_.train_loss)
                          : loss;
  notes_.unrecorded.reset();
  if (!held_out) return;
  notes_.last_loss = *held_out;
  ++notes_.since_best;
  if (*held_out >= notes_.best_loss) {
    const bool rises = notes_.since_best >= evaluations_of_a_rise &&
                       *held_out > notes_.best_loss * (1 + least_rise);
    const bool falls = notes_.train_loss < notes_.best_train_loss;
    if (rises && falls && notes_.overfitting_step == 0) notes_.overfitting_step = step();
    return;
  }
  notes_.best_loss = *held_out;
  notes_.best_train_loss = notes_.train_loss;
  notes_.overfitting_step = 0;
  notes_.best_step = step();
  notes_.since_best = 0;
  best_ = trainer_->kept_weights();
}

// The log is a new file: a second link to the old one keeps what it has.
void Store::open_log(const LockedFolder& folder, std::string_view events) {
  folder.replace(log_file, events);
  log_ = std::make_unique<Descriptor>(folder.descriptor(), log_file, O_WRONLY | O_NOFOLLOW);
  if (!log_->exists()) throw WriteError("write", folder.file(log_file), errno);
  log_bytes_ = static_cast<std::int64_t>(events.size());
}

void Store::append_event(const std::string& line) {
  if (has_end_ || (!folder_ && config_->page.empty())) return;
  waiting_ += line + "\n";
  if (folder_ && waiting_.size() > 4096) write_out();
}

// After a failed write the lines wait, and the next write begins at the same place.
void Store::write_out() {
  if (waiting_.empty()) return;
  if (::lseek(log_->get(), log_bytes_, SEEK_SET) < 0 || !write_all(*log_, waiting_))
    throw WriteError("write", folder_->file(log_file), errno);
  log_bytes_ += static_cast<std::int64_t>(waiting_.size());
  waiting_.clear();
}

void Store::sync_events() {
  if (!folder_ || has_end_) return;
  write_out();
  if (!sync_file(*log_)) throw WriteError("sync", folder_->file(log_file), errno);
}

// The state of step 0: its weights follow from the seed.
Store::Save Store::initial_save() const {
  Rng weights(config_->training.seed);
  const Trainer untrained(LanguageModel(config_->sizes, weights), corpus_->train,
                          config_->training);
  return {checkpoint_bytes(untrained, {}, {}, settings_), 0};
}

Store::Save Store::this_save() {
  sync_events();
  notes_.log_bytes = log_bytes_;
  return {checkpoint_bytes(*trainer_, notes_, best_, settings_), step()};
}

void Store::write(const Save& now) {
  try {
    folder_->replace(run_file, now.bytes);
  } catch (const WriteError&) {
    if (!folder_->is_removed()) throw;
    refuse_folder("the folder " + support::quoted(folder_->path()) +
                      " was removed while the run was in it: nothing of the run is left",
                  "begin again: fledge train FILE -o DIR");
  }
  saved_at_ = Clock::now();
  saved_step_ = now.step;
}

void Store::save(bool is_quick) {
  if (!folder_) return;
  const double loss =
      is_quick ? mean_loss(trainer_->model(), corpus_->train, 1, 1) : trainer_->next_loss();
  if (!std::isfinite(loss))
    throw Diverged("the loss is not finite after step " + std::to_string(step()));
  Save now = this_save();
  write(now);
  if (corpus_->valid.size() <= 1 && loss < guessing_loss()) rollback_ = std::move(now);
}

void Store::save_if_best() {
  if (!folder_ || notes_.best_step != step()) return;
  Save now = this_save();
  write(now);
  if (rollback_.step > 0 || notes_.best_loss < guessing_loss()) rollback_ = std::move(now);
}

bool Store::is_save_due() const {
  return folder_ && saved_step_ < step() &&
         (step() % config_->evaluate_every == 0 ||
          Clock::now() - saved_at_ >= std::chrono::seconds(30));
}

void Store::roll_back() {
  if (!folder_) return;
  if (rollback_.step == 0) {
    best_.clear();
    notes_.best_step = 0;
  }
  write(rollback_);
}

}  // namespace fledge::train
