#include "examples/fledge/commands.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>

#include "examples/fledge/attention/attention_report.h"
#include "examples/fledge/generate/sample.h"
#include "examples/fledge/generate/why.h"
#include "examples/fledge/train/source.h"
#include "examples/support/options.h"
#include "examples/support/text.h"

namespace fledge {

namespace {

using support::refuse_usage;

void require_one_form(const GenerateConfig& config, const std::set<std::string>& given) {
  if (config.json && config.csv)
    refuse_usage("--json and --csv are two forms of the same", "use one of them");
  const int tables = config.attention + config.probs + !config.why.empty();
  if (config.csv && tables != 1)
    refuse_usage(
        "--csv writes one table: " + std::string(tables == 0 ? "none" : "several") + " asked for",
        "add one of --attention, --probs and --why WORD");
  if (config.null && (config.json || config.csv))
    refuse_usage("--null is for texts, and a line ends each object of --json and row of --csv",
                 "leave out --null");
  for (const char* name : {"--layer", "--head"})
    if (given.contains(name) && !config.attention)
      refuse_usage(std::string(name) + " is about attention", "add --attention");
}

/// Throws UsageError for options that exclude each other.
GenerateConfig generate_config(int argc, char** argv) {
  constexpr double many = 1e9;
  GenerateConfig config;
  std::optional<std::uint64_t> seed;
  support::Options options("fledge generate", "A trained model continues a text.");
  options.arguments("DIR [PROMPT]", 1, 2, true);
  options.example("fledge generate run", "from nothing");
  options.example("fledge generate run \"birds sometimes\"",
                  "from a prompt; the prompt - reads it from stdin");
  options.example("fledge generate run --temperature 0", "always the likeliest token");
  options.example("fledge generate run \"but birds are good at\" --why flying",
                  "which words flying rests on");

  options.group("Text");
  options.add("--skip-unknown", "", config.skip_unknown,
              "leave out of PROMPT what was not in the training text");
  options.add("--tokens-out", "N", config.tokens_out, "how many tokens to write", {0, many});
  options.also_known_as("--length --max-length --max-tokens --max-new-tokens");
  options.add("-n, --samples", "N", config.samples,
              "how many texts; a line such as \"--- 2 of 3\" stands above each", {1, many});
  options.also_known_as("--num-samples --num-return-sequences");
  options.add("-0, --null", "", config.null,
              "a NUL byte after each text instead of the line above it, for xargs -0");
  options.add("--stop", "TEXT", config.stop, "end a text before the first TEXT in it");
  options.is_text();

  options.group("Choice");
  options.add("--temperature", "X", config.choice.temperature,
              "0: always the likeliest token; 1: the probabilities that the model learned; above "
              "1: unlikely tokens come more often",
              {0, 1000});
  options.also_known_as("--temp");
  options.add("--top-k", "N", config.choice.top_k,
              "choose among the N likeliest tokens only; 0: among all", {0, many});
  options.add("--top-p", "X", config.choice.top_p,
              "choose among the likeliest tokens only: as few as have probability X together",
              {1e-9, 1});
  options.add("--seed", "N", seed,
              "the same seed gives the same text; without it a random seed is used and printed");

  options.group("Inside");
  options.add("--attention", "", config.attention,
              "which tokens each head of attention looked at in the last step: all heads as "
              "small pictures, with what each head does");
  options.add("--layer", "N", config.heads.layer,
              "show only this layer of --attention, counted from 0", {0, many});
  options.add("--head", "N", config.heads.head,
              "show only this head of each layer, counted from 0; a head alone is shown large",
              {0, many});
  options.add("--probs", "", config.probs,
              "for each token the five likeliest, with their probabilities at the temperature in "
              "use, and the one that was drawn");
  options.add("--why", "WORD", config.why,
              "how the probability of the first WORD that was drawn changes when one token before "
              "it is hidden, and where each head looked; at temperature 1. Hidden means: masked "
              "in every layer for all later tokens");

  options.group("Output");
  options.add("--json", "", config.json,
              "one JSON object a text, with what --attention, --probs and --why found");
  options.add("--csv", "", config.csv,
              "what --attention, --probs or --why found, as a table with commas");
  options.gone("--svg", "a page draws the attention: fledge page DIR; --json has the weights");
  options.add("--raw", "", config.raw, "write control characters as they are, also to a terminal");
  add_text_form(options, config.form);
  options.threads();
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  options.parse(argc, argv);
  config.folder = options.arguments()[0];
  if (options.arguments().size() > 1) config.prompt = options.arguments()[1];
  config.is_numbered = options.given().contains("--samples");
  require_one_form(config, options.given());
  config.is_random_seed = !seed;
  config.seed = seed ? *seed : std::random_device()() % 1'000'000;
  return config;
}

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

/// The sample number `number` of the task, counted from 1. `why`: of --why, if the word was drawn.
struct Written {
  const Task& task;
  const Sample& sample;
  std::int64_t number;
  const std::optional<Why>& why;
};

std::vector<HeadNumber> heads_of(const Written& written) {
  return chosen_heads(*written.sample.attention, written.task.config.heads);
}

/// Which tokens the weights are about, and the picture of them.
std::string attention_text(const Written& written) {
  const auto& [task, sample, number, why] = written;
  const AttentionWeights& attention = *sample.attention;
  support::MapStyle style;
  style.columns = task.columns;
  style.paint = task.paint;
  const std::string last = support::thousands(sample.read - 1);
  std::string text =
      "Attention over " + support::counted(attention.size(), "token") + ", " +
      (attention.size() == 1 ? "position " + last
                             : "positions " + support::thousands(attention.begin) + " to " + last) +
      " of the text, counted from 0.";
  if (sample.read < static_cast<Dim>(sample.ids.size()))
    text += " The last token of the text was drawn, but not read.";
  const std::vector<HeadNumber> heads = heads_of(written);
  const std::string hint =
      heads.size() == 1
          ? ""
          : support::wrapped("--layer N --head N shows one head large.", style.columns) + "\n";
  return support::wrapped(text, style.columns) + "\n" + attention_report(attention, heads, style) +
         hint;
}

/// The text with shades of surprise.
std::string surprise_text(const Written& written) {
  constexpr double most_bits = 6;
  const auto& [task, sample, number, why] = written;
  std::vector<support::ShadedPart> parts{{task.prompt, 0}};
  double bits = 0;
  for (std::size_t n = 0; n < sample.steps.size(); ++n) {
    const DrawnToken& step = sample.steps[n];
    bits += step.surprise();
    parts.push_back({sample.pieces[n], step.surprise() / most_bits});
  }
  const double mean = bits / static_cast<double>(std::max<std::size_t>(1, sample.steps.size()));
  return support::wrapped(
             "The text, darker where the token that was drawn is less probable. Mean "
             "surprise: " +
                 support::formatted("%.2f", mean) + " bits a token.",
             task.columns) +
         "\n" + support::painted_text(parts, task.columns, task.paint);
}

/// The table that was asked for.
support::Rows rows_of(const Written& written) {
  const auto& [task, sample, number, why] = written;
  const Tokenizer& tokenizer = task.trained.tokenizer();
  if (task.config.attention) return attention_rows(*sample.attention, heads_of(written));
  if (task.config.probs) return probability_rows(sample.steps, tokenizer);
  return why_rows(why, tokenizer);
}

/// For people: the rest of the text, then what --attention, --probs and --why found.
void print_rest(const Written& written) {
  const auto& [task, sample, number, why] = written;
  if (!task.streams) put(shown(task.prompt + sample.text, task.raw));
  if (!(task.prompt + sample.text).ends_with('\n')) put("\n");
  if (task.config.probs) put("\n" + surprise_text(written));
  if (task.config.attention) put("\n" + attention_text(written));
  if (why) put("\n" + why_text(*why, task.trained.tokenizer(), task.columns, task.paint));
}

Json as_json(const Written& written) {
  const auto& [task, sample, number, why] = written;
  const GenerateConfig& config = task.config;
  const Tokenizer& tokenizer = task.trained.tokenizer();
  Json::Members members{{"prompt", task.prompt},
                        {"text", sample.text},
                        {"tokens", sample.ids.size() - task.ids.size()},
                        {"seed", config.seed}};
  if (config.is_numbered) members.emplace_back("sample", number);
  if (config.probs) members.emplace_back("probs", as_json(sample.steps, tokenizer));
  if (config.attention)
    members.emplace_back("attention", as_json(*sample.attention, heads_of(written)));
  if (!config.why.empty()) members.emplace_back("why", why ? as_json(*why, tokenizer) : Json());
  return Json::object(members);
}

void print(const Written& written) {
  const GenerateConfig& config = written.task.config;
  if (config.json) {
    put(as_json(written).text() + "\n");
  } else if (config.csv) {
    support::Rows rows = rows_of(written);
    if (config.is_numbered) rows.put_first("sample", written.number);
    put(rows.csv(written.number == 1));
  } else {
    print_rest(written);
  }
  if (config.null) put(std::string(1, '\0'));
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
