// What a check is asked, what it refuses, and what its report says beyond the rows of
// test_gradcheck_bench.cpp.
#include "engine/gradcheck/gradcheck.h"

#include <clocale>
#include <cmath>
#include <stdexcept>

#include "tests/engine/gradcheck/rules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

Real total_of(const Array& x) {
  Real total = 0;
  for (Dim i = 0; i < x.size(); ++i) total += x[i];
  return total;
}

// |x|², computed in double: it carries no tangent.
double squares_of(const Tensor& x) { return value_of(total_of(x.value() * x.value())); }

// x³, with the gradient of x times a factor, in all elements or in one.
GradcheckReport check_cube(const Shape& shape, double factor, Dim at = -1) {
  return gradcheck(
      [=](In in) {
        const Tensor x = at < 0 ? scaled(in[0], factor) : spoiled_at(in[0], at, factor);
        return x * x * x;
      },
      {uniform(shape, 1)});
}

}  // namespace

TEST_CASE("the gradients of named parameters are proved and left clean") {
  const Tensor w = parameter(uniform({3, 2}, 1)), b = parameter(uniform({2}, 2));
  const Tensor x(uniform({4, 3}, 3));
  const Array before = w.value().clone();
  const GradcheckReport report =
      gradcheck([&] { return mean(silu(matmul(x, w) + b)); }, {{"weight", w}, {"bias", b}});
  CHECK(report);
  CHECK(report.elements == 8);
  CHECK((report.max_error_dual < 1e-14 && report.max_error_differences < 1e-10));
  CHECK_FALSE((report.wrong_by_dual || report.wrong_by_differences));
  CHECK(report.undecided == 0);
  for (const std::string& text : {report.note, report.problem, report.likely_cause})
    CHECK(text.empty());
  CHECK_THAT(to_string(report), StartsWith("ok: 8 elements, largest error "));
  CHECK_FALSE(w.has_grad());
  CHECK(same_bits(w.value(), before));
  CHECK_NOTHROW(w.write());
}

TEST_CASE("ops that hand on the very numbers of a parameter can be checked") {
  const Array x = uniform({2, 3}, 1);
  CHECK(gradcheck([](In in) { return in[0]; }, {x}).ok);
  CHECK(gradcheck(of_one(reshape, Shape{3, 2}), {x}).ok);
}

TEST_CASE("the tolerance of each oracle decides") {
  const auto check = [](double dual, double differences) {
    return gradcheck(of_one(silu, 1.05, 1.05), {uniform({3}, 1)},
                     {.tolerance_dual = dual, .tolerance_differences = differences});
  };
  CHECK(check(0.1, 0.1).ok);
  const GradcheckReport dual = check(gradcheck_tolerance_dual, 0.1),
                        differences = check(0.1, gradcheck_tolerance_differences);
  CHECK((dual.wrong_by_dual && !dual.wrong_by_differences));
  CHECK((differences.wrong_by_differences && !differences.wrong_by_dual));
}

TEST_CASE("a check that could not have failed is a failure") {
  const auto problem = [](const OpFunction& f, const std::vector<Array>& inputs) {
    const GradcheckReport report = gradcheck(f, inputs);
    CHECK_FALSE(report.ok);
    CHECK((report.max_error_dual == infinity && report.max_error_differences == infinity));
    return report.problem;
  };
  const std::string no_inputs = "nothing to compare: the inputs have no elements";
  const std::string silent =
      "this check could not have failed: the gradient is zero in every element; list the tensor in "
      "zero_gradients if it is zero by mathematics";
  const std::string outside = "the output is not finite: choose inputs inside the domain";
  const std::string unsteady =
      "the function gives another value each time: fix its random seed inside it";
  CHECK(problem([](In in) { return sum(in[0] * in[0]); }, {Array::zeros({0, 3})}) == no_inputs);
  CHECK(problem([](In) { return Tensor(1.0); }, {}) == no_inputs);
  CHECK(problem(of_one(slice, 0, 0, 0), {uniform({3}, 1)}) ==
        "nothing to compare: the output has no elements");
  CHECK(problem([](In) { return Tensor(counting({3})); }, {uniform({2}, 1)}) == silent);
  for (const double x : {-1.0, 0.0}) CHECK(problem(of_one(log), {Array({2}, {1, x})}) == outside);
  Rng rng(1);
  int calls = 0;
  CHECK(problem([&](In in) { return in[0] * rng.uniform(); }, {uniform({2}, 1)}) == unsteady);
  const auto growing = [&](In in) {
    return concat(std::vector<Tensor>(static_cast<std::size_t>(++calls), in[0]), 0);
  };
  CHECK(problem(growing, {uniform({2}, 1)}) == unsteady);
  const GradcheckReport unused = gradcheck(of_one(exp), {uniform({2}, 1), uniform({3}, 2)});
  CHECK(unused.problem == silent);
  CHECK((unused.tensor == "input 1" && unused.index == "[0]"));
  CHECK((unused.wrong_by_dual && unused.wrong_by_differences));
}

TEST_CASE(
    "a gradient that is zero by mathematics passes if it is listed and no more than rounding") {
  const OpFunction total = [](In in) { return sum(softmax(in[0])); },
                   beside = [](In in) { return exp(in[0]) + sum(softmax(in[1])) * 1.0; },
                   constant = [](In) { return Tensor(uniform({3}, 3)); };
  const std::vector<Array> x{uniform({32}, 1)}, two{uniform({2}, 1), uniform({3}, 2)};
  const GradcheckOptions first{.zero_gradients = {"input 0"}};
  const GradcheckReport report = gradcheck(total, x);
  CHECK(
      report.problem ==
      "this gradient is only rounding: list the tensor in zero_gradients if it is zero by "
      "mathematics (a softmax sums to 1: multiply its terms by different numbers), or leave large "
      "constants out of the function");
  CHECK(report.likely_cause.empty());
  CHECK(gradcheck(total, x, first).ok);
  CHECK_FALSE(gradcheck(beside, two).ok);
  CHECK(gradcheck(beside, two, {.zero_gradients = {"input 1"}}).ok);
  CHECK(gradcheck(constant, {uniform({2}, 1)}, first).ok);
  // What is more is seen, beside an output of any size.
  const OpFunction alive = of_one(exp),
                   moving = [](In in) { return sum(softmax(in[0])) * 1e3 + in[0] * 1e-9; },
                   cut = [](In in) { return sum(softmax(in[0])) * 1e3 + in[0].detach() * 1e-9; },
                   cut_alone = [](In in) { return exp(in[0].detach()); };
  for (const OpFunction& f : {alive, moving, cut, cut_alone}) {
    CHECK_FALSE(gradcheck(f, x, first).ok);
    CHECK(gradcheck(f, x, first).tensor == "input 0");
  }
  CHECK(gradcheck(alive, x, first).problem ==
        "the tensor is listed in zero_gradients, but its gradient is not zero: remove it from the "
        "list");
}

TEST_CASE("a derivative that is infinite where the function is finite is not ok") {
  const GradcheckReport report = gradcheck(of_one(sqrt), {Array({2}, {4, 0})});
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
  const Tensor constant(uniform({2}, 1)), w = parameter(uniform({2}, 1));
  const auto refused = [&](const std::vector<NamedTensor>& named,
                           const GradcheckOptions& options = {}) {
    return refusal<ValueError>([&] { gradcheck([&] { return w * constant; }, named, options); });
  };
  const std::string bad_tolerance = "gradcheck: the tolerance must be positive and finite: got ";
  for (const double bad : {0.0, -1e-8, infinity, quiet_nan}) {
    CHECK_THAT(refused({{"w", w}}, {.tolerance_dual = bad}), StartsWith(bad_tolerance));
    CHECK_THAT(refused({{"w", w}}, {.tolerance_differences = bad}), StartsWith(bad_tolerance));
  }
  CHECK(refused({{"w", w}}, {.zero_gradients = {"w", "b"}}) ==
        "gradcheck: zero_gradients names 'b', which is no parameter here");
  CHECK(refused({{"c", constant}}) == "gradcheck: 'c' is no parameter: make it with parameter()");
  CHECK(refused({{"w", w}, {"again", w}}) ==
        "gradcheck: 'w' and 'again' are one tensor: list it once");
}

TEST_CASE("the error of a constant factor is its distance from 1, down to each tolerance") {
  for (const double factor : {1 + 1e-6, 1 - 1e-6, 1 + 1e-3, -1.0, 2.0, 0.5, 0.0, 1e6}) {
    CAPTURE(factor);
    const GradcheckReport report = check_cube({3, 4}, factor);
    CHECK(report.problem == "the gradient is wrong");
    CHECK((report.wrong_by_dual && report.wrong_by_differences));
    CHECK_THAT(report.max_error_dual, WithinRel(std::abs(factor - 1), 1e-3));
    CHECK_THAT(report.max_error_differences, WithinRel(std::abs(factor - 1), 1e-2));
    CHECK_THAT(report.analytic, WithinRel(factor * report.expected, 1e-7));
  }
  CHECK((gradcheck_tolerance_dual == 1e-12 && gradcheck_tolerance_differences == 1e-8));
  CHECK_FALSE(check_cube({3, 4}, 1 + 3 * gradcheck_tolerance_dual).ok);
  CHECK(check_cube({3, 4}, 1 + 0.3 * gradcheck_tolerance_dual).ok);
  CHECK(check_cube({3, 4}, 1 + 3 * gradcheck_tolerance_differences).wrong_by_differences);
  CHECK_FALSE(check_cube({3, 4}, 1 + 0.3 * gradcheck_tolerance_differences).wrong_by_differences);
}

TEST_CASE("one wrong element among thousands is named, and one that is not finite") {
  const GradcheckReport one = check_cube({60, 50}, 2, 37 * 50 + 23);
  CHECK((one.elements == 3000 && one.index == "[37, 23]"));
  CHECK_THAT(one.analytic, WithinRel(2 * one.expected, 1e-7));
  CHECK(one.likely_cause.empty());
  CHECK_THAT(to_string(one), EndsWith("; 1 of 3000 elements is wrong, the others are right; one "
                                      "element does not show the cause"));
  for (const double bad : {quiet_nan, infinity, -infinity}) {
    CAPTURE(bad);
    const GradcheckReport report = check_cube({2, 3}, bad, 4);
    CHECK((!report.ok && report.index == "[1, 1]"));
    CHECK_FALSE(std::isfinite(report.analytic));
    CHECK((std::isfinite(report.expected) && report.expected != 0));
    CHECK_THAT(report.likely_cause, StartsWith("the gradient is not finite"));
  }
}

TEST_CASE("the report names the tensor, and says in words what its fields say") {
  const Tensor good = parameter(uniform({2}, 1)), bad = parameter(uniform({2, 2}, 2));
  const GradcheckReport report = gradcheck([&] { return exp(good) + scaled(bad, 2); },
                                           {{"layer.good", good}, {"layer.bad", bad}});
  CHECK(report.tensor == "layer.bad");
  for (const std::string& part :
       {"the gradient is wrong: layer.bad" + report.index + " is ",
        std::string(" by dual numbers and differences; 6 elements, largest error 1 (dual), 1"),
        "; likely cause: " + report.likely_cause + "\n"})
    CHECK_THAT(to_string(report), ContainsSubstring(part));
}

TEST_CASE("at a kink dual numbers alone decide, and the report says so") {
  const Array x({3}, {0.5, 0, -0.5});
  // Symmetric differences converge to the mean of the two slopes, ½: they seem to confirm that one.
  const auto with_slope = [](double at_zero) {
    return [=](In in) { return in[0] + relu_with(in[0], at_zero); };
  };
  const GradcheckReport right = gradcheck(with_slope(0), {x}),
                        wrong = gradcheck(with_slope(0.5), {x});
  CHECK(right.undecided == 1);
  CHECK(right.max_error_differences <= gradcheck_tolerance_differences);
  CHECK(right.note ==
        "1 of 3 elements is checked by dual numbers alone, first input 0[1]: finite differences do "
        "not converge here: the function has a kink, a jump or the edge of its domain at or near "
        "this point");
  CHECK_THAT(to_string(right), StartsWith("ok: 3 elements, ") && EndsWith("; " + right.note));
  CHECK((wrong.wrong_by_dual && !wrong.wrong_by_differences));
  CHECK(wrong.index == "[1]");
  CHECK_THAT(wrong.pattern, StartsWith("1 of 3 elements is wrong"));
}

TEST_CASE("what rounding hides is undecided and counted once, by whichever oracle it is hidden") {
  const GradcheckReport constant =
      gradcheck([](In in) { return in[0] * in[0] + 1e10; }, {uniform({3}, 1)});
  CHECK(constant.ok);
  CHECK(constant.undecided == 3);
  CHECK(constant.max_error_differences == infinity);
  CHECK_THAT(constant.note,
             StartsWith("3 of 3 elements are checked by dual numbers alone, first input "
                        "0[0]: rounding hides this derivative"));
  const auto variance_about = [](double c) {
    const auto f = [c](In in) {
      const Tensor y = in[0] + c;
      return mean(y * y) - mean(y) * mean(y);
    };
    return gradcheck(f, {uniform({6}, 1)});
  };
  CHECK(variance_about(0).undecided == 0);
  const GradcheckReport six = variance_about(1e4), all = variance_about(1e5),
                        few = variance_about(1e11);
  CHECK((six.ok && six.undecided > 0));
  CHECK_THAT(six.note, ContainsSubstring("not proved by dual numbers, first input 0[") &&
                           ContainsSubstring("it agrees in six digits, and rounding hides the"));
  CHECK_THAT(all.note, StartsWith("6 of 6 elements are not proved") &&
                           !ContainsSubstring("checked by dual numbers alone"));
  CHECK_THAT(few.problem, StartsWith("rounding hides this derivative"));
}

TEST_CASE("where the oracles disagree the report says which of them confirms backward()") {
  // y = |x|²·x, whose size carries no tangent: with its right rule dx = |x|²·dy + 2·⟨dy, x⟩·x, and
  // with a size that is a constant to the graph as well.
  const auto lost_tangents = [](In in) {
    const Array X = in[0].value();
    const double size = squares_of(in[0]);
    return ruled(in[0], X * Real(size), [=](const Array& dy, Dim i) {
      return dy[i] * Real(size) + X[i] * total_of(dy * X) * Real(2);
    });
  };
  const auto lost_path = [](In in) { return in[0] * squares_of(in[0]); };
  const GradcheckReport by_dual = gradcheck(lost_tangents, {uniform({3}, 1)}),
                        by_differences = gradcheck(lost_path, {uniform({3}, 1)});
  CHECK((by_dual.wrong_by_dual && !by_dual.wrong_by_differences));
  CHECK_THAT(by_dual.likely_cause,
             StartsWith("the oracles disagree, and differences confirm backward()"));
  CHECK((!by_differences.wrong_by_dual && by_differences.wrong_by_differences));
  CHECK(by_differences.max_error_dual <= gradcheck_tolerance_dual);
  CHECK_THAT(by_differences.likely_cause,
             StartsWith("the oracles disagree, and dual numbers confirm backward()"));
}

TEST_CASE("a wholly wrong gradient costs few evaluations with dual numbers more") {
  const auto evaluations = [](double factor) {
    int count = 0;
    const GradcheckReport report = gradcheck(
        [&](In in) {
          count += total_of(in[0].value()).tangent != 0 ? 1 : 0;
          return scaled(in[0], factor) * in[0];
        },
        {uniform({200}, 1)});
    CHECK(report.ok == (factor == 1));
    return count;
  };
  CHECK(evaluations(1.5) < 2 * evaluations(1));
}

// -- the report in words ---------------------------------------------------------------------------

namespace {

GradcheckReport wrong_report(double analytic, double expected) {
  GradcheckReport report;
  report.elements = 3;
  report.max_error_dual = 0.5, report.max_error_differences = 0.25;
  report.wrong_by_dual = report.wrong_by_differences = true;
  report.problem = "the gradient is wrong";
  report.tensor = "w", report.index = "[1]";
  report.analytic = analytic, report.expected = expected;
  return report;
}

}  // namespace

TEST_CASE("two numbers have as many digits as it takes for them to differ, and six at least") {
  const auto text = [](double analytic, double expected) {
    const std::string all = to_string(wrong_report(analytic, expected));
    const std::size_t begin = std::string("the gradient is wrong: w[1] is ").size();
    return all.substr(begin, all.find(" by dual numbers") - begin);
  };
  CHECK(text(0.5, 2) == "0.5 by backward(), 2");
  CHECK(text(1.0 / 3, 2.0 / 3) == "0.333333 by backward(), 0.666667");
  CHECK(text(1.0000001, 1.0000002) == "1.0000001 by backward(), 1.0000002");
  CHECK(text(1, 1 + 0x1p-52) == "1 by backward(), 1.0000000000000002");
  CHECK(text(1234567, 1234567) == "1.23457e+06 by backward(), 1.23457e+06");
  CHECK(text(-std::nan(""), -1e300) == "nan by backward(), -1e+300");
  CHECK(text(-infinity, 0) == "-inf by backward(), 0");
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C"})
    if (std::setlocale(LC_NUMERIC, name) != nullptr) break;  // a machine may have none of these
  CHECK(text(1.5, 2.5) == "1.5 by backward(), 2.5");
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST_CASE("a report names the oracles, the errors there are, the cause or the pattern") {
  GradcheckReport report = wrong_report(1, 2);
  const std::string found = "the gradient is wrong: w[1] is 1 by backward(), 2",
                    both = " by dual numbers and differences",
                    errors = "; 3 elements, largest error 0.5 (dual), 0.25 (differences)";
  CHECK(to_string(report) == found + both + errors);
  report.pattern = "1 of 3 elements is wrong";
  CHECK(to_string(report) == found + both + errors + "; 1 of 3 elements is wrong");
  report.pattern.clear();
  report.likely_cause = "a sign is wrong";
  CHECK(to_string(report) == found + both + errors + "; likely cause: a sign is wrong");
  report.likely_cause.clear();
  // The worst elements are a table, unless there is only one.
  report.worst = {{"[1]", 1, 2}};
  CHECK(to_string(report) == found + both + errors);
  report.worst = {{"[1]", 1, 2}, {"[10]", 1.0000001, 1.0000002}, {"[0]", -3, 0}};
  CHECK(to_string(report) == found + both + errors +
                                 "\n    index  by backward()  expected   ratio  difference"
                                 "\n    [1]    1              2          0.5    -1"
                                 "\n    [10]   1.0000001      1.0000002  1      -1e-07"
                                 "\n    [0]    -3             0          -      -3");
  report.worst.clear();
  report.wrong_by_differences = false;
  CHECK(to_string(report) == found + " by dual numbers" + errors);
  report.wrong_by_dual = false;
  CHECK(to_string(report) == found + " expected" + errors);
  report.wrong_by_differences = true;
  CHECK(to_string(report) == found + " by differences" + errors);
  report.max_error_dual = infinity;  // it has compared nothing
  CHECK_THAT(to_string(report), EndsWith(" elements, largest error 0.25 (differences)"));
  report.max_error_differences = infinity;
  CHECK_THAT(to_string(report), EndsWith(" elements"));
  report.max_error_dual = std::nan("");
  CHECK_THAT(to_string(report), EndsWith(", largest error nan (dual)"));
}
