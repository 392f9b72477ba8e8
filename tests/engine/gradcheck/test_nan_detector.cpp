// The first number that is not finite is named: op, direction, place and inputs.
#include "engine/gradcheck/nan_detector.h"

#include "engine/autograd.h"
#include "engine/ops.h"
#include "tests/support/catch.h"

using namespace fledge;

TEST_CASE("NanDetector: nothing is found while all goes well") {
  const NanDetector detector;
  const Tensor x = parameter(Array({3}, {1, 2, 3}));
  backward(sum(log(x) * x));
  CHECK_FALSE(detector.finding().has_value());
}

TEST_CASE("NanDetector: a value, at its op, with its inputs") {
  const Tensor x = parameter(Array({3}, {1, 0, 3}));
  const Tensor y = parameter(Array({3}, {1, 1, 1}));
  const NanDetector detector;
  const Tensor z = sum(log(x) * y);  // log 0 comes first, the product and the sum after it
  REQUIRE(detector.finding().has_value());
  CHECK(detector.finding()->op == "log");
  CHECK_FALSE(detector.finding()->backward);
  CHECK(detector.finding()->shape == Shape{3});
  CHECK(detector.finding()->element == 1);
  CHECK(detector.finding()->value == -infinity);
  REQUIRE(detector.finding()->inputs.size() == 1);
  CHECK(detector.finding()->inputs[0] == x.node().get());
  CHECK(z.item() == -infinity);
}

TEST_CASE("NanDetector: a gradient that is not finite where its value is") {
  const Tensor x = parameter(Array({2}, {4, 0}));
  const NanDetector detector;
  backward(sum(sqrt(x)));  // the slope at 0 is infinite
  REQUIRE(detector.finding().has_value());
  CHECK(detector.finding()->op == "sqrt");
  CHECK(detector.finding()->backward);
  CHECK(detector.finding()->element == 1);
  CHECK(detector.finding()->inputs == std::vector<const Node*>{x.node().get()});
}

TEST_CASE("NanDetector: ops that record a list of edges are watched too") {
  const Tensor x = parameter(Array({2}, {1, infinity}));
  const NanDetector detector;
  const Tensor y = concat({x, x}, 0);
  REQUIRE(detector.finding().has_value());
  CHECK(detector.finding()->op == "concat");
  CHECK(detector.finding()->element == 1);
}

TEST_CASE("NanDetector: only while it lives, and one at a time") {
  const Tensor x = parameter(Array({1}, {0}));
  { const NanDetector detector; }
  const Tensor before = log(x);
  const NanDetector detector;
  CHECK_FALSE(detector.finding().has_value());
  CHECK_THROWS_AS(NanDetector(), GraphError);
  const Tensor after = log(x);
  CHECK(detector.finding().has_value());  // the one that was refused has not taken over
}
