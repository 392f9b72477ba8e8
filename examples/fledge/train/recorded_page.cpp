#include "examples/fledge/train/recorded_page.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "examples/fledge/attention.h"
#include "examples/fledge/train/events.h"
#include "examples/fledge/train/source.h"
#include "examples/page/engine/excerpt.h"
#include "examples/page/engine/settings.h"
#include "examples/page/page_file.h"
#include "examples/support/text.h"
#include "nn/generate/sampler.h"
#include "nn/io/checksum.h"

namespace fledge::train {

using support::formatted, support::printable, support::thousands;
namespace fs = std::filesystem;

void require_page_place(const TrainConfig& config) {
  if (config.page.empty()) return;
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
  page::require_place(config.page, is_above(page.parent_path()));
}

namespace {

// run.safetensors with the weights of this model alone: a trainer before its first step has no
// moments. It needs a text of one window.
std::string run_bytes(RunConfig run, const LanguageModel& model) {
  run.settings.texts = names_without_folders(run.settings.texts);
  run.settings.from.clear();
  run.settings.training.average = 0;  // the weights are all that the page has
  run.settings.training.seed = std::min(run.settings.training.seed, largest_seed);
  const TokenText window{std::vector<Dim>(static_cast<std::size_t>(model.sizes.context) + 1), {}};
  return checkpoint_bytes(Trainer(model, window, run.settings.training), {}, {}, config_text(run));
}

// What the model sees at the end of the sentence.
page::Look look_at(const RunConfig& run, const LanguageModel& model, const std::string& sentence) {
  const bool lines = run.settings.corpus.reading == Reading::lines;
  std::vector<Dim> ids = prompt_of(run.tokenizer, sentence, lines, "the sentence").ids;
  const auto most = static_cast<std::size_t>(model.sizes.context);
  if (ids.size() > most) ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(most));
  Decoder decoder(model, run.tokenizer.without_text(model.sizes.vocabulary));
  const Choice best = most_likely(decoder.read(ids), 1).at(0);
  const AttentionWeights seen = attention_weights(decoder, run.tokenizer);
  page::Look look{seen.tokens, {}, run.tokenizer.decode({best.token}), best.probability};
  if (lines && ids[0] == run.tokenizer.find("\n")) look.words[0] = "start";
  for (Dim j = 0; j < seen.size(); ++j)
    look.weights.push_back(seen.weight({0, 0}, seen.size() - 1, j));
  return look;
}

}  // namespace

page::Page recorded_page(const RunConfig& run, const LanguageModel& model, std::string text,
                         const std::string& why, std::int64_t kept_step, std::string_view events) {
  constexpr std::size_t most_text = 2'000'000, excerpt = 20'000;
  const TrainConfig& config = run.settings;
  const Dim parameters = count_parameters(model);
  if (parameters > page::most_parameters)
    throw support::InputError("a page holds a model of at most " +
                                  thousands(page::most_parameters) + " parameters: this one has " +
                                  thousands(parameters),
                              "use smaller --width or --layers");
  if (!fits_page(model.sizes, 1))
    throw support::InputError("a page has 2 GB of memory, too little to train this model in it",
                              "use a smaller --context");
  page::Page made;
  made.title = run.text_bytes == 0    ? "some text"  // not fledge train made the model
               : config.texts.empty() ? "the built-in text"
                                      : names_without_folders(config.texts)[0];
  made.baselines =
      Json::object({{"guessing", std::log(static_cast<double>(model.sizes.vocabulary))},
                    {"tables", std::vector<double>{}},
                    {"floor", nullptr}});  // unless the log has more
  page::read_events(event_lines(events), parameters, made);
  made.run = run_bytes(run, model);
  made.settings = settings_json({config.corpus, config.sizes, config.training},
                                run.text_bytes > 0 && config.texts.empty() ? "" : made.title);
  if (config.training.seed > largest_seed)
    made.notices.emplace_back("A new model here has another seed: this run's is too large.");
  made.notices.emplace_back(
      !made.kept.empty() ? "The weights of earlier steps are rounded to bf16, 8 binary digits."
      : page::most_earlier(parameters) == 0
          ? "The page has the last weights alone: earlier ones of this size do not fit."
          : "This run recorded no earlier weights, so the page shows the kept model alone. "
            "Train with --page to follow the learning.");
  page::add_kept(kept_step, parameters, made);

  page::Story& story = made.story;
  if (story.sentence.empty()) {
    const Excerpt found =
        excerpt_of(text, run.tokenizer, config.corpus.reading, model.sizes.context);
    story.sentence = found.text, story.goes_on = found.goes_on;
  }
  if (!why.empty()) {
    made.notices.push_back("The model wrote the text of this page, because " + why +
                           ". What is trained here learns from that text.");
  } else if (text.size() > most_text) {
    std::size_t end = std::min(text.rfind('\n', excerpt), excerpt);
    while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
    text.resize(end);
    made.notices.emplace_back(
        "The page has only the beginning of the text, which is over 2 MB. "
        "What is trained here learns from that.");
  } else if (!config.from.empty()) {
    made.notices.emplace_back(
        "This run began with another model. A new one begins with random numbers.");
  }
  made.text = std::move(text);
  story.title = "What does it look at?";
  story.lede = "A model of " + thousands(parameters) + " numbers read " + made.title +
               " and learned to guess the next " + token_word(run.tokenizer.kind()) +
               ". Watch where it looks for that.";
  made.look = look_at(run, model, story.sentence);
  return made;
}

}  // namespace fledge::train
