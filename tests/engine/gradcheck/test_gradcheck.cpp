// What a check is asked, what it refuses, and what its report says beyond the rows of
// test_gradcheck_bench.cpp. tests/command/wrong_gradients.txt has whole reports.
#include "engine/gradcheck/gradcheck.h"

#include <cmath>
#include <stdexcept>

#include "tests/engine/gradcheck/rules.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace tests;

namespace {

Real total_of(const Array& x) { return sum(Tensor(x)).value().item(); }

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
      gradcheck([&] { return mean(own_silu(matmul(x, w) + b)); }, {{"weight", w}, {"bias", b}});
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

TEST_CASE("the tolerance of each oracle decides") {
  const auto check = [](double dual, double differences) {
    return gradcheck(of_one(own_silu, 1.05, 1.05), {uniform({3}, 1)},
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
  const std::string no_inputs = "nothing to compare: the inputs have no elements",
                    silent =
                        "this check could not have failed: the gradient is zero in every "
                        "element; list the tensor in zero_gradients if it is zero by mathematics",
                    outside = "the output is not finite: choose inputs inside the domain",
                    unsteady =
                        "the function gives another value each time: fix its random seed "
                        "inside it";
  CHECK(problem(of_one(exp), {Array::zeros({0, 3})}) == no_inputs);
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
  CHECK_THAT(problem([](In in) { return sum(in[0]) + sum(in[1]) * 1e-15; },
                     {uniform({2}, 1), uniform({3}, 2)}),
             StartsWith("this gradient is too small beside the others to be checked with them"));
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
  CHECK_THAT(report.problem, StartsWith("this gradient is only rounding: list the tensor"));
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
  const GradcheckReport listed = gradcheck(alive, x, first);
  CHECK_THAT(listed.problem, StartsWith("the tensor is listed in zero_gradients, but its"));
  CHECK(listed.undecided == 0);
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

TEST_CASE("one wrong element among a thousand is named, and one that is not finite") {
  const GradcheckReport one = check_cube({40, 30}, 2, 27 * 30 + 13);
  CHECK((one.elements == 1200 && one.index == "[27, 13]"));
  CHECK_THAT(one.analytic, WithinRel(2 * one.expected, 1e-7));
  CHECK(one.likely_cause.empty());
  CHECK_THAT(to_string(one), EndsWith("; 1 of 1200 elements is wrong, the others are right; one "
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
  CHECK_THAT(right.note, StartsWith("1 of 3 elements is checked by dual numbers alone, first input "
                                    "0[1]: finite differences do not converge here"));
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
    return gradcheck([c](In in) { return variance(in[0] + c); }, {uniform({6}, 1)});
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
  // y = |x|²·x, whose size carries no tangent: dx = |x|²·dy + 2·⟨dy, x⟩·x. Where
  // the graph cuts the size as well: "computed with double" in test_gradcheck_bench.cpp.
  const auto lost_tangents = [](In in) {
    const Array X = in[0].value();
    const double size = value_of(total_of(X * X));
    return ruled(in[0], X * Real(size), [=](const Array& dy, Dim i) {
      return dy[i] * Real(size) + X[i] * total_of(dy * X) * Real(2);
    });
  };
  const GradcheckReport by_dual = gradcheck(lost_tangents, {uniform({3}, 1)});
  CHECK((by_dual.wrong_by_dual && !by_dual.wrong_by_differences));
  CHECK_THAT(by_dual.likely_cause,
             StartsWith("the oracles disagree, and differences confirm backward()"));
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

TEST_CASE("order = 2 proves the Hessian; a rule without tangents passes at order 1 alone") {
  const std::vector<Array> x{uniform({4}, 1)};
  const OpFunction right = [](In in) { return silu(in[0]) * in[0]; };
  const GradcheckReport proved = gradcheck(right, x, {.order = 2});
  CHECK(proved);
  CHECK((proved.max_error_second > 0 && proved.max_error_second < 1e-9));
  CHECK_THAT(to_string(proved), ContainsSubstring(" (second order)"));
  CHECK(gradcheck(of_one(exp), {Array({1}, {0.5})}, {.order = 2}));
  CHECK(proved.second_undecided == 0);
  // H = 0, which differences find too.
  const OpFunction linear = [](In in) { return in[0] * 3.0; };
  CHECK(gradcheck(linear, x, {.order = 2}).second_undecided == 0);
  CHECK(gradcheck(of_one(relu), {Array({2}, {0.003, 1})}, {.order = 2}).second_undecided == 0);
  // At a kink nothing is compared.
  const OpFunction bent = [](In in) { return in[0] * 3.0 + relu(in[0]); };
  const GradcheckReport some = gradcheck(bent, {Array({3}, {0, 1, 2})}, {.order = 2});
  CHECK((some.ok && some.second_undecided == 1));
  CHECK_THAT(to_string(some), ContainsSubstring("; of second order, 1 of 3 not compared"));
  const GradcheckReport none = gradcheck(bent, {Array::zeros({2})}, {.order = 2});
  CHECK_FALSE(none);
  CHECK_THAT(none.problem, StartsWith("nothing of second order could be compared"));

  const auto squared = [](bool keeps_tangent) {
    return [=](In in) {
      const Array X = in[0].value();
      return ruled(in[0], X * X, [=](const Array& dy, Dim i) {
        return dy[i] * Real(2) * (keeps_tangent ? X[i] : Real(value_of(X[i])));
      });
    };
  };
  CHECK(gradcheck(squared(true), x, {.order = 2}));
  CHECK(gradcheck(squared(false), x));
  const GradcheckReport lost = gradcheck(squared(false), x, {.order = 2});
  CHECK_FALSE(lost);
  CHECK_THAT(lost.problem, StartsWith("the tangents of backward() are not its derivative H·u"));
  CHECK((lost.worst.size() == 4 && lost.analytic == 0 && lost.expected != 0));
  // An error too small for differences breaks the symmetry: dx_0 moves with x_1, dx_1 not with x_0.
  const GradcheckReport crooked = gradcheck(
      [](In in) {
        const Array X = in[0].value();
        return ruled(in[0], X * X, [=](const Array& dy, Dim i) {
          return dy[i] * Real(2) * X[i] + Real(0, i == 0 ? 8e-8 * X[1].tangent : 0);
        });
      },
      x, {.order = 2});
  CHECK(crooked.problem == "the Hessian by the tangents of backward() is not symmetric");
  CHECK(refusal<ValueError>([&] { gradcheck(right, x, {.order = 3}); }) ==
        "gradcheck: the order must be 1 or 2: got 3");
}

TEST_CASE("a mixture of constants and parameters has the gradients of all parameters") {
  const auto product = [](int wrong) {  // of three; the rule looks at what else is wanted
    return [=](In in) {
      const Array a = in[0].value(), b = in[1].value(), c = in[2].value();
      const bool two = in[1].needs_grad() && !in[0].needs_grad();
      const double factor = wrong == 1 && !in[1].needs_grad() ? 2 : 1,
                   last = wrong == 2 && two ? 2 : 1;
      return record("product", a * b * c,
                    wrt(in[0], [=](const Array& dy) { return dy * b * c * Real(factor); }),
                    wrt(in[1], [=](const Array& dy) { return dy * a * c; }),
                    wrt(in[2], [=](const Array& dy) { return dy * a * b * Real(last); }));
    };
  };
  const std::vector<Array> x{uniform({3}, 1), uniform({3}, 2), uniform({3}, 3)};
  CHECK(gradcheck(product(0), x));
  const GradcheckReport report = gradcheck(product(1), x);
  CHECK_FALSE(report);
  CHECK(report.problem == "a gradient is another while these are constants: input 1, input 2");
  CHECK((report.tensor == "input 0" && report.worst.size() == 3));
  CHECK(gradcheck(product(2), x).problem ==
        "a gradient is another while these are constants: input 0");

  const auto sum = [](In in) {  // of 17; the first rule is wrong where it is wanted alone
    const bool alone = std::none_of(in.begin() + 1, in.end(),
                                    [](const Tensor& other) { return other.needs_grad(); });
    Tensor y = record("first", in[0].value(), wrt(in[0], [=](const Array& dy) {
                        return dy * Array::full(dy.shape(), Real(alone ? 2 : 1));
                      }));
    for (std::size_t i = 1; i < in.size(); ++i) y = y + in[i];
    return y;
  };
  CHECK_THAT(gradcheck(sum, std::vector<Array>(17, uniform({2}, 1))).problem,
             ContainsSubstring("while these are constants: input 1, input 2"));
}

TEST_CASE("a function or a rule that writes to its inputs is refused") {
  int calls = 0;
  const auto writes = [&](In in) {
    const Tensor y = in[0] * in[0];
    if (++calls == 5 && !y.needs_grad()) in[0].write()[0] = Real(3);
    return ruled(in[0], y.value(), [X = in[0].value()](const Array& dy, Dim i) {
      const_cast<Real*>(X.data())[i] += Real(1e-3);  // NOLINT
      return dy[i] * Real(2) * X[i];
    });
  };
  const GradcheckReport report = gradcheck(writes, {uniform({3}, 1)});
  CHECK(report.problem == "f or backward() changes the values of input 0");
}

TEST_CASE("a check calls what it must, and reports the outputs that depend on no input") {
  int calls = 0, backward_calls = 0;
  const GradcheckReport report = gradcheck(
      [&](In in) {
        ++calls;
        const Tensor x = exp(in[0]);
        const auto rule = [&](const Array& dy) { return ++backward_calls, dy; };
        const Tensor y = record("counted", x.value(), wrt(x, rule));
        return concat({y, Tensor(uniform({2}, 2))}, 0);
      },
      {uniform({3}, 1), uniform({3}, 2)}, {.zero_gradients = {"input 1"}});
  CHECK(report);
  CHECK(calls < 100);          // a right function is not measured with several steps
  CHECK(backward_calls == 9);  // seven, then of all inputs and of the first alone
  CHECK(report.unreached == 2);
  CHECK_THAT(to_string(report), ContainsSubstring("; outputs that depend on no input: 2"));
}

TEST_CASE("the pattern of causal attention is a triangle") {
  const OpFunction attend = [](In in) { return attention(in[0], in[1], in[2], 1, causal()); };
  const std::vector<Array> x{uniform({4, 1}, 1), uniform({4, 1}, 2), uniform({4, 1}, 3)};
  const std::vector<std::string> pictures = jacobian_pattern(attend, x);
  REQUIRE(pictures.size() == 3);
  CHECK(pictures[0] == "0000\n0100\n0010\n0001\n");  // the first query sees one key alone
  CHECK(pictures[1] == "0000\n1100\n1110\n1111\n");
  CHECK(pictures[2] == "1000\n1100\n1110\n1111\n");
}
