#include "examples/fledge/train/session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "engine/autograd.h"
#include "examples/fledge/step_memory.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/unusable.h"
#include "examples/support/text.h"
#include "nn/io/digits.h"
#include "nn/models/model_folder.h"

namespace fledge::train {

namespace {

constexpr Dim evaluated_windows = 480;  // of the held-out text, while the run lasts
constexpr double forget = 0.02;         // of the smoothed loss, a step

}  // namespace

Session::Session(Plan plan) : plan_(std::move(plan)), screen_(plan_.quiet, plan_.no_progress) {
  std::optional<RunConfig> config;
  if (plan_.resumes) {
    folder_ = RunFolder::resume(plan_.folder);
    config = read_run_config(plan_.folder);
    go_on_with(*config);
  }
  screen_.say("reading " + name_of(plan_) + " ...");
  const std::string text = read_text(plan_);
  if (config) {
    require_same_text(*config, text, name_of(plan_));
    corpus_.emplace(usable_corpus(text, plan_, &config->tokenizer));
  } else {
    corpus_.emplace(usable_corpus(text, plan_, nullptr));
    plan_.sizes.vocabulary = corpus_->tokenizer.size();
    config = RunConfig{plan_, corpus_->tokenizer, text.size(), hash_of(text)};
    config->plan.text_path = from_anywhere(plan_.text_path);
  }
  find_watched();
  find_probed();
  require_memory();
  Rng weights(plan_.training.seed);
  model_.emplace(plan_.sizes, weights);
  trainer_ = std::make_unique<Trainer>(*model_, corpus_->train, plan_.training);
  notes_.text_hash = config->text_hash;
  if (plan_.resumes) {
    load_state();
  } else if (!plan_.folder.empty()) {
    folder_ = RunFolder::begin(plan_.folder, *config, plan_.replaces);
  }
  if (folder_) folder_->open_metrics(notes_);
  if (plan_.resumes) keep_changes(*config);
}

// What lasts comes from the folder; what was asked for now is how far to go and how fast, and how
// to watch it.
void Session::go_on_with(const RunConfig& config) {
  const Plan asked = plan_;
  plan_ = config.plan;
  plan_.folder = asked.folder;
  plan_.resumes = true;
  plan_.json = asked.json;
  plan_.quiet = asked.quiet;
  plan_.no_progress = asked.no_progress;
  plan_.log_every = asked.log_every;
  plan_.sample_every = asked.sample_every;
  plan_.save_seconds = asked.save_seconds;
  plan_.pace = asked.pace;
  plan_.watched = asked.watched;
  plan_.probes = asked.probes;
  plan_.rate_given = asked.rate_given;
  if (asked.rate_given) plan_.training.schedule.rate = asked.training.schedule.rate;
  if (asked.steps_given) plan_.training.schedule.steps = asked.training.schedule.steps;
  if (!asked.text_path.empty()) plan_.text_path = asked.text_path;
}

void Session::load_state() {
  const std::optional<std::string> state = folder_->bytes("state.safetensors");
  const std::string advice = "begin a new run in another folder with -o, or here with --force";
  if (!state) {  // the first one is written before any model is
    if (folder_->bytes("model.safetensors"))
      throw Unusable("there is a model in " + support::quoted(plan_.folder) +
                         ", and no state.safetensors to go on from",
                     advice);
    screen_.say("no checkpoint yet: beginning with step 1");
    return;
  }
  const std::uint64_t text = notes_.text_hash;
  of_file(folder_->file("state.safetensors"), advice, [&] {
    notes_ = load_checkpoint(*state, *trainer_);
    require<ValueError>(notes_.text_hash == text, "checkpoint",
                        "it learned from another text: hash ", hexadecimal(notes_.text_hash),
                        " instead of ", hexadecimal(text));
  });
  saved_step_ = trainer_->steps_done();
  if (holds_out() && saved_step_ > 0) good_ = {*state, saved_step_};
  if (const auto best = folder_->bytes("model.safetensors"); best && notes_.best_step > 0) {
    const std::vector<Array> last = weights_of(*model_);
    of_file(folder_->file("model.safetensors"), advice, [&] { load_weights(*model_, *best); });
    best_ = weights_of(*model_);
    set_weights(*model_, last);
  }
}

// More steps, another rate, a text that has moved: they hold from now on, also for --resume.
void Session::keep_changes(RunConfig config) const {
  Plan& kept = config.plan;
  const std::int64_t steps = plan_.training.schedule.steps, warmup = kept.training.schedule.warmup;
  if (steps < warmup)
    throw support::UsageError("fledge train",
                              "--steps " + std::to_string(steps) + " is less than the warm-up of " +
                                  std::to_string(warmup) + " steps that this run has",
                              "use at least --steps " + std::to_string(warmup));
  if (is_over()) return;
  const std::string text = from_anywhere(plan_.text_path);
  const double rate = plan_.training.schedule.rate;
  if (steps == kept.training.schedule.steps && rate == kept.training.schedule.rate &&
      text == kept.text_path)
    return;
  kept.training.schedule.steps = steps;
  kept.training.schedule.rate = rate;
  kept.text_path = text;
  folder_->rewrite(config);
}

void Session::require_memory() const {
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const LanguageModelSizes& s = plan_.sizes;
  const double bytes = 4 * numbers_of_step(number(s.layers), number(s.width), number(s.context),
                                           number(plan_.training.batch), number(s.vocabulary));
  if (bytes <= bytes_of_machine()) return;
  char text[120];
  std::snprintf(text, sizeof text, "a step needs about %.0f MB of memory, this machine has %.0f MB",
                bytes / 1e6, bytes_of_machine() / 1e6);
  throw support::Refusal(support::Exit::failed, "fledge train", text,
                         "use smaller --width, --layers, --context or --batch");
}

bool Session::is_out_of_patience() const {
  return plan_.patience > 0 && notes_.since_best >= plan_.patience;
}

bool Session::is_over() const {
  return is_out_of_patience() || trainer_->steps_done() >= plan_.training.schedule.steps;
}

int Session::run() {
  if (plan_.resumes && is_over()) {
    screen_.warn("the run in " + support::quoted(plan_.folder) + " is over after " +
                 thousands(trainer_->steps_done()) + " steps" +
                 (is_out_of_patience() ? ": it got no better" : "; for more: --steps N"));
    return 0;
  }
  stop_.emplace();
  if (folder_ && !plan_.resumes) folder_->write(folder_->checkpoint(*trainer_, notes_));
  report_start();
  saved_ = screen_.elapsed();
  while (!is_over()) {
    if (stop_->asked() != 0) return stop_early();
    try {
      after_step(trainer_->step());
    } catch (const Diverged& error) {
      return stop_diverged(error.what());
    }
    if (!is_over()) keep_pace();
  }
  if (is_out_of_patience())
    screen_.say("no better on the held-out text in " + std::to_string(plan_.patience) +
                " evaluations: stopping at step " + std::to_string(trainer_->steps_done()));
  finish();
  if (stop_->asked() != 0) {  // in the last step: all is kept, but what follows should not begin
    folder_.reset();
    stop_->end_by_signal();
  }
  return 0;
}

void Session::after_step(const Trainer::Step& step) {
  const bool last = step.number == plan_.training.schedule.steps;
  notes_.train_loss = std::isfinite(notes_.train_loss)
                          ? notes_.train_loss + forget * (step.loss - notes_.train_loss)
                          : step.loss;
  Metrics row{step.number, step.loss, step.rate, step.gradient_norm, {}};
  const bool evaluates = last || step.number % plan_.evaluate_every == 0;
  if (evaluates) row.validation = evaluate();
  if (evaluates || step.number % plan_.log_every == 0) {
    if (folder_) folder_->append(row);
    if (plan_.json) say_json(as_json(row));
  }
  const std::int64_t samples_every =
      plan_.sample_every > 0 ? plan_.sample_every
                             : std::max<std::int64_t>(plan_.training.schedule.steps / 10, 1);
  if (!last && step.number % samples_every == 0) print_sample();
  if (evaluates || step.number == 1) watch();
  Standing standing{step.number,
                    plan_.training.schedule.steps,
                    notes_.train_loss,
                    {},
                    step.rate,
                    step.gradient_norm,
                    pair_};
  if (std::isfinite(notes_.last_loss)) standing.validation = notes_.last_loss;
  screen_.show(standing);
  keep_if_good();
  if (folder_ && screen_.elapsed() - saved_ >= static_cast<double>(plan_.save_seconds)) save();
}

std::optional<double> Session::evaluate() {
  if (!holds_out()) return {};
  const double loss = mean_loss(*model_, corpus_->valid, plan_.training.batch, evaluated_windows);
  notes_.last_loss = loss;
  ++notes_.since_best;
  if (loss < notes_.best_loss) {
    notes_.best_loss = loss;
    notes_.best_step = trainer_->steps_done();
    notes_.since_best = 0;
    best_ = weights_of(*model_);
    if (folder_) folder_->save_model(*model_, notes_.best_step, loss);
  }
  return loss;
}

void Session::save() {
  if (notes_.best_step == 0)  // nothing has been evaluated: there is no better model than this
    folder_->save_model(*model_, trainer_->steps_done(), notes_.train_loss);
  folder_->write(folder_->checkpoint(*trainer_, notes_));
  saved_ = screen_.elapsed();
  saved_step_ = trainer_->steps_done();
}

// The step in front of the first number that is not finite is no place to go back to: its weights
// give that number whatever the rate. The best evaluation is one, if it beats guessing; so is what
// a run was resumed from, until there is a better one.
void Session::keep_if_good() {
  if (!folder_ || notes_.best_step != trainer_->steps_done()) return;
  if (!good_.bytes.empty() || notes_.best_loss < baselines_.uniform)
    good_ = folder_->checkpoint(*trainer_, notes_);
}

void Session::keep_pace() const {
  if (plan_.pace > 0)
    std::this_thread::sleep_for(
        std::chrono::duration<double>(1.0 / static_cast<double>(plan_.pace)));
}

}  // namespace fledge::train
