// One program links both builds: what depends on Real exists twice, all else once.
#include "engine/ops.h"
#include "tests/support/catch.h"
#include "tests/two_builds/dual.h"

using namespace fledge;

TEST_CASE("two builds: a Shape is one type, a Tensor two") {
  CHECK(two_builds::shape_of_dual_build() == typeid(Shape));
  CHECK(two_builds::tensor_of_dual_build() != typeid(Tensor));
}

TEST_CASE("two builds: there is one number of threads") {
  const int before = threads();
  for (const int count : {1, 3, 8}) {
    set_threads(count);
    CHECK(threads() == count);
    CHECK(two_builds::threads_of_dual_build() == count);
  }
  set_threads(before);
}

TEST_CASE("two builds: what one refuses can be caught where the other is used") {
  CHECK_THROWS_AS(two_builds::refuse_in_dual_build(), ShapeError);
}
