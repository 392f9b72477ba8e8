#include "nn/inspect/ngram_baseline.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "engine/base/errors.h"

namespace fledge {

namespace {

// A hash of a sequence of tokens is that of all but the last, and the last.
std::uint64_t extended(std::uint64_t hash, Dim token) {
  return hash * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(token) + 1;
}

// The hash of the `history` tokens in front of token i of a document that begins at `first`. Before
// `first` each token is the boundary at `first`.
std::uint64_t history_hash(const TokenText& text, Dim i, Dim first, int history) {
  std::uint64_t hash = 0;
  for (Dim j = i - history; j < i; ++j)
    hash = extended(hash, text.tokens[static_cast<std::size_t>(std::max(j, first))]);
  return hash;
}

// Calls f(i, first) for every token i that is predicted; its document begins at `first`.
template <class F>
void for_predicted(const TokenText& text, Dim begin, F f) {
  for (Dim d = 0; d < text.documents(); ++d) {
    const auto first = static_cast<Dim>(text.starts[static_cast<std::size_t>(d)]);
    const auto last = static_cast<Dim>(text.starts[static_cast<std::size_t>(d) + 1]);
    for (Dim i = first + 1; i <= last; ++i) f(i, first);
  }
  if (text.starts.empty())
    for (Dim i = begin; i < text.size(); ++i) f(i, Dim{0});
}

}  // namespace

double ngram_loss(const TokenText& train, const TokenText& test, Dim vocabulary, int history,
                  double add) {
  require<ValueError>(!test.tokens.empty(), "ngram_loss", "the test has no tokens");
  require<ValueError>(history >= 0 && history <= 8, "ngram_loss",
                      "the history must have 0 to 8 tokens: got ", history);
  require<ValueError>(std::isfinite(add) && add > 0, "ngram_loss",
                      "what is added to each count must be positive: got ", add);
  require<ValueError>(train.tokens.empty() || train.starts.empty() == test.starts.empty(),
                      "ngram_loss", "a stream and documents have different histories");
  for (const TokenText* text : {&train, &test})
    for (const Dim token : text->tokens)
      require<ValueError>(token >= 0 && token < vocabulary, "ngram_loss", "token ", token,
                          " is outside a vocabulary of ", vocabulary);

  // How often each history occurs, and each history with the token after it. Sequences with the
  // same hash count as equal. For two different ones the probability of this is 2⁻⁶³.
  std::unordered_map<std::uint64_t, double> counts;
  const auto count = [&](std::uint64_t hash) {
    const auto entry = counts.find(hash);
    return entry == counts.end() ? 0.0 : entry->second;
  };
  for_predicted(train, history, [&](Dim i, Dim first) {
    const std::uint64_t hash = history_hash(train, i, first, history);
    ++counts[hash];
    ++counts[extended(hash, train.tokens[static_cast<std::size_t>(i)])];
  });

  // For a stream, the end of the training text is put before the test: it is the first history.
  const Dim before = test.starts.empty() ? std::min<Dim>(history, train.size()) : 0;
  TokenText text{{train.tokens.end() - before, train.tokens.end()}, test.starts};
  text.tokens.insert(text.tokens.end(), test.tokens.begin(), test.tokens.end());
  double loss = 0;
  Dim predicted = 0;
  for_predicted(text, before, [&](Dim i, Dim first) {
    ++predicted;
    double histories = 0, seen = 0;
    if (!text.starts.empty() || i >= history) {
      const std::uint64_t hash = history_hash(text, i, first, history);
      histories = count(hash);
      seen = count(extended(hash, text.tokens[static_cast<std::size_t>(i)]));
    }
    loss -= std::log((seen + add) / (histories + add * static_cast<double>(vocabulary)));
  });
  return loss / static_cast<double>(predicted);
}

}  // namespace fledge
