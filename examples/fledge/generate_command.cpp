#include "examples/fledge/commands.h"

#include <algorithm>
#include <cstdio>

#include "examples/fledge/generate/sample.h"
#include "examples/fledge/generate/why.h"
#include "examples/fledge/known_names.h"
#include "examples/fledge/train/source.h"
#include "examples/support/options.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge {

namespace {

GenerateConfig generate_config(int argc, char** argv) {
  constexpr double many = 1e9;
  GenerateConfig config;
  support::Options options("fledge generate", "A trained model goes on with a text.");
  options.arguments("DIR [PROMPT]", 1, 2);
  options.example("fledge generate run", "from nothing");
  options.example("fledge generate run \"birds sometimes\"",
                  "from a prompt; - reads it from stdin");
  options.example("fledge generate run --temperature 0", "always the likeliest token");
  options.example("fledge generate run -n 20 --why walk", "twenty texts, and what walk rests on");

  options.group("Text");
  options.add("--tokens-out", "N", config.tokens_out, "how many tokens", {0, many});
  options.add("-n, --samples", "N", config.samples,
              "so many texts, each from a stream of the seed; in a pipe each ends with a NUL, on a "
              "terminal a line stands between; --json gives a line each",
              {1, many});
  options.add("--stop", "S", config.stop, "ends before this text");

  options.group("Choice");
  options.add("--temperature", "X", config.choice.temperature,
              "0: the likeliest; 1: as learned; above: bolder", {0, 1000});
  options.add("--top-k", "N", config.choice.top_k, "only among the N likeliest; 0: all", {0, many});
  options.add("--top-p", "X", config.choice.top_p,
              "only among the likeliest that have this probability", {1e-9, 1});
  options.add("--seed", "N", config.seed, "the same seed gives the same text");

  options.group("Watching");
  options.add("--probs", "", config.probs, "a line a token, with the five likeliest");
  options.add("--attention", "", config.attention,
              "where each token looked that the last pass read, after the text; of more "
              "than 24 tokens the last 24");
  options.add("--why", "WORD", config.why,
              "the step that drew the first token of WORD: where each head looked, and how ln p of "
              "that token changes when one that was read is hidden from all later places (a mask "
              "in every layer; positions stay, and the last, where the guess is made, cannot be "
              "hidden); p is the model's own, at temperature 1");

  options.group("Output");
  options.add("--json", "", config.json, "one object a text on stdout");
  options.add("--raw", "", config.raw, "control characters as they are, also on a terminal");
  options.threads();
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  add_known_names(options);
  options.known_as("", {"--prompt", "--start", "--text"}, "the prompt stands behind DIR");
  options.parse(argc, argv);
  for (const char* name : {"--probs", "--attention"})
    if (config.json && options.given().contains(name))
      support::refuse_usage(std::string(name) + " is for people, --json for programs",
                            "use one of them");
  config.folder = options.arguments()[0];
  if (options.arguments().size() > 1) config.prompt = options.arguments()[1];
  config.is_numbered = options.given().contains("--samples");
  return config;
}

/// A word that the model may draw.
void require_word(const std::string& word, const Tokenizer& tokenizer) {
  if (train::tokens_of(tokenizer, word, "--why").empty())
    throw support::UsageError("--why " + support::quoted(word) + " has no token",
                              "name a word: --why walk");
}

std::optional<Why> why_of(const Task& task, const Sample& sample) {
  const std::string& word = task.config.why;
  if (word.empty()) return {};
  const auto prompted = sample.ids.begin() + static_cast<std::ptrdiff_t>(task.ids.size());
  const std::vector<Dim> drawn(prompted, sample.ids.end());
  const auto step = where_drawn(task.trained.tokenizer(), drawn, word);
  if (!step) return {};
  const auto token = prompted + static_cast<std::ptrdiff_t>(*step);
  return why_drawn(task.trained.model, word, {token - sample.seen[*step], token}, *token);
}

void print_json(const Task& task, const Sample& sample, std::int64_t number,
                const std::optional<Why>& why) {
  const GenerateConfig& config = task.config;
  Json::Members members{{"prompt", task.prompt},
                        {"text", sample.text},
                        {"tokens", sample.ids.size() - task.ids.size()},
                        {"seed", config.seed}};
  if (config.is_numbered) members.emplace_back("sample", number);
  if (!config.why.empty())
    members.emplace_back("why", why ? as_json(*why, task.trained.tokenizer()) : Json());
  put(Json::object(members).text() + "\n");
}

void print_rest(const Task& task, const Sample& sample, const std::optional<Why>& why) {
  const TrainedModel& trained = task.trained;
  if (!task.streams) put(shown(task.prompt + sample.text, task.raw));
  if (!(task.prompt + sample.text).ends_with('\n')) put("\n");
  if (task.config.attention) put("\n" + attention_of(task, sample));
  if (why) put("\n" + why_text(*why, trained.tokenizer()));
}

int run(const TrainedModel& trained, const Task& task) {
  const GenerateConfig& config = task.config;
  if (!config.why.empty()) require_word(config.why, trained.tokenizer());
  const std::int64_t samples = config.samples;
  const bool apart = samples > 1 && !config.json;
  const bool terminal = support::is_terminal(stdout);
  const Rng seed(config.seed);
  bool explained = false;
  for (std::int64_t n = 1; n <= samples && !std::ferror(stdout); ++n) {
    if (apart && terminal)
      put("--- " + std::to_string(n) + " of " + std::to_string(samples) + "\n");
    const Sample sample =
        sample_of(task, n == 1 ? seed : seed.stream(static_cast<std::uint64_t>(n)));
    const std::optional<Why> why = why_of(task, sample);
    explained = explained || why;
    if (config.json)
      print_json(task, sample, n, why);
    else
      print_rest(task, sample, why);
    if (apart && !terminal) put(std::string(1, '\0'));
    std::fflush(stdout);
  }
  if (explained || config.why.empty() || std::ferror(stdout)) return 0;
  throw support::CommandError(
      support::Exit::failed,
      support::quoted(config.why) +
          (samples == 1 ? " was not drawn"
                        : " was drawn in none of " + std::to_string(samples) + " samples"),
      "try more: -n " + std::to_string(samples == 1 ? 20 : 10 * samples) +
          ", more --tokens-out, or another prompt");
}

int run(const GenerateConfig& config) {
  const TrainedModel trained = load_trained(config.folder);
  const Task task = task_of(config, trained);
  try {
    return run(trained, task);
  } catch (const NumericError&) {
    refuse_numbers(config.folder, trained.model, task.ids);
  }
}

}  // namespace

int generate_command(int argc, char** argv) {
  const GenerateConfig config = generate_config(argc, argv);
  return support::with_advice("a model's folder is made by: fledge train FILE -o DIR",
                              [&] { return run(config); });
}

}  // namespace fledge
