#include "nn/inspect/forced_row.h"

#include <cmath>

#include "engine/autograd.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::close;
using tests::refusal;

namespace {

constexpr Dim token_count = 5;
const std::vector<Dim> read_ids{3, 1, 4, 1, 5};

LanguageModel model_of(Dim layers = 2) {
  Rng rng(7);
  LanguageModel model({.vocabulary = 6, .context = 8, .layers = layers, .heads = 2, .width = 8},
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

double difference(const Array& a, const Array& b, Dim first_row, Dim end_row) {
  double largest = 0;
  const Dim V = a.dim(1);
  for (Dim i = first_row * V; i < end_row * V; ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

}  // namespace

TEST_CASE("the row that a head has itself changes nothing") {
  const LanguageModel model = model_of();
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
        CHECK(difference(logits_with_row(model, read_ids, row), own, 0, token_count) < 1e-5);
      }
}

TEST_CASE("a row changes its own position and later ones, and no earlier one") {
  const LanguageModel model = model_of();
  const Array own = model(Indices({1, token_count}, read_ids)).value().with_shape({token_count, 6});
  const Array changed = logits_with_row(model, read_ids, {0, std::nullopt, 2, {0, 0, 1}});
  CHECK(difference(changed, own, 0, 2) < 1e-5);
  CHECK(difference(changed, own, 2, 3) > 1e-3);
  CHECK(difference(changed, own, 3, 5) > 1e-3);  // through the next layer
}

TEST_CASE("with one layer the output is that of a mean of values with the row's weights") {
  const LanguageModel model = model_of(1);
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
  for (Dim v = 0; v < 6; ++v)
    CHECK_THAT(changed.at({token_count - 1, v}), WithinAbs(expected.at({0, v}), 1e-4));
  // One head of two has another effect than both.
  const Array one = logits_with_row(model, read_ids, {0, 0, token_count - 1, even(token_count)});
  CHECK(difference(one, changed, token_count - 1, token_count) > 1e-3);
}

TEST_CASE("a row that is none is refused") {
  const LanguageModel model = model_of();
  const auto refused = [&](const ForcedRow& row) {
    return refusal<ValueError>([&] { logits_with_row(model, read_ids, row); });
  };
  CHECK(refused({2, 0, 0, {1}}) ==
        "logits_with_row: layer 2 does not exist: there are 2, counted from 0");
  CHECK(refused({0, 2, 0, {1}}) ==
        "logits_with_row: head 2 does not exist: there are 2, counted from 0");
  CHECK(refused({0, 0, 5, even(6)}) ==
        "logits_with_row: position 5 does not exist: there are 5, counted from 0");
  CHECK(refused({0, 0, 1, {1}}) == "logits_with_row: needs a weight for each of 2 keys: got 1");
  CHECK(refused({0, 0, 1, {1, 1}}) == "logits_with_row: the weights must sum to 1: they sum to 2");
  CHECK(refused({0, 0, 1, {2, -1}}) == "logits_with_row: a weight must be 0 or more: got -1");
  CHECK_THROWS_AS(logits_with_row(model, {6}, {0, 0, 0, {1}}), ValueError);
  CHECK(logits_with_row(model, std::vector<Dim>(8, 1), {0, 0, 0, {1}}).shape() == Shape{8, 6});
  CHECK_THROWS_AS(logits_with_row(model, std::vector<Dim>(9, 1), {0, 0, 0, {1}}), ValueError);
}

TEST_CASE("a row changes models without scale, residual and norm as their formula says") {
  const NoGrad no_grad;
  LanguageModelSizes sizes = model_of().sizes;
  sizes.variant.without = {.scale = true, .residual = true, .norm = true};
  Rng rng(7);
  const LanguageModel model(sizes, rng);
  const auto forward =
      model.forward_with_weights(Indices({1, static_cast<Dim>(read_ids.size())}, read_ids));
  std::vector<double> own;  // the row that the head has
  for (Dim key = 0; key < 3; ++key)
    own.push_back(value_of(forward.weights[1].value().at({0, 0, 2, key})));
  const Array same = logits_with_row(model, read_ids, {1, 0, 2, own});
  CHECK(close(same, forward.logits.value().with_shape(same.shape())));
  sizes.variant.without = {.mask = true};
  const LanguageModel maskless(sizes, rng);
  CHECK(refusal<ValueError>([&] {
          logits_with_row(maskless, read_ids, {0, 0, 0, {1}});
        }) == "logits_with_row: needs a model with the causal mask: this model is without it");
}
