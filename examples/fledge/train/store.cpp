#include "examples/fledge/train/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "examples/fledge/train/source.h"
#include "examples/support/text.h"

namespace fledge::train {

using support::with_advice;

namespace {

constexpr double smoothing = 0.02;  // the smallest weight of a new loss in the smoothed one
// Overfitting: this number of evaluations or more have passed since the best one, the loss is higher
// than the best by this share, and the training loss is lower.
constexpr std::int64_t evaluations_of_a_rise = 3;
constexpr double least_rise = 0.02;
// The beginning of the last event of a run that was not stopped.
constexpr std::string_view end_of_run = R"({"type":"end","status":"ok",)";

}  // namespace

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

bool Store::begin(bool must_be_new) {
  with_advice(
      "no command could read this model again: use a text with fewer symbols, or --tokens bpe",
      [&] { return run_config(settings_); }, "the settings of this run");
  rollback_ = this_save();
  const std::string& path = config_->folder();
  if (!must_be_new) require_place(path, config_->force);
  const std::vector<std::string> made = make_folders(path);
  if (must_be_new && made.empty()) return false;
  try {
    folder_ = lock_folder(path);
    require_replaceable(*folder_, config_->force);
    // In this order: no event of an old log belongs to the new run, whose log has no byte yet.
    folder_->replace(run_file, rollback_.bytes);
    open_log("");
    return true;
  } catch (const FileError& error) {
    folder_.reset();
    for (const char* name : {run_file, log_file})
      if (!made.empty()) ::unlink((path + "/" + name).c_str());
    remove_folders(made);
    refuse_folder(error.what(), another_folder);
  }
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
        } catch (const NumericError& error) {
          throw FormatError(std::string("its weights are of a run that diverged: ") + error.what());
        }
      },
      support::quoted(folder_->file(run_file)));
  notes_ = saved.notes;
  has_new_settings_ = saved.settings != settings_;
  saved_step_ = step();
  const std::string log = read_log(*folder_);
  kept_events_ = saved_events(log, notes_, is_over());
  const std::size_t last = kept_events_.rfind('\n', kept_events_.size() - 2) + 1;
  has_end_ = is_over() && kept_events_.compare(last, end_of_run.size(), end_of_run) == 0;
  if (!has_end_) kept_events_ = saved_events(log, notes_, false);
}

bool Store::go_on() {
  if (has_end_) return false;
  const std::int64_t log_bytes = notes_.log_bytes;
  open_log(kept_events_);
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
  best_ = weights_of(trainer_->model());
}

// The log is a new file: a second link to the old one keeps what it has.
void Store::open_log(std::string_view events) {
  folder_->replace(log_file, events);
  log_ = std::make_unique<Descriptor>(folder_->descriptor(), log_file, O_WRONLY | O_NOFOLLOW);
  if (!log_->exists()) throw WriteError("write", folder_->file(log_file), errno);
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

double Store::finite_loss(bool is_quick) const {
  if (!is_quick) return trainer_->next_loss();
  const double loss = mean_loss(trainer_->model(), corpus_->train, 1, 1);
  if (!std::isfinite(loss))
    throw Diverged("the loss is not finite after step " + std::to_string(step()));
  return loss;
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
  const double loss = finite_loss(is_quick);
  Save now = this_save();
  write(now);
  if (corpus_->valid.size() <= 1 && loss < guessing_loss()) rollback_ = std::move(now);
}

// The best evaluation becomes the state to go back to if its loss is below ln V. The last state before
// a number that is not finite does not: its weights give that number whatever the learning rate is.
void Store::save_if_best() {
  if (!folder_ || notes_.best_step != step()) return;
  Save now = this_save();
  write(now);
  if (rollback_.step > 0 || notes_.best_loss < guessing_loss()) rollback_ = std::move(now);
}

bool Store::is_save_due() const {
  return folder_ && std::chrono::duration<double>(Clock::now() - saved_at_).count() >=
                        static_cast<double>(config_->save_seconds);
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
