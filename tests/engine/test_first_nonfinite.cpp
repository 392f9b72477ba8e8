// builds: f64
// The first number that is not finite is named: op, direction, place and inputs.
#include "engine/first_nonfinite.h"

#include "engine/autograd.h"
#include "engine/ops.h"
#include "tests/support/catch.h"

using namespace fledge;

TEST_CASE("first nonfinite: nothing is found while all goes well") {
  const FirstNonFinite watch;
  const Tensor x = parameter(Array({3}, {1, 2, 3}));
  backward(sum(log(x) * x));
  CHECK_FALSE(watch.finding().has_value());
}

TEST_CASE("first nonfinite: a value, at its op, with its inputs") {
  const Tensor x = parameter(Array({3}, {1, 0, 3}));
  const Tensor y = parameter(Array({3}, {1, 1, 1}));
  const FirstNonFinite watch;
  const Tensor z = sum(log(x) * y);  // log 0 comes first, the product and the sum after it
  REQUIRE(watch.finding().has_value());
  CHECK(watch.finding()->op == "log");
  CHECK_FALSE(watch.finding()->backward);
  CHECK(watch.finding()->shape == Shape{3});
  CHECK(watch.finding()->element == 1);
  CHECK(watch.finding()->value == -infinity);
  REQUIRE(watch.finding()->inputs.size() == 1);
  CHECK(watch.finding()->inputs[0] == x.node().get());
  CHECK(z.item() == -infinity);
}

TEST_CASE("first nonfinite: a gradient whose value was finite") {
  const Tensor x = parameter(Array({2}, {4, 0}));
  const FirstNonFinite watch;
  backward(sum(sqrt(x)));  // the slope at 0 is infinite
  REQUIRE(watch.finding().has_value());
  CHECK(watch.finding()->op == "sqrt");
  CHECK(watch.finding()->backward);
  CHECK(watch.finding()->element == 1);
  CHECK(watch.finding()->inputs == std::vector<const Node*>{x.node().get()});
}

TEST_CASE("first nonfinite: ops that record a list of edges are watched too") {
  const Tensor x = parameter(Array({2}, {1, infinity}));
  const FirstNonFinite watch;
  const Tensor y = concat({x, x}, 0);
  REQUIRE(watch.finding().has_value());
  CHECK(watch.finding()->op == "concat");
  CHECK(watch.finding()->element == 1);
}

TEST_CASE("first nonfinite: only while it lives, and one at a time") {
  const Tensor x = parameter(Array({1}, {0}));
  { const FirstNonFinite watch; }
  const Tensor before = log(x);
  const FirstNonFinite watch;
  CHECK_FALSE(watch.finding().has_value());
  CHECK_THROWS_AS(FirstNonFinite(), GraphError);
  const Tensor after = log(x);
  CHECK(watch.finding().has_value());  // the one that was refused has not taken over
}
