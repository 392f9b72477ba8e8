#include "nn/inspect/forced_row.h"

#include <cmath>

#include "engine/autograd.h"

namespace fledge {

namespace {

void require_row(const LanguageModel& model, Dim tokens, const ForcedRow& row) {
  require<ValueError>(model.sizes.recipe.mask == Masking::causal, "logits_with_row",
                      "needs a model with the causal mask: this model is without it");
  const auto inside = [](const char* what, Dim number, Dim count) {
    require<ValueError>(number >= 0 && number < count, "logits_with_row", what, " ", number,
                        " does not exist: there are ", count, ", counted from 0");
  };
  inside("layer", row.layer, model.sizes.layers);
  if (row.head) inside("head", *row.head, model.sizes.heads);
  inside("position", row.query, tokens);
  double sum = 0;
  for (const double weight : row.weights) {
    require<ValueError>(weight >= 0, "logits_with_row", "a weight must be 0 or more: got ", weight);
    sum += weight;
  }
  require<ValueError>(std::ssize(row.weights) == row.query + 1, "logits_with_row",
                      "needs a weight for each of ", row.query + 1, " keys: got ",
                      row.weights.size());
  require<ValueError>(std::abs(sum - 1) <= 1e-6, "logits_with_row",
                      "the weights must sum to 1: they sum to ", sum);
}

// attn(x) with the row, x (1, T, C).
Tensor attention_with_row(const Attention& attn, const Tensor& x, const ForcedRow& row) {
  const Dim H = attn.heads, T = x.dim(1), C = x.dim(2);
  const std::vector<Tensor> qkv = split(attn.qkv(x), 3, -1);
  Array weights = attend(qkv[0], qkv[1], qkv[2], H, causal()).weights.value().clone();
  Real* const to = weights.write();  // (1, H, T, T)
  for (Dim head = 0; head < H; ++head) {
    if (row.head && *row.head != head) continue;
    for (Dim key = 0; key <= row.query; ++key)
      to[(head * T + row.query) * T + key] = Real(row.weights[static_cast<std::size_t>(key)]);
  }
  const Tensor values = transpose(reshape(qkv[2], {1, T, H, C / H}), 1, 2);  // (1, H, T, D)
  const Tensor mixed = weighted_sum(Tensor(weights), values, causal());
  return attn.c_proj(reshape(transpose(mixed, 1, 2), {1, T, C}));
}

}  // namespace

Array logits_with_row(const LanguageModel& model, const std::vector<Dim>& ids,
                      const ForcedRow& row) {
  const NoGrad no_grad;
  const auto T = static_cast<Dim>(ids.size());
  for (const Dim id : ids) require_token("logits_with_row", id, model.sizes.vocabulary);
  require<ValueError>(T <= model.sizes.context, "logits_with_row", "reads at most ",
                      model.sizes.context, " tokens: got ", T);
  require_row(model, T, row);
  Tensor x = embedding(model.wte.weight, model.wpe.weight, Indices({1, T}, ids));
  for (Dim layer = 0; layer < model.sizes.layers; ++layer) {
    const Block& block = model.h[static_cast<std::size_t>(layer)];
    if (layer != row.layer) {
      x = block(x, causal());
      continue;
    }
    x = block.add_residuals(x, attention_with_row(block.attn, block.ln_1(x), row));
  }
  return model.logits(x).value().with_shape({T, model.sizes.vocabulary});
}

}  // namespace fledge
