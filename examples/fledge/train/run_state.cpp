#include "examples/fledge/train/run_state.h"

#include <algorithm>

#include "examples/fledge/train/source.h"
#include "examples/fledge/train/stop.h"
#include "examples/support/text.h"

namespace fledge::train {

namespace {

constexpr double smoothing = 0.02;  // the smallest weight of a new loss in the smoothed one
// Overfitting: this number of evaluations or more have passed since the best one, the loss is higher
// than the best by this share, and the training loss is lower.
constexpr std::int64_t evaluations_of_a_rise = 3;
constexpr double least_rise = 0.02;
constexpr const char* new_run_advice =
    "begin a new run in another folder with -o, or here with --force";

}  // namespace

RunState::RunState(const TrainConfig& config, const RunConfig& run, const Corpus& corpus,
                   Trainer& trainer, Reporter& report)
    : config_(&config), corpus_(&corpus), trainer_(&trainer), report_(&report) {
  RunConfig saved = run;
  saved.settings = config;
  saved.settings.texts = names_without_folders(config.texts);
  if (!config.from.empty()) saved.settings.from = names_without_folders({config.from})[0];
  settings_ = config_text(saved);
}

void RunState::begin(Place place) {
  support::with_advice(
      "no command could read this model again: use a text with fewer symbols, or --tokens bpe",
      [&] { return run_config(settings_); }, "the settings of this run");
  rollback_ = this_save();
  folder_ = RunFolder::begin(config_->folder(), place, rollback_->bytes);
}

void RunState::load(RunFolder folder) {
  folder_ = std::move(folder);
  const Checkpoint& saved = folder_->saved().checkpoint;
  support::with_advice(
      new_run_advice,
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
  saved_step_ = step();
  const std::string log = folder_->log();
  kept_events_ = saved_events(log, notes_, is_over());
  const std::size_t last = kept_events_.rfind('\n', kept_events_.size() - 2) + 1;
  has_end_ = is_over() && kept_events_.compare(last, end_of_run.size(), end_of_run) == 0;
  if (!has_end_) kept_events_ = saved_events(log, notes_, false);
}

void RunState::go_on() {
  if (has_end_) return;
  const std::int64_t log_bytes = notes_.log_bytes;
  if (std::ssize(kept_events_) < log_bytes)
    report_->problem(support::quoted(folder_->file(log_file)) +
                     " lacks events of the run, and goes on without them");
  folder_->open_log(kept_events_);
  if (is_over()) return;
  // A run that began with other weights cannot have those of its seed.
  const bool is_good = step() == 0 || !config_->from.empty() || loaded_loss_ < guessing_loss() ||
                       notes_.best_loss < guessing_loss();
  const Save now = this_save();
  if (folder_->saved().checkpoint.settings != settings_ || notes_.log_bytes != log_bytes)
    write(now);
  rollback_ = is_good ? now : initial_save();
}

bool RunState::is_evaluated(std::int64_t step) const {
  return step == config_->training.schedule.steps || step % config_->evaluate_every == 0;
}

double RunState::evaluate() const {
  return trainer_->loss_on(corpus_->valid, config_->training.batch, evaluated_windows);
}

double RunState::evaluate_training() const {
  return trainer_->loss_on(corpus_->train, config_->training.batch, training_windows);
}

bool RunState::is_sampled(std::int64_t step) const {
  const std::int64_t steps = config_->training.schedule.steps;
  const std::int64_t every =
      config_->sample_every > 0 ? config_->sample_every : std::max<std::int64_t>(steps / 10, 1);
  return step < steps && step % every == 0;
}

void RunState::remember_step() {
  const std::int64_t next = step() + 1;
  if (folder_ && (is_evaluated(next) || is_sampled(next) || next == 1))
    before_ = {weights_of(trainer_->model()), trainer_->state()};
}

void RunState::undo_step() {
  if (before_) trainer_->restore(before_->state, before_->weights);
}

void RunState::record_step(const Metrics& row) {
  before_.reset();
  // The mean of the first 50 losses, then an exponential mean over about 50.
  const double weight = std::max(smoothing, 1 / static_cast<double>(row.step));
  notes_.train_loss = std::isfinite(notes_.train_loss)
                          ? notes_.train_loss + weight * (row.loss - notes_.train_loss)
                          : row.loss;
  if (row.validation) record_evaluation(*row.validation);
}

void RunState::append_event(const std::string& line) {
  if (folder_ && !has_end_) folder_->append(line);
}

void RunState::sync_events() {
  if (folder_ && !has_end_) folder_->sync_log();
}

void RunState::record_evaluation(double loss) {
  notes_.last_loss = loss;
  ++notes_.since_best;
  if (loss >= notes_.best_loss) {
    const bool rises =
        notes_.since_best >= evaluations_of_a_rise && loss > notes_.best_loss * (1 + least_rise);
    const bool falls = notes_.train_loss < notes_.best_train_loss;
    if (rises && falls && notes_.overfitting_step == 0) notes_.overfitting_step = step();
    return;
  }
  notes_.best_loss = loss;
  notes_.best_train_loss = notes_.train_loss;
  notes_.overfitting_step = 0;
  notes_.best_step = step();
  notes_.since_best = 0;
  best_ = weights_of(trainer_->model());
}

// After Ctrl-C it computes the loss of one window instead of a batch, to be quick.
double RunState::finite_loss() const {
  if (!StopSignals::stop_requested()) return trainer_->next_loss();
  const double loss = mean_loss(trainer_->model(), corpus_->train, 1, 1);
  if (!std::isfinite(loss))
    throw Diverged("the loss is not finite after step " + std::to_string(step()));
  return loss;
}

// The state of step 0: its weights follow from the seed.
RunState::Save RunState::initial_save() const {
  Rng weights(config_->training.seed);
  const Trainer untrained(LanguageModel(config_->sizes, weights), corpus_->train,
                          config_->training);
  return {checkpoint_bytes(untrained, {}, {}, settings_), 0};
}

RunState::Save RunState::this_save() {
  notes_.log_bytes = folder_ ? folder_->sync_log() : 0;
  return {checkpoint_bytes(*trainer_, notes_, best_, settings_), step()};
}

void RunState::write(const Save& now) {
  folder_->save(now.bytes);
  saved_at_ = Clock::now();
  saved_step_ = now.step;
}

void RunState::save() {
  if (!folder_) return;
  const double loss = finite_loss();
  Save now = this_save();
  write(now);
  if (!holds_out() && loss < guessing_loss()) rollback_ = std::move(now);
}

// The best evaluation becomes the state to go back to if its loss is below ln V. The last state before
// a number that is not finite does not: its weights give that number whatever the learning rate is.
void RunState::save_if_best(std::int64_t step) {
  if (!folder_ || notes_.best_step != step) return;
  Save now = this_save();
  write(now);
  if (rollback_->step > 0 || notes_.best_loss < guessing_loss()) rollback_ = std::move(now);
}

bool RunState::is_save_due() const {
  return folder_ && std::chrono::duration<double>(Clock::now() - saved_at_).count() >=
                        static_cast<double>(config_->save_seconds);
}

void RunState::roll_back() {
  if (!folder_) return;
  if (rollback_->step == 0) {
    best_.clear();
    notes_.best_step = 0;
  }
  write(*rollback_);
}

}  // namespace fledge::train
