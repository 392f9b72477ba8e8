// Two oracles, one report: where differences cannot decide, and where the oracles disagree.
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

using Inputs = std::vector<Tensor>;

Real sum_of(const Array& x) {
  Real total = 0;
  for (Dim i = 0; i < x.size(); ++i) total += x[i];
  return total;
}

// |x|², computed in double: it carries no tangent.
double size_of(const Tensor& x) { return value_of(sum_of(x.value() * x.value())); }

}  // namespace

TEST_CASE("kinks close by do no harm") {
  const Array x({6}, {1e-2, -1e-2, 1e-3, -1e-3, 1e-4, -1e-4});
  const GradcheckReport report =
      gradcheck([](const Inputs& in) { return relu(in[0]) + in[0] * 0.5; }, {x});
  CAPTURE(to_string(report));
  CHECK(report.ok);
  CHECK(report.undecided == 0);
}

TEST_CASE("at the kink itself differences say so, and dual numbers follow the branch taken") {
  const Array x({3}, {0.5, 0, -0.5});
  const GradcheckReport report =
      gradcheck([](const Inputs& in) { return relu(in[0]) + in[0]; }, {x});
  CAPTURE(to_string(report));
  CHECK(report.ok);
  CHECK(report.undecided == 1);
  CHECK(report.max_error_differences <= gradcheck_tolerance_differences);
  CHECK(report.note ==
        "1 of 3 elements is checked by dual numbers alone, first input 0[1]: finite differences do "
        "not converge here: the function has a kink, a jump or the edge of its domain at or near "
        "this point");
  CHECK_THAT(to_string(report), StartsWith("ok: 3 elements, ") && EndsWith("; " + report.note));
}

TEST_CASE("a wrong rule at a kink is found by dual numbers, and beside it by both oracles") {
  const auto kinked = [](double at_zero, double elsewhere) {
    return [=](const Inputs& in) {
      const Array X = in[0].value();
      const auto slope = [=](Real x) {
        return x == Real(0) ? Real(at_zero) : x > Real(0) ? Real(elsewhere) : Real(0);
      };
      return record("relu", relu(in[0]).value(),
                    wrt(in[0], [=](const Array& dy) { return dy * map(X, slope); })) +
             in[0];
    };
  };
  const Array x({3}, {0.5, 0, -0.5});
  CHECK(gradcheck(kinked(0, 1), {x}).ok);
  // Symmetric differences converge to the mean of the two slopes, ½: they seem to confirm that one.
  for (const double slope : {0.25, 0.5}) {
    CAPTURE(slope);
    const GradcheckReport at_kink = gradcheck(kinked(slope, 1), {x});
    CHECK(at_kink.problem == "the gradient is wrong");
    CHECK((at_kink.wrong_by_dual && !at_kink.wrong_by_differences));
    CHECK(at_kink.index == "[1]");
    CHECK(at_kink.likely_cause.empty());
    CHECK_THAT(at_kink.pattern, StartsWith("1 of 3 elements is wrong"));
  }
  const GradcheckReport beside = gradcheck(kinked(0, 1.5), {x});
  CHECK((beside.wrong_by_dual && beside.wrong_by_differences));
  CHECK(beside.index == "[0]");
}

TEST_CASE("a large constant hides the derivative from differences, and they say so") {
  const auto f = [](const Inputs& in) { return in[0] * in[0] + 1e10; };
  const GradcheckReport report = gradcheck(f, {uniform({3}, 1)});
  CAPTURE(to_string(report));
  CHECK(report.ok);
  CHECK(report.undecided == 3);
  CHECK(report.max_error_differences == infinity);
  CHECK_THAT(report.note,
             StartsWith("3 of 3 elements are checked by dual numbers alone, first input "
                        "0[0]: rounding hides this derivative"));
  // What rounding cannot explain is still called wrong, by both.
  const auto wrong = [](const Inputs& in) {
    const Array X = in[0].value();
    return record("square", X * X, wrt(in[0], [X](const Array& dy) { return dy * X * Real(4); })) +
           1e8;
  };
  const GradcheckReport doubled = gradcheck(wrong, {uniform({3}, 1)});
  CHECK(doubled.problem == "the gradient is wrong");
  CHECK((doubled.wrong_by_dual && doubled.wrong_by_differences));
  CHECK(doubled.note.empty());
}

TEST_CASE(
    "a forward pass that loses tangents: differences confirm the right rule, the report says so") {
  // y = |x|²·x with its right rule dx = |x|²·dy + 2·⟨dy, x⟩·x
  const auto f = [](const Inputs& in) {
    const Array X = in[0].value();
    const double size = size_of(in[0]);
    return record("cubed", X * Real(size), wrt(in[0], [=](const Array& dy) {
                    return dy * Real(size) + X * (sum_of(dy * X) * Real(2));
                  }));
  };
  const GradcheckReport report = gradcheck(f, {uniform({3}, 1)});
  CAPTURE(to_string(report));
  CHECK_FALSE(report.ok);
  CHECK((report.wrong_by_dual && !report.wrong_by_differences));
  CHECK_THAT(report.likely_cause,
             StartsWith("the oracles disagree, and differences confirm backward()"));
}

TEST_CASE("a contribution that neither backward() nor dual numbers see is found by differences") {
  const auto f = [](const Inputs& in) {
    return in[0] * size_of(in[0]);
  };  // a constant to the graph
  const GradcheckReport report = gradcheck(f, {uniform({3}, 1)});
  CAPTURE(to_string(report));
  CHECK_FALSE(report.ok);
  CHECK(report.problem == "the gradient is wrong");
  CHECK((!report.wrong_by_dual && report.wrong_by_differences));
  CHECK(report.max_error_dual <= gradcheck_tolerance_dual);
  CHECK_THAT(to_string(report), ContainsSubstring(" by backward(), ") &&
                                    ContainsSubstring(" by differences; 3 elements, "));
  CHECK_THAT(report.likely_cause,
             StartsWith("the oracles disagree, and dual numbers confirm backward()"));
}

namespace {

// exp(x), with a rule that multiplies the gradient of exp(0) by a factor.
Tensor exp_with(const Tensor& x, double factor) {
  const Array X = x.value(), y = exp(x).value();
  return record("exp", y, wrt(x, [=](const Array& dy) {
                  return dy * y * map(X, [=](Real a) { return Real(a == Real(0) ? factor : 1); });
                }));
}

}  // namespace

TEST_CASE("a wrong element is found beside one whose derivative is 1e15 times as large") {
  const Array x({2}, {35, 0});
  CHECK(gradcheck([](const Inputs& in) { return exp_with(in[0], 1); }, {x}).ok);
  const GradcheckReport report =
      gradcheck([](const Inputs& in) { return exp_with(in[0], -7); }, {x});
  CAPTURE(to_string(report));
  CHECK(report.problem == "the gradient is wrong");
  CHECK(report.index == "[1]");
  CHECK(report.wrong_by_dual);
  CHECK_THAT(report.max_error_dual, WithinRel(8, 1e-12));  // beside its own scale
  CHECK_THAT(report.pattern, StartsWith("1 of 2 elements is wrong"));
}

TEST_CASE("an element that is lost beside larger ones is undecided, said, and counted") {
  // The rounding of a sum of 1e15 is as large as the derivative 1 of its second term.
  for (const double factor : {1.0, 0.5}) {
    const auto f = [=](const Inputs& in) { return sum(exp_with(in[0], factor)); };
    const GradcheckReport report = gradcheck(f, {Array({2}, {35, 0})});
    CAPTURE(to_string(report));
    CHECK(report.ok);
    CHECK(report.undecided == (factor == 1 ? 0 : 1));
    if (factor == 1) continue;
    CHECK_THAT(report.note, StartsWith("1 of 2 elements is not proved by dual numbers, first input "
                                       "0[1]: this derivative is too small beside the others"));
  }
}

TEST_CASE("where large numbers cancel, backward() and dual numbers agree in fewer digits") {
  const auto variance_about = [](double c) {
    return gradcheck(
        [c](const Inputs& in) {
          const Tensor y = in[0] + c;
          return mean(y * y) - mean(y) * mean(y);
        },
        {uniform({6}, 1)});
  };
  CHECK(variance_about(0).undecided == 0);
  const GradcheckReport six = variance_about(1e4);
  CAPTURE(to_string(six));
  CHECK(six.ok);
  CHECK(six.undecided > 0);
  CHECK_THAT(six.note, ContainsSubstring("not proved by dual numbers, first input 0[") &&
                           ContainsSubstring("it agrees in six digits, and rounding hides the"));
  // Differences do not decide these elements either: they are counted once.
  CHECK_THAT(variance_about(1e5).note, StartsWith("6 of 6 elements are not proved") &&
                                           !ContainsSubstring("checked by dual numbers alone"));
  const GradcheckReport few = variance_about(1e11);
  CAPTURE(to_string(few));
  CHECK_FALSE(few.ok);
  CHECK_THAT(few.problem, StartsWith("rounding hides this derivative"));
}

TEST_CASE("a wholly wrong gradient costs few evaluations with dual numbers more") {
  const auto evaluations = [](double factor) {
    int count = 0;
    const GradcheckReport report = gradcheck(
        [&](const Inputs& in) {
          const Array x = in[0].value();
          count += sum_of(x).tangent != 0 ? 1 : 0;
          return record("spoiled", x * x,
                        wrt(in[0], [=](const Array& dy) { return dy * x * Real(2 * factor); }));
        },
        {uniform({200}, 1)});
    CHECK(report.ok == (factor == 1));
    return count;
  };
  const int right = evaluations(1), wrong = evaluations(1.5);
  CAPTURE(right, wrong);
  CHECK(wrong < 2 * right);
}
