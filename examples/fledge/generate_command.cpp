#include "examples/fledge/commands.h"

#include <cstdio>

#include "examples/fledge/generate/output.h"
#include "examples/fledge/train/source.h"
#include "examples/support/text.h"

namespace fledge {

namespace {

/// A word that the model may draw.
void require_word(const std::string& word, const Tokenizer& tokenizer) {
  if (train::tokens_of(tokenizer, word, "--why").empty())
    throw support::UsageError("--why " + support::quoted(word) + " has no token",
                              "name a word: --why walk");
}

/// The step that drew the word. If one text was asked for and does not have the word: the step after
/// the prompt. Only a tokenizer of words can say what that step is: other tokens would begin with a
/// blank or not.
std::optional<Why> why_of(const Task& task, const Sample& sample) {
  const std::string& word = task.config.why;
  if (word.empty()) return {};
  const Tokenizer& tokenizer = task.trained.tokenizer();
  const auto prompted = sample.ids.begin() + static_cast<std::ptrdiff_t>(task.ids.size());
  const std::vector<Dim> drawn(prompted, sample.ids.end());
  if (const auto step = where_drawn(tokenizer, drawn, word)) {
    const auto token = prompted + static_cast<std::ptrdiff_t>(*step);
    const auto first = token - sample.seen[*step];
    return why_drawn(task.trained, word, {first, token}, first - sample.ids.begin(), *token);
  }
  if (tokenizer.kind() != Tokens::word || task.config.samples > 1) return {};
  Decoder decoder(task.trained.model);
  decoder.read(task.ids);
  std::vector<Dim> read = decoder.window();
  const auto begin = std::ssize(task.ids) - std::ssize(read);
  Why why = why_drawn(task.trained, word, std::move(read), begin, tokenizer.encode(word)[0]);
  why.was_drawn = false;
  return why;
}

/// The random seed, so that this text can be written again. At temperature 0 nothing is random.
void print_seed(const GenerateConfig& config) {
  if (!config.is_random_seed || config.choice.temperature == 0) return;
  const std::string seed = std::to_string(config.seed);
  support::say(stderr, "Seed " + seed + ": --seed " + seed + " gives " +
                           (config.samples == 1 ? "this text" : "these texts") + " again");
}

void print(const Written& written) {
  const GenerateConfig& config = written.task.config;
  if (config.json)
    print_json(written);
  else if (config.csv)
    print_csv(written);
  else
    print_rest(written);
  if (config.null) put(std::string(1, '\0'));
  if (!config.svg.empty()) draw_picture(written);
}

int run(const TrainedModel& trained, const Task& task) {
  const GenerateConfig& config = task.config;
  if (!config.why.empty()) require_word(config.why, trained.tokenizer());
  require_heads_of_model(config.heads, trained.model.sizes);
  print_seed(config);
  const std::int64_t samples = config.samples;
  const bool has_titles = samples > 1 && !config.json && !config.csv && !config.null;
  const Rng seed(config.seed);
  bool is_explained = false;
  for (std::int64_t n = 1; n <= samples && !std::ferror(stdout); ++n) {
    if (has_titles) put("--- " + std::to_string(n) + " of " + std::to_string(samples) + "\n");
    const Sample sample =
        sample_of(task, n == 1 ? seed : seed.stream(static_cast<std::uint64_t>(n)));
    const std::optional<Why> why = why_of(task, sample);
    is_explained = is_explained || why;
    print({task, sample, n, why});
    std::fflush(stdout);
  }
  if (is_explained || config.why.empty() || std::ferror(stdout)) return 0;
  throw support::CommandError(
      support::Exit::failed,
      support::quoted(config.why) +
          (samples == 1 ? " was not drawn"
                        : " was drawn in none of " + std::to_string(samples) + " samples"),
      "try more: -n " + std::to_string(samples == 1 ? 20 : 10 * samples) +
          ", more --tokens-out, or another prompt");
}

int run(const GenerateConfig& config) {
  const TrainedModel trained = load_trained(config.folder, config.form);
  const Task task = task_of(config, trained);
  try {
    return run(trained, task);
  } catch (const NumericError&) {
    refuse_numbers(trained, task.ids);
  }
}

}  // namespace

int generate_command(int argc, char** argv) {
  const GenerateConfig config = generate_config(argc, argv);
  return support::with_advice("a model's folder is made by: fledge train FILE -o DIR",
                              [&] { return run(config); });
}

}  // namespace fledge
