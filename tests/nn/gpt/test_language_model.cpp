// The language model: its formula, what it starts with, and what it refuses.
#include "nn/gpt/language_model.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

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

TEST_CASE("LanguageModel: every parameter answers, but for the biases of the keys") {
  const LanguageModel model =
      small_model(3, {.vocabulary = 6, .context = 4, .heads = 2, .width = 4, .hidden = 5});
  const Indices ids({2, 4}, {0, 1, 2, 3, 4, 5, 1, 1});
  CHECK(idle_numbers(model, [&] { return model(ids); }) ==
        std::vector<std::string>{"h.0.attn.c_attn.bias[4]", "h.0.attn.c_attn.bias[5]",
                                 "h.0.attn.c_attn.bias[6]", "h.0.attn.c_attn.bias[7]"});
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

TEST_CASE("LanguageModel: a new model loses about log V, one of equal scores exactly") {
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
  const LanguageModel model = small_model(5);
  assign(model.wte.weight, Array::zeros({11, 8}));
  const double loss = cross_entropy(model(two_texts), two_texts).item();
  CHECK_THAT(loss, WithinAbs(std::log(11.0), 8 * unit));  // two last places of numbers from 2 to 4
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

TEST_CASE("LanguageModel: any time up to the context, none, and an empty batch; more is refused") {
  const LanguageModel model = small_model(7);
  for (const Shape& shape : {Shape{1, 6}, Shape{3, 1}, Shape{2, 0}, Shape{0, 3}})
    CHECK(model(Indices(shape, std::vector<Dim>(static_cast<std::size_t>(shape.size()), 3)))
              .shape() == shape.append({11}));
  const auto on = [&](const Shape& shape, const std::vector<Dim>& ids) {
    return [&model, shape, ids] { model(Indices(shape, ids)); };
  };
  CHECK(refuses<ShapeError>(on({3}, {1, 2, 3}), "LanguageModel", "(batch, time)", "(3)"));
  CHECK(refuses<ShapeError>(on({1, 7}, std::vector<Dim>(7)), "LanguageModel", "6", "(1, 7)"));
  CHECK(refuses<ValueError>(on({1, 2}, {0, 11}), "id 11 at position 1", "(11, 8)"));
}

TEST_CASE("LanguageModel: sizes that make no model are refused, others have their defaults") {
  const auto made = [](LanguageModelSizes sizes) {
    return [sizes] {
      Rng rng(1);
      LanguageModel(sizes, rng);
    };
  };
  const std::string op = "LanguageModel: ";
  CHECK(refuses<ValueError>(made({.vocabulary = 0, .context = 3}), op + "vocabulary", "got 0"));
  CHECK(refuses<ValueError>(made({.vocabulary = 5, .context = -1}), op + "context", "got -1"));
  LanguageModelSizes s{.vocabulary = 5, .context = 3};
  for (const auto& [name, size] : {std::pair{"layers", &s.layers},
                                   {"heads", &s.heads},
                                   {"width", &s.width},
                                   {"hidden", &s.hidden}}) {
    const Dim before = std::exchange(*size, std::string(name) == "hidden" ? -1 : 0);
    CHECK(refuses<ValueError>(made(s), op + name, "got " + std::to_string(*size)));
    *size = before;
  }
  s.dropout = 1;
  CHECK(refuses<ValueError>(made(s), "Dropout", "got 1"));
  CHECK(refuses<ValueError>(made({.vocabulary = 5, .context = 3, .heads = 3, .width = 8}),
                            "Attention", "8 channels", "3 equal"));
  Rng rng(1);
  const LanguageModel model({.vocabulary = 5, .context = 3}, rng);
  CHECK(model.h.size() == 1);
  CHECK(model.h[0].attn.heads == 1);
  CHECK(model.wte.weight.shape() == Shape{5, 16});
  CHECK(model.h[0].mlp.c_fc.weight.shape() == Shape{16, 64});
  CHECK(model.dropout.p == 0);
  CHECK(model.sizes.hidden == 0);
}
