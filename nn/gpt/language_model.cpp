#include "nn/gpt/language_model.h"

#include <cmath>

namespace fledge {

namespace {

const LanguageModelSizes& checked(const LanguageModelSizes& sizes) {
  const auto positive = [](const char* what, Dim size) {
    require<ValueError>(size >= 1, "LanguageModel", what, " must be at least 1: got ", size);
  };
  positive("vocabulary", sizes.vocabulary);
  positive("context", sizes.context);
  positive("layers", sizes.layers);
  positive("heads", sizes.heads);
  positive("width", sizes.width);
  require<ValueError>(sizes.hidden >= 0, "LanguageModel", "hidden must not be negative: got ",
                      sizes.hidden);
  require<ValueError>(sizes.epsilon > 0 && std::isfinite(sizes.epsilon), "LanguageModel",
                      "epsilon must be positive and finite: got ", sizes.epsilon);
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
      wpe(sizes.context, sizes.width, initial),
      dropout(sizes.dropout),
      ln_f(sizes.width, sizes.epsilon) {
  const Dim hidden = sizes.hidden > 0 ? sizes.hidden : 4 * sizes.width;
  for (Dim layer = 0; layer < sizes.layers; ++layer) {
    Block& block =
        h.emplace_back(sizes.width, sizes.heads, hidden, initial, sizes.dropout, sizes.bias);
    block.ln_1.eps = block.ln_2.eps = sizes.epsilon;
    block.ln_1.norm = block.ln_2.norm = sizes.recipe.norm;
    block.attn.scale = sizes.recipe.scale;
    block.mlp.form = sizes.recipe.mlp;
    block.residual = sizes.recipe.residual;
  }
  ln_f.norm = sizes.recipe.norm;
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
  }
  set_held_values(*this);
}

Tensor LanguageModel::embed(const Indices& ids, Mode mode) const {
  require(ids.shape().rank() == 2, "LanguageModel", "expects ids (batch, time): got shape ",
          ids.shape());
  require(ids.shape()[1] <= sizes.context, "LanguageModel", "looks at no more than ", sizes.context,
          " words: got ids of shape ", ids.shape());
  return dropout(embedding(wte.weight, wpe.weight, ids), mode);
}

Tensor LanguageModel::logits(const Tensor& x) const {
  return matmul_transposed(ln_f(x), wte.weight);
}

Mask LanguageModel::mask(const std::vector<Dim>& lengths) const {
  if (sizes.recipe.mask == Masking::causal) return causal();
  return lengths.empty() ? Mask() : padding(lengths);
}

Tensor LanguageModel::operator()(const Indices& ids, Mode mode,
                                 const std::vector<Dim>& lengths) const {
  Tensor x = embed(ids, mode);
  const Mask seen = mask(lengths);
  for (const Block& block : h) x = block(x, seen, mode);
  return logits(x);
}

LanguageModel::LogitsAndWeights LanguageModel::forward_with_weights(const Indices& ids,
                                                                    Mode mode) const {
  LogitsAndWeights result;
  Tensor x = embed(ids, mode);
  for (const Block& block : h) {
    const auto [seen, weights] = block.forward_with_weights(x, mask(), mode);
    x = seen;
    result.weights.push_back(weights);
  }
  result.logits = logits(x);
  return result;
}

}  // namespace fledge
