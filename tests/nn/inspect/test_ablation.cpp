// Interventions: against masks and rows made by hand, and by what must not matter once it is
// hidden.
#include "nn/inspect/ablation.h"

#include <cmath>

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace tests;

namespace {

constexpr Dim ablated_vocabulary = 7;
using Ids = std::vector<Dim>;

LanguageModel ablated_model(Dim layers, const Recipe& recipe = {}) {
  Rng rng(3);
  LanguageModel model({.vocabulary = ablated_vocabulary,
                       .context = 6,
                       .layers = layers,
                       .heads = 2,
                       .width = 8,
                       .recipe = recipe},
                      rng);
  redraw(model, 3);
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

const Ids read_ids{3, 1, 4, 1, 5};

/// The logits (T, V) of a model for read_ids.
Array own_logits(const LanguageModel& model) {
  const NoGrad no_grad;
  return model(Indices({1, 5}, read_ids)).value().with_shape({5, ablated_vocabulary});
}

/// Whether rows begin … end − 1 of two tables are the same but for rounding.
bool same_rows(const Array& a, const Array& b, Dim begin, Dim end) {
  return bool{close(part(a, 0, begin, end), part(b, 0, begin, end), 1e-4)};
}

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

TEST_CASE("the row that a head has itself changes nothing, also without scale, residual and norm") {
  for (const Recipe& recipe :
       {Recipe{}, Recipe{.scale = Scale::none, .residual = Residual::none, .norm = Norm::none}}) {
    const LanguageModel model = ablated_model(2, recipe);
    const NoGrad no_grad;
    const auto weights = model.forward_with_weights(Indices({1, 5}, read_ids)).weights;
    for (Dim layer = 0; layer < 2; ++layer)
      for (Dim head = 0; head < 2; ++head)
        for (Dim query = 0; query < 5; ++query) {
          ForcedRow row{layer, head, query, {}};
          const Array& of_layer = weights[static_cast<std::size_t>(layer)].value();
          for (Dim key = 0; key <= query; ++key)
            row.weights.push_back(value_of(of_layer.at({0, head, query, key})));
          CHECK(close(logits_with_row(model, read_ids, row), own_logits(model)));
        }
  }
}

TEST_CASE("a row changes its own position and later ones, and no earlier one") {
  const LanguageModel model = ablated_model(2);
  const Array own = own_logits(model),
              changed = logits_with_row(model, read_ids, {0, std::nullopt, 2, {0, 0, 1}});
  CHECK(close(part(changed, 0, 0, 2), part(own, 0, 0, 2)));
  CHECK_FALSE(same_rows(changed, own, 2, 3));
  CHECK_FALSE(same_rows(changed, own, 3, 5));  // through the next layer
}

TEST_CASE("with one layer the output is that of a mean of values with the row's weights") {
  const LanguageModel model = ablated_model(1);
  const NoGrad no_grad;
  const Block& block = model.h[0];
  const Tensor x = embedding(model.wte.weight, model.wpe.weight, Indices({1, 5}, read_ids));
  const std::vector<Tensor> qkv = split(block.attn.c_attn(block.ln_1(x)), 3, -1);
  const Tensor passed = mean(qkv[2], {1}, true);  // (1, 1, C): equal weights on all keys
  Tensor last = slice(x, 1, 4, 5) + block.attn.c_proj(passed);
  last = last + block.mlp(block.ln_2(last));
  const Array expected = model.logits(last).value().with_shape({1, ablated_vocabulary});
  const std::vector<double> even(5, 0.2);
  const Array changed = logits_with_row(model, read_ids, {0, std::nullopt, 4, even});
  CHECK(close(part(changed, 0, 4, 5), expected, 1e-4));
  // One head of two has another effect than both.
  CHECK_FALSE(same_rows(logits_with_row(model, read_ids, {0, 0, 4, even}), changed, 4, 5));
}

TEST_CASE("interventions refuse tokens, rows and models that they cannot read") {
  const LanguageModel model = ablated_model(2);
  const auto of = [&](const Ids& ids, Dim token) {
    return [&model, ids, token] { ablate_tokens(model, ids, token); };
  };
  CHECK(refuses<ValueError>(of({}, 2), "ablate_tokens", "1 to 6", "got 0"));
  CHECK(refuses<ValueError>(of(Ids(7, 1), 2), "ablate_tokens", "1 to 6", "got 7"));
  CHECK(refuses<ValueError>(of({1}, 7), "token 7", "vocabulary of 7"));
  CHECK(refuses<ValueError>(of({1, -1}, 2), "token -1", "vocabulary of 7"));
  const auto with = [&](const ForcedRow& row, const Ids& ids = read_ids) {
    return [&model, row, ids] { logits_with_row(model, ids, row); };
  };
  CHECK(refuses<ValueError>(with({2, 0, 0, {1}}), "layer 2", "there are 2"));
  CHECK(refuses<ValueError>(with({0, 2, 0, {1}}), "head 2", "there are 2"));
  CHECK(refuses<ValueError>(with({0, 0, 5, std::vector<double>(6, 1.0 / 6)}), "position 5",
                            "there are 5"));
  CHECK(refuses<ValueError>(with({0, 0, 1, {1}}), "2 keys", "got 1"));
  CHECK(refuses<ValueError>(with({0, 0, 1, {1, 1}}), "sum to 1", "sum to 2"));
  CHECK(refuses<ValueError>(with({0, 0, 1, {2, -1}}), "0 or more", "got -1"));
  CHECK(refuses<ValueError>(with({0, 0, 0, {1}}, {7}), "7"));
  CHECK(logits_with_row(model, Ids(6, 1), {0, 0, 0, {1}}).shape() == Shape{6, 7});
  CHECK(refuses<ValueError>(with({0, 0, 0, {1}}, Ids(7, 1)), "at most 6", "got 7"));
  const LanguageModel maskless = ablated_model(2, {.mask = Masking::none});
  CHECK(refuses<ValueError>([&] { logits_with_row(maskless, read_ids, {0, 0, 0, {1}}); }, "mask"));
}
