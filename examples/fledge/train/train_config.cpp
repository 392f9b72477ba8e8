#include "examples/fledge/train/train_config.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "examples/fledge/train/run_folder.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/gpt/config.h"

namespace fledge::train {

const support::OptionTable<TrainConfig>& train_options() {
  using support::member_at;
  using C = TrainConfig;
  using Row = support::OptionRow<C>;
  using Corpus = CorpusOptions;
  using Sizes = LanguageModelSizes;
  using Training = TrainerOptions;
  using Schedule = CosineSchedule;
  constexpr auto lasting = support::Lifetime::lasting, may_change = support::Lifetime::may_change;
  constexpr double many = 1e9, most = 1e6;
  const auto own = [](auto member) { return member_at(member); };
  const auto text = [](auto member) { return member_at(&C::corpus, member); };
  const auto size = [](auto member) { return member_at(&C::sizes, member); };
  const auto train = [](auto member) { return member_at(&C::training, member); };
  const auto rate = [](auto member) {
    return member_at(&C::training, &TrainerOptions::schedule, member);
  };
  static const support::OptionTable<TrainConfig> table({
      {"Text",
       {Row("--tokens", "char|word|byte|bpe", "what a token is", text(&Corpus::tokens), {},
            lasting),
        Row("--symbols", "N", "how many symbols --tokens bpe learns", text(&Corpus::symbols),
            {257, 65536}, lasting),
        Row("--lines", "", "each line is a text of its own, read from its beginning",
            text(&Corpus::reading), {}, lasting, {"lines", 1}),
        Row("--valid", "FRAC", "held out: a share, or how many if 1 or more", text(&Corpus::valid),
            {0, many}, lasting, {"valid", 2})}},
      {"Model",
       {Row("--layers", "N", "blocks of attention and MLP", size(&Sizes::layers), {1, most_layers},
            lasting),
        Row("--heads", "N", "of each block; they divide the width", size(&Sizes::heads),
            {1, 10'000}, lasting),
        // Layer norm of one number is constant.
        Row("--width", "N", "channels", size(&Sizes::width), {2, 1e6}, lasting),
        Row("--context", "N", "tokens that the model can look at", size(&Sizes::context), {1, 1e6},
            lasting),
        Row("--dropout", "X", "share of the numbers left out while training", size(&Sizes::dropout),
            {0, 0.99}, lasting, {"dropout", 11}),
        Row("--no-bias", "", "linear layers without bias", size(&Sizes::bias), {}, lasting)}},
      {"Training",
       {Row("--steps", "N", "of the whole run", rate(&Schedule::steps), {1, many}, may_change,
            {"steps", 3}),
        Row("--batch", "N", "windows, or lines, a pass", train(&Training::batch), {1, 1e6}, lasting,
            {"batch", 4}),
        Row("--accumulate", "N", "passes a step", train(&Training::accumulate), {1, 100'000},
            lasting, {"accumulate", 5}),
        Row("--lr", "X", "the highest rate; with --resume another from there on",
            rate(&Schedule::rate), {0, most}, may_change, {"lr", 6}),
        Row("--min-lr", "SHARE", "of --lr that the cosine ends at", rate(&Schedule::least), {0, 1},
            lasting, {"min_lr", 7}),
        Row("--warmup", "N", "steps until the rate is --lr", rate(&Schedule::warmup), {0, many},
            lasting, {"warmup", 8}),
        Row("--decay", "X", "weight decay of matrices, a unit of rate", train(&Training::decay),
            {0, most}, lasting, {"decay", 9}),
        Row("--clip", "X", "largest norm of the gradients; 0: any", train(&Training::clip),
            {0, most}, lasting, {"clip", 10}),
        Row("--seed", "N", "of weights, batches, dropout and what is held out",
            train(&Training::seed), {}, lasting, {"seed", 12}),
        Row("--patience", "N", "stop after N evaluations without a better one; 0: never",
            own(&C::patience), {0, many}, lasting, {"patience", 14}),
        Row("--threads", "N", "", nullptr)}},
      {"Watching",
       {Row("--watch", "a:b,...", "how word a comes to look at word b", own(&C::watch)),
        Row("--probe", "\"words\"",
            "a sentence, or several between |, whose attention is shown at the end",
            own(&C::probe)),
        Row("--eval-every", "N", "steps between looks at the held-out text",
            own(&C::evaluate_every), {1, many}, lasting, {"eval_every", 13}),
        Row("--sample-every", "N", "steps between samples; 0: ten in all", own(&C::sample_every),
            {0, many}),
        Row("--log-every", "N", "steps between rows of metrics.csv and --json", own(&C::log_every),
            {1, many}),
        Row("--pace", "N", "at most N steps a second; 0: as fast as it goes", own(&C::pace),
            {0, many})}},
      {"Output",
       {Row("-o, --out", "DIR", "the folder of the model", own(&C::out)),
        Row("--resume", "DIR", "go on with the run in this folder", own(&C::resume)),
        Row("--force", "", "begin anew in a folder that has a model", own(&C::force)),
        Row("--save-every", "SECONDS", "between checkpoints", own(&C::save_seconds), {0, many}),
        Row("--json", "", "one JSON object a line on stdout", own(&C::json))}},
      {"Screen",
       {Row("-q, --quiet", "", "only warnings and errors", own(&C::quiet)),
        Row("--no-progress", "", "plain lines instead of a bar", own(&C::no_progress))}},
  });
  return table;
}

support::Options declared_options() {
  support::Options options("fledge train",
                           "Trains a small attention model on a text and says what it learned.");
  options.arguments("FILE", 0, 1);
  options.example("fledge train", "the built-in text, nothing is written");
  options.example("fledge train poems.txt -o run", "your text, the model in ./run");
  options.example("fledge train --resume run", "go on where it stopped, or with another --lr");
  train_options().declare(options);
  options.exit_statuses(
      "0 done, 1 failed, 2 wrong usage, 3 unusable input, 4 diverged, 130 interrupted");
  return options;
}

namespace {

[[noreturn]] void refuse(const std::string& problem, const std::string& advice) {
  throw support::UsageError("fledge train", problem, advice);
}

void require_heads(Dim width, Dim heads) {
  if (width % heads == 0) return;
  const Dim below = width / heads * heads, above = below + heads;
  char quotient[64];
  std::snprintf(quotient, sizeof quotient, "%lld / %lld = %g", static_cast<long long>(width),
                static_cast<long long>(heads),
                static_cast<double>(width) / static_cast<double>(heads));
  refuse("--width " + std::to_string(width) + " does not divide into " + std::to_string(heads) +
             " heads (" + quotient + ")",
         "use --width " + (below > 0 ? std::to_string(below) + " or " : "") +
             std::to_string(above) + ", or another number of --heads");
}

// A run that would write over its own text, by name or on standard input.
void require_other_files(const TrainConfig& config) {
  struct stat text {};
  const bool is_there = config.text_path == "-" ? fstat(STDIN_FILENO, &text) == 0
                                                : stat(config.text_path.c_str(), &text) == 0;
  const auto is_text = [&](const std::string& path) {
    struct stat there {};
    return is_there && stat(path.c_str(), &there) == 0 && there.st_dev == text.st_dev &&
           there.st_ino == text.st_ino;
  };
  bool writes = is_text(config.out);
  for (const std::string& name : run_files()) writes |= is_text(config.out + "/" + name);
  if (writes)
    refuse("--out " + support::quoted(config.out) + " would write over the text itself",
           "name another folder: -o run");
}

// The built-in text is small: its defaults make a model that learns it in seconds.
void use_built_in_text(TrainConfig& config) {
  const auto unless_given = [&](const char* name, auto& value, auto built_in) {
    if (!config.given.contains(name)) value = built_in;
  };
  config.corpus.reading = Reading::lines;
  unless_given("--tokens", config.corpus.tokens, Tokens::word);
  unless_given("--layers", config.sizes.layers, Dim{1});
  unless_given("--heads", config.sizes.heads, Dim{1});
  unless_given("--width", config.sizes.width, Dim{16});
  unless_given("--context", config.sizes.context, Dim{16});
  unless_given("--steps", config.training.schedule.steps, std::int64_t{1000});
  unless_given("--lr", config.training.schedule.rate, 0.02);
  unless_given("--eval-every", config.evaluate_every, std::int64_t{100});
  if (support::is_terminal(stderr)) unless_given("--pace", config.pace, std::int64_t{200});
  if (config.corpus.tokens == Tokens::word)
    unless_given("--watch", config.watch, std::string("walk:birds"));
}

void require_resumable(const TrainConfig& call) {
  if (call.given.contains("--out") && call.out != call.resume)
    refuse("--resume and --out name two folders", "a run stays in its folder: leave out --out");
  if (call.force) refuse("--force begins anew, --resume goes on", "use one of them");
  const std::string lasting = train_options().first_given(support::Lifetime::lasting, call.given);
  if (!lasting.empty())
    refuse(lasting + " belongs to the run since it began",
           "leave it out, or begin a new run in another folder with -o");
}

}  // namespace

TrainConfig train_config(const support::Options& options) {
  TrainConfig config;
  if (!options.arguments().empty()) config.text_path = options.arguments()[0];
  if (!options.arguments().empty() && config.text_path.empty())
    refuse("FILE has an empty name", "leave it out for the built-in text");
  config.given = train_options().read(options, config);
  config.corpus.seed = config.training.seed;
  watched_pairs(config.watch);
  probed_sentences(config.probe);
  options.use_threads();
  if (config.resumes()) {
    require_resumable(config);
    return config;
  }
  if (config.given.contains("--symbols") && config.corpus.tokens != Tokens::bpe)
    refuse("--symbols is for --tokens bpe", "leave it out: other tokens follow from the text");
  if (config.text_path.empty())
    use_built_in_text(config);
  else if (!config.out.empty())
    require_other_files(config);
  if (config.corpus.valid == 0 && config.patience > 0)
    refuse("--patience needs a held-out text", "use --valid 0.1, or leave out --patience");
  CosineSchedule& schedule = config.training.schedule;
  if (!config.given.contains("--warmup"))
    schedule.warmup = std::min(schedule.warmup, schedule.steps / 10);
  if (schedule.warmup > schedule.steps)
    refuse("--warmup " + std::to_string(schedule.warmup) + " is longer than the run",
           "use --warmup " + std::to_string(schedule.steps) + " or less");
  require_heads(config.sizes.width, config.sizes.heads);
  return config;
}

TrainConfig resumed_config(const TrainConfig& saved, const TrainConfig& call) {
  TrainConfig config = train_options().resume(saved, call, call.given);
  config.given = call.given;
  if (!call.text_path.empty()) config.text_path = call.text_path;
  const auto& [rate, least, warmup, steps] = config.training.schedule;
  if (steps < warmup)
    refuse("--steps " + std::to_string(steps) + " is less than the warm-up of " +
               std::to_string(warmup) + " steps that this run has",
           "use at least --steps " + std::to_string(warmup));
  return config;
}

std::vector<WordPair> watched_pairs(const std::string& text) {
  std::vector<WordPair> pairs;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const std::size_t colon = pair.find(':', 1);
    if (colon == std::string::npos || colon + 1 == pair.size())
      refuse("--watch " + support::quoted(pair) + " is no pair of words",
             "write --watch walk:birds, or walk:birds,at:good for two");
    pairs.push_back({pair.substr(0, colon), pair.substr(colon + 1)});
    begin = end + 1;
  }
  return pairs;
}

std::vector<Probe> probed_sentences(const std::string& text) {
  std::vector<Probe> probes;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    const std::size_t first = text.find_first_not_of(' ', begin);
    if (first >= end)
      refuse("--probe " + support::quoted(text) + " has an empty sentence",
             "write --probe \"birds walk\", or \"birds walk | they fly\" for two");
    const std::size_t last = text.find_last_not_of(' ', end - 1);
    probes.push_back({text.substr(first, last + 1 - first), first});
    begin = end + 1;
  }
  return probes;
}

}  // namespace fledge::train
