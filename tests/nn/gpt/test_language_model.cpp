#include "nn/gpt/language_model.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

constexpr LanguageModelSizes small_sizes{
    .vocabulary = 11, .context = 6, .layers = 2, .heads = 2, .width = 8, .hidden = 12};

const Indices two_texts({2, 5}, {1, 2, 3, 4, 5, 10, 9, 2, 2, 0});

LanguageModel small_model(std::uint64_t seed, const LanguageModelSizes& sizes = small_sizes) {
  Rng rng(seed);
  LanguageModel model(sizes, rng);
  redraw(model, seed);
  return model;
}

Indices one_text(const Indices& ids, Dim b) {
  const Dim T = ids.shape()[1];
  std::vector<Dim> row;
  for (Dim t = 0; t < T; ++t) row.push_back(ids[b * T + t]);
  return {{1, T}, row};
}

}  // namespace

TEST_CASE("LanguageModel: is its parts, to the bit") {
  const LanguageModel model = small_model(1);
  Tensor x = embedding(model.wte.weight, two_texts) + slice(model.wpe.weight, 0, 0, 5), in_one = x;
  std::vector<Tensor> weights;
  for (const Block& block : model.h) {
    in_one = block(in_one, causal());
    const AttentionOutput with_weights = block.forward_with_weights(x, causal());
    x = with_weights.output;
    weights.push_back(with_weights.weights);
  }
  const auto guess = [&](const Tensor& seen) {
    const Tensor normal = layer_norm(seen, model.ln_f.weight, model.ln_f.bias);
    return matmul(normal, transpose(model.wte.weight));
  };
  const Tensor logits = guess(x);
  const LanguageModel::LogitsAndWeights found = model.forward_with_weights(two_texts);
  CHECK(found.logits.shape() == Shape{2, 5, 11});
  CHECK(same_bits(found.logits.value(), logits.value()));
  CHECK(same_bits(model(two_texts).value(), guess(in_one).value()));
  REQUIRE(found.weights.size() == 2);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    CHECK(found.weights[layer].shape() == Shape{2, 2, 5, 5});
    CHECK(same_bits(found.weights[layer].value(), weights[layer].value()));
  }
}

TEST_CASE("LanguageModel: looking or not, the same logits and the same gradients") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const LanguageModel model = small_model(seed);
    const Tensor plain = model(two_texts),
                 with_weights = model.forward_with_weights(two_texts).logits;
    CHECK(close(plain.value(), with_weights.value()));
    pull_random(model, plain);
    std::vector<Array> expected;
    for (const Tensor& p : parameters(model)) expected.push_back(p.grad().clone());
    pull_random(model, with_weights);
    double scale = 0;
    for (const Array& g : expected) scale = std::max(scale, largest(g));
    const auto named = named_parameters(model);
    for (std::size_t i = 0; i < named.size(); ++i) {
      INFO(named[i].first);
      const Array found = named[i].second.grad();
      CHECK(largest((Tensor(found) - Tensor(expected[i])).value()) <= rounding * scale);
    }
  }
}

TEST_CASE("LanguageModel: sizes left out are one layer, one head, 16 wide, 4 times that hidden") {
  Rng rng(1);
  const LanguageModel model({.vocabulary = 5, .context = 3}, rng);
  CHECK(model.h.size() == 1);
  CHECK(model.h[0].attn.heads == 1);
  CHECK(model.wte.weight.shape() == Shape{5, 16});
  CHECK(model.h[0].mlp.c_fc.weight.shape() == Shape{16, 64});
  CHECK(model.dropout.p == 0);
  CHECK(model.sizes.hidden == 0);
}

TEST_CASE("LanguageModel: a sample alone gives what it gives in a batch, to the bit") {
  const LanguageModel model = small_model(2);
  const Array logits = model(two_texts).value();
  for (Dim b = 0; b < 2; ++b)
    CHECK(same_bits(model(one_text(two_texts, b)).value(), part(logits, 0, b, b + 1)));
}

TEST_CASE("LanguageModel: every parameter answers, but for the biases of the keys") {
  const LanguageModel model =
      small_model(3, {.vocabulary = 6, .context = 4, .heads = 2, .width = 4, .hidden = 5});
  const Indices ids({2, 4}, {0, 1, 2, 3, 4, 5, 1, 1});
  CHECK(idle_numbers(model, [&] { return model(ids); }) ==
        std::vector<std::string>{"h.0.attn.c_attn.bias[4]", "h.0.attn.c_attn.bias[5]",
                                 "h.0.attn.c_attn.bias[6]", "h.0.attn.c_attn.bias[7]"});
}

TEST_CASE("LanguageModel: positions not looked at and words not read have exact zeros") {
  const LanguageModel model = small_model(4);
  pull_random(model, slice(model(Indices({1, 3}, {1, 2, 3})), -1, 0, 5));  // logits of words 0 … 4
  CHECK(all_alive(part(model.wpe.weight.grad(), 0, 0, 3)));
  CHECK(all_zero(part(model.wpe.weight.grad(), 0, 3, 6)));
  CHECK(all_alive(part(model.wte.weight.grad(), 0, 0, 5)));
  CHECK(all_zero(part(model.wte.weight.grad(), 0, 5, 11)));
}

TEST_CASE("LanguageModel: starts as GPT-2 does, reproducibly") {
  const LanguageModelSizes sizes{.vocabulary = 200, .context = 100, .layers = 2, .width = 32};
  Rng one(1), same(1), other(2);
  const LanguageModel a(sizes, one), b(sizes, same), c(sizes, other);
  const auto named = named_parameters(a);
  for (std::size_t i = 0; i < named.size(); ++i) {
    const auto& [name, p] = named[i];
    INFO(name);
    const bool bias = name.size() > 5 && name.substr(name.size() - 5) == ".bias";
    const bool gain = name.find("ln_") != name.npos && !bias;
    CHECK(same_bits(p.value(), parameters(b)[i].value()));
    if (bias) CHECK(same_bits(p.value(), Array::zeros(p.shape())));
    if (gain) CHECK(same_bits(p.value(), Array::ones(p.shape())));
    if (bias || gain) continue;
    CHECK_FALSE(same_bits(p.value(), parameters(c)[i].value()));
    double squares = 0;
    for (const double w : to_vector(p.value())) squares += w * w;
    // Radford et al. 2019, section 2.3: 0.02, over √(2·layers) where a layer adds to the stream.
    const double variance = 0.02 * 0.02 / (name.find("c_proj") != name.npos ? 4 : 1);
    const double n = static_cast<double>(p.size());
    CHECK_THAT(squares / n, WithinAbs(variance, 5 * variance * std::sqrt(2 / n)));
  }
  CHECK_FALSE(same_bits(a.h[0].mlp.c_fc.weight.value(), a.h[1].mlp.c_fc.weight.value()));
}

TEST_CASE("LanguageModel: a new model knows nothing: its loss is log V") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    const LanguageModel model(
        {.vocabulary = 50, .context = 8, .layers = 2, .heads = 2, .width = 32}, rng);
    std::vector<Dim> ids(32), next(32);
    for (Dim& id : ids) id = rng.below(50);
    for (Dim& id : next) id = rng.below(50);
    const Tensor loss = cross_entropy(model(Indices({4, 8}, ids)), Indices({4, 8}, next));
    CHECK_THAT(loss.item(), WithinRel(std::log(50.0), 0.02));
  }
}

TEST_CASE("LanguageModel: a model that gives every word the same score loses exactly log V") {
  const LanguageModel model = small_model(5);
  assign(model.wte.weight, Array::zeros({11, 8}));
  const double loss = cross_entropy(model(two_texts), two_texts).item();
  const double ulp = 2 * value_of(std::numeric_limits<Real>::epsilon());  // of numbers from 2 to 4
  CHECK_THAT(loss, WithinAbs(std::log(11.0), 2 * ulp));
}

TEST_CASE("LanguageModel: dropout acts on the embeddings and in the blocks, in training only") {
  LanguageModelSizes sizes = small_sizes;
  sizes.dropout = 0.4;
  const LanguageModel model = small_model(6, sizes), plain = small_model(6);
  CHECK(same_bits(model(two_texts).value(), plain(two_texts).value()));
  Rng rng(1), same(1), by_hand(1);
  const Array y = model(two_texts, Mode::training(rng)).value();
  CHECK(same_bits(model(two_texts, Mode::training(same)).value(), y));
  CHECK_FALSE(same_bits(model(two_texts, Mode::training(rng)).value(), y));
  Tensor x = dropout(plain.wte(two_texts) + slice(plain.wpe.weight, 0, 0, 5), 0.4, by_hand);
  for (const Block& block : model.h) x = block(x, causal(), Mode::training(by_hand));
  CHECK(same_bits(matmul(model.ln_f(x), transpose(model.wte.weight)).value(), y));
}

TEST_CASE("LanguageModel: any time up to the context, none, and an empty batch") {
  const LanguageModel model = small_model(7);
  CHECK(model(Indices({1, 6}, {1, 2, 3, 4, 5, 6})).shape() == Shape{1, 6, 11});
  CHECK(model(Indices({3, 1}, {1, 2, 3})).shape() == Shape{3, 1, 11});
  CHECK(model(Indices({2, 0}, {})).shape() == Shape{2, 0, 11});
  CHECK(model(Indices({0, 3}, {})).shape() == Shape{0, 3, 11});
}

TEST_CASE("LanguageModel: ids that do not fit are refused") {
  const LanguageModel model = small_model(8);
  CHECK(refusal<ShapeError>([&] {
          model({1, 2, 3});
        }) == "LanguageModel: expects ids (batch, time): got shape (3)");
  CHECK(refusal<ShapeError>([&] {
          model(Indices({1, 7}, {0, 0, 0, 0, 0, 0, 0}));
        }) == "LanguageModel: looks at no more than 6 words: got ids of shape (1, 7)");
  CHECK(refusal<ValueError>([&] {
          model(Indices({1, 2}, {0, 11}));
        }) == "embedding: id 11 at position 1 is outside a table of shape (11, 8)");
}

TEST_CASE("LanguageModel: sizes that make no model are refused") {
  const auto refused = [](LanguageModelSizes sizes) {
    return refusal<ValueError>([&] {
      Rng rng(1);
      LanguageModel(sizes, rng);
    });
  };
  const std::string at_least = " must be at least 1: got ";
  CHECK(refused({.vocabulary = 0, .context = 3}) == "LanguageModel: vocabulary" + at_least + "0");
  CHECK(refused({.vocabulary = 5, .context = -1}) == "LanguageModel: context" + at_least + "-1");
  CHECK(refused({.vocabulary = 5, .context = 3, .layers = 0}) ==
        "LanguageModel: layers" + at_least + "0");
  CHECK(refused({.vocabulary = 5, .context = 3, .heads = 0}) ==
        "LanguageModel: heads" + at_least + "0");
  CHECK(refused({.vocabulary = 5, .context = 3, .width = 0}) ==
        "LanguageModel: width" + at_least + "0");
  CHECK(refused({.vocabulary = 5, .context = 3, .hidden = -1}) ==
        "LanguageModel: hidden must not be negative: got -1");
  CHECK(refused({.vocabulary = 5, .context = 3, .heads = 3, .width = 8}) ==
        "Attention: 8 channels do not split into 3 equal heads");
  CHECK(refused({.vocabulary = 5, .context = 3, .dropout = 1}) ==
        "Dropout: the probability must be in [0, 1): got 1");
}
