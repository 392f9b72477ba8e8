#include "examples/fledge/train/run_state.h"

#include <algorithm>

#include "engine/base/interrupt.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/train/stop.h"
#include "examples/support/text.h"
#include "nn/gpt/weights.h"
#include "nn/io/checksum.h"

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

void require_model_in_state(const std::string& state, const LanguageModelSizes& sizes) {
  if (4 * parameter_count(sizes) > static_cast<double>(state.size()))
    throw FormatError("it has too few bytes for the model that config.json describes");
}

std::optional<std::string> read_state(const RunFolder& folder, const LanguageModelSizes& sizes) {
  std::optional<std::string> state =
      folder.bytes(state_name, most_file_bytes(sizes, 3));  // with both moments
  if (state)
    support::with_advice(
        new_run_advice, [&] { require_model_in_state(*state, sizes); },
        support::quoted(folder.file(state_name)));
  return state;
}

RunState::RunState(const TrainConfig& config, const RunConfig& run, const Corpus& corpus,
                   Trainer& trainer, Reporter& report)
    : config_(&config), corpus_(&corpus), trainer_(&trainer), report_(&report) {
  notes_.run_id = run.id;
}

void RunState::begin(const RunConfig& run, Place place) {
  const Checkpoint first = initial_checkpoint();
  folder_ = RunFolder::begin(config_->folder(), run, place, first);
  kept_ = first.model;
  notes_.csv_bytes = std::ssize(csv_header());
  folder_->open_metrics(notes_, false, [&](const std::string& text) { warn(text); });
}

void RunState::load(RunFolder folder, const std::optional<std::string>& state) {
  folder_ = std::move(folder);
  lacks_state_ = !state;
  has_new_model_ = load_state(state);
}

void RunState::go_on() {
  if (lacks_state_) folder_->write(initial_checkpoint());
  folder_->open_metrics(notes_, is_over(), [&](const std::string& text) { warn(text); });
  if (has_new_model_) folder_->write(checkpoint());
  save_changes();
}

std::string RunState::events_of_checkpoint() const {
  return events().substr(0, static_cast<std::size_t>(notes_.jsonl_bytes));
}

bool RunState::is_out_of_patience() const {
  return config_->patience > 0 && notes_.since_best >= config_->patience;
}

bool RunState::is_over() const {
  return is_out_of_patience() || step() >= config_->training.schedule.steps;
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

void RunState::record_step(const Metrics& row, bool is_logged) {
  before_.reset();
  // The mean of the first 50 losses, then an exponential mean over about 50.
  const double weight = std::max(smoothing, 1 / static_cast<double>(row.step));
  notes_.train_loss = std::isfinite(notes_.train_loss)
                          ? notes_.train_loss + weight * (row.loss - notes_.train_loss)
                          : row.loss;
  if (row.validation) record_evaluation(*row.validation);
  if (is_logged && folder_) folder_->append(row);
}

void RunState::append_event(const std::string& line) {
  if (folder_ && !folder_->has_end()) folder_->append_event(line);
}

void RunState::sync_events() {
  RunNotes sizes;
  if (folder_) folder_->sync_metrics(sizes);
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
  if (folder_) kept_ = model_file(trainer_->model(), notes_.run_id, notes_.best_step, loss);
}

// After Ctrl-C it computes the loss of one window instead of a batch, to be quick.
double RunState::finite_loss() const {
  if (!StopSignals::stop_requested()) return trainer_->next_loss();
  const double loss = mean_loss(trainer_->model(), corpus_->train, 1, 1);
  if (!std::isfinite(loss))
    throw Diverged("the loss is not finite after step " + std::to_string(step()));
  return loss;
}

// The checkpoint of step 0: its weights follow from the seed.
Checkpoint RunState::initial_checkpoint() const {
  Rng weights(config_->training.seed);
  const LanguageModel untrained(config_->sizes, weights);
  RunNotes notes;
  notes.run_id = notes_.run_id;
  notes.csv_bytes = std::ssize(csv_header());
  ModelFile model = model_file(untrained, notes.run_id, 0, infinity);
  notes.model_checksum = model.checksum;
  const Trainer trainer(untrained, corpus_->train, config_->training);
  return {std::move(model), checkpoint_bytes(trainer, notes), 0};
}

// The checkpoint of this step, with the best model so far; before the first evaluation, with the
// present model.
Checkpoint RunState::checkpoint() {
  if (notes_.best_step == 0)
    kept_ = model_file(trainer_->model(), notes_.run_id, step(), notes_.train_loss);
  notes_.model_checksum = kept_.checksum;
  folder_->sync_metrics(notes_);
  return {kept_, checkpoint_bytes(*trainer_, notes_), step()};
}

void RunState::write(const Checkpoint& now) {
  folder_->write(now);
  saved_at_ = Clock::now();
  saved_step_ = now.step;
}

void RunState::save() {
  if (!folder_) return;
  const double loss = finite_loss();
  const Checkpoint now = checkpoint();
  write(now);
  if (!holds_out() && loss < guessing_loss()) rollback_ = now;
}

// Model and checkpoint are saved together. If only the model were saved, a resumed run could start
// from an older checkpoint and still keep a model from steps that are no longer part of it. The
// best evaluation becomes the rollback checkpoint if its loss is below ln V. The last state before
// a number that is not finite does not: its weights give that number whatever the learning rate is.
void RunState::save_if_best(std::int64_t step) {
  if (!folder_ || notes_.best_step != step) return;
  const Checkpoint now = checkpoint();
  write(now);
  if (!rollback_.state.empty() || notes_.best_loss < guessing_loss()) rollback_ = now;
}

bool RunState::is_save_due() const {
  return folder_ && std::chrono::duration<double>(Clock::now() - saved_at_).count() >=
                        static_cast<double>(config_->save_seconds);
}

void RunState::remember_resumed() {
  saved_at_ = Clock::now();
  if (!folder_ || step() == 0) return;
  if (trainer_->next_loss() < guessing_loss() || notes_.best_loss < guessing_loss())
    rollback_ = checkpoint();
}

void RunState::roll_back() {
  if (!folder_) return;
  if (rollback_.state.empty()) {
    rollback_ = initial_checkpoint();
    best_.clear();
    notes_.best_step = 0;
  }
  write(rollback_);
}

// Sets the trainer to the checkpoint. Returns whether the folder needs another model.
bool RunState::load_state(const std::optional<std::string>& state) {
  const bool has_model =
      folder_->bytes("model.safetensors", most_file_bytes(config_->sizes)).has_value();
  if (!state && has_model)
    throw support::InputError("there is a model in " + support::quoted(config_->folder()) +
                                  ", and no state.safetensors to go on from",
                              new_run_advice);
  if (!state) {
    report_->say("no checkpoint yet: beginning with step 1");
    notes_.csv_bytes = std::ssize(csv_header());
    return false;
  }
  const RunNotes expected = notes_;
  support::with_advice(
      new_run_advice,
      [&] {
        notes_ = load_checkpoint(*state, *trainer_);
        require<FormatError>(notes_.run_id == expected.run_id, "checkpoint",
                             "it is of a run with other settings: identity ",
                             support::quoted(notes_.run_id), " instead of ", expected.run_id);
      },
      support::quoted(folder_->file("state.safetensors")));
  saved_step_ = step();
  return !load_best();
}

// Loads the best weights from model.safetensors. If the file does not belong to the checkpoint,
// warns, uses the checkpoint's weights instead and returns false.
bool RunState::load_best() {
  const LanguageModel& model = trainer_->model();
  const std::string path = folder_->file("model.safetensors");
  const std::optional<std::string> stored =
      folder_->bytes("model.safetensors", most_file_bytes(config_->sizes));
  std::string found = " is missing", step;
  std::vector<Array> kept;
  bool belongs = false;
  if (stored) {
    support::with_advice(
        "move it away: --resume makes another model from the checkpoint",
        [&] {
          const WeightFile file{path, *stored, stored_header(*stored)};
          step = file.header.text("step");
          belongs = require_checksum(*stored) == notes_.model_checksum;
          kept = weights_of(read_weights(file, config_->sizes));
        },
        support::quoted(path));
    found = " is of step " + support::quoted(step) + ", and does not belong to the checkpoint";
  }
  if (belongs && notes_.best_step > 0) {
    best_ = kept;
    kept_ = {*stored, notes_.model_checksum};
  }
  if (belongs) return true;
  warn(support::quoted(path) + found + ": the weights of step " + std::to_string(saved_step_) +
       " take its place");
  notes_.best_step = 0;
  notes_.best_loss = infinity;
  best_.clear();
  if (!holds_out() || saved_step_ == 0) return false;
  const double loss = mean_loss(model, corpus_->valid, config_->training.batch, evaluated_windows);
  if (std::isfinite(loss)) record_evaluation(loss);
  return false;
}

// Saves settings that this call changed: the steps, the learning rate, the name of the text.
void RunState::save_changes() {
  if (is_over()) return;
  RunConfig run = folder_->config();
  const std::string before = config_text(run);
  run.settings = *config_;
  run.settings.texts = names_without_folders(config_->texts);
  if (config_text(run) != before) folder_->rewrite(run);
}

}  // namespace fledge::train
