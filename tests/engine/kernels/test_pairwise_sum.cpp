#include "engine/kernels/pairwise_sum.h"

#include <vector>

#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;
using kernels::lanes, kernels::Vec;

TEST_CASE("every term is asked for once") {
  for (Dim n = 0; n < 5 * kernels::pairwise_leaf; n += n < 300 ? 1 : 97) {
    std::vector<int> asked(static_cast<std::size_t>(n));
    kernels::pairwise_sum(0, n, [&](Dim i, Dim count) {
      REQUIRE((count >= 0 && count <= lanes));
      for (Dim k = i; k < i + count; ++k) ++asked.at(static_cast<std::size_t>(k));
      return kernels::splat(Real(0));
    });
    REQUIRE(asked == std::vector<int>(static_cast<std::size_t>(n), 1));
  }
}

TEST_CASE("terms may be computed on the way") {
  for (const Dim n : {1, 7, 16, 33, 1000, 5001}) {
    const Array x = integers({n}, 1), y = integers({n}, 2);
    double expected = 0;
    for (Dim i = 0; i < n; ++i) expected += value_of(x[i]) * value_of(y[i]);
    const auto term = [&](Dim i, Dim count) -> Vec {
      return kernels::load(x.data() + i, count) * kernels::load(y.data() + i, count);
    };
    CHECK(value_of(kernels::pairwise_sum(0, n, term)) == expected);
    CHECK(value_of(kernels::mean_of(n, term)) == value_of(Real(expected) / real(n)));
  }
}

TEST_CASE("the order of a sum depends on its length alone") {
  const Dim n = 3 * kernels::pairwise_leaf + 5, moved = 3 * lanes + 1;
  const Array x = uniform({n + moved}, 1);
  const Real* const from = x.data() + moved;
  const Real here = kernels::pairwise_sum(
      0, n, [=](Dim i, Dim count) -> Vec { return kernels::load(from + i, count); });
  CHECK(kernels::pairwise_sum(moved, moved + n, [&](Dim i, Dim count) -> Vec {
          return kernels::load(x.data() + i, count);
        }) == here);
}
