#include "engine/random_array.h"

#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

TEST_CASE("random arrays take one draw after another") {
  Rng rng(8), same(8);
  const Array u = random_uniform({2, 3}, -1, 3, rng);
  for (Dim i = 0; i < u.size(); ++i) CHECK(u[i] == Real(-1 + 4 * same.uniform()));
  const Array n = random_normal({4}, 10, 0.5, rng);
  for (Dim i = 0; i < n.size(); ++i)
    CHECK_THAT(value_of(n[i]), WithinAbs(10 + 0.5 * same.normal(), rounding));
  CHECK(random_normal({0}, 0, 1, rng).size() == 0);
}
