#include "examples/fledge/train/page_recorder.h"

#include <algorithm>
#include <filesystem>

#include "examples/fledge/train/source.h"
#include "examples/page/page_file.h"
#include "examples/page/snapshot.h"
#include "examples/support/text.h"
#include "nn/inspect/least_loss.h"
#include "nn/inspect/probes.h"

namespace fledge::train {

namespace {

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

constexpr std::ptrdiff_t most_tokens = 64;  // of a sentence of --probe: the last ones

page::Plan plan_of(const TrainConfig& config, const Corpus& corpus,
                   const std::vector<WordPair>& pairs, const std::vector<Probe>& sentences) {
  page::Plan plan = page::default_plan(corpus, config.sizes.context);
  if (!sentences.empty()) {
    plan.sentences.clear();
    plan.prompts.clear();
    for (const Probe& probe : sentences) {
      const auto shown = std::min<std::ptrdiff_t>(std::ssize(probe.ids), most_tokens);
      plan.sentences.push_back({{probe.ids.end() - shown, probe.ids.end()}, {}});
      plan.prompts.push_back(plan.sentences.back().ids);
    }
  }
  for (const WordPair& pair : pairs) {
    const Dim control = control_of(corpus.train, corpus.tokenizer.size(), config.sizes.context,
                                   pair.word_token, pair.looks_at_token);
    plan.watch.push_back({pair.word, pair.looks_at, corpus.tokenizer.decode({control}),
                          pair.word_token, pair.looks_at_token, control});
  }
  return plan;
}

}  // namespace

std::vector<std::string> event_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

PageRecorder::PageRecorder(const TrainConfig& config, const Corpus& corpus,
                           const std::vector<WordPair>& pairs, const std::vector<Probe>& sentences,
                           std::string_view events)
    : config_(&config), corpus_(&corpus), steps_{config.training.schedule.steps} {
  support::require_place(config.page, page::page_kind);
  for (const std::string& line : event_lines(events))
    if (line.starts_with("{\"type\":\"page\"")) {
      plan_ = page::read_plan(read_json(line), corpus.tokenizer.size());
      has_plan_event_ = true;
      return;
    }
  plan_ = plan_of(config, corpus, pairs, sentences);
}

std::vector<Json::Members> PageRecorder::events(const LanguageModel& model, std::int64_t step) {
  std::vector<Json::Members> found;
  if (!has_plan_event_) found.push_back(page::plan_event(plan_));
  has_plan_event_ = true;
  found.push_back(page::snapshot_event(model, corpus_->tokenizer, plan_, step, steps_.is_full(step),
                                       &corpus_->train));
  return found;
}

std::string PageRecorder::write(const LanguageModel& model, std::int64_t kept_step,
                                std::string_view events) const {
  page::Run run;
  const TrainConfig& config = *config_;
  const std::string text = config.texts.empty() ? "the built-in text" : file_name(config.texts[0]);
  run.title = text;
  run.command = "fledge train " + (config.texts.empty() ? "" : support::shell_word(text) + " ") +
                "--page " + support::shell_word(file_name(config.page));
  run.sentence = page::run_in_words(model, config.training.schedule.steps);
  run.seed = config.training.seed;
  run.steps = config.training.schedule.steps;
  run.kept_step = kept_step;
  constexpr Dim small = 100'000;  // tokens: least_loss() looks at all beginnings of lines
  if (corpus_->train.documents() > 0 && corpus_->valid.size() <= 1 && corpus_->train.size() < small)
    run.floor = least_loss(corpus_->train);
  run.events = lines_.empty() ? event_lines(events) : lines_;
  run.model = &model;
  run.tokenizer = &corpus_->tokenizer;
  run.text = &corpus_->train;
  run.plan = plan_;
  const page::Thinned data = page::run_data(run);
  const std::string file =
      page::page_file(run.title, Json::object({{"kind", "run"}, {"run", data.data}}));
  support::write_output(config.page, file, page::page_kind);
  std::string said = "The page is in " + support::printable(config.page) + " (" +
                     support::formatted("%.0f kB", static_cast<double>(file.size()) / 1000) +
                     "): open it in a browser.";
  for (const std::string& notice : data.notices) said += " " + notice;
  return support::wrapped(said, 80);
}

}  // namespace fledge::train
