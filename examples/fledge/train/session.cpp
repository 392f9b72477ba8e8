#include "examples/fledge/train/session.h"

#include <algorithm>
#include <cstdio>

#include "examples/fledge/step_memory.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/unusable.h"
#include "examples/support/text.h"

namespace fledge::train {

Session::Session(TrainConfig plan)
    : plan_(std::move(plan)), screen_(plan_.quiet, plan_.no_progress) {
  std::optional<RunConfig> config;
  if (plan_.resumes()) {
    folder_ = RunFolder::resume(plan_.folder());
    config = folder_->config();
    plan_ = resumed_config(config->settings, plan_);
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
    config->settings.text_path = absolute_path(plan_.text_path);
    config->id = run_id(*config);
  }
  find_watched();
  find_probed();
  require_memory();
  std::optional<std::string> state;
  if (plan_.resumes()) state = read_state();
  Rng weights(plan_.training.seed);
  model_.emplace(plan_.sizes, weights);
  trainer_ = std::make_unique<Trainer>(*model_, corpus_->train, plan_.training);
  notes_.text_hash = config->text_hash;
  notes_.run_id = config->id;
  const auto warn = [&](const std::string& what) { screen_.warn("fledge train: " + what); };
  if (plan_.resumes()) {
    const bool has_new_model = load_state(state, warn);
    folder_->open_metrics(notes_, warn);
    if (has_new_model) folder_->write(checkpoint());
    save_config(*config);
  } else if (!plan_.folder().empty()) {
    const Checkpoint first = beginning();
    folder_ = RunFolder::begin(plan_.folder(), *config, plan_.force, first);
    kept_ = first.model;
    notes_.csv_bytes = csv_header().size();
    folder_->open_metrics(notes_, warn);
  }
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
