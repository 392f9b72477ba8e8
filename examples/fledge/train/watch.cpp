#include "examples/fledge/train/watch.h"

#include <cmath>

#include "examples/fledge/train/report.h"
#include "examples/fledge/train/source.h"
#include "examples/support/text.h"
#include "nn/train/trainer.h"

namespace fledge::train {

using support::InputError, support::refuse_usage;

namespace {

Dim token_to_watch(const std::string& symbol, const Tokenizer& tokenizer) {
  if (const std::optional<Dim> found = tokenizer.find(symbol)) return *found;
  const bool words = tokenizer.kind() == Tokens::word;
  const std::string meant = words ? support::closest(symbol, tokenizer.symbols()) : "";
  throw InputError("--watch: " + support::quoted(symbol) + " is no " +
                       token_word(tokenizer.kind()) + " of the text",
                   !words          ? "to watch words, begin a new run with --tokens word"
                   : meant.empty() ? "write words as they stand in the text"
                                   : "nearest by spelling: " + support::quoted(meant));
}

}  // namespace

std::vector<WordPair> watched_pairs(const std::string& text) {
  std::vector<WordPair> pairs;
  for (const std::string& pair : support::split(text, ',')) {
    const std::size_t colon = pair.find(':', 1);
    if (colon == std::string::npos || colon + 1 == pair.size())
      refuse_usage("--watch " + support::quoted(pair) + " is no pair of words",
                   "write --watch walk:birds, or walk:birds,at:good for two");
    pairs.push_back({pair.substr(0, colon), pair.substr(colon + 1)});
  }
  return pairs;
}

std::vector<WordPair> pairs_to_watch(const TrainConfig& config, const Tokenizer& tokenizer) {
  if (config.sizes.recipe.heads == Heads::none && !config.watch.empty())
    refuse_usage("--watch shows where words look, but this model is without attention",
                 "leave it out");
  std::vector<WordPair> pairs = watched_pairs(config.watch);
  for (WordPair& pair : pairs) {
    pair.word_token = token_to_watch(pair.word, tokenizer);
    pair.looks_at_token = token_to_watch(pair.looks_at, tokenizer);
  }
  return pairs;
}

std::vector<PairMeasurement> watch(const std::vector<WordPair>& pairs, const LanguageModel& model,
                                   const Corpus& corpus, std::int64_t step) {
  std::vector<PairMeasurement> watched;
  for (const WordPair& words : pairs) {
    const Dim a = words.word_token, b = words.looks_at_token;
    const Dim control = control_of(corpus.train, model.sizes.vocabulary, model.sizes.context, a, b);
    watched.push_back({step, words, watched.empty(), corpus.tokenizer.decode({control}),
                       watch_pair(model, corpus.train, a, b),
                       watch_pair(model, corpus.train, a, control)});
    const WatchedPair& pair = watched.back().pair;
    if (!std::isfinite(pair.attention + pair.association + pair.similarity))
      throw Diverged("the attention of " + support::quoted(words.word) +
                     " is not a number after step " + std::to_string(step));
  }
  return watched;
}

}  // namespace fledge::train
