// The outputs of a language model do not depend on later tokens.
#include "nn/gpt/language_model.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

constexpr Dim texts = 2, text_length = 7, word_count = 11;

LanguageModel causal_model(std::uint64_t seed, Dim context = text_length) {
  Rng rng(seed);
  LanguageModel model(
      {.vocabulary = word_count, .context = context, .layers = 2, .heads = 2, .width = 8}, rng);
  redraw(model, seed);
  return model;
}

std::vector<Dim> some_words(Dim count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Dim> ids(static_cast<std::size_t>(count));
  for (Dim& id : ids) id = rng.below(word_count);
  return ids;
}

}  // namespace

TEST_CASE("LanguageModel: logits do not change with later words, to the bit") {
  const LanguageModel model = causal_model(1);
  const std::vector<Dim> ids = some_words(texts * text_length, 1);
  const Array y = model(Indices({texts, text_length}, ids)).value(),
              positions = model.wpe.weight.value().clone();
  for (Dim j = 0; j < text_length; ++j) {
    const auto check_from_j = [&](const Array& found) {
      CHECK(same_bits(part(found, 1, 0, j), part(y, 1, 0, j)));
      for (Dim i = j; i < text_length; ++i)
        CHECK_FALSE(same_bits(part(found, 1, i, i + 1), part(y, 1, i, i + 1)));
    };
    for (const Dim shift : {1, 5}) {
      std::vector<Dim> changed = ids;
      for (Dim b = 0; b < texts; ++b) {
        Dim& id = changed[static_cast<std::size_t>(b * text_length + j)];
        id = (id + shift) % word_count;
      }
      check_from_j(model(Indices({texts, text_length}, changed)).value());
    }
    for (const double intruder : {not_a_number, infinity, -infinity, 1e30}) {
      assign(model.wpe.weight, replaced(positions, 0, j, intruder));
      check_from_j(model(Indices({texts, text_length}, ids)).value());
    }
    assign(model.wpe.weight, positions);
  }
}

// A row of wpe is added to the word at its position: its gradient is that of the sum. Logits of some
// words alone pull on no other rows of the table.
TEST_CASE("LanguageModel: the loss at a position pulls exactly nothing from later ones") {
  const LanguageModel model = causal_model(3);
  const Indices ids({texts, text_length}, some_words(texts * text_length, 3));
  for (Dim i = 0; i < text_length; ++i) {
    std::vector<Dim> targets(static_cast<std::size_t>(texts * text_length), -1);
    for (Dim b = 0; b < texts; ++b)
      targets[static_cast<std::size_t>(b * text_length + i)] = (3 * i + b) % word_count;
    zero_grad(model);
    backward(cross_entropy(model(ids), Indices({texts, text_length}, targets), -1));
    CHECK(all_alive(part(model.wpe.weight.grad(), 0, 0, i + 1)));
    CHECK(all_zero(part(model.wpe.weight.grad(), 0, i + 1, text_length)));
  }
  pull_random(model, slice(model(Indices({1, 3}, {1, 2, 3})), -1, 0, 5));
  CHECK(all_alive(part(model.wte.weight.grad(), 0, 0, 5)));
  CHECK(all_zero(part(model.wte.weight.grad(), 0, 5, word_count)));
}

TEST_CASE("LanguageModel: a later ignored position changes no bit of loss or gradient") {
  const LanguageModel model = causal_model(4);
  const std::vector<Dim> targets{3, 1, 4, 1, -1, -1, -1};
  std::vector<Dim> ids = some_words(text_length, 4);
  const auto loss = [&] {
    zero_grad(model);
    const Tensor y = cross_entropy(model(Indices({1, text_length}, ids)),
                                   Indices({1, text_length}, targets), -1);
    backward(y);
    return y.item();
  };
  const double before = loss();
  const Array positions = model.wpe.weight.grad();
  for (std::size_t j = 4; j < 7; ++j) ids[j] = (ids[j] + 1) % word_count;
  CHECK(loss() == before);
  CHECK(same_numbers(model.wpe.weight.grad(), positions));
}

TEST_CASE(
    "LanguageModel: the first words alone, and a text alone, give the same logits, to the bit") {
  constexpr Dim long_T = 19;
  const LanguageModel model = causal_model(5, long_T);
  const std::vector<Dim> ids = some_words(texts * long_T, 5);
  const Array y = model(Indices({texts, long_T}, ids)).value();
  for (Dim b = 0; b < texts; ++b)
    for (Dim t = 0; t <= long_T; ++t) {
      const auto begin = ids.begin() + b * long_T;
      CHECK(same_bits(model(Indices({1, t}, {begin, begin + t})).value(),
                      part(part(y, 0, b, b + 1), 1, 0, t)));
    }
}
