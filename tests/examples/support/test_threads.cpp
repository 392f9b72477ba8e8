// The number of threads holds for all number types that a program links.
#include "engine/kernels/parallel.h"
#include "tests/support/catch.h"

namespace fledge::f64 {
int threads();
}
namespace fledge::dual {
int threads();
}

TEST_CASE("set_threads holds for float, double and Dual at once") {
  const int before = fledge::threads();
  fledge::kernels::detail::set_processors(8);
  for (const int count : {1, 3, 8}) {
    fledge::set_threads(count);
    CHECK(fledge::threads() == count);
    CHECK(fledge::f64::threads() == count);
    CHECK(fledge::dual::threads() == count);
  }
  fledge::kernels::detail::set_processors(0);
  fledge::set_threads(before);
}
