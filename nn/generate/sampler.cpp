#include "nn/generate/sampler.h"

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

double total(const std::vector<Choice>& tokens) {
  double sum = 0;
  for (const Choice& token : tokens) sum += token.probability;
  return sum;
}

// w_i = exp((z_i − max z) / T) of the first n tokens, the largest logit first; of equal logits the
// smaller number. Tokens with weight 0 are left out.
std::vector<Choice> weights_of(const Array& logits, double temperature, std::size_t n) {
  struct RankedToken {
    Real logit;
    Dim token;
  };
  const double top = logits[first_token(logits)];
  std::vector<RankedToken> tokens(static_cast<std::size_t>(logits.size()));
  for (Dim i = 0; i < logits.size(); ++i) tokens[static_cast<std::size_t>(i)] = {logits[i], i};
  const auto is_before = [](const RankedToken& a, const RankedToken& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  if (n < tokens.size()) {
    std::partial_sort(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n), tokens.end(),
                      is_before);
    tokens.resize(n);
  } else {
    std::sort(tokens.begin(), tokens.end(), is_before);
  }
  std::vector<Choice> weights;
  for (const auto& [logit, token] : tokens)
    if (const double weight = std::exp((logit - top) / temperature); weight > 0)
      weights.push_back({token, weight});
  return weights;
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
    tokens.resize(n);
  }
  const double sum = total(tokens);
  for (Choice& token : tokens) token.probability /= sum;
  return tokens;
}

std::vector<Choice> most_likely(const Array& logits, Dim n) {
  require<ValueError>(n >= 0, "most_likely", "n must be 0 or more: got ", n);
  std::vector<Choice> tokens = choices(logits, {.temperature = 1});
  tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(n)));
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
