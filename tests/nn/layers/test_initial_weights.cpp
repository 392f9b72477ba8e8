#include "nn/layers/initial_weights.h"

#include "nn/layers/linear.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

TEST_CASE("initial weights: a generator draws what random arrays draw, none() draws nothing") {
  Rng rng(1), same(1);
  const InitialWeights drawn = rng;
  CHECK(drawn.rng() == &rng);
  CHECK(same_bits(drawn.uniform({2, 3}, -1, 1), random_uniform({2, 3}, -1, 1, same)));
  CHECK(same_bits(drawn.normal({4}, 0, 0.02), random_normal({4}, 0, 0.02, same)));
  const InitialWeights none = InitialWeights::none();
  CHECK(none.rng() == nullptr);
  CHECK(none.uniform({2, 3}, -1, 1).shape() == Shape{2, 3});
  CHECK(none.normal({4}, 0, 1).shape() == Shape{4});
  const Linear layer(2, 3, InitialWeights::none());
  CHECK(layer.weight.shape() == Shape{2, 3});
  CHECK(same_bits(layer.bias.value(), Array::zeros({3})));
}
