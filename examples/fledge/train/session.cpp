#include "examples/fledge/train/session.h"

#include <chrono>
#include <cmath>
#include <thread>

#include "engine/autograd.h"
#include "examples/birds/corpus.h"
#include "examples/support/text.h"

namespace fledge::train {

namespace {

constexpr Dim evaluated_windows = 480;  // of the held-out text, while the run lasts
constexpr double forget = 0.02;         // of the smoothed loss, a step

std::string built_in_text() {
  std::string text;
  for (const std::string_view sentence : birds::sentences()) text.append(sentence).append("\n");
  return text;
}

std::string read_text(const Plan& plan) {
  return plan.text_path.empty() ? built_in_text() : read_file(plan.text_path);
}

std::string name_of(const Plan& plan) {
  return plan.text_path.empty()  ? "the built-in text"
         : plan.text_path == "-" ? "standard input"
                                 : plan.text_path;
}

std::vector<Array> copied(const LanguageModel& model) {
  std::vector<Array> weights;
  for (const Tensor& tensor : parameters(model)) weights.push_back(tensor.value().clone());
  return weights;
}

void set_weights(const LanguageModel& model, const std::vector<Array>& weights) {
  std::size_t p = 0;
  for (const Tensor& tensor : parameters(model)) {
    const Array& from = weights[p++];
    std::copy(from.data(), from.data() + from.size(), tensor.write());
  }
}

}  // namespace

Session::Session(Plan plan) : plan_(std::move(plan)), screen_(plan_.quiet, plan_.no_progress) {
  std::optional<RunConfig> config;
  if (plan_.resumes) {
    folder_ = RunFolder::resume(plan_.folder);
    config = resumed(plan_, folder_->config());
  }
  screen_.say("reading " + support::printable(name_of(plan_)) + " ...");
  text_ = read_text(plan_);
  const std::uint64_t hash = hash_of(text_);
  if (config) {
    require_same_text(*config, text_.size(), hash, name_of(plan_));
    corpus_ = std::make_unique<Corpus>(read_corpus(text_, plan_.corpus, config->tokenizer));
  } else {
    corpus_ = std::make_unique<Corpus>(read_corpus(text_, plan_.corpus));
    plan_.sizes.vocabulary = corpus_->tokenizer.size();
    config = RunConfig{plan_, corpus_->tokenizer, text_.size(), hash};
  }
  Rng weights(plan_.training.seed);
  model_.emplace(plan_.sizes, weights);
  trainer_ = std::make_unique<Trainer>(*model_, corpus_->train, plan_.training);
  const std::string settings = settings_text(*config);
  notes_.settings_hash = hash_of(settings);
  if (plan_.resumes) {
    load_state();
  } else if (!plan_.folder.empty()) {
    folder_ = RunFolder::begin(plan_.folder, *config, plan_.replaces);
  }
  if (folder_) folder_->open_metrics(notes_);
}

int Session::run() {
  if (plan_.resumes && trainer_->steps_done() >= plan_.training.schedule.steps) {
    screen_.warn("the run in '" + support::printable(plan_.folder) + "' has done its " +
                 thousands(trainer_->steps_done()) + " steps; for more: --steps N");
    return 0;
  }
  report_start();
  saved_ = screen_.elapsed();
  while (trainer_->steps_done() < plan_.training.schedule.steps) {
    try {
      after_step(trainer_->step());
    } catch (const Diverged& error) {
      return stop_diverged(error.what());
    }
    if (plan_.patience > 0 && notes_.since_best >= plan_.patience) {
      screen_.say("no better on the held-out text in " + std::to_string(plan_.patience) +
                  " evaluations: stopping at step " + std::to_string(trainer_->steps_done()));
      break;
    }
    if (stop_.asked() != 0) return stop_early();
    keep_pace();
  }
  finish();
  return 0;
}

void Session::after_step(const Trainer::Step& step) {
  const bool last = step.number == plan_.training.schedule.steps;
  notes_.train_loss = std::isfinite(notes_.train_loss)
                          ? notes_.train_loss + forget * (step.loss - notes_.train_loss)
                          : step.loss;
  Metrics row{step.number, step.loss, step.rate, step.gradient_norm, {}};
  if (last || step.number % plan_.evaluate_every == 0) row.validation = evaluate();
  if (last || row.validation || step.number % plan_.log_every == 0) {
    if (folder_) folder_->append(row);
    if (plan_.json) say_json(as_json(row));
  }
  const std::int64_t samples_every =
      plan_.sample_every > 0 ? plan_.sample_every
                             : std::max<std::int64_t>(plan_.training.schedule.steps / 10, 1);
  if (!last && step.number % samples_every == 0) print_sample();
  if (row.validation || step.number == 1) watch();
  Standing standing{step.number,
                    plan_.training.schedule.steps,
                    notes_.train_loss,
                    {},
                    step.rate,
                    step.gradient_norm,
                    pair_};
  if (std::isfinite(notes_.last_loss)) standing.validation = notes_.last_loss;
  screen_.show(standing);
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
    best_ = copied(*model_);
    if (folder_) folder_->save_model(*model_, notes_.best_step, loss);
  }
  return loss;
}

void Session::save() {
  if (!holds_out()) folder_->save_model(*model_, trainer_->steps_done(), notes_.train_loss);
  folder_->save(*trainer_, notes_);
  saved_ = screen_.elapsed();
}

int Session::stop_early() {
  screen_.finish();
  const std::string step = std::to_string(trainer_->steps_done());
  if (folder_) {
    screen_.warn("stopping after step " + step + " (Ctrl-C again to quit at once)");
    save();
    screen_.warn("saved " + support::printable(plan_.folder) +
                 ". go on with: fledge train --resume " + support::printable(plan_.folder));
  } else {
    screen_.warn("stopping after step " + step + "; without -o DIR nothing is kept");
  }
  end("interrupted", {});
  folder_.reset();
  stop_.end_by_signal();
}

int Session::stop_diverged(const std::string& what) {
  screen_.finish();
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.2g", plan_.training.schedule.rate / 10);
  screen_.warn("fledge train: " + what);
  screen_.warn(std::string("              the rate may be too large: try --lr ") + rate +
               (plan_.training.clip > 0 ? "" : ", or --clip 1") +
               (folder_ ? "; the last good state is in " + support::printable(plan_.folder) : ""));
  end("diverged", {});
  return static_cast<int>(support::Exit::diverged);
}

void Session::keep_pace() const {
  if (plan_.pace > 0)
    std::this_thread::sleep_for(
        std::chrono::duration<double>(1.0 / static_cast<double>(plan_.pace)));
}

}  // namespace fledge::train
