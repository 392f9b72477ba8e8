// What a check is asked, and what it refuses; right and wrong functions: test_gradcheck_bench.cpp.
#include "engine/gradcheck/gradcheck.h"

#include <cmath>
#include <stdexcept>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

using In = const std::vector<Tensor>&;
using Function = std::function<Tensor(In)>;

// y = x·σ(x), as a user would write it; `factor` is 1 in the right rule.
Tensor swish(const Tensor& x, double factor = 1) {
  const Array X = x.value(), s = sigmoid(x).value();
  return record("swish", X * s, wrt(x, [X, s, factor](const Array& dy) {
                  return dy * (s + X * s * (Array::ones(X.shape()) - s)) * Real(factor);
                }));
}

GradcheckOptions zero_gradients(std::vector<std::string> names) {
  GradcheckOptions options;
  options.zero_gradients = std::move(names);
  return options;
}

}  // namespace

TEST_CASE("the gradient of a user's own op is proved") {
  const GradcheckReport report =
      gradcheck([](In in) { return swish(in[0]); }, {uniform({2, 3}, 1)});
  CHECK(report);
  CHECK(report.elements == 6);
  CHECK(report.max_error_dual <= gradcheck_tolerance_dual);
  CHECK(report.max_error_differences <= gradcheck_tolerance_differences);
  CHECK_FALSE((report.wrong_by_dual || report.wrong_by_differences));
  CHECK(report.undecided == 0);
  for (const std::string& text : {report.note, report.problem, report.likely_cause})
    CHECK(text.empty());
  CHECK_THAT(to_string(report), StartsWith("ok: 6 elements, largest error "));
}

TEST_CASE("all inputs are checked, broadcast and used twice; errors of smooth ops are rounding") {
  const Function f = [](In in) {
    return softmax(tanh(matmul(in[0], in[1]) + in[2]) * in[2]) / (exp(in[2]) + 1.0);
  };
  const GradcheckReport report =
      gradcheck(f, {uniform({2, 3}, 1), uniform({3, 4}, 2), uniform({4}, 3)});
  CAPTURE(to_string(report));
  CHECK(report.ok);
  CHECK(report.elements == 6 + 12 + 4);
  CHECK(report.max_error_dual < 1e-14);
  CHECK(report.max_error_differences < 1e-10);
}

TEST_CASE("the gradients of named parameters are checked and left clean") {
  const Tensor w = parameter(uniform({3, 2}, 1)), b = parameter(uniform({2}, 2));
  const Tensor x(uniform({4, 3}, 3));
  const Array before = w.value().clone();
  const GradcheckReport report =
      gradcheck([&] { return mean(gelu(matmul(x, w) + b)); }, {{"weight", w}, {"bias", b}});
  CAPTURE(to_string(report));
  CHECK(report.ok);
  CHECK(report.elements == 8);
  CHECK_FALSE(w.has_grad());
  CHECK(same_bits(w.value(), before));
  CHECK_NOTHROW(w.write());
}

TEST_CASE("ops that hand on the very numbers of a parameter can be checked") {
  const Array x = uniform({2, 3}, 1);
  CHECK(gradcheck([](In in) { return in[0]; }, {x}).ok);
  CHECK(gradcheck([](In in) { return reshape(in[0], {3, 2}); }, {x}).ok);
}

TEST_CASE("the tolerance of each oracle decides") {
  const auto check = [](double dual, double differences) {
    GradcheckOptions options;
    options.tolerance_dual = dual;
    options.tolerance_differences = differences;
    return gradcheck([](In in) { return swish(in[0], 1.05); }, {uniform({3}, 1)}, options);
  };
  CHECK(check(0.1, 0.1).ok);
  const GradcheckReport dual = check(gradcheck_tolerance_dual, 0.1),
                        differences = check(0.1, gradcheck_tolerance_differences);
  CHECK((dual.wrong_by_dual && !dual.wrong_by_differences));
  CHECK((differences.wrong_by_differences && !differences.wrong_by_dual));
}

TEST_CASE("a check that could not have failed is a failure") {
  const std::string no_inputs = "nothing to compare: the inputs have no elements";
  const std::string silent =
      "this check could not have failed: the gradient is zero in every element; list the tensor in "
      "zero_gradients if it is zero by mathematics";
  const Function squares = [](In in) { return sum(in[0] * in[0]); };
  const GradcheckReport empty = gradcheck(squares, {Array::zeros({0, 3})});
  CHECK_FALSE(empty.ok);
  CHECK(empty.problem == no_inputs);
  CHECK((empty.max_error_dual == infinity && empty.max_error_differences == infinity));
  CHECK(gradcheck([] { return Tensor(1.0); }, std::vector<NamedTensor>{}).problem == no_inputs);
  const Function nothing = [](In in) { return slice(in[0], 0, 0, 0); };
  CHECK(gradcheck(nothing, {uniform({3}, 1)}).problem ==
        "nothing to compare: the output has no elements");
  const Function of_first = [](In in) { return exp(in[0]); };
  const GradcheckReport unused = gradcheck(of_first, {uniform({2}, 1), uniform({3}, 2)});
  CHECK_FALSE(unused.ok);
  CHECK(unused.problem == silent);
  CHECK(unused.tensor == "input 1");
  CHECK(unused.index == "[0]");
  CHECK((unused.wrong_by_dual && unused.wrong_by_differences));
  CHECK((unused.max_error_dual == infinity && unused.max_error_differences == infinity));
  const Function constant = [](In) { return Tensor(counting({3})); };
  CHECK(gradcheck(constant, {uniform({2}, 1)}).problem == silent);
}

TEST_CASE(
    "a gradient that is zero by mathematics passes if it is listed, and is not called wrong") {
  const Function total = [](In in) { return sum(softmax(in[0])); },
                 beside = [](In in) { return exp(in[0]) + sum(softmax(in[1])) * 1.0; },
                 constant = [](In) { return Tensor(uniform({3}, 3)); };
  const GradcheckReport report = gradcheck(total, {uniform({32}, 1)});
  CHECK_FALSE(report.ok);
  CHECK(
      report.problem ==
      "this gradient is only rounding: list the tensor in zero_gradients if it is zero by "
      "mathematics (a softmax sums to 1: multiply its terms by different numbers), or leave large "
      "constants out of the function");
  CHECK(report.likely_cause.empty());
  CHECK(gradcheck(total, {uniform({32}, 1)}, zero_gradients({"input 0"})).ok);
  const std::vector<Array> two{uniform({2}, 1), uniform({3}, 2)};
  CHECK_FALSE(gradcheck(beside, two).ok);
  CHECK(gradcheck(beside, two, zero_gradients({"input 1"})).ok);
  CHECK(gradcheck(constant, {uniform({2}, 1)}, zero_gradients({"input 0"})).ok);
}

TEST_CASE("what is listed and is more than rounding is seen, beside an output of any size") {
  const std::vector<Array> x{uniform({32}, 1)};
  const Function alive = [](In in) { return exp(in[0]); },
                 moving = [](In in) { return sum(softmax(in[0])) * 1e3 + in[0] * 1e-9; },
                 cut = [](In in) { return sum(softmax(in[0])) * 1e3 + in[0].detach() * 1e-9; },
                 cut_alone = [](In in) { return exp(in[0].detach()); };
  for (const Function& f : {alive, moving, cut, cut_alone}) {
    const GradcheckReport report = gradcheck(f, x, zero_gradients({"input 0"}));
    CHECK_FALSE(report.ok);
    CHECK(report.tensor == "input 0");
  }
  CHECK(gradcheck(alive, x, zero_gradients({"input 0"})).problem ==
        "the tensor is listed in zero_gradients, but its gradient is not zero: remove it from the "
        "list");
}

TEST_CASE("functions that are not finite, or another each time, are refused") {
  const Function log_of = [](In in) { return log(in[0]); };
  for (const double outside : {-1.0, 0.0})
    CHECK(gradcheck(log_of, {Array({2}, {1, outside})}).problem ==
          "the output is not finite: choose inputs inside the domain");
  Rng rng(1);
  int calls = 0;
  const Function unsteady = [&](In in) { return in[0] * rng.uniform(); }, growing = [&](In in) {
    return concat(std::vector<Tensor>(static_cast<std::size_t>(++calls), in[0]), 0);
  };
  for (const Function& f : {unsteady, growing})
    CHECK(gradcheck(f, {uniform({2}, 1)}).problem ==
          "the function gives another value each time: fix its random seed inside it");
}

TEST_CASE("a derivative that is infinite where the function is finite is not ok") {
  const GradcheckReport report = gradcheck([](In in) { return sqrt(in[0]); }, {Array({2}, {4, 0})});
  CHECK_FALSE(report.ok);
  CHECK_THAT(report.problem, !ContainsSubstring("zero in every element"));
  CHECK(report.wrong_by_dual);
}

TEST_CASE("an exception of the function passes through and leaves the parameters as they were") {
  const Array x = uniform({2}, 1);
  const Tensor w = parameter(x.clone());
  int calls = 0;
  const auto f = [&] {  // the oracle's calls come after three others
    if (++calls == 4) throw std::runtime_error("out of luck");
    return w * w;
  };
  CHECK_THROWS_AS(gradcheck(f, {{"w", w}}), std::runtime_error);
  CHECK(same_bits(w.value(), x));
  CHECK(recording());
}

TEST_CASE("a check that makes no sense is refused") {
  const Array x = uniform({2}, 1);
  const Tensor constant(x), w = parameter(x.clone());
  const auto refused = [&](const GradcheckOptions& options) {
    return refusal<ValueError>(
        [&] { gradcheck([](In in) { return in[0] * in[0]; }, {x}, options); });
  };
  for (const double bad : {0.0, -1e-8, infinity, quiet_nan})
    for (const auto tolerance :
         {&GradcheckOptions::tolerance_dual, &GradcheckOptions::tolerance_differences}) {
      GradcheckOptions options;
      options.*tolerance = bad;
      CHECK_THAT(refused(options),
                 StartsWith("gradcheck: the tolerance must be positive and finite: got "));
    }
  CHECK(refused(zero_gradients({"input 0", "input 1"})) ==
        "gradcheck: zero_gradients names 'input 1', which is no parameter here");
  const auto refused_tensors = [&](const std::vector<NamedTensor>& named) {
    return refusal<ValueError>([&] { gradcheck([&] { return w * constant; }, named); });
  };
  CHECK(refused_tensors({{"c", constant}}) ==
        "gradcheck: 'c' is no parameter: make it with parameter()");
  CHECK(refused_tensors({{"w", w}, {"again", w}}) ==
        "gradcheck: 'w' and 'again' are one tensor: list it once");
}
