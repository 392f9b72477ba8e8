#include "nn/generate/sampler.h"

#include <algorithm>
#include <cmath>

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

// Tokens and their logits, the largest first; of equals the smaller number. The logits stand in the
// field `probability`.
std::vector<Choice> sort_tokens(const Array& logits) {
  require(logits.rank() == 1 && logits.size() > 0, "sample", "needs logits (V): got shape ",
          logits.shape());
  std::vector<Choice> tokens;
  tokens.reserve(static_cast<std::size_t>(logits.size()));
  for (Dim i = 0; i < logits.size(); ++i) {
    const double z = value_of(logits[i]);
    require<NumericError>(z < infinity, "sample", "logits must be numbers: token ", i, " has ", z);
    tokens.push_back({i, z});
  }
  std::sort(tokens.begin(), tokens.end(), [](const Choice& a, const Choice& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
  });
  require<NumericError>(tokens[0].probability > -infinity, "sample",
                        "no token is possible: all logits are -inf");
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

// Replaces logits by w_i = exp((z_i − max z) / T), and removes tokens with weight 0.
void apply_temperature(std::vector<Choice>& tokens, double temperature) {
  const double top = tokens[0].probability;
  for (Choice& token : tokens)
    token.probability = std::exp((token.probability - top) / temperature);
  while (!(tokens.back().probability > 0)) tokens.pop_back();
}

void normalise(std::vector<Choice>& tokens) {
  const double sum = total(tokens);
  for (Choice& token : tokens) token.probability /= sum;
}

}  // namespace

std::vector<Choice> choices(const Array& logits, const SampleOptions& options) {
  check(options);
  std::vector<Choice> tokens = sort_tokens(logits);
  if (options.temperature == 0) return {{tokens[0].token, 1}};
  apply_temperature(tokens, options.temperature);
  if (options.top_k > 0) keep_first(tokens, static_cast<std::size_t>(options.top_k));
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
