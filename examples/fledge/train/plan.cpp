#include "examples/fledge/train/plan.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "examples/fledge/train/limits.h"
#include "examples/fledge/train/run_folder.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"

namespace fledge::train {

namespace {

constexpr const char* run_options[] = {
    "--tokens",  "--symbols", "--lines",   "--valid",    "--layers",     "--heads",  "--width",
    "--context", "--dropout", "--no-bias", "--batch",    "--accumulate", "--min-lr", "--warmup",
    "--decay",   "--clip",    "--seed",    "--patience", "--eval-every"};

std::vector<PairOfWords> watched_pairs(const support::Options& options) {
  std::vector<PairOfWords> pairs;
  const std::string& text = options.text("--watch");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const std::size_t colon = pair.find(':', 1);
    if (colon == std::string::npos || colon + 1 == pair.size())
      options.refuse("--watch " + support::quoted(pair) + " is no pair of words",
                     "write --watch walk:birds, or walk:birds,at:good for two");
    pairs.push_back({pair.substr(0, colon), pair.substr(colon + 1)});
    begin = end + 1;
  }
  return pairs;
}

// Between bars, without the spaces around each.
std::vector<Probe> probed_sentences(const support::Options& options) {
  std::vector<Probe> probes;
  const std::string& text = options.text("--probe");
  for (std::size_t begin = 0; options.has("--probe") && begin <= text.size();) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    const std::size_t first = text.find_first_not_of(' ', begin);
    if (first >= end)
      options.refuse("--probe " + support::quoted(text) + " has an empty sentence",
                     "write --probe \"birds walk\", or \"birds walk | they fly\" for two");
    const std::size_t last = text.find_last_not_of(' ', end - 1);
    probes.push_back({text.substr(first, last + 1 - first), first});
    begin = end + 1;
  }
  return probes;
}

void require_heads(const support::Options& options, Dim width, Dim heads) {
  if (width % heads == 0) return;
  const Dim below = width / heads * heads, above = below + heads;
  char quotient[64];
  std::snprintf(quotient, sizeof quotient, "%lld / %lld = %g", static_cast<long long>(width),
                static_cast<long long>(heads),
                static_cast<double>(width) / static_cast<double>(heads));
  options.refuse("--width " + std::to_string(width) + " does not divide into " +
                     std::to_string(heads) + " heads (" + quotient + ")",
                 "use --width " + (below > 0 ? std::to_string(below) + " or " : "") +
                     std::to_string(above) + ", or another number of --heads");
}

// A run that would write over its own text, by name or on standard input.
void require_other_files(const support::Options& options, const Plan& plan) {
  struct stat text {};
  const bool is_there = plan.text_path == "-" ? fstat(STDIN_FILENO, &text) == 0
                                              : stat(plan.text_path.c_str(), &text) == 0;
  const auto is_text = [&](const std::string& path) {
    struct stat there {};
    return is_there && stat(path.c_str(), &there) == 0 && there.st_dev == text.st_dev &&
           there.st_ino == text.st_ino;
  };
  bool writes = is_text(plan.folder);
  for (const std::string& name : run_files()) writes |= is_text(plan.folder + "/" + name);
  if (writes)
    options.refuse("--out " + support::quoted(plan.folder) + " would write over the text itself",
                   "name another folder: -o run");
}

// The built-in text is small: a model that learns it while one watches.
void use_built_in_text(const support::Options& options, Plan& plan) {
  const auto unless_given = [&](const char* name, auto& value, auto built_in) {
    if (!options.has(name)) value = built_in;
  };
  plan.corpus.reading = Reading::lines;
  unless_given("--tokens", plan.corpus.tokens, Tokens::word);
  unless_given("--layers", plan.sizes.layers, Dim{1});
  unless_given("--heads", plan.sizes.heads, Dim{1});
  unless_given("--width", plan.sizes.width, Dim{16});
  unless_given("--context", plan.sizes.context, Dim{16});
  unless_given("--steps", plan.training.schedule.steps, std::int64_t{1000});
  unless_given("--lr", plan.training.schedule.rate, 0.02);
  unless_given("--eval-every", plan.evaluate_every, std::int64_t{100});
  if (!options.has("--pace") && support::is_terminal(stderr)) plan.pace = 200;
  if (plan.watched.empty() && plan.corpus.tokens == Tokens::word)
    plan.watched = {{"walk", "birds"}};
}

}  // namespace

support::Options declared_options() {
  using support::Options;
  constexpr double most = limits::rate;
  constexpr std::int64_t many = limits::steps;
  Options options("fledge train",
                  "Trains a small attention model on a text and says what it learned.");
  options.arguments("FILE", 0, 1);
  options.example("fledge train", "the built-in text, nothing is written");
  options.example("fledge train poems.txt -o run", "your text, the model in ./run");
  options.example("fledge train --resume run", "go on where it stopped, or with another --lr");
  options.group("Text").choice("--tokens", {"char", "word", "byte", "bpe"}, "what a token is");
  options.integer("--symbols", "N", 512, 257, 65536, "how many symbols --tokens bpe learns");
  options.flag("--lines", "each line is a text of its own, read from its beginning");
  options.number("--valid", "FRAC", 0.1, 0, limits::valid,
                 "held out: a share, or how many if 1 or more");
  options.group("Model").integer("--layers", "N", 4, 1, limits::layers,
                                 "blocks of attention and MLP");
  options.integer("--heads", "N", 4, 1, limits::heads, "of each block; they divide the width");
  options.integer("--width", "N", 128, limits::least_width, limits::width, "channels");
  options.integer("--context", "N", 64, 1, limits::context, "tokens that the model can look at");
  options.number("--dropout", "X", 0, 0, limits::dropout,
                 "share of the numbers left out while training");
  options.flag("--no-bias", "linear layers without bias");
  options.group("Training").integer("--steps", "N", 2000, 1, many, "of the whole run");
  options.integer("--batch", "N", 12, 1, limits::batch, "windows, or lines, a pass");
  options.integer("--accumulate", "N", 1, 1, limits::accumulate, "passes a step");
  options.number("--lr", "X", 0.001, 0, most,
                 "the highest rate; with --resume another from there on");
  options.number("--min-lr", "SHARE", 0.1, 0, 1, "of --lr that the cosine ends at");
  options.integer("--warmup", "N", 100, 0, many, "steps until the rate is --lr");
  options.number("--decay", "X", 0.1, 0, most, "weight decay of matrices, a unit of rate");
  options.number("--clip", "X", 1, 0, most, "largest norm of the gradients; 0: any");
  options.seed(1, "of weights, batches, dropout and what is held out");
  options.integer("--patience", "N", 0, 0, many,
                  "stop after N evaluations without a better one; 0: never");
  options.threads();
  options.group("Watching").text("--watch", "a:b,...", "", "how word a comes to look at word b");
  options.text("--probe", "\"words\"", "",
               "a sentence, or several between |, whose attention is shown at the end");
  options.integer("--eval-every", "N", 250, 1, many, "steps between looks at the held-out text");
  options.integer("--sample-every", "N", 0, 0, many, "steps between samples; 0: ten in all");
  options.integer("--log-every", "N", 1, 1, many, "steps between rows of metrics.csv and --json");
  options.integer("--pace", "N", 0, 0, many, "at most N steps a second; 0: as fast as it goes");
  options.group("Output").text("--out", "DIR", "", "the folder of the model").letter('o');
  options.text("--resume", "DIR", "", "go on with the run in this folder");
  options.flag("--force", "begin anew in a folder that has a model");
  options.integer("--save-every", "SECONDS", 30, 0, many, "between checkpoints");
  options.flag("--json", "one JSON object a line on stdout");
  options.group("Screen").flag("--quiet", "only warnings and errors").letter('q');
  options.flag("--no-progress", "plain lines instead of a bar");
  options.exit_statuses(
      "0 done, 1 failed, 2 wrong usage, 3 unusable input, 4 diverged, 130 interrupted");
  return options;
}

Plan plan_of(const support::Options& options) {
  Plan plan;
  if (!options.arguments().empty() && options.arguments()[0].empty())
    options.refuse("FILE has an empty name", "leave it out for the built-in text");
  plan.json = options.has("--json");
  plan.quiet = options.has("--quiet");
  plan.no_progress = options.has("--no-progress");
  plan.log_every = options.integer("--log-every");
  plan.sample_every = options.integer("--sample-every");
  plan.save_seconds = options.integer("--save-every");
  plan.pace = options.integer("--pace");
  plan.watched = watched_pairs(options);
  plan.probes = probed_sentences(options);
  plan.training.schedule.steps = options.integer("--steps");
  plan.steps_given = options.has("--steps");
  plan.training.schedule.rate = options.number("--lr");
  plan.rate_given = options.has("--lr");
  options.use_threads();

  if (options.has("--resume")) {
    plan.resumes = true;
    plan.folder = options.text("--resume");
    if (options.has("--out") && options.text("--out") != plan.folder)
      options.refuse("--resume and --out name two folders",
                     "a run stays in its folder: leave out --out");
    if (options.has("--force"))
      options.refuse("--force begins anew, --resume goes on", "use one of them");
    for (const char* name : run_options)
      if (options.has(name))
        options.refuse(std::string(name) + " belongs to the run since it began",
                       "leave it out, or begin a new run in another folder with -o");
    if (!options.arguments().empty()) plan.text_path = options.arguments()[0];
    return plan;
  }

  const std::string& tokens = options.text("--tokens");
  plan.corpus.tokens = tokens == "word"   ? Tokens::word
                       : tokens == "byte" ? Tokens::byte
                       : tokens == "bpe"  ? Tokens::bpe
                                          : Tokens::character;
  if (options.has("--symbols") && plan.corpus.tokens != Tokens::bpe)
    options.refuse("--symbols is for --tokens bpe",
                   "leave it out: other tokens follow from the text");
  plan.corpus.symbols = options.integer("--symbols");
  plan.corpus.reading = options.has("--lines") ? Reading::lines : Reading::stream;
  plan.corpus.valid = options.number("--valid");
  plan.corpus.seed = plan.training.seed = options.seed();
  plan.sizes = {.vocabulary = 1,
                .context = options.integer("--context"),
                .layers = options.integer("--layers"),
                .heads = options.integer("--heads"),
                .width = options.integer("--width"),
                .dropout = options.number("--dropout"),
                .bias = options.has("--no-bias") ? Bias::without : Bias::with};
  plan.training.batch = options.integer("--batch");
  plan.training.accumulate = options.integer("--accumulate");
  plan.training.schedule.least = options.number("--min-lr");
  plan.training.schedule.warmup = options.integer("--warmup");
  plan.training.decay = options.number("--decay");
  plan.training.clip = options.number("--clip");
  plan.evaluate_every = options.integer("--eval-every");
  plan.patience = options.integer("--patience");
  plan.folder = options.text("--out");
  plan.replaces = options.has("--force");
  if (options.arguments().empty()) {
    use_built_in_text(options, plan);
  } else {
    plan.text_path = options.arguments()[0];
    if (!plan.folder.empty()) require_other_files(options, plan);
  }
  if (plan.corpus.valid == 0 && plan.patience > 0)
    options.refuse("--patience needs a held-out text", "use --valid 0.1, or leave out --patience");
  CosineSchedule& schedule = plan.training.schedule;
  if (!options.has("--warmup")) schedule.warmup = std::min(schedule.warmup, schedule.steps / 10);
  if (schedule.warmup > schedule.steps)
    options.refuse("--warmup " + std::to_string(schedule.warmup) + " is longer than the run",
                   "use --warmup " + std::to_string(schedule.steps) + " or less");
  require_heads(options, plan.sizes.width, plan.sizes.heads);
  return plan;
}

}  // namespace fledge::train
