// A new model and its variants by both oracles (the table of modules has the model itself, see
// test_layer_gradients.cpp); and by what needs no oracle: the remainder of Taylor's theorem, and the
// roles of the tied table.
#include "nn/gpt/language_model.h"
#include "nn/gradcheck.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace tests;

namespace {

const Indices checked_words({2, 5}, {1, 2, 3, 4, 5, 10, 9, 2, 2, 0});
const Indices next_words({2, 5}, {2, 3, 4, 5, 6, 9, 2, 2, -1, -1});

LanguageModel checked_model(std::uint64_t seed) {
  Rng rng(seed);
  LanguageModel model(
      {.vocabulary = 11, .context = 6, .layers = 2, .heads = 2, .width = 6, .hidden = 7}, rng);
  redraw(model, seed);
  return model;
}

}  // namespace

TEST_CASE("gradients of a new model's loss, its numbers as small as they start") {
  Rng rng(5);
  const LanguageModel model({.vocabulary = 7, .context = 4, .heads = 2, .width = 4}, rng);
  const Indices ids({2, 4}, {0, 1, 2, 3, 4, 5, 6, 0});
  const GradcheckReport report = gradcheck(model, [&] { return cross_entropy(model(ids), ids); });
  INFO(to_string(report));
  CHECK(report.ok);
}

// R(h) = |L(x + h·d) − L(x) − h·⟨g, d⟩| shrinks as h²: by 4 when h is halved.
TEST_CASE("the remainder of the loss along a random direction has slope 2") {
  for (const std::uint64_t seed : {6u, 7u, 8u}) {
    const LanguageModel model = checked_model(seed);
    const auto loss = [&] { return cross_entropy(model(checked_words), next_words, -1); };
    zero_grad(model);
    const Tensor here = loss();
    backward(here);
    std::vector<Array> start, direction;
    double slope = 0;
    Rng rng(seed);
    for (const Tensor& p : parameters(model)) {
      start.push_back(p.value().clone());
      direction.push_back(random_normal(p.shape(), 0, 0.1, rng));
      for (Dim i = 0; i < p.size(); ++i) slope += value_of(p.grad()[i] * direction.back()[i]);
    }
    const auto remainder = [&](double h) {
      for (std::size_t i = 0; i < start.size(); ++i)
        assign(parameters(model)[i], (Tensor(start[i]) + Tensor(direction[i]) * h).value());
      return std::abs(loss().item() - here.item() - h * slope);
    };
    for (int octave = 7; octave < 12; ++octave) {
      const double h = std::pow(2, -octave);
      CHECK_THAT(std::log2(remainder(h) / remainder(h / 2)), WithinAbs(2, 0.05));
    }
  }
}

TEST_CASE("the gradient of the word table is the sum over its two roles") {
  const LanguageModel model = checked_model(9);
  const Indices ids({1, 5}, {1, 2, 3, 4, 5}), targets({1, 5}, {2, 3, 4, 5, 6});
  zero_grad(model);
  backward(cross_entropy(model(ids), targets));
  const Tensor read = parameter(model.wte.weight.value().clone());
  const Tensor written = parameter(model.wte.weight.value().clone());
  Tensor x = embedding(read, ids) + slice(model.wpe.weight, 0, 0, 5);
  for (const Block& block : model.h) x = block(x, causal());
  backward(cross_entropy(matmul(model.ln_f(x), transpose(written)), targets));
  CHECK(same_bits(model.wte.weight.grad(), (Tensor(written.grad()) + Tensor(read.grad())).value()));
  CHECK(largest(read.grad()) > 1e-3);
  CHECK(largest(written.grad()) > 1e-3);
}

TEST_CASE("gradients of models without mask, scale, residual and norm") {
  for (const Without& without :
       {Without{.mask = true}, Without{.scale = true}, Without{.residual = true},
        Without{.norm = true}, Without{true, false, true, false, false, false, true, true}}) {
    if (testing::sanitized && !(without.mask && without.residual)) continue;
    Rng rng(10);
    const LanguageModel model({.vocabulary = 11,
                               .context = 6,
                               .heads = 2,
                               .width = 6,
                               .hidden = 7,
                               .variant = {.without = without}},
                              rng);
    redraw(model, 10);
    GradcheckOptions options{.seed = 10};
    for (const auto& [name, p] : named_parameters(model))
      if (without.norm && name.find("ln_") != std::string::npos)
        options.zero_gradients.push_back(name);
    const std::vector<Dim> lengths{5, 3};
    const GradcheckReport report = gradcheck(
        model,
        [&] {
          return cross_entropy(model(checked_words, Mode::evaluation(), lengths), next_words, -1);
        },
        options);
    INFO(to_string(report));
    CHECK(report.ok);
  }
}
