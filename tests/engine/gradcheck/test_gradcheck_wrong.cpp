// The checker can fail: wrong gradients of every kind are found, by both oracles.
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

// y = x³, whose right gradient `spoil` turns into a wrong one.
template <class Spoil>
GradcheckReport check_spoiled(const Array& x, Spoil spoil) {
  const auto cube = [&](const std::vector<Tensor>& in) {
    const Array X = in[0].value();
    return record("cube", X * X * X, wrt(in[0], [X, spoil](const Array& dy) {
                    return spoil(Array(dy * X * X * Real(3)));
                  }));
  };
  const GradcheckReport report = gradcheck(cube, {x});
  CAPTURE(to_string(report));
  CHECK(report.ok == report.problem.empty());
  CHECK(report.wrong_by_dual == (report.problem == "the gradient is wrong"));
  return report;
}

GradcheckReport check_factor(double factor) {
  return check_spoiled(uniform({3, 4}, 1), [factor](const Array& dx) { return dx * Real(factor); });
}

// The gradient with its elements moved: element i comes from source(i).
template <class Source>
GradcheckReport check_moved(const Shape& shape, Source source) {
  return check_spoiled(uniform(shape, 1), [source](const Array& dx) {
    Array moved(dx.shape());
    Real* to = moved.write();
    for (Dim i = 0; i < dx.size(); ++i) to[i] = dx[source(i)];
    return moved;
  });
}

GradcheckReport check_element(const Shape& shape, Dim which, double value) {
  return check_spoiled(uniform(shape, 1), [=](const Array& dx) {
    Array changed = dx.clone();
    changed.write()[which] = Real(value);
    return changed;
  });
}

std::string is_times(const std::string& factor, const std::string& reason) {
  return "backward() gives " + factor + " times the true gradient in every element: " + reason;
}

}  // namespace

TEST_CASE("the right gradient passes, so that what follows means something") {
  CHECK(check_factor(1).ok);
  CHECK(check_moved({5}, [](Dim i) { return i; }).ok);
}

TEST_CASE("a constant factor is found, down to the tolerance") {
  for (const double factor : {1 + 1e-6, 1 - 1e-6, 1 + 1e-3, -1.0, 2.0, 0.5, 0.0, 1e6}) {
    CAPTURE(factor);
    const GradcheckReport report = check_factor(factor);
    CHECK_FALSE(report.ok);
    CHECK(report.problem == "the gradient is wrong");
    CHECK(report.tensor == "input 0");
    CHECK((report.wrong_by_dual && report.wrong_by_differences));
    CHECK_THAT(report.max_error_dual, WithinRel(std::abs(factor - 1), 1e-3));
    CHECK_THAT(report.max_error_differences, WithinRel(std::abs(factor - 1), 1e-2));
    CHECK_THAT(report.analytic, WithinRel(factor * report.expected, 1e-7));
  }
}

TEST_CASE("the smallest factor that each oracle finds") {
  CHECK_FALSE(check_factor(1 + 3 * gradcheck_tolerance_dual).ok);
  CHECK(check_factor(1 + 0.3 * gradcheck_tolerance_dual).ok);
  CHECK(check_factor(1 + 3 * gradcheck_tolerance_differences).wrong_by_differences);
  CHECK_FALSE(check_factor(1 + 0.3 * gradcheck_tolerance_differences).wrong_by_differences);
}

TEST_CASE("known patterns have their likely cause in the report") {
  CHECK(check_factor(2).likely_cause == is_times("2", "a contribution is counted twice"));
  CHECK(check_factor(-1).likely_cause == is_times("-1", "a sign is wrong"));
  CHECK(check_factor(std::sqrt(8)).likely_cause ==
        is_times("2.82843", "a scale such as 1/sqrt(8) is missing or applied twice"));
  CHECK(check_factor(1.001).likely_cause == is_times("1.001", "a constant factor is wrong"));
  CHECK_THAT(check_factor(0).likely_cause, StartsWith("backward() gives zero in every element"));
}

TEST_CASE("a transposed gradient is found and named") {
  const GradcheckReport report = check_moved({4, 4}, [](Dim i) { return i % 4 * 4 + i / 4; });
  CHECK_FALSE(report.ok);
  CHECK(report.likely_cause == "the gradient is transposed");
}

TEST_CASE("right numbers in the wrong places are found") {
  CHECK_FALSE(check_moved({7}, [](Dim i) { return (i + 1) % 7; }).ok);  // shifted by one
  CHECK_FALSE(check_moved({7}, [](Dim i) { return 6 - i; }).ok);        // reversed
  CHECK_FALSE(check_moved({3, 4}, [](Dim i) { return i % 3 * 4 + i / 3; }).ok);
  CHECK_FALSE(check_moved({7}, [](Dim i) { return i < 2 ? 1 - i : i; }).ok);  // two swapped
}

TEST_CASE("one wrong element among thousands is found and named") {
  const Dim columns = 50, row = 37, column = 23;
  const GradcheckReport report = check_element({60, columns}, row * columns + column, 0.125);
  CHECK_FALSE(report.ok);
  CHECK(report.elements == 3000);
  CHECK(report.index == "[37, 23]");
  CHECK(report.analytic == 0.125);
}

TEST_CASE("of one wrong element the report names the numbers and no cause") {
  const GradcheckReport report = check_spoiled(uniform({4, 3}, 1), [](const Array& dx) {
    Array changed = dx.clone();
    changed.write()[7] *= Real(2);
    return changed;
  });
  CHECK(report.index == "[2, 1]");
  CHECK_THAT(report.analytic, WithinRel(2 * report.expected, 1e-7));
  CHECK(report.likely_cause.empty());
  CHECK_THAT(to_string(report), EndsWith("; 1 of 12 elements is wrong, the others are right; one "
                                         "element does not show the cause"));
}

TEST_CASE("a wrong element is found although another is a million times larger") {
  const Array x({2}, {1000, 1});
  CHECK(check_spoiled(x, [](const Array& dx) { return dx; }).ok);
  const GradcheckReport report = check_spoiled(x, [](const Array& dx) {
    return Array({2}, {value_of(dx[0]), 0});
  });
  CHECK_FALSE(report.ok);
  CHECK(report.index == "[1]");
}

TEST_CASE("NaN and infinity in a gradient are found, named and explained") {
  for (const double bad : {quiet_nan, infinity, -infinity}) {
    CAPTURE(bad);
    const GradcheckReport report = check_element({2, 3}, 4, bad);
    CHECK_FALSE(report.ok);
    CHECK(report.index == "[1, 1]");
    CHECK(std::isfinite(report.analytic) == false);
    CHECK(std::isfinite(report.expected));
    CHECK(report.expected != 0);
    CHECK(report.likely_cause ==
          "the gradient is not finite: the rule computes 0/0, log(0) or infinity times zero");
  }
}

TEST_CASE("a gradient of another shape is refused by the engine") {
  CHECK_THROWS_AS(check_spoiled(uniform({3}, 1), [](const Array&) { return Array::ones({2}); }),
                  ShapeError);
}

TEST_CASE("only early positions wrong: time is the axis before the last") {
  const GradcheckReport report = check_spoiled(uniform({4, 3}, 1), [](const Array& dx) {
    Array changed = dx.clone();
    Real* to = changed.write();
    for (Dim i = 0; i < 6; ++i) to[i] *= Real(0.25 + 0.1 * static_cast<double>(i));
    return changed;
  });
  CHECK_FALSE(report.ok);
  CHECK_THAT(report.likely_cause,
             StartsWith("only early positions are wrong, positions 0 to 1 of 4 along axis 0: "));
}

TEST_CASE("softmax with a rule that returns zeros is found; a plain sum would not see it") {
  const auto silent_softmax = [](const Tensor& x) {
    return record("softmax", softmax(x).value(),
                  wrt(x, [](const Array& dy) { return Array::zeros(dy.shape()); }));
  };
  const auto f = [&](const std::vector<Tensor>& in) { return silent_softmax(in[0]); };
  const GradcheckReport report = gradcheck(f, {uniform({5}, 1)});
  CHECK_FALSE(report.ok);
  CHECK_THAT(report.likely_cause, StartsWith("backward() gives zero in every element"));
}

TEST_CASE("softmax without its second term is found") {
  const auto f = [](const std::vector<Tensor>& in) {
    const Array y = softmax(in[0]).value();
    return record("softmax", y, wrt(in[0], [y](const Array& dy) { return dy * y; }));
  };
  CHECK_FALSE(gradcheck(f, {uniform({5}, 1)}).ok);
}

TEST_CASE("a graph that is cut on the way is found") {
  const auto detached = [](const std::vector<Tensor>& in) { return exp(in[0]) * in[0].detach(); };
  CHECK_FALSE(gradcheck(detached, {uniform({3}, 1)}).ok);
  const auto unrecorded = [](const std::vector<Tensor>& in) {
    const NoGrad no_grad;
    return exp(in[0]);
  };
  const GradcheckReport report = gradcheck(unrecorded, {uniform({3}, 1)});
  CHECK_FALSE(report.ok);
  CHECK_THAT(report.likely_cause, ContainsSubstring("the graph is cut"));
}

TEST_CASE("the report names tensor, index, both numbers, the oracles, both errors and the cause") {
  const Tensor good = parameter(uniform({2}, 1)), bad = parameter(uniform({2, 2}, 2));
  const auto doubled = [](const Tensor& x) {
    return record("copy", x.value().clone(), wrt(x, [](const Array& dy) { return dy * Real(2); }));
  };
  const GradcheckReport report = gradcheck([&] { return exp(good) + doubled(bad); },
                                           {{"layer.good", good}, {"layer.bad", bad}});
  CHECK(report.tensor == "layer.bad");
  char expected[300];
  std::snprintf(
      expected, sizeof expected,
      "the gradient is wrong: layer.bad%s is %g by backward(), %g by dual numbers and differences; "
      "6 elements, largest error %g (dual), %g (differences); likely cause: backward() gives 2 times "
      "the true gradient in every element: a contribution is counted twice",
      report.index.c_str(), report.analytic, report.expected, report.max_error_dual,
      report.max_error_differences);
  CHECK_THAT(to_string(report), StartsWith(std::string(expected) + "\n"));
  CHECK_THAT(report.max_error_dual, WithinRel(1, 1e-3));
  CHECK_THAT(report.max_error_differences, WithinRel(1, 1e-3));
}
