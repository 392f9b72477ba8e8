#include "nn/inspect/ablation.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace tests;

namespace {

constexpr Dim token_count = 5;
const std::vector<Dim> read_ids{3, 1, 4, 1, 5};

LanguageModel forced_model(Dim layers = 2, const Without& without = {}) {
  Rng rng(7);
  LanguageModel model({.vocabulary = 6,
                       .context = 8,
                       .layers = layers,
                       .heads = 2,
                       .width = 8,
                       .variant = {.without = without}},
                      rng);
  for (const Block& block : model.h)  // so large that a row matters
    for (const Tensor& weight : {block.attn.c_attn.weight, block.attn.c_proj.weight}) {
      Real* const w = weight.write();
      for (Dim i = 0; i < weight.size(); ++i) w[i] = Real(rng.normal());
    }
  return model;
}

std::vector<double> even(Dim keys) {
  return std::vector<double>(static_cast<std::size_t>(keys), 1 / static_cast<double>(keys));
}

/// Whether rows begin … end − 1 of two tables are the same but for rounding.
bool same_rows(const Array& a, const Array& b, Dim begin, Dim end) {
  return bool{close(part(a, 0, begin, end), part(b, 0, begin, end), 1e-4)};
}

}  // namespace

TEST_CASE("the row that a head has itself changes nothing, also without scale, residual and norm") {
  for (const Without& without :
       {Without{}, Without{.scale = true, .residual = true, .norm = true}}) {
    const LanguageModel model = forced_model(2, without);
    const NoGrad no_grad;
    const auto [logits, weights] = model.forward_with_weights(Indices({1, token_count}, read_ids));
    const Array own = logits.value().with_shape({token_count, 6});
    for (Dim layer = 0; layer < 2; ++layer)
      for (Dim head = 0; head < 2; ++head)
        for (Dim query = 0; query < token_count; ++query) {
          ForcedRow row{layer, head, query, {}};
          const Array& of_layer = weights[static_cast<std::size_t>(layer)].value();
          for (Dim key = 0; key <= query; ++key)
            row.weights.push_back(value_of(of_layer.at({0, head, query, key})));
          CHECK(close(logits_with_row(model, read_ids, row), own));
        }
  }
}

TEST_CASE("a row changes its own position and later ones, and no earlier one") {
  const LanguageModel model = forced_model();
  const Array own = model(Indices({1, token_count}, read_ids)).value().with_shape({token_count, 6});
  const Array changed = logits_with_row(model, read_ids, {0, std::nullopt, 2, {0, 0, 1}});
  CHECK(close(part(changed, 0, 0, 2), part(own, 0, 0, 2)));
  CHECK_FALSE(same_rows(changed, own, 2, 3));
  CHECK_FALSE(same_rows(changed, own, 3, 5));  // through the next layer
}

TEST_CASE("with one layer the output is that of a mean of values with the row's weights") {
  const LanguageModel model = forced_model(1);
  const NoGrad no_grad;
  const Block& block = model.h[0];
  const Tensor x =
      embedding(model.wte.weight, model.wpe.weight, Indices({1, token_count}, read_ids));
  const std::vector<Tensor> qkv = split(block.attn.c_attn(block.ln_1(x)), 3, -1);
  const Tensor passed =
      mean(qkv[2], {1}, true);  // (1, 1, C): equal weights on all token_count keys
  Tensor last = slice(x, 1, token_count - 1, token_count) + block.attn.c_proj(passed);
  last = last + block.mlp(block.ln_2(last));
  const Array expected = model.logits(last).value().with_shape({1, 6});
  const Array changed =
      logits_with_row(model, read_ids, {0, std::nullopt, token_count - 1, even(token_count)});
  CHECK(close(part(changed, 0, token_count - 1, token_count), expected, 1e-4));
  // One head of two has another effect than both.
  const Array one = logits_with_row(model, read_ids, {0, 0, token_count - 1, even(token_count)});
  CHECK_FALSE(same_rows(one, changed, token_count - 1, token_count));
}

TEST_CASE("a row that is none is refused, and a model without the causal mask") {
  const LanguageModel model = forced_model();
  const auto with = [&](const ForcedRow& row, const std::vector<Dim>& ids = read_ids) {
    return [&model, row, ids] { logits_with_row(model, ids, row); };
  };
  CHECK(refuses<ValueError>(with({2, 0, 0, {1}}), "layer 2", "there are 2"));
  CHECK(refuses<ValueError>(with({0, 2, 0, {1}}), "head 2", "there are 2"));
  CHECK(refuses<ValueError>(with({0, 0, 5, even(6)}), "position 5", "there are 5"));
  CHECK(refuses<ValueError>(with({0, 0, 1, {1}}), "2 keys", "got 1"));
  CHECK(refuses<ValueError>(with({0, 0, 1, {1, 1}}), "sum to 1", "sum to 2"));
  CHECK(refuses<ValueError>(with({0, 0, 1, {2, -1}}), "0 or more", "got -1"));
  CHECK(refuses<ValueError>(with({0, 0, 0, {1}}, {6}), "6"));
  CHECK(logits_with_row(model, std::vector<Dim>(8, 1), {0, 0, 0, {1}}).shape() == Shape{8, 6});
  CHECK(refuses<ValueError>(with({0, 0, 0, {1}}, std::vector<Dim>(9, 1)), "8", "9"));
  LanguageModelSizes sizes = model.sizes;
  sizes.variant.without = {.mask = true};
  Rng rng(7);
  const LanguageModel maskless(sizes, rng);
  CHECK(refuses<ValueError>([&] { logits_with_row(maskless, read_ids, {0, 0, 0, {1}}); }, "mask"));
}
