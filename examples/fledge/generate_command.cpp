#include "examples/fledge/generate_command.h"

#include <algorithm>
#include <cstdio>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/kernels/parallel.h"
#include "examples/fledge/trained_model.h"
#include "examples/fledge/unusable.h"
#include "examples/support/options.h"
#include "examples/support/plots.h"
#include "examples/support/text.h"
#include "nn/io/json.h"
#include "nn/text/stop_at.h"
#include "nn/train/sampler.h"

namespace fledge {

namespace {

constexpr Dim shown_tokens = 24;  // of an attention map

support::Options declared_options() {
  constexpr std::int64_t many = 1'000'000'000;
  support::Options options("fledge generate", "A trained model goes on with a text.");
  options.arguments("DIR [PROMPT]", 1, 2);
  options.example("fledge generate run", "from nothing");
  options.example("fledge generate run \"birds sometimes\"",
                  "from a prompt; - reads it from stdin");
  options.example("fledge generate run --temperature 0", "always the likeliest token");
  options.integer("--tokens-out", "N", 200, 0, many, "how many tokens");
  options.number("--temperature", "X", 0.8, 0, 1000,
                 "0: the likeliest; 1: as learned; above: bolder");
  options.integer("--top-k", "N", 0, 0, many, "only among the N likeliest; 0: all");
  options.number("--top-p", "X", 1, 1e-9, 1, "only among the likeliest that have this probability");
  options.seed(1, "the same seed gives the same text");
  options.text("--stop", "S", "", "ends before this text");
  options.integer("--threads", "N", threads(), 1, 256, "that share the work");
  options.flag("--probs", "a line a token, with the five likeliest");
  options.flag("--attention", "where each token looked, after the text");
  options.flag("--raw", "control characters as they are, also on a terminal");
  options.flag("--json", "one object on stdout");
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  return options;
}

/// A user's text for stdout: harmless on a terminal, its lines kept.
std::string shown(const std::string& text, bool raw) {
  if (raw) return text;
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += support::printable(text.substr(begin, end - begin));
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return result;
}

/// What a token adds to the text behind another one.
std::string piece_of(const Tokenizer& tokenizer, Dim token, Dim before) {
  if (before < 0) return tokenizer.decode({token});
  return tokenizer.decode({before, token}).substr(tokenizer.decode({before}).size());
}

std::string probabilities(const Tokenizer& tokenizer, Dim token, const std::vector<Choice>& best) {
  const auto name = [&](Dim id) { return support::quoted(tokenizer.decode({id})); };
  std::string line = support::pad_right(name(token), 16);
  for (const Choice& choice : best) {
    char number[32];
    std::snprintf(number, sizeof number, " %.3f", choice.probability);
    line += "  " + name(choice.token) + number;
  }
  return line + "\n";
}

void print_attention(const LanguageModel& model, const Tokenizer& tokenizer, std::vector<Dim> ids) {
  const Dim most = std::min(shown_tokens, model.sizes.context);
  if (static_cast<Dim>(ids.size()) > most) ids.erase(ids.begin(), ids.end() - most);
  const Dim T = static_cast<Dim>(ids.size());
  std::vector<std::string> words;
  for (const Dim id : ids) words.push_back(support::printable(tokenizer.decode({id})));
  const std::vector<Tensor> weights = model.look({{1, T}, ids}).weights;
  support::MapStyle style;
  style.columns = support::terminal_width(stdout);
  style.paint = {support::colour_wanted(stdout)};
  for (std::size_t layer = 0; layer < weights.size(); ++layer) {
    const Tensor mean_of_heads = mean(weights[layer], {0, 1});
    std::printf("\nlayer %zu, mean of its heads\n%s", layer,
                support::attention_map(words, to_vector(mean_of_heads.value()), style).c_str());
  }
}

struct Writer {
  const support::Options& options;
  bool raw = options.has("--raw") || options.has("--json") || !support::is_terminal(stdout);
  std::string text = {};

  void operator()(const std::string& piece) {
    text += piece;
    if (options.has("--json") || options.has("--probs")) return;
    std::fputs(shown(piece, raw).c_str(), stdout);
    std::fflush(stdout);
  }
};

int generate(const support::Options& options) {
  const TrainedModel trained = load_trained(options.arguments()[0]);
  const Tokenizer& tokenizer = trained.tokenizer();
  std::string prompt = options.arguments().size() > 1 ? options.arguments()[1] : "";
  if (prompt == "-") prompt = read_file("-");
  std::vector<Dim> ids;
  try {
    ids = tokenizer.encode(prompt);
  } catch (const UnknownSymbol& error) {
    throw trained.unknown(error, "the prompt");
  }
  const std::size_t prompted = ids.size();
  if (ids.empty() || trained.lines) ids.insert(ids.begin(), trained.first_token());

  const SampleOptions how{options.number("--temperature"), options.integer("--top-k"),
                          options.number("--top-p")};
  const std::string& stop = options.text("--stop");
  StopAt until(stop.empty() ? std::vector<std::string>{} : std::vector<std::string>{stop});
  Writer write{options};
  const bool streams = !options.has("--json") && !options.has("--probs");
  if (streams) std::fputs(shown(prompt, write.raw).c_str(), stdout);

  NoGrad no_grad;
  Rng rng(options.seed());
  Decoder decoder(trained.model);
  Array logits = decoder.read(ids);
  for (std::int64_t n = 0; n < options.integer("--tokens-out") && !until.stopped(); ++n) {
    const Dim token = sample(logits, how, rng);
    if (trained.lines && token == trained.first_token()) break;  // the end of the line
    if (options.has("--probs"))
      std::fputs(probabilities(tokenizer, token, most_likely(logits, 5)).c_str(), stdout);
    const bool joins = ids.size() > 1 || prompted > 0;
    write(until.feed(piece_of(tokenizer, token, joins ? ids.back() : -1)));
    ids.push_back(token);
    logits = decoder.read({token});
  }
  write(until.rest());
  if (options.has("--json")) {
    JsonWriter json;
    json.begin_object().field("prompt", prompt).field("text", write.text);
    json.field("tokens", static_cast<std::int64_t>(ids.size())).field("seed", options.seed());
    std::printf("%s\n", json.end_object().text().c_str());
  } else {
    if (!streams) std::fputs(shown(prompt + write.text, write.raw).c_str(), stdout);
    if (!(prompt + write.text).ends_with('\n')) std::fputs("\n", stdout);
  }
  if (options.has("--attention")) print_attention(trained.model, tokenizer, ids);
  return 0;
}

}  // namespace

int generate_command(int argc, char** argv) {
  support::Options options = declared_options();
  options.parse(argc, argv);
  if (options.has("--threads")) set_threads(static_cast<int>(options.integer("--threads")));
  return with_usable_input("fledge generate",
                           "a model's folder is made by: fledge train FILE -o DIR",
                           [&] { return generate(options); });
}

}  // namespace fledge
