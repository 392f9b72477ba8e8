#include "examples/fledge/train/page_recorder.h"

#include <algorithm>
#include <filesystem>

#include "examples/fledge/train/source.h"
#include "examples/page/page_file.h"
#include "examples/page/snapshot.h"
#include "examples/support/text.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/inspect/probes.h"

namespace fledge::train {

using support::formatted, support::printable;

namespace {

constexpr std::string_view plan_mark = "{\"type\":\"page\",";

}  // namespace

void require_page_place(const TrainConfig& config) {
  if (config.page.empty()) return;
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& what) {
    throw support::CommandError(support::Exit::failed,
                                "--page " + support::quoted(config.page) + " is " + what,
                                "name another file, such as --page page.html");
  };
  std::error_code none;
  // From the root, without links, and without "/" at the end. Its last parts may not exist.
  const auto whole = [&](const std::string& path) {
    fs::path found = fs::weakly_canonical(fs::absolute(path, none), none);
    return found.has_filename() ? found : found.parent_path();
  };
  const fs::path page = whole(config.page), run = whole(config.folder());
  const auto is_above = [&](const fs::path& path) {  // or the folder of the run itself
    return !config.folder().empty() &&
           std::mismatch(path.begin(), path.end(), run.begin(), run.end()).first == path.end();
  };
  const std::string name = page.filename().string();
  if (is_above(page)) refuse("the folder of the run, or one above it");
  if (page.parent_path() == run && !run.empty() &&
      (name.starts_with('.') || name == run_file || name == log_file))
    refuse("a file of the run");
  for (const std::string& text : config.texts)
    if (fs::equivalent(text, config.page, none)) refuse("the text itself");
  support::require_place(config.page, page::page_kind, is_above(page.parent_path()));
}

namespace {

page::Plan plan_of(const TrainConfig& config, const Corpus& corpus,
                   const std::vector<WordPair>& pairs, const std::vector<Probe>& sentences) {
  page::Plan plan = page::default_plan(corpus, config.sizes.context);
  if (!sentences.empty()) {
    plan.sentences.clear();
    plan.prompts.clear();
    for (const Probe& probe : sentences) {
      const auto shown = std::min<std::ptrdiff_t>(std::ssize(probe.ids), page::Plan::most_tokens);
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

bool has_snapshots(std::string_view events) {
  return events.find(plan_mark) != std::string_view::npos;
}

PageRecorder::PageRecorder(const TrainConfig& config, const Corpus& corpus,
                           const LanguageModel& model, const std::vector<WordPair>& pairs,
                           const std::vector<Probe>& sentences, std::string_view events)
    : config_(&config),
      corpus_(&corpus),
      model_(&model),
      sentences_(&sentences),
      steps_{config.training.schedule.steps} {
  page::require_vocabulary(corpus.tokenizer.size());
  require_page_place(config);
  std::int64_t number = 0;
  for (const std::string& line : event_lines(events)) {
    ++number;
    if (!line.starts_with(plan_mark)) continue;
    plan_ = page::naming_event("line " + std::to_string(number), [&] {
      return page::read_plan(read_json(line), corpus.tokenizer.size(), config.sizes.context);
    });
    has_plan_event_ = true;
    return;
  }
  plan_ = plan_of(config, corpus, pairs, sentences);
}

std::vector<Event> PageRecorder::look(std::int64_t step) {
  std::vector<Event> found;
  if (!steps_.has(step)) return found;
  if (!has_plan_event_) found.emplace_back(Snapshot{page::plan_event(plan_)});
  found.emplace_back(Snapshot{page::snapshot_event(*model_, corpus_->tokenizer, plan_, step,
                                                   steps_.is_full(step), &corpus_->train)});
  has_plan_event_ = true;
  return found;
}

std::string PageRecorder::title() const {
  return config_->texts.empty() ? "the built-in text" : names_without_folders(config_->texts)[0];
}

page::Thinned PageRecorder::data(std::int64_t done_steps, std::int64_t kept_step,
                                 std::string_view events) const {
  constexpr Dim small = 100'000;  // tokens: least_loss() looks at all beginnings of lines
  const TokenText& text = corpus_->train;
  std::optional<double> floor;
  if (text.documents() > 0 && corpus_->valid.size() <= 1 && text.size() < small)
    floor = least_loss(text);
  std::vector<std::string> notices;
  for (const Probe& probe : *sentences_)
    if (std::ssize(probe.ids) > page::Plan::most_tokens)
      notices.push_back("Of the sentence " + support::quoted(probe.sentence) +
                        " the page shows the last " + std::to_string(page::Plan::most_tokens) +
                        " tokens, read from position 0.");
  return page::run_data({.title = title(),
                         .command = config_->command,
                         .sentence = page::run_in_words(*model_, done_steps),
                         .seed = config_->training.seed,
                         .steps = config_->training.schedule.steps,
                         .kept_step = kept_step,
                         .floor = floor,
                         .events = event_lines(events),
                         .model = model_,
                         .tokenizer = &corpus_->tokenizer,
                         .text = &text,
                         .plan = plan_,
                         .notices = std::move(notices)});
}

std::string PageRecorder::write(std::int64_t done_steps, std::int64_t kept_step,
                                std::string_view events) const {
  const page::Thinned data = this->data(done_steps, kept_step, events);
  const std::string file =
      page::page_file(title(), Json::object({{"kind", "run"}, {"run", data.data}}));
  support::write_output(config_->page, file, page::page_kind);
  std::string said = "The page is in " + printable(config_->page) + " (" +
                     formatted("%.0f kB", static_cast<double>(file.size()) / 1000) +
                     "): open it in a browser.";
  for (const std::string& notice : data.notices) said += " " + notice;
  return said;
}

}  // namespace fledge::train
