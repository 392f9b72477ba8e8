// What a report of a wrong gradient, or of one that an oracle cannot decide, says beyond the rows of
// test_gradcheck_bench.cpp: sizes of errors, positions, which oracle, and the whole text.
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

using In = const std::vector<Tensor>&;

// y = x³, whose right gradient `spoil` turns into another one.
template <class Spoil>
GradcheckReport check_spoiled(const Array& x, Spoil spoil) {
  const auto cube = [&](In in) {
    const Array X = in[0].value();
    return record("cube", X * X * X, wrt(in[0], [X, spoil](const Array& dy) {
                    return spoil(Array(dy * X * X * Real(3)));
                  }));
  };
  return gradcheck(cube, {x});
}

GradcheckReport check_factor(double factor) {
  return check_spoiled(uniform({3, 4}, 1), [factor](const Array& dx) { return dx * Real(factor); });
}

GradcheckReport check_element(const Shape& shape, Dim which, double factor) {
  return check_spoiled(uniform(shape, 1), [=](const Array& dx) {
    Array changed = dx.clone();
    changed.write()[which] *= Real(factor);
    return changed;
  });
}

Real total_of(const Array& x) {
  Real total = 0;
  for (Dim i = 0; i < x.size(); ++i) total += x[i];
  return total;
}

// |x|², computed in double: it carries no tangent.
double squares_of(const Tensor& x) { return value_of(total_of(x.value() * x.value())); }

}  // namespace

TEST_CASE("the error of a constant factor is its distance from 1, down to each tolerance") {
  for (const double factor : {1 + 1e-6, 1 - 1e-6, 1 + 1e-3, -1.0, 2.0, 0.5, 0.0, 1e6}) {
    CAPTURE(factor);
    const GradcheckReport report = check_factor(factor);
    CHECK(report.problem == "the gradient is wrong");
    CHECK((report.wrong_by_dual && report.wrong_by_differences));
    CHECK_THAT(report.max_error_dual, WithinRel(std::abs(factor - 1), 1e-3));
    CHECK_THAT(report.max_error_differences, WithinRel(std::abs(factor - 1), 1e-2));
    CHECK_THAT(report.analytic, WithinRel(factor * report.expected, 1e-7));
  }
  CHECK((gradcheck_tolerance_dual == 1e-12 && gradcheck_tolerance_differences == 1e-8));
  CHECK_FALSE(check_factor(1 + 3 * gradcheck_tolerance_dual).ok);
  CHECK(check_factor(1 + 0.3 * gradcheck_tolerance_dual).ok);
  CHECK(check_factor(1 + 3 * gradcheck_tolerance_differences).wrong_by_differences);
  CHECK_FALSE(check_factor(1 + 0.3 * gradcheck_tolerance_differences).wrong_by_differences);
}

TEST_CASE("one wrong element among thousands is named; it does not show the cause") {
  const GradcheckReport report = check_element({60, 50}, 37 * 50 + 23, 2);
  CHECK(report.elements == 3000);
  CHECK(report.index == "[37, 23]");
  CHECK_THAT(report.analytic, WithinRel(2 * report.expected, 1e-7));
  CHECK(report.likely_cause.empty());
  CHECK_THAT(to_string(report), EndsWith("; 1 of 3000 elements is wrong, the others are right; one "
                                         "element does not show the cause"));
}

TEST_CASE("NaN and infinity in a gradient are found, named and explained") {
  for (const double bad : {quiet_nan, infinity, -infinity}) {
    CAPTURE(bad);
    const GradcheckReport report = check_element({2, 3}, 4, bad);
    CHECK_FALSE(report.ok);
    CHECK(report.index == "[1, 1]");
    CHECK_FALSE(std::isfinite(report.analytic));
    CHECK((std::isfinite(report.expected) && report.expected != 0));
    CHECK_THAT(report.likely_cause, StartsWith("the gradient is not finite"));
  }
}

TEST_CASE("a function under NoGrad is a graph that is cut") {
  const auto unrecorded = [](In in) {
    const NoGrad no_grad;
    return exp(in[0]);
  };
  const GradcheckReport report = gradcheck(unrecorded, {uniform({3}, 1)});
  CHECK_FALSE(report.ok);
  CHECK_THAT(report.likely_cause, ContainsSubstring("the graph is cut"));
}

TEST_CASE("the report names the tensor, and says in words what its fields say") {
  const Tensor good = parameter(uniform({2}, 1)), bad = parameter(uniform({2, 2}, 2));
  const auto doubled = [](const Tensor& x) {
    return record("copy", x.value().clone(), wrt(x, [](const Array& dy) { return dy * Real(2); }));
  };
  const GradcheckReport report = gradcheck([&] { return exp(good) + doubled(bad); },
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
  const auto kinked = [](double at_zero) {
    return [=](In in) {
      const Array X = in[0].value();
      return in[0] + record("relu", relu(in[0]).value(), wrt(in[0], [=](const Array& dy) {
                              return dy * map(X, [=](Real v) {
                                       return Real(v == Real(0) ? at_zero : v > Real(0) ? 1 : 0);
                                     });
                            }));
    };
  };
  const GradcheckReport right = gradcheck(kinked(0), {x}), wrong = gradcheck(kinked(0.5), {x});
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
    return record("cubed", X * Real(size), wrt(in[0], [=](const Array& dy) {
                    return dy * Real(size) + X * (total_of(dy * X) * Real(2));
                  }));
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
          const Array x = in[0].value();
          count += total_of(x).tangent != 0 ? 1 : 0;
          return record("spoiled", x * x,
                        wrt(in[0], [=](const Array& dy) { return dy * x * Real(2 * factor); }));
        },
        {uniform({200}, 1)});
    CHECK(report.ok == (factor == 1));
    return count;
  };
  CHECK(evaluations(1.5) < 2 * evaluations(1));
}
