// Leaving a token out: against masks made by hand, and by what must not matter once it is hidden.
#include "nn/inspect/ablation.h"

#include <cmath>

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

constexpr Dim ablated_vocabulary = 7;
using Ids = std::vector<Dim>;

LanguageModel ablated_model(Dim layers, std::uint64_t seed = 3) {
  Rng rng(seed);
  LanguageModel model(
      {.vocabulary = ablated_vocabulary, .context = 6, .layers = layers, .heads = 2, .width = 8},
      rng);
  redraw(model, seed);
  return model;
}

/// ln p of a token behind the last row of logits (…, T, ablated_vocabulary).
double log_p(const Tensor& logits, Dim token) {
  const Array z = logits.value();
  const Dim last = z.size() - ablated_vocabulary;
  double sum = 0;
  for (Dim i = 0; i < ablated_vocabulary; ++i) sum += std::exp(value_of(z[last + i]));
  return value_of(z[last + token]) - std::log(sum);
}

/// Of a model that reads with this mask in every layer.
double log_p(const LanguageModel& model, const Ids& ids, Dim token, const Mask& mask) {
  const NoGrad no_grad;
  const Dim T = static_cast<Dim>(ids.size());
  Tensor x = embedding(model.wte.weight, model.wpe.weight, Indices({1, T}, ids));
  for (const Block& block : model.h) x = block.forward_with_weights(x, mask).output;
  return log_p(model.logits(x), token);
}

}  // namespace

TEST_CASE("ablate_tokens: nothing left out is the model's own guess") {
  const NoGrad no_grad;
  const LanguageModel model = ablated_model(2);
  const Ids ids{3, 1, 4, 1, 5, 2};
  double all = 0;
  for (Dim token = 0; token < ablated_vocabulary; ++token) {
    const Ablation found = ablate_tokens(model, ids, token);
    CHECK_THAT(found.log_p, WithinAbs(log_p(model(Indices({1, 6}, ids)), token), rounding * 20));
    CHECK(found.without.size() == 5);
    all += std::exp(found.log_p);
  }
  CHECK_THAT(all, WithinAbs(1, 1e-12));
}

TEST_CASE("ablate_tokens: the tokens that are never drawn leave their probability to the others") {
  const LanguageModel model = ablated_model(2);
  const Ids ids{3, 1, 4}, never_drawn{6, 0};
  double all = 0;
  std::vector<double> hidden(2);
  for (Dim token = 1; token < ablated_vocabulary - 1; ++token) {
    const Ablation found = ablate_tokens(model, ids, token, never_drawn);
    all += std::exp(found.log_p);
    for (std::size_t j = 0; j < 2; ++j) hidden[j] += std::exp(found.without[j]);
  }
  for (const double sum : {all, hidden[0], hidden[1]}) CHECK_THAT(sum, WithinAbs(1, 1e-12));
  CHECK(ablate_tokens(model, ids, 0, never_drawn).log_p == -infinity);
}

TEST_CASE("ablate_tokens: of two tokens the first, of three the middle, by masks made by hand") {
  const LanguageModel model = ablated_model(2);
  const Ablation two = ablate_tokens(model, {3, 1}, 4);
  CHECK(two.without.size() == 1);
  // Each place looks at itself alone.
  CHECK_THAT(two.without[0], WithinAbs(log_p(model, {3, 1}, 4, window(1)), rounding * 20));
  CHECK(std::abs(two.without[0] - two.log_p) > 1e-3);
  const Ablation three = ablate_tokens(model, {3, 1, 5}, 4);
  const Mask middle = custom(3, 3, {true, false, false, true, true, false, true, false, true});
  CHECK_THAT(three.without[1], WithinAbs(log_p(model, {3, 1, 5}, 4, middle), rounding * 20));
}

TEST_CASE("ablate_tokens: what is hidden may be anything, what is not may not") {
  const LanguageModel model = ablated_model(3);
  const Ids ids{3, 1, 4, 1, 5};
  const Ablation before = ablate_tokens(model, ids, 2);
  for (std::size_t j = 0; j < ids.size(); ++j) {
    CAPTURE(j);
    Ids others = ids;
    others[j] = (others[j] + 1) % ablated_vocabulary;
    const Ablation after = ablate_tokens(model, others, 2);
    CHECK(after.log_p != before.log_p);
    for (std::size_t i = 0; i + 1 < ids.size(); ++i)
      CHECK((after.without[i] == before.without[i]) == (i == j));
  }
}

TEST_CASE("ablate_tokens: a model that passes nothing on loses nothing") {
  const LanguageModel model = ablated_model(2);
  for (const Block& block : model.h) {
    assign(block.attn.c_proj.weight, Array::zeros(block.attn.c_proj.weight.shape()));
    assign(block.attn.c_proj.bias, Array::zeros(block.attn.c_proj.bias.shape()));
  }
  const Ablation found = ablate_tokens(model, {3, 1, 4, 1}, 2);
  for (const double without : found.without) CHECK(without == found.log_p);
}

TEST_CASE("ablate_tokens: one token alone, and what it refuses") {
  const LanguageModel model = ablated_model(1);
  CHECK(ablate_tokens(model, {3}, 2).without.empty());
  const auto says = [&](const Ids& ids, Dim token) {
    return refusal<ValueError>([&] { ablate_tokens(model, ids, token); });
  };
  CHECK(says({}, 2) == "ablate_tokens: reads 1 to 6 tokens: got 0");
  CHECK(says(Ids(7, 1), 2) == "ablate_tokens: reads 1 to 6 tokens: got 7");
  CHECK(says({1}, 7) == "ablate_tokens: token 7 is outside a vocabulary of 7");
  CHECK(says({1, -1}, 2) == "ablate_tokens: token -1 is outside a vocabulary of 7");
}

TEST_CASE("ablate_tokens: of a model without a mask a token is hidden from those before it, too") {
  const NoGrad no_grad;
  LanguageModelSizes sizes = ablated_model(2).sizes;
  sizes.variant.without.mask = true;
  Rng rng(3);
  const LanguageModel model(sizes, rng);
  redraw(model, 3);
  const Ids ids{3, 1, 4};
  const Ablation found = ablate_tokens(model, ids, 2);
  CHECK_THAT(found.log_p, WithinAbs(log_p(model(Indices({1, 3}, ids)), 2), rounding * 20));
  const bool o = true, x = false;
  CHECK_THAT(
      found.without[1],
      WithinAbs(log_p(model, ids, 2, custom(3, 3, {o, x, o, o, o, o, o, x, o})), rounding * 20));
}
