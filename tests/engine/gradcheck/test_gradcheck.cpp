// Right gradients pass, checks that could not have failed do not, and every report says what it
// saw.
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

using Inputs = std::vector<Tensor>;

// y = x·σ(x), as a user would write it; `factor` is 1 in the right rule.
Tensor swish(const Tensor& x, double factor = 1) {
  const Array X = x.value(), s = sigmoid(x).value();
  return record("swish", X * s, wrt(x, [X, s, factor](const Array& dy) {
                  return dy * (s + X * s * (Array::ones(X.shape()) - s)) * Real(factor);
                }));
}

}  // namespace

TEST_CASE("the gradient of a user's own op is proved") {
  const GradcheckReport report =
      gradcheck([](const Inputs& in) { return swish(in[0]); }, {uniform({2, 3}, 1)});
  CHECK(report);
  CHECK(report.ok);
  CHECK(report.elements == 6);
  CHECK(report.max_error_dual <= gradcheck_tolerance_dual);
  CHECK(report.max_error_differences <= gradcheck_tolerance_differences);
  CHECK_FALSE((report.wrong_by_dual || report.wrong_by_differences));
  CHECK(report.undecided == 0);
  CHECK(report.note.empty());
  CHECK(report.problem.empty());
  CHECK(report.likely_cause.empty());
  CHECK_THAT(to_string(report), StartsWith("ok: 6 elements, largest error "));
}

TEST_CASE("several inputs, broadcast and used twice, are checked element by element") {
  const auto f = [](const Inputs& in) { return tanh(matmul(in[0], in[1]) + in[2]) * in[2]; };
  const GradcheckReport report =
      gradcheck(f, {uniform({2, 3}, 1), uniform({3, 4}, 2), uniform({4}, 3)});
  CAPTURE(to_string(report));
  CHECK(report.ok);
  CHECK(report.elements == 6 + 12 + 4);
}

TEST_CASE("the largest error of smooth ops is that of rounding") {
  const auto f = [](const Inputs& in) { return softmax(in[0] * in[0]) / (exp(in[0]) + 1.0); };
  const GradcheckReport report = gradcheck(f, {uniform({3, 5}, 1)});
  CAPTURE(to_string(report));
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
  CHECK(gradcheck([](const Inputs& in) { return in[0]; }, {x}).ok);
  CHECK(gradcheck([](const Inputs& in) { return reshape(in[0], {3, 2}); }, {x}).ok);
}

TEST_CASE("the seed draws another cotangent, and the answer stays") {
  for (const std::uint64_t seed : {1u, 2u, 3u, 1000u}) {
    GradcheckOptions options;
    options.seed = seed;
    CHECK(
        gradcheck([](const Inputs& in) { return softmax(in[0]); }, {uniform({7}, 1)}, options).ok);
  }
}

TEST_CASE("the tolerance of each oracle decides") {
  GradcheckOptions loose;
  loose.tolerance_dual = loose.tolerance_differences = 0.1;
  const auto wrong = [](const Inputs& in) { return swish(in[0], 1.05); };
  CHECK(gradcheck(wrong, {uniform({3}, 1)}, loose).ok);
  CHECK_FALSE(gradcheck(wrong, {uniform({3}, 1)}).ok);
  GradcheckOptions one = loose;
  one.tolerance_dual = gradcheck_tolerance_dual;
  CHECK(gradcheck(wrong, {uniform({3}, 1)}, one).wrong_by_dual);
  CHECK_FALSE(gradcheck(wrong, {uniform({3}, 1)}, one).wrong_by_differences);
  one = loose;
  one.tolerance_differences = gradcheck_tolerance_differences;
  CHECK(gradcheck(wrong, {uniform({3}, 1)}, one).wrong_by_differences);
  CHECK_FALSE(gradcheck(wrong, {uniform({3}, 1)}, one).wrong_by_dual);
}

TEST_CASE("a check of no elements is not a check") {
  const auto f = [](const Inputs& in) { return sum(in[0] * in[0]); };
  const GradcheckReport empty = gradcheck(f, {Array::zeros({0, 3})});
  CHECK_FALSE(empty.ok);
  CHECK(empty.problem == "nothing to compare: the inputs have no elements");
  CHECK((empty.max_error_dual == infinity && empty.max_error_differences == infinity));
  CHECK(gradcheck([] { return Tensor(1.0); }, std::vector<NamedTensor>{}).problem ==
        "nothing to compare: the inputs have no elements");
  const auto nothing = [](const Inputs& in) { return slice(in[0], 0, 0, 0); };
  const GradcheckReport no_output = gradcheck(nothing, {uniform({3}, 1)});
  CHECK_FALSE(no_output.ok);
  CHECK(no_output.problem == "nothing to compare: the output has no elements");
}

TEST_CASE("a check that could not have failed is a failure") {
  const std::string silent =
      "this check could not have failed: the gradient is zero in every element; list the tensor in "
      "zero_gradients if it is zero by mathematics";
  const auto of_first = [](const Inputs& in) { return exp(in[0]); };
  const GradcheckReport unused = gradcheck(of_first, {uniform({2}, 1), uniform({3}, 2)});
  CHECK_FALSE(unused.ok);
  CHECK(unused.problem == silent);
  CHECK(unused.tensor == "input 1");
  CHECK(unused.index == "[0]");
  CHECK((unused.wrong_by_dual && unused.wrong_by_differences));
  CHECK((unused.max_error_dual == infinity && unused.max_error_differences == infinity));
  const auto constant = [](const Inputs&) { return Tensor(counting({3})); };
  CHECK(gradcheck(constant, {uniform({2}, 1)}).problem == silent);
}

TEST_CASE("a sum that is always 1 has a gradient of rounding: it is not called wrong") {
  const auto total = [](const Inputs& in) { return sum(softmax(in[0])); };
  const GradcheckReport report = gradcheck(total, {uniform({32}, 1)});
  CAPTURE(to_string(report));
  CHECK_FALSE(report.ok);
  CHECK(
      report.problem ==
      "this gradient is only rounding: list the tensor in zero_gradients if it is zero by "
      "mathematics (a softmax sums to 1: multiply its terms by different numbers), or leave large "
      "constants out of the function");
  CHECK(report.likely_cause.empty());
  GradcheckOptions options;
  options.zero_gradients = {"input 0"};
  CHECK(gradcheck(total, {uniform({32}, 1)}, options).ok);
  // What is listed and is more than rounding is seen, beside an output of any size.
  const auto moving = [](const Inputs& in) { return sum(softmax(in[0])) * 1e3 + in[0] * 1e-9; };
  CHECK_FALSE(gradcheck(moving, {uniform({32}, 1)}, options).ok);
  const auto cut = [](const Inputs& in) {
    return sum(softmax(in[0])) * 1e3 + in[0].detach() * 1e-9;
  };
  CHECK_FALSE(gradcheck(cut, {uniform({32}, 1)}, options).ok);
}

TEST_CASE("a gradient that is zero by mathematics is listed by name") {
  GradcheckOptions options;
  options.zero_gradients = {"input 1"};
  const auto f = [](const Inputs& in) { return exp(in[0]) + sum(softmax(in[1])) * 1.0; };
  CHECK(gradcheck(f, {uniform({2}, 1), uniform({3}, 2)}, options).ok);
  CHECK_FALSE(gradcheck(f, {uniform({2}, 1), uniform({3}, 2)}).ok);
  options.zero_gradients = {"input 0"};
  const auto constant = [](const Inputs&) { return Tensor(uniform({3}, 3)); };
  CHECK(gradcheck(constant, {uniform({2}, 1)}, options).ok);
}

TEST_CASE("a listed tensor whose gradient is not zero is still compared") {
  GradcheckOptions options;
  options.zero_gradients = {"input 0"};
  const auto alive = [](const Inputs& in) { return exp(in[0]); };
  const GradcheckReport moving = gradcheck(alive, {uniform({2}, 1)}, options);
  CHECK_FALSE(moving.ok);
  CHECK(
      moving.problem ==
      "the tensor is listed in zero_gradients, but its gradient is not zero: remove it from the list");
  CHECK(moving.index == "[0]");
  const auto cut = [](const Inputs& in) { return exp(in[0].detach()) + in[1]; };
  const GradcheckReport report = gradcheck(cut, {uniform({2}, 1), uniform({2}, 2)}, options);
  CHECK_FALSE(report.ok);
  CHECK(report.tensor == "input 0");
}

TEST_CASE("functions that are not finite, or another each time, are refused") {
  const auto log_of = [](const Inputs& in) { return log(in[0]); };
  CHECK(gradcheck(log_of, {Array({2}, {1, -1})}).problem ==
        "the output is not finite: choose inputs inside the domain");
  CHECK(gradcheck(log_of, {Array({2}, {1, 0})}).problem ==
        "the output is not finite: choose inputs inside the domain");
  Rng rng(1);
  const auto unsteady = [&](const Inputs& in) { return in[0] * rng.uniform(); };
  CHECK(gradcheck(unsteady, {uniform({2}, 1)}).problem ==
        "the function gives another value each time: fix its random seed inside it");
  int calls = 0;
  const auto growing = [&](const Inputs& in) {
    return concat(std::vector<Tensor>(static_cast<std::size_t>(++calls), in[0]), 0);
  };
  CHECK(gradcheck(growing, {uniform({2}, 1)}).problem ==
        "the function gives another value each time: fix its random seed inside it");
}

TEST_CASE("a derivative that is infinite where the function is finite is not ok") {
  const auto root = [](const Inputs& in) { return sqrt(in[0]); };
  const GradcheckReport report = gradcheck(root, {Array({2}, {4, 0})});
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
  const auto f = [](const Inputs& in) { return in[0] * in[0]; };
  for (const double bad : {0.0, -1e-8, infinity, std::nan("")}) {
    GradcheckOptions options;
    options.tolerance_dual = bad;
    CHECK_THAT(refusal<ValueError>([&] { gradcheck(f, {x}, options); }),
               StartsWith("gradcheck: the tolerance must be positive and finite: got "));
    options = {};
    options.tolerance_differences = bad;
    CHECK_THAT(refusal<ValueError>([&] { gradcheck(f, {x}, options); }),
               StartsWith("gradcheck: the tolerance must be positive and finite: got "));
  }
  GradcheckOptions options;
  options.zero_gradients = {"input 0", "input 1"};
  CHECK(refusal<ValueError>([&] { gradcheck(f, {x}, options); }) ==
        "gradcheck: zero_gradients names 'input 1', which is no parameter here");
  const Tensor constant(x), w = parameter(x.clone());
  CHECK(refusal<ValueError>([&] {
          gradcheck([&] { return w * constant; }, {{"c", constant}});
        }) == "gradcheck: 'c' is no parameter: make it with parameter()");
  CHECK(refusal<ValueError>([&] {
          gradcheck([&] { return w * w; }, {{"w", w}, {"again", w}});
        }) == "gradcheck: 'w' and 'again' are one tensor: list it once");
}
