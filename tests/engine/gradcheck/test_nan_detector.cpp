// The first number that is not finite is named: op, direction, place and inputs.
#include "engine/gradcheck/nan_detector.h"

#include <functional>

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

TEST_CASE("NanDetector: the hidden scores of healthy attention, step by step, are no finding") {
  const Array x({2, 3, 2}, {1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1});
  for (const Mask& mask : {causal(), padding({2, 0}), custom(3, 3, std::vector<bool>(9))}) {
    const Tensor q = parameter(x), k = parameter(x), v = parameter(x);
    const NanDetector detector;
    const Tensor scores = attention_scores(q, k, mask) * 0.5 / 2.0 + 1.0;
    const Tensor turned = transpose(transpose(scores));
    backward(sum(weighted_sum(softmax(turned, mask), v, mask)));
    CHECK_FALSE(detector.finding().has_value());
  }
}

TEST_CASE("NanDetector: an infinity that is wrong is found beside one that is right") {
  const Array x({2, 2}, {1, 2, 3, 4});
  struct Case {
    const char* op;
    std::function<void(const Tensor& scores, const Tensor& p)> f;
  };
  const std::vector<Case> cases = {
      {"neg", [](const Tensor& scores, const Tensor&) { -scores; }},              // +∞
      {"*", [](const Tensor& scores, const Tensor&) { softmax(scores * 0.0); }},  // −∞·0
      {"-", [](const Tensor& scores, const Tensor&) { scores - scores; }},        // −∞ + ∞
      {"log", [](const Tensor&, const Tensor& p) { log(p - p); }},  // −∞ of finite numbers
      {"*", [](const Tensor& scores, const Tensor& p) { backward(sum(exp(scores * p))); }},  // 0·∞
  };
  for (const Case& c : cases) {
    INFO(c.op);
    const Tensor q = parameter(x), p = parameter(Array({2}, {1, 2}));
    const NanDetector detector;
    const Tensor scores = attention_scores(q, parameter(x), causal());
    REQUIRE_FALSE(detector.finding().has_value());
    c.f(scores, p);
    REQUIRE(detector.finding().has_value());
    CHECK(detector.finding()->op == c.op);
  }
  const NanDetector detector;
  const Array wrong({1, 1}, {infinity});
  attention_scores(parameter(wrong), parameter(Array::ones({1, 1})), causal());
  REQUIRE(detector.finding().has_value());
  CHECK(detector.finding()->op == "attention_scores");
}

TEST_CASE("NanDetector: a parameter's own −∞ is not blamed on the op that passes it on") {
  const Tensor x = parameter(Array({2}, {1, -infinity}));
  const NanDetector detector;
  const Tensor y = concat({x, x}, 0) * 2.0;
  CHECK_FALSE(detector.finding().has_value());
  exp(y);
  CHECK_FALSE(detector.finding().has_value());
  y - y;
  REQUIRE(detector.finding().has_value());
  CHECK(detector.finding()->op == "-");
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
