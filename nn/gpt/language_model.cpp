#include "nn/gpt/language_model.h"

#include <algorithm>
#include <cmath>

namespace fledge {

namespace {

const LanguageModelSizes& checked(const LanguageModelSizes& sizes) {
  for (const auto& [what, size] :
       {std::pair("vocabulary", sizes.vocabulary), std::pair("context", sizes.context),
        std::pair("layers", sizes.layers), std::pair("heads", sizes.heads),
        std::pair("width", sizes.width)})
    require<ValueError>(size >= 1, "LanguageModel", what, " must be at least 1: got ", size);
  const bool shared = sizes.head_count().keys < sizes.heads;
  require<ValueError>(!shared || (sizes.recipe.values != ValueMatrix::none && !sizes.recipe.tie_qk),
                      "LanguageModel",
                      "a value matrix that is the identity, and one matrix of "
                      "queries and keys, need as many heads of keys as of queries: got ",
                      sizes.recipe.key_heads, " and ", sizes.heads);
  require<ValueError>(sizes.hidden >= 0, "LanguageModel", "hidden must not be negative: got ",
                      sizes.hidden);
  require<ValueError>(sizes.epsilon > 0 && std::isfinite(sizes.epsilon), "LanguageModel",
                      "epsilon must be positive and finite: got ", sizes.epsilon);
  const Recipe& recipe = sizes.recipe;
  require<ValueError>(recipe.window >= 0, "LanguageModel", "the window must not be negative: got ",
                      recipe.window);
  require<ValueError>(recipe.rotary_base >= 1 && std::isfinite(recipe.rotary_base), "LanguageModel",
                      "the rotary base must be finite and 1 or more: got ", recipe.rotary_base);
  require<ValueError>(recipe.position != Position::rotary || sizes.width / sizes.heads % 2 == 0,
                      "LanguageModel",
                      "rotary positions need an even head size, width / heads: got ", sizes.width,
                      " / ", sizes.heads);
  return sizes;
}

void redraw(const Tensor& weight, double deviation, Rng& rng) {
  Real* w = weight.write();
  for (Dim i = 0; i < weight.size(); ++i) w[i] = Real(deviation * rng.normal());
}

}  // namespace

LanguageModel::LanguageModel(const LanguageModelSizes& model_sizes, InitialWeights initial)
    : sizes(checked(model_sizes)),
      wte(sizes.vocabulary, sizes.width, initial),
      dropout(sizes.dropout),
      ln_f(sizes.width, sizes.epsilon, sizes.recipe.norm) {
  const Recipe& recipe = sizes.recipe;
  if (recipe.position != Position::rotary) wpe = Embedding(sizes.context, sizes.width, initial);
  for (Dim layer = 0; layer < sizes.layers; ++layer) {
    Block& block = h.emplace_back(sizes.width, sizes.head_count(), sizes.hidden_width(), initial,
                                  sizes.dropout, sizes.bias, recipe.norm, recipe.mlp);
    block.ln_1.eps = block.ln_2.eps = sizes.epsilon;
    block.attn.scale = recipe.scale;
    block.attn.qk_norm = recipe.qk_norm;
    block.attn.exclusive = recipe.exclusive;
    if (recipe.sink == Sink::learned) block.attn.sink = parameter(Array::zeros({sizes.heads}));
    if (recipe.position == Position::rotary) block.attn.rotary_base = recipe.rotary_base;
    block.residual = recipe.residual;
  }
  if (recipe.head == OutputHead::own) lm_head = Embedding(sizes.vocabulary, sizes.width, initial);
  if (initial.rng() == nullptr) return;
  Rng& rng = *initial.rng();
  // GPT-2's initial weights (Radford et al. 2019, section 2.3): small, so that at first the
  // attention weights are almost equal; and smaller in the 2·layers products that are added to the
  // residual stream.
  const double small = 0.02, smaller = small / std::sqrt(2 * static_cast<double>(sizes.layers));
  for (const Block& block : h) {
    redraw(block.attn.c_attn.weight, small, rng);
    redraw(block.attn.c_proj.weight, smaller, rng);
    redraw(block.mlp.c_fc.weight, small, rng);
    redraw(block.mlp.c_proj.weight, smaller, rng);
    if (block.mlp.c_gate.weight.exists()) redraw(block.mlp.c_gate.weight, small, rng);
  }
  set_held_values(*this);
}

Tensor LanguageModel::embed(const Indices& ids, Dim first) const {
  if (sizes.recipe.position == Position::rotary) return wte(ids);
  return embedding(wte.weight, wpe.weight, ids, first);
}

Tensor LanguageModel::first_input(const Indices& ids, const std::vector<Dim>& lengths,
                                  Mode mode) const {
  require(
      ids.shape().rank() == (lengths.empty() ? 2 : 1), "LanguageModel",
      "expects ids (batch, time), or (tokens of all documents) with the documents' lengths: got ",
      "shape ", ids.shape(), " and ", lengths.size(), " lengths");
  const Dim longest =
      lengths.empty() ? ids.shape()[1] : *std::max_element(lengths.begin(), lengths.end());
  require(longest <= sizes.context, "LanguageModel", "looks at no more than ", sizes.context,
          " words: got ", longest, " in ids of shape ", ids.shape());
  require(lengths.empty() || rows_together(lengths) == ids.size(), "LanguageModel",
          "needs documents of ", ids.size(), " tokens together: got ", rows_together(lengths));
  if (lengths.empty() || sizes.recipe.position == Position::rotary)
    return dropout(embed(ids), mode);
  return dropout(wte(ids) + wpe(Indices(ids.shape(), positions_in(lengths))), mode);
}

Tensor LanguageModel::logits(const Tensor& x) const {
  return matmul_transposed(ln_f(x), lm_head.weight.exists() ? lm_head.weight : wte.weight);
}

Mask LanguageModel::mask(const std::vector<Dim>& lengths) const {
  Mask seen = lengths.empty() ? Mask() : documents(lengths);
  if (sizes.recipe.mask == Masking::causal) seen = seen & causal();
  return sizes.recipe.window > 0 ? seen & window(sizes.recipe.window) : seen;
}

Tensor LanguageModel::operator()(const Indices& ids, Mode mode,
                                 const std::vector<Dim>& lengths) const {
  const Mask seen = mask(lengths);
  Tensor x = first_input(ids, lengths, mode);
  for (const Block& block : h) x = block(x, seen, mode);
  return logits(x);
}

LanguageModel::LogitsAndWeights LanguageModel::forward_with_weights(const Indices& ids,
                                                                    Mode mode) const {
  LogitsAndWeights result;
  Tensor x = first_input(ids, {}, mode);
  for (const Block& block : h) {
    const auto [seen, weights] = block.forward_with_weights(x, mask(), mode);
    x = seen;
    result.weights.push_back(weights);
  }
  result.logits = logits(x);
  return result;
}

}  // namespace fledge
