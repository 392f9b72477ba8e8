#include "nn/inspect/probes.h"

#include <cstring>
#include <iterator>

#include "engine/autograd.h"
#include "nn/gpt/decoder.h"
#include "nn/text/batches.h"

namespace fledge {

namespace {

// The first row first … end − 1 where x (T, V) and y differ in a bit; `end` if there is none.
Dim first_difference(const Array& x, const Array& y, Dim first, Dim end) {
  const Dim V = x.dim(1);
  const std::size_t bytes = static_cast<std::size_t>(V) * sizeof(Real);
  for (Dim t = first; t < end; ++t)
    if (std::memcmp(x.data() + t * V, y.data() + t * V, bytes) != 0) return t;
  return end;
}

struct PositionPair {
  Dim from, to;
};

// All pairs of a token a and a token b before it.
std::vector<PositionPair> pairs_in(const std::vector<Dim>& window, Dim a, Dim b) {
  std::vector<PositionPair> found;
  for (std::size_t i = 0; i < window.size(); ++i)
    for (std::size_t j = 0; j < i && window[i] == a; ++j)
      if (window[j] == b) found.push_back({static_cast<Dim>(i), static_cast<Dim>(j)});
  return found;
}

}  // namespace

CausalityReport check_causality(const Reads& reads, const std::vector<Dim>& ids, Dim vocabulary,
                                Dim most_cuts) {
  const Dim T = static_cast<Dim>(ids.size());
  require<ValueError>(T >= 2, "check_causality", "needs two tokens or more: got ", T);
  require<ValueError>(vocabulary >= 2, "check_causality",
                      "needs another token to put in: the vocabulary has ", vocabulary);
  require<ValueError>(most_cuts >= 1, "check_causality", "needs a cut or more: got ", most_cuts);
  CausalityReport found;
  const Array before = reads(ids);
  require(before.rank() == 2 && before.dim(0) == T, "check_causality", "needs logits (", T,
          ", V): got shape ", before.shape());
  const Dim cuts = std::min(most_cuts, T - 1);
  for (Dim cut = 0; cut < cuts; ++cut) {
    const Dim t = cuts == 1 ? T - 2 : cut * (T - 2) / (cuts - 1);
    const Dim shift = 1 + cut % (vocabulary - 1);
    std::vector<Dim> others = ids;
    for (auto later = others.begin() + t + 1; later != others.end(); ++later)
      *later = (*later + shift) % vocabulary;
    const Array changed = reads(others);
    const std::string after = " after place " + std::to_string(t);
    const Dim place = first_difference(changed, before, 0, t + 1);
    if (place <= t) {
      found.looks_ahead = true;
      found.text = "place " + std::to_string(place) +
                   " depends on later tokens: its logits change with the tokens" + after;
      return found;
    }
    found.compared += (t + 1) * before.dim(1);
    // The first reason is kept. Other cuts may still show a position that depends on later tokens.
    if (found.text.empty() && first_difference(changed, before, t + 1, T) == T)
      found.text = "could not be shown, as no logits change with the tokens" + after;
  }
  found.is_causal = found.text.empty();
  return found;
}

CausalityReport check_causality(const LanguageModel& model, const std::vector<Dim>& ids,
                                Dim most_cuts) {
  const NoGrad no_grad;
  const Dim T = static_cast<Dim>(ids.size()), V = model.sizes.vocabulary;
  const Reads reads = [&](const std::vector<Dim>& tokens) {
    return model(Indices({1, T}, tokens)).value().with_shape({T, V});
  };
  return check_causality(reads, ids, V, most_cuts);
}

FirstLook first_look(const LanguageModel& model, const Indices& ids) {
  const NoGrad no_grad;
  const Block& block = model.h[0];
  const Tensor x = model.embed(ids);
  const Attention& attn = block.attn;
  const Tensor all = attn.qkv(block.ln_1(x));
  const std::vector<Tensor> qkv = attn.q_k_v(all);
  const AttentionOutput seen =
      attend(qkv[0], qkv[1], qkv[2], attn.heads, model.mask(), {}, attn.sink);
  return {seen.weights, attn.passed(seen.output, all), keys_of_heads(qkv[2], attn.heads)};
}

double FirstLook::attention(Dim batch, Dim from, Dim to) const {
  const NoGrad no_grad;
  return value_of(mean(weights, {1}).value().at({batch, from, to}));
}

double FirstLook::association(Dim batch, Dim from, Dim to) const {
  const NoGrad no_grad;
  const auto vector_at = [batch](const Tensor& x, Dim t) {
    return slice(slice(x, 0, batch, batch + 1), 1, t, t + 1);
  };
  return cosine_similarity(vector_at(passed, from), vector_at(values, to)).item();
}

WatchedPair watch_pair(const LanguageModel& model, const TokenText& text, Dim a, Dim b,
                       Dim most_windows) {
  const NoGrad no_grad;
  const Dim V = model.sizes.vocabulary, H = model.sizes.heads;
  for (const Dim token : {a, b}) require_token("watch_pair", token, V);
  const bool without_mask = model.sizes.recipe.mask == Masking::none;
  WatchedPair found;
  const auto row = [&](Dim token) { return slice(model.wte.weight, 0, token, token + 1); };
  found.similarity = cosine_similarity(row(a), row(b)).item();

  Dim windows = 0;
  for (const auto& [begin, length, skip] : evaluation_windows(text, model.sizes.context)) {
    if (windows == most_windows) break;
    const auto start = text.tokens.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<Dim> window(start, start + length);
    const std::vector<PositionPair> pairs = pairs_in(window, a, b);
    if (pairs.empty()) continue;
    ++windows;
    const Indices ids({1, length}, window);
    const LanguageModel::LogitsAndWeights forward = model.forward_with_weights(ids);
    const FirstLook first = first_look(model, ids);
    for (const PositionPair& pair : pairs) {
      ++found.pairs;
      const Dim seen = without_mask ? length : pair.from + 1, at_most = model.sizes.recipe.window;
      found.chance += 1 / static_cast<double>(at_most > 0 ? std::min(seen, at_most) : seen);
      found.association += first.association(0, pair.from, pair.to);
      for (const Tensor& layer : forward.weights)
        for (Dim head = 0; head < H; ++head)
          found.attention += value_of(layer.value().at({0, head, pair.from, pair.to}));
    }
  }
  if (found.pairs == 0) return found;
  const auto count = static_cast<double>(found.pairs);
  found.chance /= count;
  found.association /= count;
  found.attention /= count * static_cast<double>(model.sizes.layers * H);
  return found;
}

Dim control_of(const TokenText& text, Dim vocabulary, Dim context, Dim a, Dim b) {
  for (const Dim token : {a, b}) require_token("control_of", token, vocabulary);
  std::vector<Dim> counts(static_cast<std::size_t>(vocabulary));
  for (const Dim token : text.tokens) {
    require_token("control_of", token, vocabulary);
    ++counts[static_cast<std::size_t>(token)];
  }
  std::vector<bool> is_before(counts.size());
  for (const auto& [begin, length, skip] : evaluation_windows(text, context)) {
    const auto first = text.tokens.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = std::find(std::reverse_iterator(first + length), std::reverse_iterator(first),
                                a);  // the last a, or the beginning
    const auto end = last.base() == first ? first : last.base() - 1;
    if (std::find(first, end, b) == end) continue;
    for (auto token = first; token < end; ++token)
      is_before[static_cast<std::size_t>(*token)] = true;
  }
  if (text.documents() > 0) is_before[static_cast<std::size_t>(text.tokens.front())] = false;
  for (const Dim token : {a, b}) is_before[static_cast<std::size_t>(token)] = false;
  const bool is_any = std::find(is_before.begin(), is_before.end(), true) == is_before.end();
  const auto is_possible = [&](Dim token) {
    return is_any ? token != a && token != b : bool{is_before[static_cast<std::size_t>(token)]};
  };
  const auto gap = [&](Dim token) {
    return std::abs(counts[static_cast<std::size_t>(token)] - counts[static_cast<std::size_t>(b)]);
  };
  Dim best = -1;
  for (Dim token = 0; token < vocabulary; ++token)
    if (is_possible(token) && (best < 0 || gap(token) < gap(best))) best = token;
  require<ValueError>(best >= 0, "control_of", "needs a third token: the vocabulary has ",
                      vocabulary);
  return best;
}

namespace {

// A mask over T positions in which only position `hidden` itself sees `hidden`. With hidden = T
// nothing is hidden. The mask is a table in both cases, so the sums run in the same order and
// differ only by the hidden position.
Mask without(Dim hidden, Dim T) {
  std::vector<bool> visible(static_cast<std::size_t>(T * T), true);
  for (Dim query = 0; query < T; ++query)
    if (hidden < T && query != hidden)
      visible[static_cast<std::size_t>(query * T + hidden)] = false;
  return custom(T, T, std::move(visible));
}

// ln softmax(z)_token = z_token − max z − ln Σ_i exp(z_i − max z)
double log_softmax_at(const Array& z, Dim token) {
  double most = -infinity, sum = 0;
  for (Dim i = 0; i < z.size(); ++i) most = std::max(most, value_of(z[i]));
  for (Dim i = 0; i < z.size(); ++i) sum += std::exp(value_of(z[i]) - most);
  return value_of(z[token]) - most - std::log(sum);
}

}  // namespace

Ablation ablate_tokens(const LanguageModel& model, const std::vector<Dim>& ids, Dim token,
                       const std::vector<Dim>& never_drawn) {
  const NoGrad no_grad;
  const Dim T = static_cast<Dim>(ids.size()), V = model.sizes.vocabulary;
  require<ValueError>(T >= 1 && T <= model.sizes.context, "ablate_tokens", "reads 1 to ",
                      model.sizes.context, " tokens: got ", T);
  require_token("ablate_tokens", token, V);
  for (const Dim id : ids) require_token("ablate_tokens", id, V);

  const Tensor read = model.embed(Indices({1, T}, ids));
  const auto log_p = [&](Dim hidden) {
    const Mask mask = model.mask() & without(hidden, T);
    Tensor x = read;  // (1, T, C)
    for (const Block& block : model.h) x = block(x, mask);
    const Array z = model.logits(slice(x, 1, T - 1, T)).value();  // (1, 1, V)
    return log_softmax_at(without_tokens(z, never_drawn), token);
  };
  Ablation found{log_p(T), {}};
  for (Dim hidden = 0; hidden + 1 < T; ++hidden) found.without.push_back(log_p(hidden));
  return found;
}

}  // namespace fledge
