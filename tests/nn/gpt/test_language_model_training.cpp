// Models that learn: gradients summed over parts of a batch, and a text learned by heart.
#include "nn/gpt/language_model.h"
#include "nn/optim/adamw.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

LanguageModel untrained_model(std::uint64_t seed, const LanguageModelSizes& sizes) {
  Rng rng(seed);
  return {sizes, rng};
}

std::vector<Array> gradients_of_model(const LanguageModel& model) {
  std::vector<Array> all;
  for (const Tensor& p : parameters(model)) all.push_back(p.grad());
  return all;
}

// Eight sequences of six words; the first word tells which one it is.
const std::vector<std::vector<Dim>> sequences{
    {0, 8, 9, 10, 11, 12}, {1, 9, 8, 12, 10, 11},  {2, 8, 8, 9, 9, 10},  {3, 12, 11, 10, 9, 8},
    {4, 10, 8, 10, 8, 10}, {5, 11, 11, 11, 8, 12}, {6, 9, 12, 9, 11, 8}, {7, 12, 12, 8, 8, 9}};

/// Columns begin … end − 1 of all sequences.
Indices id_columns(std::size_t begin, std::size_t end) {
  std::vector<Dim> ids;
  for (const auto& sequence : sequences)
    ids.insert(ids.end(), sequence.begin() + static_cast<std::ptrdiff_t>(begin),
               sequence.begin() + static_cast<std::ptrdiff_t>(end));
  return {{static_cast<Dim>(sequences.size()), static_cast<Dim>(end - begin)}, ids};
}

}  // namespace

// The mean over 4 samples is ¾ of the mean over 3 and ¼ of the last.
TEST_CASE("LanguageModel: gradients of parts of a batch add up to that of the batch") {
  const LanguageModel model =
      untrained_model(1, {.vocabulary = 9, .context = 3, .heads = 2, .width = 8});
  redraw(model, 1);
  const std::vector<Dim> ids{1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 1, 2},
      next{2, 3, 4, 5, 6, 7, 8, 0, 1, 1, 2, 3};
  const auto loss = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    const Shape shape{end - begin, 3};
    return cross_entropy(model(Indices(shape, {ids.begin() + 3 * begin, ids.begin() + 3 * end})),
                         Indices(shape, {next.begin() + 3 * begin, next.begin() + 3 * end}));
  };
  backward(loss(0, 4));
  const std::vector<Array> whole = gradients_of_model(model);
  zero_grad(model);
  backward(loss(0, 3) * 0.75);
  const std::vector<Array> first = gradients_of_model(model);
  backward(loss(3, 4) * 0.25);
  const std::vector<Array> both = gradients_of_model(model);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(close(both[i], whole[i]));
    CHECK_FALSE(same_bits(first[i], both[i]));
  }
}

TEST_CASE("LanguageModel: learns eight sequences by heart") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const LanguageModel model =
        untrained_model(seed, {.vocabulary = 13, .context = 5, .heads = 2, .width = 16});
    const Indices ids = id_columns(0, 5), next = id_columns(1, 6);
    AdamW adamw(parameters(model), {.rate = 1e-2, .decay = 0});
    double loss = 0;
    for (int step = 0; step < 200; ++step) {
      adamw.zero_grad();
      const Tensor y = cross_entropy(model(ids), next);
      backward(y);
      adamw.step();
      loss = y.item();
    }
    CHECK(loss < 0.05);
    NoGrad no_grad;
    const Array logits = model(ids).value();
    for (Dim row = 0; row < 40; ++row) {
      const Real* scores = logits.data() + row * 13;
      CHECK(std::max_element(scores, scores + 13) - scores == next[row]);
    }
  }
}

TEST_CASE("LanguageModel: two runs from one seed end in the same bits, dropout included") {
  const auto run = [] {
    const LanguageModel model =
        untrained_model(4, {.vocabulary = 13, .context = 5, .width = 8, .dropout = 0.1});
    AdamW adamw(parameters(model), {.rate = 1e-2});
    Rng drops(9);
    for (int step = 0; step < 20; ++step) {
      adamw.zero_grad();
      backward(cross_entropy(model(id_columns(0, 5), Mode::training(drops)), id_columns(1, 6)));
      adamw.step();
    }
    return model;
  };
  const std::vector<Tensor> one = parameters(run()), two = parameters(run());
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(same_bits(one[i].value(), two[i].value()));
}
