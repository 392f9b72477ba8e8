#include "examples/birds/page_recorder.h"

#include <cmath>

#include "examples/birds/text_model.h"
#include "examples/page/page_file.h"
#include "examples/page/snapshot.h"
#include "examples/support/text.h"
#include "nn/inspect/ngram_losses.h"

namespace fledge::birds {

namespace {

constexpr page::SnapshotSteps snapshot_steps{training_steps};
constexpr std::size_t most_bytes = 120'000;  // of the data: a page stays below 200 kB

// The prompts of the story, a sentence with the same words in another order, and other animals.
page::Plan plan_of(const Corpus& corpus) {
  page::Plan plan = page::default_plan(corpus, model_sizes(corpus).context);
  plan.sentences.clear();
  plan.prompts.clear();
  const auto token = [&](const std::string& word) { return corpus.tokenizer.encode(word).at(0); };
  for (const auto& [words, next] :
       {std::pair("birds sometimes walk", "slowly"), std::pair("but birds are good at", "flying"),
        std::pair("cats sometimes walk", "quietly"), std::pair("sometimes birds walk", "")})
    plan.sentences.push_back(
        {beginning(corpus, words), *next == 0 ? std::optional<Dim>() : token(next)});
  for (const char* words : {"birds", "birds sometimes walk", "but birds are good at"})
    plan.prompts.push_back(beginning(corpus, words));
  plan.watch.push_back(
      {"walk", "birds", "sometimes", token("walk"), token("birds"), token("sometimes")});
  return plan;
}

}  // namespace

void PageRecorder::begin(const LanguageModel& model, const Corpus& corpus, std::uint64_t seed) {
  seed_ = seed;
  plan_ = plan_of(corpus);
  keep(page::plan_event(plan_));
  Json::Members baselines{{"uniform", std::log(static_cast<double>(corpus.tokenizer.size()))}};
  const auto tables = ngram_losses(corpus.train, corpus.train, corpus.tokenizer.size(), 3);
  static constexpr const char* names[] = {"unigram", "bigram", "trigram", "fourgram"};
  for (std::size_t n = 0; n < tables.size() && n < 4; ++n)
    baselines.emplace_back(names[n], tables[n]);
  keep({{"type", "start"}, {"baselines", Json::object(baselines)}});
  keep(page::snapshot_event(model, corpus.tokenizer, plan_, 0, true, &corpus.train));
}

void PageRecorder::add(const LanguageModel& model, const Corpus& corpus,
                       const Trainer::Step& step) {
  keep({{"type", "step"},
        {"step", step.number},
        {"loss", step.loss},
        {"grad_norm", step.gradient_norm}});
  if (snapshot_steps.has(step.number))
    keep(page::snapshot_event(model, corpus.tokenizer, plan_, step.number,
                              snapshot_steps.is_full(step.number), &corpus.train));
}

void PageRecorder::finish(const LanguageModel& model, const Corpus& corpus) {
  page::Run run;
  run.title = "Birds sometimes walk";
  run.command = "birds --seed " + std::to_string(seed_) + " --page birds.html";
  run.sentence = page::run_in_words(model, training_steps);
  run.seed = seed_;
  run.steps = run.kept_step = training_steps;
  run.floor = least_loss(corpus.train);
  run.events = events_;
  run.model = &model;
  run.tokenizer = &corpus.tokenizer;
  run.text = &corpus.train;
  data_ = page::run_data(run, most_bytes);
}

std::string PageRecorder::file() const {
  return page::page_file("Birds sometimes walk: attention being learned",
                         Json::object({{"kind", "run"}, {"run", data_.data}}));
}

}  // namespace fledge::birds
