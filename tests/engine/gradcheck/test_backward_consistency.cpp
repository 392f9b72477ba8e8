// Several backward passes that must agree, beyond the rows of test_gradcheck_bench.cpp.
#include "engine/gradcheck/comparison.h"

#include "tests/engine/gradcheck/rules.h"
#include "tests/support/catch.h"

using namespace tests;

TEST_CASE("gradients are by parameter, zeros where backward() does not come, and none is left") {
  const Tensor w = parameter(Array({2}, {3, -5})), idle = parameter(Array({2}, {1, 1}));
  const std::vector<NamedTensor> parameters = {{"w", w}, {"idle", idle}};
  backward(sum(w));
  const BackwardConsistency answer =
      check_passes([&] { return w * w; }, parameters, Array({2}, {0.5, -1}), 1);
  CHECK_FALSE(answer.inconsistency.has_value());
  CHECK(answer.gradients == std::vector<std::vector<double>>{{3, 10}, {0, 0}});
  CHECK_FALSE(w.has_grad());
  const Tensor constant(Array({2}, {1, 2}));
  const Array ones = Array::ones({2});
  CHECK_FALSE(
      check_passes([&] { return constant; }, parameters, ones, 1).inconsistency.has_value());
}

TEST_CASE("a parameter of f that is not listed keeps its gradient, or has none as before") {
  const Tensor w = parameter(Array({2}, {3, -5})), scale = parameter(Array({2}, {2, 1})),
               shift = parameter(Array({2}, {1, 1}));
  backward(sum(scale * Tensor(Array({2}, {5, 5}))));
  CHECK(gradcheck([&] { return w * w * scale + shift; }, {{"w", w}}).ok);
  CHECK(to_vector(scale.grad()) == std::vector<double>{5, 5});
  CHECK_FALSE((shift.has_grad() || w.has_grad()));
}

TEST_CASE("a random cotangent is of both signs and never near zero") {
  const Array v = random_cotangent({100}, 7);
  int negative = 0;
  for (const double x : to_vector(v)) {
    CHECK((std::abs(x) >= 0.5 && std::abs(x) < 1.5));
    negative += x < 0;
  }
  CHECK((negative > 30 && negative < 70));
  CHECK_FALSE(same_bits(v, random_cotangent({100}, 8)));
}

TEST_CASE("a rule that drops a small dy, or draws a new dropout mask, is found, and by no oracle") {
  const auto small = [](In in) {
    return bent(in[0], [](Real d) { return d < Real(0.01) && d > Real(-0.01) ? Real(0) : d; });
  };
  const GradcheckReport report = gradcheck(small, {uniform({3, 4}, 1)});
  CHECK_THAT(report.problem, EndsWith("a rule must be linear in dy"));
  CHECK((report.analytic == 0 && report.expected != 0));
  CHECK_FALSE((report.wrong_by_dual || report.wrong_by_differences));
  CHECK_THAT(to_string(report),
             ContainsSubstring(" is 0 by backward(), ") && ContainsSubstring(" expected; "));
  Rng rng(1);
  const auto redrawn = [&](In in) {
    Rng fixed(2);
    return record("dropout", dropout(in[0], 0.5, fixed).value(),
                  wrt(in[0], [&](const Array& dy) { return dropout(dy, 0.5, rng).value(); }));
  };
  CHECK(gradcheck(redrawn, {uniform({40}, 1)}).problem ==
        "a second backward pass gives another gradient");
}

// The gradients of cosine_similarity(b, b) and of x / x are zero but for rounding, which is no measure
// of anything.
TEST_CASE("rounding where a gradient cancels is not taken for an overwritten contribution") {
  const OpFunction alone = [](In in) { return cosine_similarity(in[0], in[0]); };
  // Its rules give 1/x and −1/x: beside a number of size 1 they are large, and cancel.
  const OpFunction quotient = [](In in) { return in[0] / in[0]; },
                   large = [](In in) { return in[0] / in[0] * 1e6; };
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    CAPTURE(seed);
    const auto f = [](In in) { return cosine_similarity(in[1], in[1]) + sum(in[0]); };
    const std::vector<Array> inputs{uniform({2, 3}, seed), uniform({3, 4}, seed + 10)};
    const GradcheckReport unlisted = gradcheck(f, inputs, {.seed = seed});
    // Exactly zero where the compiler fuses no multiply-add.
    CHECK_THAT(unlisted.problem, StartsWith("this gradient is too small beside the others") ||
                                     StartsWith("this check could not have failed"));
    CHECK(unlisted.tensor == "input 1");
    CHECK(gradcheck(f, inputs, {.seed = seed, .zero_gradients = {"input 1"}}).ok);
    for (const double size : {1e-12, 1e-9, 1e-3, 1e6})
      for (const OpFunction& zero : {alone, quotient, large})
        CHECK_THAT(
            gradcheck(zero, {inputs[1] * Real(size)}, {.seed = seed, .zero_gradients = {"input 0"}})
                .problem,
            !ContainsSubstring("overwrites"));
  }
}

TEST_CASE("a rule that overwrites is found although its own gradient is zero") {
  for (const double beside : {0.0, 1e-6, 1.0}) {
    CAPTURE(beside);
    const auto f = [&](In in) {
      return in[1] * beside +
             record("constant", Array::ones({4}), wrt_adding(in[0], [](const Array&, Real* dx) {
                      for (Dim i = 0; i < 4; ++i) dx[i] = Real(1e-17) * dx[i];
                    }));
    };
    const GradcheckReport report =
        gradcheck(f, {uniform({4}, 1), uniform({4}, 2)}, {.zero_gradients = {"input 0"}});
    CHECK_THAT(report.problem, StartsWith("a rule overwrites the contribution of another user"));
    CHECK(report.tensor == "input 0");
  }
}
