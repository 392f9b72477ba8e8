#include "nn/gpt/decoder.h"

#include "engine/autograd.h"

namespace fledge {

Array without_tokens(const Array& logits, const std::vector<Dim>& never_drawn) {
  if (never_drawn.empty()) return logits;
  const Dim V = logits.dim(-1);
  for (const Dim id : never_drawn) require_token("without_tokens", id, V);
  Array masked = logits.clone();
  Real* z = masked.write();
  for (Dim row = 0; row < masked.size(); row += V)
    for (const Dim id : never_drawn) z[row + id] = Real(-infinity);
  return masked;
}

Decoder::Decoder(const LanguageModel& model, std::vector<Dim> never_drawn)
    : model_(model), never_drawn_(std::move(never_drawn)), caches_(model.h.size()) {
  for (const Dim id : never_drawn_) require_token("Decoder", id, model.sizes.vocabulary);
}

Array Decoder::read(const std::vector<Dim>& ids) {
  require<ValueError>(!ids.empty(), "Decoder", "needs at least one token to read: got none");
  for (const Dim id : ids) require_token("Decoder", id, model_.sizes.vocabulary);

  const Dim context = model_.sizes.context, kept = std::max<Dim>(1, context / 2);
  std::vector<Dim> window = window_;
  bool moved = false;
  for (const Dim id : ids) {
    if (static_cast<Dim>(window.size()) == context) {
      window.erase(window.begin(), window.end() - (kept - 1));
      moved = true;
    }
    window.push_back(id);
  }
  // If memory runs out, the window and the caches must be the same as before.
  std::vector<KeyValueCache> empty(moved ? caches_.size() : 0);
  std::vector<KeyValueCache>& caches = moved ? empty : caches_;
  const Dim known = caches[0].length;
  const auto numbers = static_cast<std::size_t>(known * model_.h[0].attn.key_width());
  try {
    Array logits = without_tokens(last_logits(window, caches), never_drawn_);
    window_.swap(window);
    if (moved) caches_.swap(empty);
    return logits;
  } catch (...) {
    for (KeyValueCache& cache : caches) {  // it does not throw: no vector grows
      cache.length = known;
      cache.keys.resize(numbers);
      cache.values.resize(numbers);
    }
    throw;
  }
}

Array Decoder::last_logits(const std::vector<Dim>& window,
                           std::vector<KeyValueCache>& caches) const {
  const NoGrad no_grad;
  const Dim V = model_.sizes.vocabulary, T = static_cast<Dim>(window.size());
  if (model_.sizes.recipe.mask == Masking::none)
    return slice(model_(Indices({1, T}, window)), 1, T - 1, T).value().with_shape({V});
  const Dim first = caches[0].length, count = T - first;
  const Indices fresh({count}, {window.end() - count, window.end()});
  const Mask mask = model_.mask();
  Tensor x = model_.embed(fresh, first);  // (count, C)
  for (std::size_t layer = 0; layer < caches.size(); ++layer)
    x = model_.h[layer](x, caches[layer], mask);
  const Tensor logits = model_.logits(slice(x, 0, count - 1, count));  // (1, V)
  return logits.value().with_shape({V});
}

// The bits do not depend on how the text was divided into calls. One pass over the window gives
// the same ones.
std::vector<Array> Decoder::attention(Dim rows) const {
  require<ValueError>(!window_.empty(), "Decoder",
                      "must read a token before attention(): it has read none");
  require<ValueError>(rows >= 0, "Decoder", "needs 0 rows of attention or more: got ", rows);
  const Dim T = length(), first = rows > 0 ? std::max<Dim>(0, T - rows) : Dim{0};
  const NoGrad no_grad;
  std::vector<Array> weights;
  if (model_.sizes.recipe.mask == Masking::none) {
    for (const Tensor& layer : model_.forward_with_weights(Indices({1, T}, window_)).weights) {
      const Array last = slice(layer, 2, first, T).value();  // (1, H, R, T)
      weights.push_back(last.with_shape({layer.dim(1), T - first, T}));
    }
    return weights;
  }
  const Mask mask = model_.mask();
  Tensor x = model_.embed(Indices({T}, window_));
  for (const Block& block : model_.h) {
    KeyValueCache cache;
    const Tensor last = slice(x, 0, first, T);
    x = block(x, cache, mask);
    weights.push_back(cached_attention_weights(block.attn.qkv(block.ln_1(last), first).value(),
                                               block.attn.heads, cache, mask, block.attn.sink));
  }
  return weights;
}

}  // namespace fledge
