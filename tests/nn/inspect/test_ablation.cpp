// Hidden tokens: against masks made by hand, and by what must not matter once it is hidden.
#include "nn/inspect/probes.h"

#include <cmath>

#include "tests/nn/modules.h"

using namespace tests;

namespace {

constexpr Dim ablated_vocabulary = 7;
using Ids = std::vector<Dim>;

LanguageModel ablated_model(Dim layers, const Recipe& recipe = {}) {
  LanguageModelSizes sizes{.vocabulary = ablated_vocabulary, .context = 6, .width = 8};
  sizes.layers = layers, sizes.heads = 2, sizes.recipe = recipe;
  return drawn_model(sizes, 3);
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

const Ids read_ids{3, 1, 4, 1, 5};

}  // namespace

TEST_CASE("ablate_tokens: nothing left out is the model's own guess, without what is never drawn") {
  const NoGrad no_grad;
  const LanguageModel model = ablated_model(2);
  const Ids ids{3, 1, 4}, never_drawn{6, 0};
  const Tensor logits = model(Indices({1, 3}, ids));
  std::vector<double> sums(4);
  for (Dim token = 0; token < ablated_vocabulary; ++token) {
    const Ablation found = ablate_tokens(model, ids, token);
    CHECK_THAT(found.log_p, WithinAbs(log_p(logits, token), rounding * 20));
    CHECK(found.without.size() == 2);
    sums[0] += std::exp(found.log_p);
    const Ablation drawn = ablate_tokens(model, ids, token, never_drawn);
    CHECK((drawn.log_p == -infinity) == (token == 0 || token == 6));
    sums[1] += std::exp(drawn.log_p);
    for (std::size_t j = 0; j < 2; ++j) sums[2 + j] += std::exp(drawn.without[j]);
  }
  for (const double sum : sums) CHECK_THAT(sum, WithinAbs(1, 1e-12));
  CHECK(ablate_tokens(model, {3}, 2).without.empty());
}

TEST_CASE("ablate_tokens: one token left out is a mask made by hand, in each layer") {
  const bool o = true, x = false;
  struct Row {
    bool has_mask;
    Ids ids;
    std::size_t left_out;
    Mask mask;
  };
  for (const Row& row :
       std::vector<Row>{{true, {3, 1}, 0, window(1)},  // each position looks at itself alone
                        {true, {3, 1, 5}, 1, custom(3, 3, {o, x, x, o, o, x, o, x, o})},
                        // Without a mask a token is hidden from those before it, too.
                        {false, {3, 1, 4}, 1, custom(3, 3, {o, x, o, o, o, o, o, x, o})}}) {
    const LanguageModel model =
        ablated_model(2, {.mask = row.has_mask ? Masking::causal : Masking::none});
    const Ablation found = ablate_tokens(model, row.ids, 4);
    CHECK(found.without.size() == row.ids.size() - 1);
    CHECK_THAT(found.without[row.left_out],
               WithinAbs(log_p(model, row.ids, 4, row.mask), rounding * 20));
    CHECK(std::abs(found.without[row.left_out] - found.log_p) > 1e-3);
    const NoGrad no_grad;
    const Dim T = std::ssize(row.ids);
    CHECK_THAT(found.log_p, WithinAbs(log_p(model(Indices({1, T}, row.ids)), 4), rounding * 20));
  }
}

TEST_CASE("ablate_tokens: what is hidden may be anything, what is not may not") {
  const LanguageModel model = ablated_model(3);
  const Ablation before = ablate_tokens(model, read_ids, 2);
  for (std::size_t j = 0; j < read_ids.size(); ++j) {
    CAPTURE(j);
    Ids others = read_ids;
    others[j] = (others[j] + 1) % ablated_vocabulary;
    const Ablation after = ablate_tokens(model, others, 2);
    CHECK(after.log_p != before.log_p);
    for (std::size_t i = 0; i + 1 < read_ids.size(); ++i)
      CHECK((after.without[i] == before.without[i]) == (i == j));
  }
  // A model that passes nothing on loses nothing, to the bit.
  for (const Block& block : model.h)
    for (const Tensor& passed : {block.attn.c_proj.weight, block.attn.c_proj.bias})
      assign(passed, Array::zeros(passed.shape()));
  const Ablation found = ablate_tokens(model, read_ids, 2);
  for (const double without : found.without) CHECK(without == found.log_p);
}

TEST_CASE("ablate_tokens: refuses tokens that the model cannot read") {
  const LanguageModel model = ablated_model(2);
  const auto of = [&](const Ids& ids, Dim token) {
    return [&model, ids, token] { ablate_tokens(model, ids, token); };
  };
  CHECK(refuses<ValueError>(of({}, 2), "ablate_tokens", "1 to 6", "got 0"));
  CHECK(refuses<ValueError>(of(Ids(7, 1), 2), "ablate_tokens", "1 to 6", "got 7"));
  CHECK(refuses<ValueError>(of({1}, 7), "token 7", "vocabulary of 7"));
  CHECK(refuses<ValueError>(of({1, -1}, 2), "token -1", "vocabulary of 7"));
}
