// fledge generate: texts drawn from a model, with what --attention, --probs and --why show of a
// step.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include "examples/fledge/attention.h"
#include "examples/fledge/commands.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/trained_model.h"
#include "examples/support/options.h"
#include "examples/support/table.h"
#include "nn/generate/sampler.h"
#include "nn/inspect/probes.h"

namespace fledge {

namespace {

using support::refuse_usage;

struct GenerateConfig {
  TextForm form = TextForm::text;
  std::string folder, prompt;  // the prompt "-": standard input
  std::int64_t tokens_out = 200, samples = 1;
  bool is_numbered = false;  // --samples was given: JSON objects are numbered
  bool skip_unknown = false;
  bool null = false;      // a NUL after each text
  std::string stop, why;  // "": not given
  SampleOptions choice;
  std::uint64_t seed = 0;
  bool is_random_seed = false;  // --seed was not given
  bool probs = false, attention = false;
  HeadChoice heads;  // of --attention
  bool json = false;
};

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
  options.add("--tokens-out --length --max-length --max-tokens --max-new-tokens", "N",
              config.tokens_out, "how many tokens to write", {0, many});
  options.add("-n, --samples --num-samples --num-return-sequences", "N", config.samples,
              "how many texts; a line such as \"--- 2 of 3\" stands above each", {1, many});
  options.add("-0, --null", "", config.null,
              "a NUL byte after each text instead of the line above it, for xargs -0");
  options.add("--stop", "TEXT", config.stop, "end a text before the first TEXT in it");
  options.is_text();

  options.group("Choice");
  options.add(
      "--temperature --temp", "X", config.choice.temperature,
      "0: always the likeliest token, 1: as the model learned; above 1 unlikely tokens come "
      "more often",
      {0, 1000});
  options.add("--top-k", "N", config.choice.top_k,
              "choose among the N likeliest tokens only; 0: among all", {0, many});
  options.add("--top-p", "X", config.choice.top_p,
              "only the likeliest tokens; as few as have probability X together", {1e-9, 1});
  options.add("--seed", "N", seed,
              "the same seed gives the same text; without it a random seed is used and printed");

  options.group("Inside");
  options.add("--attention", "", config.attention,
              "where each head of attention looked in the last step; its largest weights, and of a "
              "single head a picture");
  options.add("--layer", "N", config.heads.layer,
              "show only this layer of --attention, counted from 0", {0, many});
  options.add("--head", "N", config.heads.head,
              "show only this head of each layer, counted from 0; a head alone is shown large",
              {0, many});
  options.add("--probs", "", config.probs,
              "the five likeliest tokens of each step; with their probabilities at the temperature "
              "in use, and the one that was drawn");
  options.add("--why", "WORD", config.why,
              "which tokens the first WORD that was drawn rests on; how its probability changes "
              "when one token before it is hidden, and where each head looked, at temperature 1. "
              "Hidden means: masked in every layer for all later tokens");

  options.group("Output");
  options.add("--json", "", config.json,
              "one JSON object a text; with what --attention, --probs and --why found");
  add_text_form(options, config.form);
  options.threads();
  options.help_shows({"--tokens-out", "--samples", "--stop", "--temperature", "--top-p", "--seed",
                      "--attention", "--probs", "--why", "--json"});
  options.parse(argc, argv);
  config.folder = options.arguments()[0];
  if (options.arguments().size() > 1) config.prompt = options.arguments()[1];
  config.is_numbered = options.given().contains("--samples");
  if (config.null && config.json)
    refuse_usage("--null is for texts, and a line ends each object of --json", "leave out --null");
  for (const char* name : {"--layer", "--head"})
    if (options.given().contains(name) && !config.attention)
      refuse_usage(std::string(name) + " is about attention", "add --attention");
  config.is_random_seed = !seed;
  config.seed = seed ? *seed : std::random_device()() % 1'000'000;
  return config;
}

/// What is the same for all samples.
struct Task {
  const GenerateConfig& config;
  const TrainedModel& trained;
  std::string prompt;
  std::vector<Dim> ids;    // the first token of a text where it is needed, then the prompt
  bool is_prompt = false;  // the last of ids is a token of the prompt
  const Tokenizer& tokenizer = trained.tokenizer();
  bool raw = !support::is_terminal(stdout);
  int columns = support::terminal_width(stdout);
  support::Paint paint{support::colour_wanted(stdout)};

  bool streams = !config.json && !config.probs;
  std::string paragraph(const std::string& text) const {
    return support::wrapped(text, columns) + "\n";
  }
};

/// Writes to stdout; a text may have zeros in it.
void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

/// A user's text for stdout: harmless on a terminal, its lines kept. What stands before it ends in
/// `column`, which becomes the column where it ends itself.
std::string shown(std::string_view text, bool raw, std::size_t& column) {
  if (raw) return std::string(text);
  std::string result;
  for (;;) {
    const std::size_t end = text.find('\n');
    const std::string line = support::printable_line(text.substr(0, end), column);
    result += line;
    column += static_cast<std::size_t>(support::display_width(line));
    if (end == std::string_view::npos) return result;
    result += '\n';
    column = 0;
    text.remove_prefix(end + 1);
  }
}

/// Reads the prompt. Throws InputError for one that the model cannot read.
Task task_of(const GenerateConfig& config, const TrainedModel& trained) {
  Task task{config, trained, config.prompt, {}};
  if (task.prompt == "-") task.prompt = trained.file_text("-");
  task.prompt = trained.readable(std::move(task.prompt), "the prompt");
  if (trained.form == TextForm::token_ids && task.prompt.empty())
    throw support::InputError("--tokens-in needs a prompt: got none",
                              "write token numbers, such as \"15 7\"");
  if (config.skip_unknown)
    task.prompt = train::known_text(task.tokenizer, task.prompt, "the prompt").rest;
  train::Prompt prompt =
      train::prompt_of(task.tokenizer, task.prompt, trained.lines(), "the prompt", true);
  task.is_prompt = !prompt.is_empty();
  task.ids = std::move(prompt.ids);
  return task;
}

// --probs: what could have been drawn in each step, with the probabilities that were used.

constexpr std::size_t most_choices = 5;
constexpr int choice_columns = 16, name_columns = 6;  // five fit into 80 columns

/// A token that could be drawn, at the temperature, top-k and top-p in use. The likeliest has rank 1.
struct RankedChoice {
  Dim token;
  double probability;
  Dim rank;
};

/// One step: the token that was drawn, and the likeliest ones, at most five. The drawn token is
/// always among them, the last one if it is not one of the five likeliest.
struct DrawnToken {
  RankedChoice drawn;
  std::vector<RankedChoice> likeliest;
  Dim position = 0;  // of the token in the text, counted from 0
};

/// The first of these choices, at most `most`, of which the last is the drawn one if it would be
/// missing.
std::vector<RankedChoice> first_of(std::vector<RankedChoice> choices, std::size_t most,
                                   const RankedChoice& drawn) {
  if (choices.size() > most) {
    choices.resize(most);
    if (drawn.rank > static_cast<Dim>(most)) choices.back() = drawn;
  }
  return choices;
}

DrawnToken drawn_token(const Array& logits, const SampleOptions& options, Dim token, Dim position) {
  DrawnToken step{{token, 0, 0}, {}, position};
  for (const Choice& choice : choices(logits, options)) {
    const auto rank = static_cast<Dim>(step.likeliest.size()) + 1;
    step.likeliest.push_back({choice.token, choice.probability, rank});
    if (choice.token == token) step.drawn = step.likeliest.back();
  }
  step.likeliest = first_of(std::move(step.likeliest), most_choices, step.drawn);
  return step;
}

/// What the lines of --probs mean.
std::string probabilities_title(const Task& task) {
  const SampleOptions& options = task.config.choice;
  std::string settings = support::formatted("temperature %g", options.temperature);
  if (options.top_k > 0) settings += ", top-k " + std::to_string(options.top_k);
  if (options.top_p < 1) settings += support::formatted(", top-p %g", options.top_p);
  return task.paragraph("The likeliest tokens of each step and their probabilities at " + settings +
                        ". The one in brackets was drawn.");
}

/// A line: the likeliest tokens with their probabilities, the drawn one in brackets.
std::string probabilities_text(const DrawnToken& step, const Task& task) {
  const auto room = static_cast<std::size_t>(std::max(1, task.columns / choice_columns));
  std::string line;
  for (const RankedChoice& choice : first_of(step.likeliest, room, step.drawn)) {
    const std::string text =
        support::short_label(task.tokenizer.decode({choice.token}), name_columns) + " " +
        support::percent(choice.probability);
    const bool is_drawn = choice.token == step.drawn.token;
    line += support::pad_right(is_drawn ? task.paint.accent("[" + text + "]") : " " + text,
                               choice_columns);
  }
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

/// An id is a token's number.
Json as_json(const std::vector<DrawnToken>& steps, const Tokenizer& tokenizer) {
  std::vector<Json> all;
  for (const DrawnToken& step : steps) {
    support::Rows likeliest({"id", "token", "probability", "rank"});
    for (const RankedChoice& choice : step.likeliest)
      likeliest.add(
          {choice.token, tokenizer.decode({choice.token}), choice.probability, choice.rank});
    all.push_back(Json::object({{"position", step.position},
                                {"id", step.drawn.token},
                                {"token", utf8_text(tokenizer.decode({step.drawn.token}))},
                                {"probability", step.drawn.probability},
                                {"rank", step.drawn.rank},
                                {"likeliest", likeliest.json()}}));
  }
  return all;
}

// --why: the attention in the step that drew a word, and the effect of each token on it. A large
// attention weight does not prove a large effect, so both are shown side by side.

constexpr std::size_t shown_looks = 3, shown_effects = 6;
constexpr int widest_effect = 20, widest_look = 8, bar_columns = 8;

struct Why {
  struct Look {
    std::size_t index;  // in `read`
    double weight;
  };
  struct Head {
    Dim layer, head;
    std::vector<Look> most;  // at most three, the largest weight first
  };

  std::string word;
  bool was_drawn = true;  // else the step after the prompt, if it had drawn the word
  Dim token = 0;          // the first token of the word
  std::vector<Dim> read;  // the tokens that the model read for this step: index 0 … T − 1
  Dim begin = 0;          // the position of the first of them in the text, counted from 0
  std::vector<Head> heads;
  Ablation left_out;

  double probability() const { return std::exp(left_out.log_p); }
  /// In the text, counted from 0, as --attention counts it.
  Dim position(std::size_t index) const { return begin + static_cast<Dim>(index); }
  /// With this token hidden; not for the last one, where the prediction is made.
  double probability_without(std::size_t index) const {
    return std::exp(left_out.without.at(index));
  }
  /// The share of the probability that is lost when this token is hidden: 0 … 1, 0 if it rises.
  double cost(std::size_t index) const {
    return std::max(0.0, 1 - std::exp(left_out.without.at(index) - left_out.log_p));
  }
};

/// The first of the drawn tokens of `word`. With other tokens than words: the token that has the
/// first byte of the word. None when the word was not drawn.
std::optional<std::size_t> where_drawn(const Tokenizer& tokenizer, const std::vector<Dim>& drawn,
                                       const std::string& word) {
  if (tokenizer.kind() == Tokens::word) {
    const std::vector<Dim> ids = tokenizer.encode(word);
    const auto found = std::search(drawn.begin(), drawn.end(), ids.begin(), ids.end());
    if (found == drawn.end()) return {};
    return static_cast<std::size_t>(found - drawn.begin());
  }
  std::string text;
  std::vector<std::size_t> ends;  // of the tokens, in the text
  for (const Dim id : drawn) {
    text += tokenizer.decode({id});
    ends.push_back(text.size());
  }
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return {};
  return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), at) - ends.begin());
}

/// read: the window of the decoder when it drew the token; `begin`: its position in the text.
Why why_drawn(const TrainedModel& trained, const std::string& word, std::vector<Dim> read,
              Dim begin, Dim token) {
  const LanguageModel& model = trained.model;
  Ablation left_out = ablate_tokens(model, read, token, trained.without_text());
  Why why{word, true, token, std::move(read), begin, {}, std::move(left_out)};
  Decoder decoder(model);  // its pass over this window has the same bits
  decoder.read(why.read);
  Dim layer = 0;
  for (const Array& weights : decoder.attention(1)) {  // (H, 1, T): of the last position
    for (Dim head = 0; head < model.sizes.heads; ++head) {
      std::vector<Why::Look>& most = why.heads.emplace_back(Why::Head{layer, head, {}}).most;
      for (Dim index = weights.dim(2) - 1; index >= 0; --index)
        most.push_back({static_cast<std::size_t>(index), value_of(weights.at({head, 0, index}))});
      std::stable_sort(most.begin(), most.end(),
                       [](const auto& a, const auto& b) { return a.weight > b.weight; });
      most.resize(std::min(shown_looks, most.size()));
    }
    ++layer;
  }
  return why;
}

/// The text and the position of a token that was read.
std::string name_at(const Why& why, std::size_t index, const Tokenizer& tokenizer, int columns) {
  return support::short_label(tokenizer.decode({why.read[index]}), columns) + "(" +
         std::to_string(why.position(index)) + ")";
}

/// A line for each of the tokens with the largest effects.
std::string effects_text(const Why& why, const Tokenizer& tokenizer) {
  const std::vector<double>& without = why.left_out.without;
  std::vector<std::size_t> indices(without.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::stable_sort(indices.begin(), indices.end(),
                   [&](std::size_t a, std::size_t b) { return without[a] < without[b]; });
  indices.resize(std::min(shown_effects, indices.size()));
  const auto name = [&](std::size_t index) {
    return name_at(why, index, tokenizer, widest_effect);
  };
  int widest = 0;
  for (const std::size_t index : indices)
    widest = std::max(widest, support::display_width(name(index)));
  std::string text;
  for (const std::size_t index : indices)
    text += "  " + support::pad_right(name(index), widest) + "  " +
            support::bar(why.cost(index), bar_columns) + "  " +
            support::percent(why.probability()) + " -> " +
            support::percent(why.probability_without(index)) + "\n";
  return text;
}

std::string heads_text(const Why& why, const Task& task) {
  std::string text;
  for (const Why::Head& head : why.heads) {
    std::string line = std::to_string(head.layer) + "." + std::to_string(head.head);
    for (const auto& [index, weight] : head.most)
      line += "  " + name_at(why, index, task.tokenizer, widest_look) +
              support::formatted(" %.0f %%", 100 * weight);
    text += support::wrapped(line, task.columns, 5) + "\n";
  }
  return text;
}

/// The probability of the token and what it becomes with each of six tokens hidden, as bars; and
/// where each head looked.
std::string why_text(const Why& why, const Task& task) {
  const Tokenizer& tokenizer = task.tokenizer;
  const std::string token = tokenizer.decode({why.token});
  std::string text;
  if (!why.was_drawn)
    text =
        support::quoted(why.word) + " was not drawn. As the word after the prompt it would be:\n";
  text += "Probability of " + support::quoted(support::token_label(token)) +
          (token == why.word ? "" : ", the first token of " + support::quoted(why.word)) + ": " +
          support::percent(why.probability()) + ".";
  if (why.left_out.without.empty())
    text = task.paragraph(text + " No earlier token can be hidden.");
  else
    text = task.paragraph(text + " With one earlier token hidden it becomes:") +
           effects_text(why, tokenizer);
  return text + "\n" +
         task.paragraph(
             "What each head (layer.head) looked at most in that step, with its position in "
             "the text, counted from 0. A large weight does not prove a large effect.") +
         heads_text(why, task);
}

/// Positions count from 0 in the text, and `read` begins at `begin`; an id is a token's number; the
/// change is that of ln p.
Json as_json(const Why& why, const Tokenizer& tokenizer) {
  std::vector<std::string> read;
  for (const Dim id : why.read) read.push_back(utf8_text(tokenizer.decode({id})));
  std::vector<Json> heads;
  for (const Why::Head& head : why.heads) {
    support::Rows most({"position", "id", "token", "weight"});
    for (const auto& [index, weight] : head.most)
      most.add({why.position(index), why.read[index], read[index], weight});
    heads.push_back(
        Json::object({{"layer", head.layer}, {"head", head.head}, {"most", most.json()}}));
  }
  support::Rows left_out({"position", "id", "token", "probability", "ln_p", "change"});
  for (std::size_t index = 0; index < why.left_out.without.size(); ++index) {
    const double without = why.left_out.without[index];
    left_out.add({why.position(index), why.read[index], read[index], why.probability_without(index),
                  without, without - why.left_out.log_p});
  }
  return Json::object({{"word", why.word},
                       {"was_drawn", why.was_drawn},
                       {"id", why.token},
                       {"token", utf8_text(tokenizer.decode({why.token}))},
                       {"probability", why.probability()},
                       {"begin", why.begin},
                       {"read", read},
                       {"read_ids", why.read},
                       {"heads", heads},
                       {"ln_p", why.left_out.log_p},
                       {"left_out", left_out.json()}});
}

// The samples.

struct Sample {
  std::int64_t number = 1;  // counted from 1
  std::vector<Dim> ids;     // the task's, and all that was drawn
  std::vector<Dim> seen;    // of each step: the number of earlier tokens in its window
  std::string text;         // what was drawn, up to the stop string
  Dim read = 0;             // the number of ids that the model has read: all but the last one drawn
  std::vector<DrawnToken> steps;              // with --probs: a step for each token that was drawn
  std::optional<AttentionWeights> attention;  // with --attention: of the last pass
  std::optional<Why> why;                     // with --why, if the word was drawn
};

/// The bytes of a growing text that can be shown: all but an end that may become `stop`, or a code
/// point of UTF-8. "": there is no stop string.
std::size_t final_size(std::string_view text, std::string_view stop) {
  std::size_t held = stop.empty() ? 0 : std::min(stop.size() - 1, text.size());
  while (held > 0 && text.substr(text.size() - held) != stop.substr(0, held)) --held;
  text.remove_suffix(held);
  for (std::size_t bytes = 1; bytes <= std::min<std::size_t>(3, text.size()); ++bytes) {
    const auto byte = static_cast<unsigned char>(text[text.size() - bytes]);
    if (byte < 0x80) break;
    if (byte < 0xC0) continue;  // not the first byte of a code point
    const std::size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return bytes < length ? text.size() - bytes : text.size();
  }
  return text.size();
}

/// Draws one text. A task that streams shows the prompt, and each piece as soon as it is final.
/// With --probs each token has a line.
Sample sample_of(const Task& task, Rng rng) {
  const GenerateConfig& config = task.config;
  const std::string& stop = config.stop;
  Sample sample;
  sample.ids = task.ids;
  sample.read = static_cast<Dim>(task.ids.size());
  std::size_t printed = 0, column = 0;  // bytes of the sample's text; where the screen's line ends
  const auto print_up_to = [&](std::size_t end) {
    if (!task.streams) return;
    put(shown(sample.text.substr(printed, end - printed), task.raw, column));
    std::fflush(stdout);
    printed = end;
  };
  Decoder decoder(task.trained.model, task.trained.without_text());
  const auto take = [&](Dim token, const Array& logits) {
    sample.read = static_cast<Dim>(sample.ids.size());
    if (task.trained.ends_text(token)) return false;
    if (config.probs) {
      sample.steps.push_back(drawn_token(logits, config.choice, token, sample.read));
      if (!config.json) put(probabilities_text(sample.steps.back(), task));
    }
    std::vector<Dim> last_two;  // the token before this one, if any, then this one
    if (task.is_prompt || !sample.seen.empty()) last_two.push_back(sample.ids.back());
    const std::size_t known = task.tokenizer.decode(last_two).size();
    last_two.push_back(token);
    sample.ids.push_back(token);
    sample.seen.push_back(decoder.length());
    const std::size_t searched = sample.text.size();
    sample.text += task.tokenizer.decode(last_two).substr(known);
    const std::size_t first = searched - std::min(searched, stop.size());
    const std::size_t end = stop.empty() ? std::string::npos : sample.text.find(stop, first);
    const bool goes_on = end == std::string::npos;
    if (!goes_on) sample.text.resize(end);
    print_up_to(goes_on ? final_size(sample.text, stop) : end);
    return goes_on && std::ferror(stdout) == 0;
  };
  if (task.streams) put(shown(task.prompt, task.raw, column));
  if (config.probs && !config.json) put(probabilities_title(task));
  generate(decoder, task.ids, config.tokens_out, config.choice, rng, take);
  print_up_to(sample.text.size());
  if (config.attention) {
    sample.attention = attention_weights(decoder, task.tokenizer);
    sample.attention->begin = sample.read - sample.attention->size();
  }
  return sample;
}

/// The step that drew the word. If one text was asked for and does not have the word: the step after
/// the prompt. Only a tokenizer of words can say what that step is: other tokens would begin with a
/// blank or not.
std::optional<Why> why_of(const Task& task, const Sample& sample) {
  const std::string& word = task.config.why;
  if (word.empty()) return {};
  const auto prompted = sample.ids.begin() + static_cast<std::ptrdiff_t>(task.ids.size());
  const std::vector<Dim> drawn(prompted, sample.ids.end());
  if (const auto step = where_drawn(task.tokenizer, drawn, word)) {
    const auto token = prompted + static_cast<std::ptrdiff_t>(*step);
    const auto first = token - sample.seen[*step];
    return why_drawn(task.trained, word, {first, token}, first - sample.ids.begin(), *token);
  }
  if (task.tokenizer.kind() != Tokens::word || task.config.samples > 1) return {};
  Decoder decoder(task.trained.model);
  decoder.read(task.ids);
  std::vector<Dim> read = decoder.window();
  const auto begin = std::ssize(task.ids) - std::ssize(read);
  Why why = why_drawn(task.trained, word, std::move(read), begin, task.tokenizer.encode(word)[0]);
  why.was_drawn = false;
  return why;
}

/// Which tokens the weights are about, and the picture of them.
std::string attention_text(const Task& task, const Sample& sample) {
  const AttentionWeights& attention = *sample.attention;
  const support::MapStyle style{.columns = task.columns, .paint = task.paint};
  const std::string last = support::thousands(sample.read - 1);
  std::string text =
      "Attention over " + support::counted(attention.size(), "token") + ", " +
      (attention.size() == 1 ? "position " + last
                             : "positions " + support::thousands(attention.begin) + " to " + last) +
      " of the text, counted from 0.";
  if (sample.read < static_cast<Dim>(sample.ids.size()))
    text += " The last token of the text was drawn, but not read.";
  const std::vector<HeadNumber> heads = chosen_heads(attention, task.config.heads);
  return task.paragraph(text) + attention_report(attention, heads, style) +
         (heads.size() == 1 ? "" : task.paragraph("--layer N --head N shows one head large."));
}

Json as_json(const Task& task, const Sample& sample) {
  const GenerateConfig& config = task.config;
  Json::Members members{{"prompt", task.prompt},
                        {"text", sample.text},
                        {"tokens", sample.ids.size() - task.ids.size()},
                        {"seed", config.seed}};
  const auto add = [&](const char* name, const Json& value) { members.emplace_back(name, value); };
  if (config.is_numbered) add("sample", sample.number);
  if (config.probs) add("probs", as_json(sample.steps, task.tokenizer));
  if (config.attention)
    add("attention", as_json(*sample.attention, chosen_heads(*sample.attention, config.heads)));
  if (!config.why.empty()) add("why", sample.why ? as_json(*sample.why, task.tokenizer) : Json());
  return Json::object(members);
}

void print(const Task& task, const Sample& sample) {
  const GenerateConfig& config = task.config;
  if (config.json) {
    put(as_json(task, sample).text() + "\n");
  } else {  // the rest of the text, then what --attention, --probs and --why found
    std::size_t column = 0;
    if (!task.streams) put(shown(task.prompt + sample.text, task.raw, column));
    if (!(task.prompt + sample.text).ends_with('\n')) put("\n");
    if (config.probs) {
      double bits = 0;
      for (const DrawnToken& step : sample.steps) bits -= std::log2(step.drawn.probability);
      const auto drawn = static_cast<double>(std::max<std::size_t>(1, sample.steps.size()));
      put(support::formatted("\nMean surprise: %.2f bits a token.\n", bits / drawn));
    }
    if (config.attention) put("\n" + attention_text(task, sample));
    if (sample.why) put("\n" + why_text(*sample.why, task));
  }
  if (config.null) put(std::string(1, '\0'));
}

int run(const TrainedModel& trained, const Task& task) {
  const GenerateConfig& config = task.config;
  if (!config.why.empty() && train::tokens_of(task.tokenizer, config.why, "--why").empty())
    refuse_usage("--why " + support::quoted(config.why) + " has no token",
                 "name a word: --why walk");
  require_heads_of_model(config.heads, trained.model.sizes);
  // The random seed, so that this text can be written again. At temperature 0 nothing is random.
  if (const std::string seed = std::to_string(config.seed);
      config.is_random_seed && config.choice.temperature > 0)
    support::say(stderr, "Seed " + seed + ": --seed " + seed + " gives " +
                             (config.samples == 1 ? "this text" : "these texts") + " again");
  const std::int64_t samples = config.samples;
  const bool has_titles = samples > 1 && !config.json && !config.null;
  const Rng seed(config.seed);
  bool is_explained = false;
  for (std::int64_t n = 1; n <= samples && !std::ferror(stdout); ++n) {
    if (has_titles) put("--- " + std::to_string(n) + " of " + std::to_string(samples) + "\n");
    Sample sample = sample_of(task, n == 1 ? seed : seed.stream(static_cast<std::uint64_t>(n)));
    sample.number = n;
    sample.why = why_of(task, sample);
    is_explained = is_explained || sample.why;
    print(task, sample);
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

}  // namespace

int generate_command(int argc, char** argv) {
  const GenerateConfig config = generate_config(argc, argv);
  const TrainedModel trained = load_trained(config.folder, config.form);
  const Task task = task_of(config, trained);
  try {
    return run(trained, task);
  } catch (const NumericError&) {
    refuse_numbers(trained, task.ids);
  }
}

}  // namespace fledge
