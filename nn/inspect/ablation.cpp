#include "nn/inspect/ablation.h"

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "nn/gpt/decoder.h"

namespace fledge {

namespace {

// A mask over T positions in which only position `hidden` itself sees `hidden`. With hidden = T
// nothing is hidden. The mask is a table in both cases, so the sums run in the same order and differ
// only by the hidden position.
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

}  // namespace fledge
