#include "nn/generate/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "engine/kernels/parallel.h"

namespace fledge {

namespace {

void check(const SampleOptions& options) {
  require<ValueError>(options.temperature >= 0 && std::isfinite(options.temperature), "sample",
                      "the temperature must be 0 or more: got ", options.temperature);
  require<ValueError>(options.top_k >= 0, "sample", "top_k must be 0 (all tokens) or more: got ",
                      options.top_k);
  require<ValueError>(options.top_p > 0 && options.top_p <= 1, "sample",
                      "top_p must be above 0 and at most 1: got ", options.top_p);
}

// The most likely token; of equals the smaller number.
Dim first_token(const Array& logits) {
  require(logits.rank() == 1 && logits.size() > 0, "sample", "needs logits (V): got shape ",
          logits.shape());
  Dim first = 0;
  for (Dim i = 0; i < logits.size(); ++i) {
    require<NumericError>(logits[i] < infinity, "sample", "logits must be numbers: token ", i,
                          " has ", logits[i]);
    if (logits[i] > logits[first]) first = i;
  }
  require<NumericError>(logits[first] > -infinity, "sample",
                        "no token is possible: all logits are -inf");
  return first;
}

// A token, and its logit as a whole number: the larger the logit, the smaller the key.
struct RankedToken {
  std::uint32_t key;
  Dim token;
};

std::uint32_t sort_key(float logit) {
  logit += 0.0f;  // −0 becomes 0: they are equal
  std::uint32_t bits = 0;
  std::memcpy(&bits, &logit, sizeof bits);
  return bits >> 31 != 0 ? bits : bits ^ 0x7fffffff;
}

// The tokens, the largest logit first; of equals the smaller number. A radix sort: one pass for
// each byte of the keys, from the lowest to the highest, and each pass keeps the order of equals
// (Knuth 1998, 5.2.5). 50,257 tokens take about 0.5 ms, and a token
// of a model with 124 million weights takes 20 ms.
std::vector<RankedToken> sort_tokens(const Array& logits) {
  const auto size = static_cast<std::size_t>(logits.size());
  std::vector<RankedToken> tokens(size), sorted(size);
  std::array<std::array<std::size_t, 256>, 4> places{};  // of each byte: counts, then first places
  const auto byte = [](const RankedToken& t, std::size_t pass) { return t.key >> 8 * pass & 255; };
  for (std::size_t i = 0; i < size; ++i) {
    tokens[i] = {sort_key(logits.data()[i]), static_cast<Dim>(i)};
    for (std::size_t pass = 0; pass < 4; ++pass) ++places[pass][byte(tokens[i], pass)];
  }
  for (std::size_t pass = 0; pass < 4; ++pass) {
    std::exclusive_scan(places[pass].begin(), places[pass].end(), places[pass].begin(),
                        std::size_t{0});
    for (const RankedToken& token : tokens) sorted[places[pass][byte(token, pass)]++] = token;
    tokens.swap(sorted);
  }
  return tokens;
}

double total(const std::vector<Choice>& tokens) {
  double sum = 0;
  for (const Choice& token : tokens) sum += token.probability;
  return sum;
}

void keep_first(std::vector<Choice>& tokens, std::size_t n) {
  if (n < tokens.size()) tokens.resize(n);
}

// w_i = exp((z_i − max z) / T) of the first n tokens; those with weight 0 are left out.
std::vector<Choice> weights_of(const Array& logits, double temperature, std::size_t n) {
  const double top = logits[first_token(logits)];
  const std::vector<RankedToken> order = sort_tokens(logits);
  std::vector<Choice> tokens(std::min(n, order.size()));
  const auto size = static_cast<Dim>(tokens.size());
  constexpr Dim cost = 32;  // multiply-adds that take as long as one exp
  kernels::parallel_ranges(size, kernels::grain_of(size), cost * size, [&](Dim begin, Dim end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const Dim token = order[i].token;
      tokens[i] = {token, std::exp((logits.data()[token] - top) / temperature)};
    }
  });
  while (!(tokens.back().probability > 0)) tokens.pop_back();
  return tokens;
}

void normalise(std::vector<Choice>& tokens) {
  const double sum = total(tokens);
  for (Choice& token : tokens) token.probability /= sum;
}

}  // namespace

std::vector<Choice> choices(const Array& logits, const SampleOptions& options) {
  check(options);
  if (options.temperature == 0) return {{first_token(logits), 1}};
  const auto most = static_cast<std::size_t>(options.top_k > 0 ? options.top_k : logits.size());
  std::vector<Choice> tokens = weights_of(logits, options.temperature, most);
  if (options.top_p < 1) {
    const double enough = options.top_p * total(tokens);
    double sum = 0;
    std::size_t n = 0;
    while (n < tokens.size() && (n == 0 || sum < enough)) sum += tokens[n++].probability;
    keep_first(tokens, n);
  }
  normalise(tokens);
  return tokens;
}

std::vector<Choice> most_likely(const Array& logits, Dim n) {
  require<ValueError>(n >= 0, "most_likely", "n must be 0 or more: got ", n);
  std::vector<Choice> tokens = choices(logits, {.temperature = 1});
  keep_first(tokens, static_cast<std::size_t>(n));
  return tokens;
}

Dim sample(const Array& logits, const SampleOptions& options, Rng& rng) {
  const std::vector<Choice> tokens = choices(logits, options);
  if (options.temperature == 0) return tokens[0].token;
  const double draw = rng.uniform();
  double sum = 0;
  for (const Choice& token : tokens)
    if (draw < (sum += token.probability)) return token.token;
  return tokens.back().token;  // rounding can make the sum of all less than 1
}

Dim generate(Decoder& decoder, const std::vector<Dim>& prompt, Dim count,
             const SampleOptions& options, Rng& rng, const OnToken& on_token) {
  require<ValueError>(count >= 0, "generate", "count must be 0 or more: got ", count);
  require<ValueError>(!prompt.empty(), "generate",
                      "needs a token to begin with: the prompt is empty");
  check(options);
  Array logits = decoder.read(prompt);
  for (Dim drawn = 1; drawn <= count; ++drawn) {
    const Dim token = sample(logits, options, rng);
    if (!on_token(token, logits)) return drawn;
    if (drawn < count) logits = decoder.read({token});
  }
  return count;
}

}  // namespace fledge
