#include "examples/fledge/train/session.h"

#include <algorithm>
#include <cstdio>

#include "examples/fledge/step_memory.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/unusable.h"
#include "examples/support/text.h"

namespace fledge::train {

Session::Session(Plan plan) : plan_(std::move(plan)), screen_(plan_.quiet, plan_.no_progress) {
  std::optional<RunConfig> config;
  if (plan_.resumes) {
    folder_ = RunFolder::resume(plan_.folder);
    config = folder_->config();
    merge_saved_config(*config);
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
    config->plan.text_path = absolute_path(plan_.text_path);
    config->id = run_id(*config);
  }
  find_watched();
  find_probed();
  require_memory();
  std::optional<std::string> state;
  if (plan_.resumes) state = read_state();
  Rng weights(plan_.training.seed);
  model_.emplace(plan_.sizes, weights);
  trainer_ = std::make_unique<Trainer>(*model_, corpus_->train, plan_.training);
  notes_.text_hash = config->text_hash;
  notes_.run_id = config->id;
  const auto warn = [&](const std::string& what) { screen_.warn("fledge train: " + what); };
  if (plan_.resumes) {
    const bool has_new_model = load_state(state, warn);
    folder_->open_metrics(notes_, warn);
    if (has_new_model) folder_->write(checkpoint());
    save_config(*config);
  } else if (!plan_.folder.empty()) {
    const Checkpoint first = beginning();
    folder_ = RunFolder::begin(plan_.folder, *config, plan_.replaces, first);
    kept_ = first.model;
    notes_.csv_bytes = csv_header().size();
    folder_->open_metrics(notes_, warn);
  }
}

// The run's settings come from the folder. This call gives only the number of steps, the rate,
// where the text is, and what is shown.
void Session::merge_saved_config(const RunConfig& config) {
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
  const std::int64_t steps = plan_.training.schedule.steps, warmup = plan_.training.schedule.warmup;
  if (steps < warmup)
    throw support::UsageError("fledge train",
                              "--steps " + std::to_string(steps) + " is less than the warm-up of " +
                                  std::to_string(warmup) + " steps that this run has",
                              "use at least --steps " + std::to_string(warmup));
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
  throw support::CommandError(support::Exit::failed, "fledge train", text,
                              "use smaller --width, --layers, --context or --batch");
}

bool Session::is_out_of_patience() const {
  return plan_.patience > 0 && notes_.since_best >= plan_.patience;
}

bool Session::is_over() const {
  return is_out_of_patience() || trainer_->steps_done() >= plan_.training.schedule.steps;
}

}  // namespace fledge::train
