// The outputs of a language model do not depend on later tokens.
#include "nn/gpt/language_model.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

constexpr Dim B = 2, T = 7, V = 11;

LanguageModel made(std::uint64_t seed, Dim context = T) {
  Rng rng(seed);
  LanguageModel model({.vocabulary = V, .context = context, .layers = 2, .heads = 2, .width = 8},
                      rng);
  redraw(model, seed);
  return model;
}

std::vector<Dim> some_words(Dim count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Dim> ids(static_cast<std::size_t>(count));
  for (Dim& id : ids) id = rng.below(V);
  return ids;
}

std::vector<Dim> first_words(const std::vector<Dim>& ids, Dim length, Dim t) {
  std::vector<Dim> cut;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (static_cast<Dim>(i) % length < t) cut.push_back(ids[i]);
  return cut;
}

}  // namespace

TEST_CASE("LanguageModel: logits do not change with later words, to the bit") {
  const LanguageModel model = made(1);
  const std::vector<Dim> ids = some_words(B * T, 1);
  const Array y = model(Indices({B, T}, ids)).value();
  for (Dim j = 0; j < T; ++j)
    for (const Dim shift : {1, 5}) {
      std::vector<Dim> changed = ids;
      for (Dim b = 0; b < B; ++b) {
        Dim& id = changed[static_cast<std::size_t>(b * T + j)];
        id = (id + shift) % V;
      }
      const Array found = model(Indices({B, T}, changed)).value();
      CHECK(same_bits(part(found, 1, 0, j), part(y, 1, 0, j)));
      for (Dim i = j; i < T; ++i)
        CHECK_FALSE(same_bits(part(found, 1, i, i + 1), part(y, 1, i, i + 1)));
    }
}

TEST_CASE("LanguageModel: logits do not change with NaN, inf or 1e30 at a later position") {
  const LanguageModel model = made(2);
  const Indices ids({B, T}, some_words(B * T, 2));
  const Array positions = model.wpe.weight.value().clone(), y = model(ids).value();
  for (const double intruder : {not_a_number, infinity, -infinity, 1e30})
    for (Dim j = 0; j < T; ++j) {
      assign(model.wpe.weight, replaced(positions, 0, j, intruder));
      const Array found = model(ids).value();
      CHECK(same_bits(part(found, 1, 0, j), part(y, 1, 0, j)));
      CHECK_FALSE(same_bits(part(found, 1, j, j + 1), part(y, 1, j, j + 1)));
      assign(model.wpe.weight, positions);
    }
}

// A row of wpe is added to the word at its place: its gradient is the one of that place's
// embedding.
TEST_CASE("LanguageModel: the loss at a place pulls exactly nothing from later places") {
  const LanguageModel model = made(3);
  const Indices ids({B, T}, some_words(B * T, 3));
  for (Dim i = 0; i < T; ++i) {
    std::vector<Dim> targets(static_cast<std::size_t>(B * T), -1);
    for (Dim b = 0; b < B; ++b) targets[static_cast<std::size_t>(b * T + i)] = (3 * i + b) % V;
    zero_grad(model);
    backward(cross_entropy(model(ids), Indices({B, T}, targets), -1));
    CHECK(all_alive(part(model.wpe.weight.grad(), 0, 0, i + 1)));
    CHECK(all_zero(part(model.wpe.weight.grad(), 0, i + 1, T)));
  }
}

TEST_CASE("LanguageModel: a later ignored place changes no bit of loss or gradient") {
  const LanguageModel model = made(4);
  const std::vector<Dim> targets{3, 1, 4, 1, -1, -1, -1};
  std::vector<Dim> ids = some_words(T, 4);
  const auto loss = [&] {
    return cross_entropy(model(Indices({1, T}, ids)), Indices({1, T}, targets), -1);
  };
  const double before = loss().item();
  backward(loss());
  const Array positions = model.wpe.weight.grad();
  for (std::size_t j = 4; j < 7; ++j) ids[j] = (ids[j] + 1) % V;
  zero_grad(model);
  const Tensor after = loss();
  CHECK(after.item() == before);
  backward(after);
  CHECK(same_numbers(model.wpe.weight.grad(), positions));
}

TEST_CASE("LanguageModel: the logits of the first words are the first of the logits") {
  constexpr Dim long_T = 19;
  const LanguageModel model = made(5, long_T);
  const std::vector<Dim> ids = some_words(B * long_T, 5);
  const Array y = model(Indices({B, long_T}, ids)).value();
  for (Dim t = 0; t <= long_T; ++t)
    CHECK(same_bits(model(Indices({B, t}, first_words(ids, long_T, t))).value(), part(y, 1, 0, t)));
}

TEST_CASE("LanguageModel: the weights of every layer are a causal distribution") {
  const LanguageModel::LogitsAndWeights found =
      made(6).forward_with_weights(Indices({B, T}, some_words(B * T, 6)));
  const Real zero = Real(0);
  for (const Tensor& weights : found.weights) {
    const Array& w = weights.value();
    for (Dim row = 0; row < w.size() / T; ++row) {
      double total = 0;
      for (Dim j = 0; j < T; ++j) {
        const Real& weight = w.data()[row * T + j];
        total += value_of(weight);
        if (j > row % T) CHECK(std::memcmp(&weight, &zero, sizeof zero) == 0);
      }
      CHECK_THAT(total, WithinAbs(1, T * value_of(std::numeric_limits<Real>::epsilon()) / 2));
    }
  }
}

// In one layer the last word sees the others as a bag; their order is in the positions alone.
TEST_CASE("LanguageModel: the order of the words matters, for there are positions") {
  Rng rng(7);
  const LanguageModel model({.vocabulary = V, .context = T, .heads = 2, .width = 8}, rng);
  redraw(model, 7);
  const auto last = [&](const std::vector<Dim>& ids) {
    return part(model(Indices({1, 3}, ids)).value(), 1, 2, 3);
  };
  CHECK_FALSE(close(last({1, 2, 3}), last({2, 1, 3}), 1e-2));
  assign(model.wpe.weight, Array::zeros({T, 8}));
  CHECK(close(last({1, 2, 3}), last({2, 1, 3})));
}
