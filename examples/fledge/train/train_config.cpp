#include "examples/fledge/train/train_config.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "examples/fledge/train/report.h"
#include "examples/fledge/train/store.h"
#include "examples/page/engine/settings.h"
#include "examples/support/text.h"
#include "nn/io/checksum.h"
#include "nn/text/tokenizer_json.h"

namespace fledge::train {

using support::counted, support::formatted, support::refuse_usage, support::thousands;

support::Options train_options(TrainConfig& config) {
  using support::Lifetime;
  constexpr auto of_model = Lifetime::of_model, lasting = Lifetime::lasting,
                 may_change = Lifetime::may_change;
  constexpr double many = 1e9, most = 1e6;
  CorpusOptions& corpus = config.corpus;
  LanguageModelSizes& sizes = config.sizes;
  TrainerOptions& training = config.training;
  CosineSchedule& schedule = training.schedule;
  support::Options options(
      "fledge train",
      "Trains a small attention model on a text; what is not given is chosen from it.");
  options.arguments("FILE", 0, 100'000);
  options.example("fledge train", "the built-in text, nothing is saved");
  options.example("fledge train poems.txt", "your text, the model in ./poems-run");
  options.example("fledge train --resume poems-run", "continue where it stopped");
  options.exit_statuses(
      "0 done, 1 failed, 2 wrong usage, 3 unusable input, 4 diverged, 130 interrupted");

  options.group("Text", lasting);
  options.add("--tokens --tokenizer", "char|word|byte|bpe", corpus.tokens, "what a token is", {},
              of_model);
  options.add("--symbols --vocab-size", "N", corpus.symbols,
              "how many different tokens --tokens bpe has", {257, 65536}, of_model);
  options.add("--lines", "", corpus.reading, "each line is a text of its own; for names or verses");
  options.add("--valid --val-split --validation-split", "FRAC", corpus.valid,
              "held out to measure the model: a share, or how many if 1 or more", {0, many});
  options.add("--read", "BYTES", config.read_bytes,
              "how much of a long text is read, in pieces from everywhere; 0: all", {0, many});

  options.group("Model", of_model);
  options.add("--layers --n-layer --num-layers --num-hidden-layers", "N", sizes.layers,
              "blocks of attention and MLP", {1, most_layers});
  options.add("--heads --n-head --num-heads --num-attention-heads", "N", sizes.heads,
              "attention heads of each block; they divide the width", {1, 10'000});
  // At least 2: the layer norm of a single number is constant, so nothing could be learned.
  options.add("--width --n-embd --d-model --hidden-size --embed-dim", "N", sizes.width,
              "numbers per token (embedding size)", {2, 1e6});
  options.add("--context --block-size --seq-len --seq-length --max-seq-len --n-ctx", "N",
              sizes.context, "the most tokens that the model looks back over", {1, 1e6});
  options.add("--dropout", "X", sizes.dropout,
              "share of the numbers that training leaves out at random", {0, 0.99}, lasting);
  options.add("--without", "mask|positions|scale|mlp|value|attention|residual|norm|bias,...",
              config.without, "parts to leave out: mask,scale");
  options.add(
      "--recipe", "gpt2|llama|today", config.recipe,
      "of what the model is made; llama: rotary positions, RMS norms, SwiGLU and no biases; today: "
      "QK-norm besides. Without it: gpt2, for your own text with rotary positions. The options that "
      "follow change a part of it");
  options.add("--positions --position-embedding --pos-emb", "learned|rotary", sizes.recipe.position,
              "a vector for each position, or queries and keys that are rotated");
  options.add("--mlp --activation --activation-function --hidden-act",
              "gelu|gelu-exact|swiglu|relu2", sizes.recipe.mlp, "the form of the MLP");
  options.add(
      "--with --norm --tie-qk", "qk-norm|rms-norm|sink|exclusive|tied-qk,...", config.with,
      "parts: qk-norm, RMS norm of each query and each key; rms-norm, in place of layer norm; sink, "
      "a learned score of each head that lets it attend to nothing; exclusive, each token's heads "
      "bring nothing in the direction of its own value; tied-qk, one matrix for queries and keys");
  options.add("--key-heads --kv-heads --num-key-value-heads --n-kv-head", "N",
              sizes.recipe.key_heads,
              "heads of keys and values, which the heads share; 0: each its own", {0, 1000});
  options.add("--window --sliding-window --window-size", "N", sizes.recipe.window,
              "in each layer a token sees N tokens, itself the last; 0: all", {0, 1e6});
  options.add("--freeze", "q|k|v,...", sizes.recipe.learned, "matrices that do not learn: q,k", {},
              lasting);
  options.add("--from --init-from --model --model-name-or-path", "DIR", config.from,
              "begin with this model and its tokenizer; a folder of fledge train, or of GPT-2, "
              "Llama or Starcoder2 as Hugging Face's libraries save it",
              {}, lasting);

  options.group("Training", lasting);
  options.add("--steps --epochs --num-train-epochs --iters --max-iters --max-steps --num-steps",
              "N", schedule.steps,
              "how many steps in all; without it, as many as fit into --minutes", {1, many},
              may_change);
  options.add(
      "--minutes", "M", config.minutes,
      "about how long to train, on two cores; counted in operations: the same steps anywhere",
      {0.01, 1e5}, of_model);
  options.add(
      "--batch --batch-size --per-device-train-batch-size --accumulate "
      "--gradient-accumulation-steps",
      "N", training.batch, "windows (with --lines: lines) in a step", {1, 1e6});
  options.add("--lr --learning-rate", "X", schedule.rate,
              "highest learning rate; with --resume another from there on", {0, most}, may_change);
  options.add("--optimizer --optim", "adamw|muon", training.optimizer,
              "what moves the matrices of the blocks, muon for your own text without --from; all "
              "else is moved by adamw");
  options.add("--warmup --warmup-iters --warmup-steps", "N", schedule.warmup,
              "steps in which the learning rate rises to --lr", {0, many});
  options.add("--decay --weight-decay --wd", "X", training.decay,
              "weight decay of matrices (times the learning rate)", {0, most});
  options.add("--clip --grad-clip --max-grad-norm", "X", training.clip,
              "largest norm of the gradients; 0: no limit", {0, most});
  options.add(
      "--average --ema --ema-decay", "X", training.average,
      "measures and saves a moving average of the weights: each step leaves this share of it, "
      "and adds the new weights; 0: no average; 0.98 for your own text without --from",
      {0, 0.9999});
  options.add("--seed", "N", training.seed,
              "decides all that is random; weights, batches, dropout and what is held out");
  options.add("--patience", "N", config.patience,
              "stop after N evaluations without a lower held-out loss; 0: never", {0, many});
  options.threads();

  options.group("Watching");
  options.add("--watch", "a:b,...", config.watch,
              "the attention of word a to word b during training");
  options.add("--eval-every --eval-interval --eval-steps --save-every --save-steps --save-interval",
              "N", config.evaluate_every,
              "steps between evaluations of the held-out loss; each is followed by a save",
              {1, many}, lasting);

  options.group("Output");
  options.add("-o, --out --out-dir --output-dir", "DIR", config.out,
              "the folder of the run; without it, one that is named after the text");
  options.add("--no-save", "", config.save, "save no run");
  options.add("--resume", "DIR", config.resume, "continue the run in this folder");
  options.add("--force", "", config.force, "start again in a folder that has a run");
  options.add("--page", "FILE", config.page, "an HTML page of the learning, when the run ends");
  options.add("--json", "", config.json, "one JSON object a line on stdout");
  options.add("-q, --quiet", "", config.quiet, "only warnings and errors");
  options.help_shows({"--lines", "--tokens", "--recipe", "--from", "--steps", "--minutes", "--seed",
                      "--out", "--resume", "--page"});
  // What is chosen from the text (choose_for_text).
  options.without_default({"--layers", "--heads", "--width", "--context", "--dropout", "--steps",
                           "--batch", "--lr", "--warmup", "--decay", "--patience", "--eval-every",
                           "--read"});
  return options;
}

namespace {

constexpr std::int64_t version = 8;
constexpr const char* readers[] = {"d6f5763", "5ec600d", "e6fb47a",
                                   "ffa45b0"};  // of versions 4 (and below) to 7

// Names as JSON has them: one as a string ("": the built-in text), several as an array.
std::vector<std::string> read_names(const JsonValue& json) {
  std::vector<std::string> names;
  if (json.is_array())
    json.each_item([&](const JsonValue& name) { names.push_back(name.string()); });
  else if (!json.string().empty())
    names.push_back(json.string());
  return names;
}

void require_heads(Dim width, Dim heads, bool is_rotary) {
  if (width % heads == 0 && is_rotary && width / heads % 2 != 0)
    refuse_usage("rotary positions need heads of an even size: --width " + std::to_string(width) +
                     " / --heads " + std::to_string(heads) + " is " + std::to_string(width / heads),
                 "use --width " + std::to_string(width + heads) + ", or --positions learned");
  if (width % heads == 0) return;
  const Dim below = width / heads * heads, above = below + heads;
  const std::string w = std::to_string(width), h = std::to_string(heads);
  const double quotient = static_cast<double>(width) / static_cast<double>(heads);
  refuse_usage("--width " + w + " does not divide into " + h + " heads (" + w + " / " + h +
                   formatted(" = %g)", quotient),
               "use --width " + (below > 0 ? std::to_string(below) + " or " : "") +
                   std::to_string(above) + ", or another number of --heads");
}

// `name` is --heads, or --width, which the heads divide.
void require_key_heads(const Recipe& recipe, const std::string& name, Dim size) {
  const std::string key_heads = "--key-heads " + std::to_string(recipe.key_heads);
  if (recipe.key_heads == 0) return;
  if (recipe.values == ValueMatrix::none)
    refuse_usage(key_heads + " shares values, which --without value leaves out", "use one of them");
  if (recipe.tie_qk)
    refuse_usage(key_heads + " shares keys, which --with tied-qk makes one with the queries",
                 "use one of them");
  if (size % recipe.key_heads != 0)
    refuse_usage(key_heads + " does not divide " + name + " " + std::to_string(size),
                 "use --key-heads 1, or another number that divides " + name);
}

// Refuses a run that would write over its own text, be it a named file or standard input.
void require_other_files(const TrainConfig& config) {
  std::vector<std::string> written{config.out};
  for (const char* name : {run_file, log_file}) written.push_back(config.out + "/" + name);
  for (const std::string& name : config.texts)
    for (const std::string& path : written)
      if (std::error_code missing;
          std::filesystem::equivalent(name == "-" ? "/dev/stdin" : name, path, missing))
        refuse_usage("--out " + support::quoted(config.out) + " would write over the text itself",
                     "name another folder: -o run");
}

// The heads that are given, or the fewest that may be chosen: shared keys need as many.
Dim fewest_heads(const TrainConfig& config) {
  return config.given.contains("--heads") ? config.sizes.heads
                                          : std::max<Dim>(config.sizes.recipe.key_heads, 1);
}

// What --recipe, the options of its parts and --without say together.
void settle_recipe(TrainConfig& config) {
  Recipe& recipe = config.sizes.recipe;
  if (!config.texts.empty() && config.from.empty()) {  // what pays: examples/EXPERIMENTS.md
    const bool fits =
        !config.given.contains("--width") || config.sizes.width % (2 * fewest_heads(config)) == 0;
    if (fits && !config.given.contains("--recipe"))
      config.choose("--positions", recipe.position, Position::rotary);
    config.choose("--optimizer", config.training.optimizer, Optimizer::muon);
    config.choose("--average", config.training.average, 0.98);
  }
  if (config.recipe != TrainConfig::Named::gpt2) {
    const Recipe named = config.recipe == TrainConfig::Named::today ? today() : llama();
    config.choose("--positions", recipe.position, named.position);
    recipe.norm = named.norm;
    config.choose("--mlp", recipe.mlp, named.mlp);
    recipe.qk_norm = named.qk_norm;
    config.sizes.bias = Bias::without;
  }
  const auto& [qk_norm, rms_norm, sink, exclusive, tied_qk] = config.with;
  if (qk_norm) recipe.qk_norm = QueryKeyNorm::rms;
  if (rms_norm) recipe.norm = Norm::rms;
  if (sink) recipe.sink = Sink::learned;
  if (exclusive) recipe.exclusive = Exclusive::own_value;
  recipe.tie_qk = tied_qk;
  if (config.without.bias) config.sizes.bias = Bias::without;
  for (const std::string& part : words_of_none(config.without.recipe)) {
    std::vector<std::string> chosen{part};
    if (part == "mask") chosen = {"window"};
    if (part == "attention") chosen = {"key-heads", "window"};
    const bool has_part =
        part == "attention" ? qk_norm || sink || exclusive || tied_qk : part == "norm" && rms_norm;
    for (const std::string& option : chosen)
      if (has_part || config.given.contains("--" + option))
        refuse_usage(
            "--without " + part + " leaves out what --" + (has_part ? "with" : option) + " chooses",
            "use one of them");
    recipe.each([&]<class Part>(const std::string& word, Part& member) {
      if (word == part) member = Part::none;
    });
  }
}

// How a run of the built-in text is shown; it is not saved, so a resumed run needs it again.
void watch_built_in_text(TrainConfig& config) {
  const bool has_words = config.corpus.tokens == Tokens::word && !config.given.contains("--watch");
  if (has_words && config.sizes.recipe.heads != Heads::none) config.watch = "walk:birds";
}

// The built-in text is small: a model of the sizes that LanguageModelSizes has learns it in seconds.
void use_built_in_text(TrainConfig& config) {
  config.corpus.reading = Reading::lines;
  config.choose("--tokens", config.corpus.tokens, Tokens::word);
  config.choose("--context", config.sizes.context, 16);
  config.choose("--steps", config.training.schedule.steps, 1000);
  config.choose("--lr", config.training.schedule.rate, rate_of_built_in_text);
  config.choose("--eval-every", config.evaluate_every, 100);
  CosineSchedule& schedule = config.training.schedule;
  config.choose("--warmup", schedule.warmup, std::min<std::int64_t>(100, schedule.steps / 10));
  watch_built_in_text(config);
}

// What is not given yet is chosen from the text, so that it fits.
void require_possible(const TrainConfig& config) {
  const bool of_own_text = !config.texts.empty();
  const auto is_known = [&](const char* name) {
    return !of_own_text || config.given.contains(name);
  };
  const auto& [rate, final_ratio, warmup, steps] = config.training.schedule;
  if (is_known("--steps") && is_known("--warmup") && warmup > steps)
    refuse_usage("--warmup " + std::to_string(warmup) + " is longer than the run",
                 "use --warmup " + std::to_string(steps) + " or less");
  if (const double clip = config.training.clip; clip > 0 && clip < 1e-31)
    refuse_usage(formatted("--clip %g is too small: float has few digits there", clip),
                 "use 1e-31 or more, or 0 for no limit");
  const Recipe& recipe = config.sizes.recipe;
  const bool is_rotary = recipe.position == Position::rotary;
  if (is_known("--width") && is_known("--heads"))
    require_heads(config.sizes.width, config.sizes.heads, is_rotary);
  else if (is_known("--width") && is_rotary)
    require_heads(config.sizes.width, fewest_heads(config), is_rotary);
  if (is_known("--heads"))
    require_key_heads(recipe, "--heads", config.sizes.heads);
  else
    require_key_heads(recipe, "--width",
                      is_known("--width") ? config.sizes.width : recipe.key_heads);
  if (config.given.contains("--minutes") && (!of_own_text || config.given.contains("--steps")))
    refuse_usage(std::string("--minutes decides how many steps are chosen; ") +
                     (of_own_text ? "--steps gives their number"
                                  : "those of the built-in text are not chosen"),
                 "leave out --minutes");
}

// The model of --from has its sizes and its tokenizer. Its context may be shortened.
void require_from(const TrainConfig& config) {
  if (config.texts.empty())
    refuse_usage("--from needs a text to train on", "write fledge train FILE --from DIR");
  for (const char* name :
       {"--tokens", "--symbols", "--layers", "--heads", "--width", "--with", "--without",
        "--recipe", "--positions", "--mlp", "--key-heads", "--window"})
    if (config.given.contains(name))
      refuse_usage(std::string(name) + " is decided by the model of --from", "leave it out");
}

void require_resumable(const TrainConfig& call) {
  if (call.given.contains("--out") && call.out != call.resume)
    refuse_usage("--resume and --out name two folders",
                 "a run stays in its folder: leave out --out");
  if (call.force) refuse_usage("--force begins anew, --resume goes on", "use one of them");
  if (!call.save)
    refuse_usage("--resume saves in the folder of the run, --no-save writes no files",
                 "use one of them");
}

double rate_for(const TrainConfig& config, const TrainingDefaults& row) {
  // A model that has learned is trained further with a tenth of the rate. With Muon twice the rate is
  // better (examples/EXPERIMENTS.md).
  const double rate = config.training.optimizer == Optimizer::muon ? 2 * row.rate : row.rate;
  return config.from.empty() ? rate : rate / 10;
}

}  // namespace

TrainConfig train_config(int argc, const char* const* argv) {
  TrainConfig config;
  support::Options options = train_options(config);
  options.parse(argc, argv);
  config.texts = options.arguments();
  for (const std::string& text : config.texts) {
    if (text.empty()) refuse_usage("FILE has an empty name", "leave it out for the built-in text");
    if (text == "-" && config.texts.size() > 1)
      refuse_usage("standard input (-) is a text of its own", "name only files, or only -");
  }
  config.given = options.given();
  config.corpus.seed = config.training.seed;
  watched_pairs(config.watch);
  if (config.resumes()) {
    require_resumable(config);
    options.require_resumable();
    return config;
  }
  if (!config.save && (!config.out.empty() || config.force))
    refuse_usage("--no-save writes no files, " + std::string(config.force ? "--force" : "--out") +
                     " is for a run that does",
                 "use one of them");
  if (!config.from.empty()) require_from(config);
  settle_recipe(config);
  if (config.given.contains("--symbols") && config.corpus.tokens != Tokens::bpe)
    refuse_usage("--symbols is for --tokens bpe",
                 "leave it out: other tokens follow from the text");
  if (config.texts.empty())
    use_built_in_text(config);
  else if (!config.out.empty())
    require_other_files(config);
  const double valid = config.corpus.valid;
  if (valid > 1 && valid != std::floor(valid))
    refuse_usage(formatted("--valid must be a share below 1 or a whole number: got %g", valid),
                 "write --valid 0.1 for a tenth, --valid 100 for a hundred");
  if (valid == 0 && config.patience > 0)
    refuse_usage("--patience needs a held-out text", "use --valid 0.1, or leave out --patience");
  require_possible(config);
  if (Dim& keys = config.sizes.recipe.key_heads; config.texts.empty() && keys == config.sizes.heads)
    keys = 0;  // as many as heads; for a text of one's own they are chosen yet (choose_for_text)
  return config;
}

TrainConfig resumed_config(TrainConfig config, TrainConfig call) {
  train_options(config).resume(train_options(call), call.given);
  config.given = call.given;
  if (!call.texts.empty()) config.texts = call.texts;
  if (config.texts.empty()) watch_built_in_text(config);
  const auto& [rate, final_ratio, warmup, steps] = config.training.schedule;
  if (steps < warmup)
    refuse_usage("--steps " + std::to_string(steps) + " is less than the warm-up of " +
                     std::to_string(warmup) + " steps that this run has",
                 "use at least --steps " + std::to_string(warmup));
  return config;
}

double rate_after_divergence(const TrainConfig& config, const Corpus& corpus) {
  const double chosen =
      config.texts.empty() ? rate_of_built_in_text : rate_for(config, defaults_for(corpus));
  const double rate = config.training.schedule.rate;
  return rate > chosen ? chosen : rate / 10;
}

std::int64_t bytes_to_read(const TrainConfig& config) {
  constexpr double tokens_of_minute = 1.3e6, least = 4e6, most = 256e6;
  const TrainerOptions& training = config.training;
  const auto given = [&](const char* name, Dim value, Dim usual) {
    return static_cast<double>(config.given.contains(name) ? value : usual);
  };
  const double tokens = config.given.contains("--steps")
                            ? static_cast<double>(training.schedule.steps) *
                                  given("--batch", training.batch, 16) *
                                  given("--context", config.sizes.context, 128)
                            : config.minutes * tokens_of_minute;
  const Tokens kind = config.corpus.tokens;
  const double bytes = kind == Tokens::word || kind == Tokens::bpe ? 4 : 1;  // of a token
  return static_cast<std::int64_t>(std::clamp(1.5 * tokens * bytes, least, most));
}

std::string choose_for_text(TrainConfig& config, const Corpus& corpus) {
  const TrainingDefaults usual = defaults_for(corpus);
  TrainingDefaults row = config.page.empty() ? usual : row_of_page(usual, corpus.tokenizer.size());
  row.rate = rate_for(config, row);
  TrainerOptions& training = config.training;
  CosineSchedule& schedule = training.schedule;
  const auto is_given = [&](std::string_view name) {
    return config.given.contains("--" + std::string(name));
  };
  const bool by_passes = choose_settings(row, corpus, config.minutes * operations_of_minute,
                                         is_given, config.sizes, training);
  // After each twentieth of the steps, or less often: evaluations take at most a sixteenth of the
  // work of the steps between them. A step takes three times as long as reading its windows
  // forward.
  const auto windows = [&](const TokenText& text, Dim most) {
    return std::min(most, text.documents() + 2 * text.size() / config.sizes.context + 1);
  };
  const double steps_of_evaluation = static_cast<double>(windows(corpus.valid, evaluated_windows) +
                                                         windows(corpus.train, training_windows)) /
                                     static_cast<double>(3 * training.batch);
  config.choose("--eval-every", config.evaluate_every,
                std::max({schedule.steps / 20, std::int64_t{25},
                          static_cast<std::int64_t>(16 * steps_of_evaluation)}));
  if (config.corpus.valid > 0) config.choose("--patience", config.patience, 5);

  const bool is_smaller = row.layers < usual.layers || row.width < usual.width;
  std::string size = is_smaller ? ", of a model that --page can train" : "";
  if (config.given.contains("--steps")) return size;
  if (by_passes) return formatted(" (at most %.0f passes)", row.most_passes) + size;
  return formatted(" (--minutes %g)", config.minutes) + size;
}

MarkTokens saved_marks(const Tokenizer& tokenizer) {
  if (tokenizer.marks() != MarkTokens{}) return tokenizer.marks();
  const std::optional<Dim> end_of_text = tokenizer.end_of_text(),
                           end = end_of_text ? end_of_text : tokenizer.find("\n");
  return {end, end ? std::vector<Dim>{*end} : std::vector<Dim>{}, {}};
}

std::string config_text(const RunConfig& config, const Json::Members& notes) {
  TrainConfig settings = config.settings;
  const std::vector<std::string>& texts = settings.texts;
  const Json::Members own{
      {"version", version},
      {"text", texts.size() > 1 ? Json(texts) : Json(texts.empty() ? "" : texts[0])},
      {"text_bytes", config.text_bytes},
      {"text_hash", hexadecimal(config.text_hash)},
      {"file_bytes", config.settings.file_bytes},
      {"run", train_options(settings).saved()},
      {"tokenizer", tokenizer_json(config.tokenizer)}};
  Json::Members all = mark_notes(saved_marks(config.tokenizer));
  all.insert(all.end(), notes.begin(), notes.end());
  return config_json(config.settings.sizes, own, all);
}

RunConfig run_config(const ModelConfig& config) {
  if (config.own.is_null())
    throw FormatError("it has no fledge tokenizer, so this model cannot be used with text");
  const JsonValue& own = config.own;
  const std::int64_t found = own["version"].integer(1, 1'000'000);
  if (found != version)
    own["version"].fail(
        "must be " + std::to_string(version) + ": got " + std::to_string(found) + "; " +
        (found >= version ? "use the fledge that wrote it, or train again"
                          : std::string("commit ") + readers[std::max<std::int64_t>(found, 4) - 4] +
                                " of fledge reads it"));
  std::vector<std::string_view> keys{"version",    "text", "text_bytes", "text_hash",
                                     "file_bytes", "run",  "tokenizer"};
  keys.insert(keys.end(), std::begin(recipe_keys), std::end(recipe_keys));
  own.allow_only(keys);
  TrainConfig settings;
  settings.sizes = config.sizes;
  train_options(settings).load(own["run"]);
  if (settings.training.schedule.warmup > settings.training.schedule.steps)
    own["run"].fail("must have a warm-up within its steps");
  settings.texts = read_names(own["text"]);
  own["file_bytes"].each_item([&](const JsonValue& bytes) {
    settings.file_bytes.push_back(bytes.integer(0, std::int64_t{1} << 53));
  });
  settings.corpus.seed = settings.training.seed;
  Tokenizer tokenizer = read_tokenizer(own["tokenizer"]);
  settings.corpus.tokens = tokenizer.kind();
  // GPT-2's tables may have rows without a token, and its byte pairs tokens without a row.
  const Dim V = settings.sizes.vocabulary;
  if (tokenizer.size() != V && tokenizer.kind() != Tokens::bpe)
    own["tokenizer"].fail("has " + std::to_string(tokenizer.size()) + " symbols, the model " +
                          std::to_string(V));
  if (tokenizer.size() > V) tokenizer.limit_to(V);
  // The marks that a run has of itself are notes for others: its texts go on behind a line end.
  if (config.marks != saved_marks(tokenizer)) tokenizer.set_marks(config.marks);
  const std::optional<std::uint64_t> hash = unsigned_number(own["text_hash"].string(), 16);
  if (!hash) own["text_hash"].fail("must be a hexadecimal number");
  const auto bytes = own["text_bytes"].integer(1, std::int64_t{1} << 53);
  return {std::move(settings), std::move(tokenizer), static_cast<std::uint64_t>(bytes), *hash};
}

}  // namespace fledge::train
