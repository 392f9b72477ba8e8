#include "nn/inspect/ngram_losses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/base/errors.h"
#include "engine/base/interrupt.h"
#include "nn/io/utf8.h"

namespace fledge {

namespace {

// A hash of a sequence of tokens is that of all but the last, and the last.
std::uint64_t extended(std::uint64_t hash, Dim token) {
  return hash * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(token) + 1;
}

// A token that is predicted, and where its document begins.
struct Prediction {
  Dim token, first;
};

// The predictions from `begin` on. Of a document, every token but the first, which is a boundary.
std::vector<Prediction> predictions_of(const TokenText& text, Dim begin) {
  std::vector<Prediction> predictions;
  for (Dim d = 0; d < text.documents(); ++d) {
    const auto first = static_cast<Dim>(text.starts[static_cast<std::size_t>(d)]);
    const auto last = static_cast<Dim>(text.starts[static_cast<std::size_t>(d) + 1]);
    for (Dim i = first + 1; i <= last; ++i) predictions.push_back({i, first});
  }
  if (text.starts.empty())
    for (Dim i = begin; i < text.size(); ++i) predictions.push_back({i, 0});
  return predictions;
}

// The hash of the `history` tokens in front of a prediction. Before a document begins, each token
// is its boundary; a stream has no tokens there, and then there is no hash.
std::optional<std::uint64_t> history_hash(const TokenText& text, const Prediction& prediction,
                                          int history) {
  if (text.starts.empty() && prediction.token < history) return {};
  std::uint64_t hash = 0;
  for (Dim j = prediction.token - history; j < prediction.token; ++j)
    hash = extended(hash, text.tokens[static_cast<std::size_t>(std::max(j, prediction.first))]);
  return hash;
}

// How often n-grams occur in the training text, by their hashes. Sequences with the same hash count
// as equal. For two different ones the probability of this is 2⁻⁶³.
using HashCounts = std::unordered_map<std::uint64_t, double>;

// How often the history of a prediction occurs in the training text, and how often this token
// follows it.
struct Counts {
  double history = 0, both = 0;
};

// Zeros for a prediction that has no full history.
Counts counts_at(const HashCounts& counted, const TokenText& text, const Prediction& prediction,
                 int history) {
  const std::optional<std::uint64_t> hash = history_hash(text, prediction, history);
  if (!hash) return {};
  const auto count = [&](std::uint64_t sequence) {
    const auto entry = counted.find(sequence);
    return entry == counted.end() ? 0 : entry->second;
  };
  return {count(*hash),
          count(extended(*hash, text.tokens[static_cast<std::size_t>(prediction.token)]))};
}

// λ for each ⌊log₂ count(h)⌋.
using Weights = std::array<double, 64>;

std::size_t size_class(const Counts& counts) {
  return static_cast<std::size_t>(std::ilogb(counts.history));
}

// Maximises the probability of the counted tokens: Σ ln(λ·share + (1 − λ)·shorter).
Weights estimate_weights(const std::vector<Counts>& counts, const std::vector<double>& shorter) {
  // Three times as many rounds change the held-out losses of three texts (verse, Chinese poems,
  // Python) by −0.0003 to +0.016 nats.
  constexpr int rounds = 20;
  Weights weights{};
  weights.fill(0.5);
  for (int round = 0; round < rounds; ++round) {
    Weights sum{}, number{};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i].history <= 0) continue;
      const std::size_t size = size_class(counts[i]);
      const double longer = weights[size] * counts[i].both / counts[i].history;
      sum[size] += longer / (longer + (1 - weights[size]) * shorter[i]);
      ++number[size];
    }
    for (std::size_t size = 0; size < weights.size(); ++size)
      if (number[size] > 0) weights[size] = std::clamp(sum[size] / number[size], 0.001, 0.999);
  }
  return weights;
}

double mixed_probability(const Weights& weights, const Counts& counts, double shorter) {
  if (counts.history <= 0) return shorter;
  const double weight = weights[size_class(counts)];
  return weight * counts.both / counts.history + (1 - weight) * shorter;
}

double mean_of_losses(const std::vector<double>& probabilities) {
  double loss = 0;
  for (const double p : probabilities) loss -= std::log(p);
  return loss / static_cast<double>(probabilities.size());
}

}  // namespace

std::vector<double> ngram_losses(const TokenText& train, const TokenText& test, Dim vocabulary,
                                 int most_history,
                                 const std::function<void(double share)>& progress) {
  require<ValueError>(!test.tokens.empty(), "ngram_losses", "the test has no tokens");
  require<ValueError>(most_history >= 0 && most_history <= 8, "ngram_losses",
                      "the history must have 0 to 8 tokens: got ", most_history);
  require<ValueError>(train.tokens.empty() || train.starts.empty() == test.starts.empty(),
                      "ngram_losses", "a stream and documents have different histories");
  for (const TokenText* text : {&train, &test})
    for (const Dim token : text->tokens)
      require<ValueError>(token >= 0 && token < vocabulary, "ngram_losses", "token ", token,
                          " is outside a vocabulary of ", vocabulary);

  // For a stream, the end of the training text is put before the test: it is the first history.
  const Dim before = test.starts.empty() ? std::min<Dim>(most_history, train.size()) : 0;
  TokenText text{{train.tokens.end() - before, train.tokens.end()}, test.starts};
  text.tokens.insert(text.tokens.end(), test.tokens.begin(), test.tokens.end());
  const std::vector<Prediction> learned = predictions_of(train, 0);
  const std::vector<Prediction> predicted = predictions_of(text, before);

  // The probabilities of these tokens: with one left out, and from all counts.
  std::vector<double> p_learned(learned.size()), p_predicted(predicted.size());
  std::vector<double> losses;
  constexpr int parts = 3;  // of the work for a history: counting, the weights, the test
  int done = 0;
  const auto report = [&] {
    if (progress) progress(static_cast<double>(++done) / (parts * (most_history + 1)));
  };
  for (int history = 0; history <= most_history; ++history) {
    HashCounts counted;
    for (const Prediction& prediction : learned)
      if (const auto hash = history_hash(train, prediction, history)) {
        ++counted[*hash];
        ++counted[extended(*hash, train.tokens[static_cast<std::size_t>(prediction.token)])];
      }
    report();
    std::vector<Counts> left_out;
    for (const Prediction& prediction : learned) {
      const Counts all = counts_at(counted, train, prediction, history);
      left_out.push_back({all.history - 1, all.both - 1});
    }
    const Weights weights = history == 0 ? Weights{} : estimate_weights(left_out, p_learned);
    const auto V = static_cast<double>(vocabulary);
    const auto p = [&](const Counts& counts, double shorter) {
      return history == 0 ? (counts.both + 1) / (counts.history + V)
                          : mixed_probability(weights, counts, shorter);
    };
    report();
    for (std::size_t i = 0; i < learned.size(); ++i) p_learned[i] = p(left_out[i], p_learned[i]);
    for (std::size_t i = 0; i < predicted.size(); ++i)
      p_predicted[i] = p(counts_at(counted, text, predicted[i], history), p_predicted[i]);
    losses.push_back(mean_of_losses(p_predicted));
    report();
  }
  return losses;
}

double least_loss(const TokenText& text) {
  require<ValueError>(text.documents() > 0, "least_loss",
                      "the text must have documents: read it with Reading::lines");
  // The tree of all beginnings. Node 0 is the boundary; a child is one token longer.
  std::vector<double> count{0};
  std::map<std::pair<std::size_t, Dim>, std::size_t> children;
  const auto child = [&](std::size_t beginning, Dim next) {
    const auto [found, is_new] = children.try_emplace({beginning, next}, count.size());
    if (is_new) count.push_back(0);
    return found->second;
  };
  const auto for_each_prediction = [&](const auto& f) {
    for (std::size_t d = 0; d + 1 < text.starts.size(); ++d) {
      std::size_t beginning = 0;
      for (std::size_t i = text.starts[d] + 1; i <= text.starts[d + 1]; ++i) {
        const std::size_t longer = child(beginning, text.tokens[i]);
        f(beginning, longer);
        beginning = longer;
      }
    }
  };

  count[0] = static_cast<double>(text.documents());
  for_each_prediction([&](std::size_t, std::size_t longer) { count[longer] += 1; });
  double sum = 0, predictions = 0;
  for_each_prediction([&](std::size_t beginning, std::size_t longer) {
    sum -= std::log(count[longer] / count[beginning]);
    predictions += 1;
  });
  return sum / predictions;
}

namespace {

// The characters of a text, several blanks in a row as one space.
std::u32string characters_of(std::string_view text) {
  constexpr std::string_view white_space = " \t\n\r\v\f";
  constexpr char32_t after_unicode = 0x110000;
  std::u32string characters;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const bool is_blank = white_space.find(text[at]) != std::string_view::npos;
    if (!point.valid)
      characters += static_cast<char32_t>(after_unicode + static_cast<unsigned char>(text[at]));
    else if (!is_blank)
      characters += static_cast<char32_t>(point.value);
    else if (characters.empty() || characters.back() != U' ')
      characters += U' ';
    at += point.valid ? point.bytes : 1;
  }
  return characters;
}

// Calls f(position, hash) for each n-gram of a text, in order. The hash is Σ c_i·base^(n−1−i)
// modulo 2⁶⁴, so two multiplications give the hash of the next n-gram.
template <class F>
void each_gram(std::u32string_view text, std::size_t n, F f) {
  constexpr std::uint64_t base = 0x9E3779B97F4A7C15;
  std::uint64_t sum = 0, power = 1;  // base^n
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 65536 == 0) check_interrupt();
    sum = sum * base + text[i] + 1;
    if (i < n) power *= base;
    if (i >= n) sum -= power * (std::uint64_t{text[i - n]} + 1);
    if (i + 1 >= n) f(i + 1 - n, sum);
  }
}

// The share of the sample's characters in n-grams that occur in the text. Strings with the same
// hash count as equal. For two different n-grams the probability of this is 2⁻⁶³.
double share_in_text(std::u32string_view sample, std::u32string_view text, std::size_t n) {
  std::unordered_map<std::uint64_t, bool> in_text;  // of each n-gram of the sample
  // The first 16 bits of these hashes. Most n-grams of the text are not in the sample, and a look
  // at the bits is ten times as fast as find().
  std::vector<bool> first_bits(1 << 16);
  each_gram(sample, n, [&](std::size_t, std::uint64_t hash) {
    in_text[hash] = false;
    first_bits[hash >> 48] = true;
  });
  each_gram(text, n, [&](std::size_t, std::uint64_t hash) {
    if (!first_bits[hash >> 48]) return;
    if (const auto gram = in_text.find(hash); gram != in_text.end()) gram->second = true;
  });
  std::size_t found = 0, counted = 0;  // the first `counted` characters are done with
  each_gram(sample, n, [&](std::size_t at, std::uint64_t hash) {
    if (!in_text[hash]) return;
    found += at + n - std::max(at, counted);
    counted = at + n;
  });
  return found > 0 ? static_cast<double>(found) / static_cast<double>(sample.size()) : 0;
}

}  // namespace

VerbatimOverlap verbatim_overlap(std::string_view sample_bytes, std::string_view text_bytes,
                                 std::size_t least) {
  const std::u32string sample = characters_of(sample_bytes), text = characters_of(text_bytes);
  least = std::max<std::size_t>(least, 1);
  // There is a run of `longest` characters, and none of `too_long`.
  std::size_t longest = 0, too_long = std::min(sample.size(), text.size()) + 1;
  const auto try_length = [&](std::size_t n) {
    const double share = share_in_text(sample, text, n);
    if (share > 0)
      longest = n;
    else
      too_long = std::min(too_long, n);
    return share;
  };
  const double share = try_length(least);
  while (longest + 1 < too_long) try_length(std::min(2 * longest + 1, (longest + too_long) / 2));
  return {share, longest};
}

}  // namespace fledge
