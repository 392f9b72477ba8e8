#include "nn/inspect/probes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "engine/autograd.h"

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

bool all_nan(const Array& x, Dim row) {
  const Real* const from = x.data() + row * x.dim(1);
  return std::all_of(from, from + x.dim(1), [](Real v) { return isnan(v); });
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
  const Array before = reads(ids, T);
  require(before.rank() == 2 && before.dim(0) == T, "check_causality", "needs logits (", T,
          ", V): got shape ", before.shape());
  const Dim cuts = std::min(most_cuts, T - 1);
  for (Dim cut = 0; cut < cuts; ++cut) {
    const Dim t = cuts == 1 ? T - 2 : cut * (T - 2) / (cuts - 1);
    const Dim shift = 1 + cut % (vocabulary - 1);
    std::vector<Dim> others = ids;
    for (auto later = others.begin() + t + 1; later != others.end(); ++later)
      *later = (*later + shift) % vocabulary;
    const Array changed = reads(others, T), with_nan = reads(ids, t + 1);
    const std::string after = " after place " + std::to_string(t);
    for (const Array* logits : {&changed, &with_nan}) {
      const Dim place = first_difference(*logits, before, 0, t + 1);
      if (place <= t) {
        found.looks_ahead = true;
        found.text = "place " + std::to_string(place) + " looks ahead: its logits change with " +
                     (logits == &changed ? "the tokens" : "NaN in the positions") + after;
        return found;
      }
      found.compared += (t + 1) * before.dim(1);
    }
    // The first reason is kept. The other cuts may still show that a position looks ahead.
    const std::string none = "could not be shown, as ";
    if (first_difference(changed, before, t + 1, T) == T) {
      if (found.text.empty()) found.text = none + "no logits change with the tokens" + after;
    } else if (!all_nan(with_nan, t + 1)) {
      if (found.text.empty())
        found.text = none + "NaN in the positions" + after + " does not reach the next place";
    } else {
      ++found.cuts;
    }
  }
  found.is_causal = found.text.empty();
  if (found.is_causal)
    found.text = "no place looks ahead: " + std::to_string(found.compared) +
                 " logits in front of " + std::to_string(cuts) +
                 " cuts keep every bit when all that follows is changed or NaN";
  return found;
}

CausalityReport check_causality(const LanguageModel& model, const std::vector<Dim>& ids,
                                Dim most_cuts) {
  const NoGrad no_grad;
  const Dim T = static_cast<Dim>(ids.size()), C = model.sizes.width;
  const Reads reads = [&](const std::vector<Dim>& tokens, Dim nan_from) {
    LanguageModel copy = model;
    Array positions = model.wpe.weight.value().clone();
    if (nan_from < T)
      std::fill(positions.write() + nan_from * C, positions.write() + positions.size(),
                Real(std::numeric_limits<double>::quiet_NaN()));
    copy.wpe.weight = Tensor(positions);
    return copy(Indices({1, T}, tokens)).value().with_shape({T, model.sizes.vocabulary});
  };
  return check_causality(reads, ids, model.sizes.vocabulary, most_cuts);
}

FirstLook first_look(const LanguageModel& model, const Indices& ids) {
  const NoGrad no_grad;
  const Block& block = model.h[0];
  const Tensor x = embedding(model.wte.weight, model.wpe.weight, ids);
  const std::vector<Tensor> qkv = split(block.attn.c_attn(block.ln_1(x)), 3, -1);  // (B, T, C) each
  const AttentionOutput seen = attend(qkv[0], qkv[1], qkv[2], model.sizes.heads, causal());
  return {seen.weights, seen.output, qkv[2]};
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

namespace {

struct Places {
  Dim from, to;
};

// All pairs of a token a and a token b before it.
std::vector<Places> places_of(const std::vector<Dim>& window, Dim a, Dim b) {
  std::vector<Places> found;
  for (std::size_t i = 0; i < window.size(); ++i)
    for (std::size_t j = 0; j < i && window[i] == a; ++j)
      if (window[j] == b) found.push_back({static_cast<Dim>(i), static_cast<Dim>(j)});
  return found;
}

}  // namespace

WatchedPair watch_pair(const LanguageModel& model, const std::vector<Dim>& text, Dim a, Dim b,
                       Dim most_windows) {
  const NoGrad no_grad;
  const Dim V = model.sizes.vocabulary, H = model.sizes.heads, L = model.sizes.layers;
  for (const Dim token : {a, b}) require_token("watch_pair", token, V);
  WatchedPair found;
  const auto row = [&](Dim token) { return slice(model.wte.weight, 0, token, token + 1); };
  found.similarity = cosine_similarity(row(a), row(b)).item();

  std::vector<double> heads(static_cast<std::size_t>(L * H));  // sums over the pairs
  const auto step = static_cast<std::size_t>(model.sizes.context);
  Dim windows = 0;
  for (std::size_t at = 0; at < text.size() && windows < most_windows; at += step) {
    const auto size = static_cast<Dim>(std::min(step, text.size() - at));
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
    const std::vector<Dim> window(begin, begin + size);
    const std::vector<Places> pairs = places_of(window, a, b);
    if (pairs.empty()) continue;
    ++windows;
    const Indices ids({1, size}, window);
    const LanguageModel::LogitsAndWeights forward = model.forward_with_weights(ids);
    const FirstLook first = first_look(model, ids);
    for (const Places& pair : pairs) {
      ++found.pairs;
      found.chance += 1 / static_cast<double>(pair.from + 1);
      found.association += first.association(0, pair.from, pair.to);
      for (Dim i = 0; i < L * H; ++i)
        heads[static_cast<std::size_t>(i)] +=
            value_of(forward.weights[static_cast<std::size_t>(i / H)].value().at(
                {0, i % H, pair.from, pair.to}));
    }
  }
  if (found.pairs == 0) return found;
  const auto count = static_cast<double>(found.pairs);
  found.chance /= count;
  found.association /= count;
  for (Dim i = 0; i < L * H; ++i) {
    const double mean = heads[static_cast<std::size_t>(i)] / count;
    found.attention += mean / static_cast<double>(L * H);
    if (mean > found.most) found.most = mean, found.layer = i / H, found.head = i % H;
  }
  return found;
}

Dim control_of(const std::vector<Dim>& text, Dim vocabulary, Dim a, Dim b) {
  for (const Dim token : {a, b}) require_token("control_of", token, vocabulary);
  std::vector<Dim> counts(static_cast<std::size_t>(vocabulary));
  for (const Dim token : text) {
    require_token("control_of", token, vocabulary);
    ++counts[static_cast<std::size_t>(token)];
  }
  const auto gap = [&](Dim token) {
    return std::abs(counts[static_cast<std::size_t>(token)] - counts[static_cast<std::size_t>(b)]);
  };
  Dim best = -1;
  for (Dim token = 0; token < vocabulary; ++token)
    if (token != a && token != b && (best < 0 || gap(token) < gap(best))) best = token;
  require<ValueError>(best >= 0, "control_of", "needs a third token: the vocabulary has ",
                      vocabulary);
  return best;
}

}  // namespace fledge
