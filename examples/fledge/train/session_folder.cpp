// What a session keeps in its folder, and what it finds there.
//
// Key idea: a checkpoint and the model that belongs to it are made together and written together.
#include <cmath>

#include "examples/fledge/train/session.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/unusable.h"
#include "examples/support/text.h"
#include "nn/gpt/weights.h"
#include "nn/io/checksum.h"
#include "nn/io/hex.h"

namespace fledge::train {

// Step 0 of this run: its weights follow from the seed.
Checkpoint Session::beginning() const {
  Rng weights(plan_.training.seed);
  const LanguageModel untrained(plan_.sizes, weights);
  RunNotes notes;
  notes.text_hash = notes_.text_hash;
  notes.run_id = notes_.run_id;
  notes.csv_bytes = csv_header().size();
  ModelFile model = model_file(untrained, notes.run_id, 0, infinity);
  notes.model_checksum = model.checksum;
  const Trainer trainer(untrained, corpus_->train, plan_.training);
  return {std::move(model), checkpoint_bytes(trainer, notes), 0};
}

// The state now, with the best model so far. Where nothing has been evaluated that is this one.
Checkpoint Session::checkpoint() {
  if (notes_.best_step == 0)
    kept_ = model_file(*model_, notes_.run_id, trainer_->steps_done(), notes_.train_loss);
  notes_.model_checksum = kept_.checksum;
  folder_->sync_metrics(notes_);
  return {kept_, checkpoint_bytes(*trainer_, notes_), trainer_->steps_done()};
}

void Session::write(const Checkpoint& now) {
  folder_->write(now);
  saved_ = screen_.elapsed();
  saved_step_ = now.step;
}

void Session::save() {
  const double loss = finite_loss();
  const Checkpoint now = checkpoint();
  write(now);
  if (!holds_out() && loss < guessing_loss()) good_ = now;
}

// If the model were newer than the checkpoint, a run resumed at another rate would keep a model
// from steps it never took.
void Session::save_best() {
  if (!folder_) return;
  const Checkpoint now = checkpoint();
  write(now);
  // The best evaluation is a state to go back to, if it beats guessing. The state just before the
  // first number that is not finite is none: its weights give that number whatever the rate.
  if (!good_.state.empty() || notes_.best_loss < guessing_loss()) good_ = now;
}

namespace {

constexpr const char* advice = "begin a new run in another folder with -o, or here with --force";

}  // namespace

// Before the model is built: what config.json alone declares must not make it large.
std::optional<std::string> Session::read_state() const {
  std::optional<std::string> state =
      folder_->bytes("state.safetensors", most_checkpoint_bytes(plan_.sizes));
  if (state)
    of_file(folder_->file("state.safetensors"), advice,
            [&] { require_checkpoint(*state, plan_.sizes); });
  return state;
}

// Sets the trainer to the checkpoint. Returns whether the folder needs another model.
bool Session::load_state(const std::optional<std::string>& state, const Warn& warn) {
  if (!state && folder_->bytes("model.safetensors", most_weights_bytes(plan_.sizes)))
    throw InputError("there is a model in " + support::quoted(plan_.folder()) +
                         ", and no state.safetensors to go on from",
                     advice);
  if (!state) {  // a run of version 1 that was killed before its first checkpoint
    screen_.say("no checkpoint yet: beginning with step 1");
    folder_->write(beginning());
    notes_.csv_bytes = csv_header().size();
    return false;
  }
  const RunNotes expected = notes_;
  of_file(folder_->file("state.safetensors"), advice, [&] {
    notes_ = load_checkpoint(*state, *trainer_);
    require<FormatError>(notes_.text_hash == expected.text_hash, "checkpoint",
                         "it learned from another text: hash ", hexadecimal(notes_.text_hash),
                         " instead of ", hexadecimal(expected.text_hash));
    require<FormatError>(notes_.run_id.empty() || notes_.run_id == expected.run_id, "checkpoint",
                         "it is of a run with other settings: identity ",
                         support::quoted(notes_.run_id), " instead of ", expected.run_id);
  });
  notes_.run_id = expected.run_id;
  saved_step_ = trainer_->steps_done();
  return !load_best(warn);
}

// False where the model in the folder is not the one that belongs to the checkpoint: the best is
// then what the checkpoint itself holds.
bool Session::load_best(const Warn& warn) {
  const std::string path = folder_->file("model.safetensors");
  const std::optional<std::string> stored =
      folder_->bytes("model.safetensors", most_weights_bytes(plan_.sizes));
  const std::vector<Array> last = weights_of(*model_);
  std::string found = " is missing", step;
  bool belongs = false;
  if (stored) {
    of_file(path, "move it away: --resume makes another model from the checkpoint", [&] {
      const StoredHeader header = stored_header(*stored);
      const std::string checksum = require_checksum(*stored, header);
      load_weights(*model_, *stored);
      if (const auto noted = header.metadata.find("step"); noted != header.metadata.end())
        step = noted->second;
      const std::int64_t of = notes_.best_step > 0 ? notes_.best_step : saved_step_;
      belongs = notes_.model_checksum.empty() ? step == std::to_string(of)  // version 1
                                              : checksum == notes_.model_checksum;
    });
    found = " is of step " + support::quoted(step) + ", and does not belong to the checkpoint";
  }
  if (belongs) {
    if (notes_.best_step > 0) {
      best_ = weights_of(*model_);
      kept_ = model_file(*model_, notes_.run_id, notes_.best_step, notes_.best_loss);
    }
    set_weights(*model_, last);
    return true;
  }
  set_weights(*model_, last);
  warn(support::quoted(path) + found + ": the weights of step " + std::to_string(saved_step_) +
       " take its place");
  notes_.best_step = 0;
  notes_.best_loss = infinity;
  best_.clear();
  if (!holds_out() || saved_step_ == 0) return false;
  const double loss = mean_loss(*model_, corpus_->valid, plan_.training.batch, evaluated_windows);
  if (std::isfinite(loss)) note_evaluation(loss);
  return false;
}

// More steps, another rate, a text that has moved: they hold from now on, also for --resume.
void Session::save_config(RunConfig config) {
  TrainConfig& kept = config.settings;
  if (is_over()) return;
  const std::int64_t steps = plan_.training.schedule.steps;
  const std::string text = absolute_path(plan_.text_path);
  const double rate = plan_.training.schedule.rate;
  if (steps == kept.training.schedule.steps && rate == kept.training.schedule.rate &&
      text == kept.text_path)
    return;
  kept.training.schedule.steps = steps;
  kept.training.schedule.rate = rate;
  kept.text_path = text;
  folder_->rewrite(config);
}

}  // namespace fledge::train
