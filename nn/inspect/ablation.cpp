#include "nn/inspect/ablation.h"

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "nn/gpt/decoder.h"

namespace fledge {

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

Ablation ablate_tokens(const LanguageModel& model, const std::vector<Dim>& ids, Dim token,
                       const std::vector<Dim>& never_drawn) {
  const NoGrad no_grad;
  const Dim T = static_cast<Dim>(ids.size()), V = model.sizes.vocabulary;
  require<ValueError>(T >= 1 && T <= model.sizes.context, "ablate_tokens", "reads 1 to ",
                      model.sizes.context, " tokens: got ", T);
  require_token("ablate_tokens", token, V);
  for (const Dim id : ids) require_token("ablate_tokens", id, V);

  const Tensor read = embedding(model.wte.weight, model.wpe.weight, Indices({1, T}, ids));
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
