// The counted operations of a step, beside sums that are written out.
#include "nn/train/step_cost.h"

#include "tests/support/catch.h"

using namespace fledge;

namespace {

LanguageModelSizes sizes_of(const Recipe& recipe, Dim hidden = 0) {
  LanguageModelSizes sizes{.vocabulary = 10, .context = 32, .layers = 3, .heads = 4, .width = 24};
  sizes.hidden = hidden, sizes.recipe = recipe;
  return sizes;
}

// What Muon's five steps take for a matrix (n, m), n ≤ m.
double five_steps(double n, double m) { return 5 * 2 * (n * n * m + n * n * n + n * n * m); }

}  // namespace

TEST_CASE("the numbers of a layer are those of its matrices") {
  for (const Recipe& recipe : {Recipe{}, today(), Recipe{.key_heads = 2}})
    for (const Dim hidden : {0, 40}) {
      const LanguageModelSizes sizes = sizes_of(recipe, hidden);
      const LanguageModel model(sizes, InitialWeights::none());
      double numbers = 0;
      for (const auto& [name, tensor] : named_parameters(model))
        if (name.starts_with("h.0.") && tensor.rank() == 2)
          numbers += static_cast<double>(tensor.size());
      CHECK(numbers_of_layer(sizes) == numbers);
    }
}

TEST_CASE("a window is counted as what it sees") {
  const auto attention = [](Dim window) {
    const LanguageModelSizes all = sizes_of({.window = window});
    return operations_of_step(all, 1) - 32.0 * 6 * (numbers_of_layer(all) * 3 + 10 * 24);
  };
  double pairs = 0;  // position i of 32 sees min(i + 1, 5)
  for (int i = 0; i < 32; ++i) pairs += std::min(i + 1, 5);
  CHECK(attention(0) == 3 * 6 * 32.0 * 32 * 24);
  CHECK(attention(32) == attention(0));
  CHECK(attention(40) == attention(0));
  // 2·Σ min(i + 1, w) = w·(2T − w) + w: as without a window, the diagonal is counted by half.
  CHECK(attention(5) == 3 * 6 * (2 * pairs - 5) * 24);
  const LanguageModelSizes windowed = sizes_of({.window = 5}), full = sizes_of({});
  CHECK(operations_of_prompt(full, 32) - operations_of_prompt(windowed, 32) ==
        2 * 3 * 24 * (32.0 * 32 - (2 * pairs - 5)));
}

TEST_CASE("Muon's products are counted matrix by matrix") {
  CHECK(operations_of_muon(sizes_of({})) == 3 * (4 * five_steps(24, 24) + 2 * five_steps(24, 96)));
  CHECK(operations_of_muon(sizes_of({.mlp = FeedForward::swiglu})) ==
        3 * (4 * five_steps(24, 24) + 3 * five_steps(24, 64)));
  CHECK(operations_of_muon(sizes_of({.key_heads = 1})) ==
        3 * (2 * five_steps(24, 24) + 2 * five_steps(6, 24) + 2 * five_steps(24, 96)));
}
