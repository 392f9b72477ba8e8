#include "examples/fledge/train/run_state.h"

#include "engine/base/interrupt.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/train/stop.h"
#include "examples/support/text.h"
#include "nn/gpt/weights.h"
#include "nn/io/files.h"

namespace fledge::train {

namespace {

constexpr Dim evaluated_windows = 480;  // of the held-out text, while the run lasts
constexpr double smoothing = 0.02;      // the weight of a new loss in the smoothed one
constexpr const char* begin_anew =
    "begin a new run in another folder with -o, or here with --force";

}  // namespace

std::string read_state(const Folder& folder, const LanguageModelSizes& sizes) {
  const std::optional<std::string> state =
      read_file_of(folder, state_name, most_file_bytes(sizes, 3));  // with both moments
  if (!state)
    throw support::InputError(
        "there is no state.safetensors in " + support::quoted(folder.path()) + " to go on from",
        begin_anew);
  if (4 * parameter_count(sizes) > static_cast<double>(state->size()))
    throw support::InputError(support::quoted(folder.file(state_name)) +
                                  ": it has too few bytes for the model that config.json describes",
                              begin_anew);
  return *state;
}

RunState::RunState(const TrainConfig& config, RunConfig run, const Corpus& corpus, Trainer& trainer,
                   Reporter& report)
    : config_(&config),
      corpus_(&corpus),
      trainer_(&trainer),
      report_(&report),
      run_(std::move(run)) {
  notes_.run_id = run_.id;
}

void RunState::begin() {
  const std::string config = config_text(run_);
  support::with_advice(
      "no command could read this model again: use a text with fewer symbols, or --tokens bpe",
      [&] { run_config(config); }, support::quoted(config_->folder() + "/" + config_name));
  const Checkpoint first = initial_checkpoint();
  folder_.emplace(begin_folder(config_->folder(), config_->force,
                               {{config_name, config},
                                {model_name, first.model.bytes},
                                {state_name, first.state},
                                {csv_name, csv_},
                                {jsonl_name, jsonl_}}));
  kept_ = first.model;
  written_model_ = first.model.checksum;
}

void RunState::resume(LockedFolder folder, const std::string& state) {
  folder_.emplace(std::move(folder));
  load_state(state);
  bool is_whole = load_best();
  const auto rows = [&](const char* name, auto size) {
    return rows_of(*folder_, name, static_cast<std::int64_t>(size), [&](const std::string& text) {
      warn(text);
      is_whole = false;
    });
  };
  csv_ = rows(csv_name, notes_.csv_bytes);
  if (csv_.empty()) csv_ = csv_header;
  jsonl_ = rows(jsonl_name, notes_.jsonl_bytes);
  if (!is_whole) write(checkpoint());
  save_changes();
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

void RunState::remember_step() {
  if (folder_ && (is_evaluated(step() + 1) || step() == 0))
    before_ = {weights_of(trainer_->model()), trainer_->state()};
}

void RunState::undo_step() {
  if (before_) trainer_->restore(before_->state, before_->weights);
}

void RunState::record_step(const Metrics& row, bool is_logged) {
  before_.reset();
  notes_.train_loss = std::isfinite(notes_.train_loss)
                          ? notes_.train_loss + smoothing * (row.loss - notes_.train_loss)
                          : row.loss;
  if (row.validation) record_evaluation(*row.validation);
  if (!is_logged || !folder_) return;
  require_not_removed(*folder_);
  csv_ += as_csv(row);
  append_json(as_json(row));
}

void RunState::append_json(const std::string& line) {
  if (folder_) jsonl_ += line + "\n";
}

void RunState::record_evaluation(double loss) {
  notes_.last_loss = loss;
  ++notes_.since_best;
  if (loss >= notes_.best_loss) return;
  notes_.best_loss = loss;
  notes_.best_step = step();
  notes_.since_best = 0;
  best_ = weights_of(trainer_->model());
  if (folder_) kept_ = model_file(trainer_->model(), notes_.best_step, loss);
}

// After Ctrl-C it computes the loss of one window instead of a batch, to be quick.
double RunState::finite_loss() const {
  if (!StopSignals::stop_requested()) return trainer_->next_loss();
  const double loss = mean_loss(trainer_->model(), corpus_->train, 1, 1);
  if (!std::isfinite(loss))
    throw Diverged("the loss is not finite after step " + std::to_string(step()));
  return loss;
}

RunState::ModelFile RunState::model_file(const LanguageModel& model, std::int64_t step,
                                         double loss) const {
  std::string bytes = weights_bytes(model, {{"format", "pt"},
                                            {"id", run_.id},
                                            {"step", std::to_string(step)},
                                            {"loss", json_number(loss)}});
  std::string checksum = stored_header(bytes).text("checksum");
  return {std::move(bytes), std::move(checksum)};
}

// The checkpoint of step 0: its weights follow from the seed.
RunState::Checkpoint RunState::initial_checkpoint() const {
  Rng weights(config_->training.seed);
  const LanguageModel untrained(config_->sizes, weights);
  RunNotes notes;
  notes.run_id = notes_.run_id;
  notes.csv_bytes = static_cast<std::int64_t>(std::string_view(csv_header).size());
  ModelFile model = model_file(untrained, 0, infinity);
  notes.model_checksum = model.checksum;
  const Trainer trainer(untrained, corpus_->train, config_->training);
  return {std::move(model), checkpoint_bytes(trainer, notes), 0};
}

// The checkpoint of this step, with the best model so far; before the first evaluation, with the
// present model.
RunState::Checkpoint RunState::checkpoint() {
  if (notes_.best_step == 0) kept_ = model_file(trainer_->model(), step(), notes_.train_loss);
  notes_.model_checksum = kept_.checksum;
  notes_.csv_bytes = static_cast<std::int64_t>(csv_.size());
  notes_.jsonl_bytes = static_cast<std::int64_t>(jsonl_.size());
  return {kept_, checkpoint_bytes(*trainer_, notes_), step()};
}

// A config.json or a model that was removed meanwhile is written again.
void RunState::write(const Checkpoint& now) {
  NewFiles files{{state_name, now.state}, {csv_name, csv_}, {jsonl_name, jsonl_}};
  const std::string config = folder_->has(config_name) ? "" : config_text(run_);
  if (!config.empty()) files.emplace_back(config_name, config);
  if (now.model.checksum != written_model_ || !folder_->has(model_name))
    files.emplace_back(model_name, now.model.bytes);
  save_files(*folder_, files, now.step);
  written_model_ = now.model.checksum;
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

// Sets the trainer to the checkpoint.
void RunState::load_state(const std::string& state) {
  support::with_advice(
      begin_anew,
      [&] {
        notes_ = load_checkpoint(state, *trainer_);
        require<FormatError>(notes_.run_id == run_.id, "checkpoint",
                             "it is of a run with other settings: identity ",
                             support::quoted(notes_.run_id), " instead of ", run_.id);
      },
      support::quoted(folder_->file(state_name)));
  saved_step_ = step();
}

// Loads the best weights from model.safetensors. If the file does not belong to the checkpoint,
// warns, uses the checkpoint's weights instead and returns false.
bool RunState::load_best() {
  const LanguageModel& model = trainer_->model();
  const std::string path = folder_->file(model_name);
  const std::optional<std::string> stored =
      read_file_of(*folder_, model_name, most_file_bytes(config_->sizes));
  std::string found = " is missing", step;
  std::vector<Array> kept;
  bool belongs = false;
  if (stored) {
    support::with_advice(
        "move it away: --resume makes another model from the checkpoint",
        [&] {
          const StoredHeader header = stored_header(*stored);
          step = header.text("step");
          belongs = require_checksum(*stored) == notes_.model_checksum;
          kept = weights_of(read_weights(*stored, header, config_->sizes));
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

// Saves settings that this call changed: the steps, the learning rate, the path of the text.
void RunState::save_changes() {
  if (is_over()) return;
  const std::string before = config_text(run_);
  run_.settings = *config_;
  run_.settings.text_path = absolute_path(config_->text_path);
  const std::string now = config_text(run_);
  if (now != before) save_files(*folder_, {{config_name, now}}, saved_step_);
}

}  // namespace fledge::train
