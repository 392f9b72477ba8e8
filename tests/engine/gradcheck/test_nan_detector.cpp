// The first number that is not finite is named: op, direction, position and inputs.
#include "engine/gradcheck/nan_detector.h"

#include <functional>

#include "engine/ops.h"
#include "tests/support/catch.h"

using namespace fledge;

TEST_CASE("NanDetector: a value at its op, or a gradient that is not finite where its value is") {
  const Tensor x = parameter(Array({3}, {1, 0, 3})), y = parameter(Array({3}, {1, 1, 1}));
  for (const bool backwards : {false, true}) {
    const NanDetector detector;
    if (backwards)
      backward(sum(sqrt(x)));  // the slope at 0 is infinite
    else
      CHECK(sum(log(x) * y).item() == -infinity);  // log 0 comes first
    REQUIRE(detector.finding().has_value());
    const NanDetector::Finding& found = *detector.finding();
    CHECK((found.op == (backwards ? "sqrt" : "log") && found.backward == backwards));
    CHECK((found.shape == Shape{3} && found.element == 1));
    CHECK((backwards || found.value == -infinity));
    CHECK(found.inputs == std::vector<const Node*>{x.node().get()});
  }
}

TEST_CASE("NanDetector: the op that made the number is named, and none where all are finite") {
  const Array three({2, 3, 2}, {1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1});
  const Tensor p = parameter(Array({2}, {1, 2})), one = parameter(Array::ones({1, 1})),
               endless = parameter(Array({1, 1}, {infinity}));
  const Tensor column = parameter(Array::ones({2, 1}));
  const Mask no_keys = padding({2, 0});
  const std::vector<Tensor> twice{endless, endless};
  const auto attend = [&](const Mask& mask) {
    const Tensor q = parameter(three), k = parameter(three), v = parameter(three);
    backward(sum(attention(q, k, v, 1, mask)));
  };
  struct Case {
    std::string op;  // empty: there is no finding
    std::function<void()> run;
  };
  const std::vector<Case> cases = {
      {"", [&] { backward(sum(log(p) * p)); }},
      {"", [&] { attend(causal()); }},
      {"", [&] { attend(no_keys); }},
      {"log", [&] { log(p - p); }},
      {"exp", [&] { exp(p * 1000.0) * 0.0; }},  // 0·∞ comes second
      {"attention_scores", [&] { attention_scores(endless, one, causal()); }},
      {"attention_scores", [&] { attention_scores(column, column, causal()); }},  // −∞: hidden
      {"concat", [&] { concat(twice, 0); }},  // records a list of edges
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << i);
    const NanDetector detector;
    cases[i].run();
    CHECK((detector.finding() ? detector.finding()->op : "") == cases[i].op);
  }
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
