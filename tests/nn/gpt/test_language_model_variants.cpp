// Models without a part: what the formula is then, and that every part matters where it is left in.
#include "nn/gpt/held_parameters.h"
#include "nn/gpt/language_model.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

constexpr Dim variant_words = 11, variant_length = 5, variant_width = 8;

LanguageModel model_without(const Without& without, Dim layers = 1) {
  Rng rng(2);
  LanguageModel model({.vocabulary = variant_words,
                       .context = variant_length + 2,
                       .layers = layers,
                       .heads = 2,
                       .width = variant_width,
                       .variant = {.without = without}},
                      rng);
  redraw(model, 2);
  set_held_values(model);
  return model;
}

Array logits_of(const LanguageModel& model, const std::vector<Dim>& ids,
                const std::vector<Dim>& lengths = {}) {
  const NoGrad no_grad;
  const auto rows = static_cast<Dim>(lengths.empty() ? 1 : lengths.size());
  return model(Indices({rows, static_cast<Dim>(ids.size()) / rows}, ids), Mode::evaluation(),
               lengths)
      .value();
}

}  // namespace

TEST_CASE("variants: without a mask an earlier logit depends on a later word, not on padding") {
  for (const bool mask_left_out : {false, true}) {
    const LanguageModel model = model_without({.mask = mask_left_out}, 2);
    const Array one = logits_of(model, {1, 2, 3, 4, 5}), other = logits_of(model, {1, 2, 3, 4, 6});
    for (Dim t = 0; t < 4; ++t)
      CHECK(bool{same_bits(part(one, 1, t, t + 1), part(other, 1, t, t + 1))} == !mask_left_out);
  }
  const LanguageModel model = model_without({.mask = true}, 2);
  const Array alone = logits_of(model, {1, 2, 3});
  for (const Dim length : {3, 5}) {
    const Array both = logits_of(model, {4, 5, 6, 7, 8, 1, 2, 3, 9, 9}, {5, length});
    CHECK(bool{same_bits(part(part(both, 0, 1, 2), 1, 0, 3), alone)} == (length == 3));
  }
}

TEST_CASE("variants: without mask and positions the last logits ignore the order of the words") {
  for (const Without& without : {Without{}, Without{.mask = true}, Without{.positions = true},
                                 Without{.mask = true, .positions = true}}) {
    const LanguageModel model = model_without(without, 2);
    const Array one = part(logits_of(model, {1, 2, 3, 4, 5}), 1, 4, 5),
                other = part(logits_of(model, {3, 1, 4, 2, 5}), 1, 4, 5);
    const bool ignores = without.mask && without.positions;
    CHECK(bool{close(one, other, ignores ? 1e-4 : 1e-2)} == ignores);
  }
}

TEST_CASE("variants: without the scale the scores are products of queries and keys") {
  const LanguageModel model = model_without({.scale = true});
  const Attention& attn = model.h[0].attn;
  const Tensor x = uniform({1, variant_length, variant_width}, 4);
  const std::vector<Tensor> parts = split(attn.c_attn(x), 3, -1);
  const Array weights = attn.forward_with_weights(x, causal()).weights.value();
  constexpr Dim D = variant_width / 2;
  for (Dim head = 0; head < 2; ++head) {
    const Tensor q = slice(parts[0], 2, head * D, (head + 1) * D),
                 k = slice(parts[1], 2, head * D, (head + 1) * D);
    const Tensor rows = softmax(attention_scores(q, k, causal()), causal());
    CHECK(close(part(weights, 1, head, head + 1).with_shape(rows.shape()), rows.value(), 1e-5));
    const Tensor scaled = softmax(attention_scores(q, k, causal()) * (1 / std::sqrt(D)), causal());
    CHECK_FALSE(close(rows.value(), scaled.value(), 1e-2));
  }
  CHECK(close(attn(x, causal()).value(), attn.forward_with_weights(x, causal()).output.value()));
}

TEST_CASE("variants: without residuals the outputs of attention and MLP replace x") {
  const Block block = model_without({.residual = true}).h[0];
  const Tensor x = uniform({2, variant_length, variant_width}, 4);
  const Tensor attended = block.attn(block.ln_1(x), causal());
  CHECK(same_bits(block(x, causal()).value(), block.mlp(block.ln_2(attended)).value()));
}

TEST_CASE("variants: without norms gains and biases do nothing, and x is not normalised") {
  const LanguageModel model = model_without({.norm = true});
  const Array before = logits_of(model, {1, 2, 3});
  for (const LayerNorm& norm : {model.h[0].ln_1, model.h[0].ln_2, model.ln_f})
    for (const Tensor& p : {norm.weight, norm.bias}) assign(p, uniform(p.shape(), 9));
  CHECK(same_bits(logits_of(model, {1, 2, 3}), before));
  const Tensor x = uniform({1, 3, variant_width}, 4);
  CHECK(same_bits(model.ln_f(x).value(), x.value()));
  const Block& block = model.h[0];
  const Tensor seen = x + block.attn(x, causal());
  CHECK(same_bits(block(x, causal()).value(), (seen + block.mlp(seen)).value()));
}

TEST_CASE("variants: each switch changes the logits") {
  std::vector<Array> all{logits_of(model_without({}), {1, 2, 3, 4, 5})};
  for (const Without& without :
       {Without{.mask = true}, Without{.positions = true}, Without{.scale = true},
        Without{.mlp = true}, Without{.value = true}, Without{.attention = true},
        Without{.residual = true}, Without{.norm = true}}) {
    const Array logits = logits_of(model_without(without), {1, 2, 3, 4, 5});
    for (const Array& other : all) CHECK_FALSE(close(logits, other, 1e-3));
    all.push_back(logits);
  }
}

TEST_CASE("variants: the activation and the epsilon of the layer norms reach every block") {
  Rng rng(2);
  const LanguageModel model({.vocabulary = variant_words,
                             .context = variant_length,
                             .layers = 2,
                             .heads = 2,
                             .width = variant_width,
                             .activation = Activation::gelu,
                             .epsilon = 1e-3},
                            rng);
  for (const Block& block : model.h) {
    CHECK(block.mlp.activation == Activation::gelu);
    CHECK((block.ln_1.eps == 1e-3 && block.ln_2.eps == 1e-3));
  }
  CHECK(model.ln_f.eps == 1e-3);
  LanguageModelSizes sizes = model.sizes;
  sizes.epsilon = 0;
  CHECK_THROWS_AS(LanguageModel(sizes, rng)(Indices({1, 1}, {1})), ValueError);
}
