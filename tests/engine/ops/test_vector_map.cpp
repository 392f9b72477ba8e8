#include "engine/ops/vector_map.h"

#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

TEST_CASE("map_vectors computes each number once, wherever a vector or a task ends") {
  const auto f = [](auto v) { return v * Real(3) + Real(1); };
  for (const Dim size : {Dim{0}, Dim{1}, kernels::lanes - 1, kernels::lanes, kernels::lanes + 1,
                         3 * kernels::lanes + 2, Dim{100'003}}) {
    const Array x = uniform({size}, 1), y = map_vectors(x, f);
    REQUIRE(y.size() == size);
    for (Dim i = 0; i < size; ++i) REQUIRE(value_of(y[i]) == Approx(value_of(f(x[i]))));
  }
}
