// What each oracle finds alone: right, wrong or undecided, element by element.
#include "engine/gradcheck/comparison.h"

#include <cmath>
#include <new>
#include <stdexcept>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/interrupt.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace tests;

namespace {

using Found = Comparison::Verdict;
using OneInput = std::function<Tensor(const Tensor&)>;

// x, with a rule that multiplies the gradient of element 0 by a factor.
Tensor spoiled(const Tensor& x, double factor) {
  return record("spoiled", x.value().clone(), wrt(x, [factor](const Array& dy) {
                  Array dx = dy.clone();
                  dx.write()[0] *= Real(factor);
                  return dx;
                }));
}

// f at x, whose element 0 has a gradient that is wrong by a factor; compared by each oracle.
struct Compared {
  Compared(const OneInput& function, const Array& x, double factor = 1,
           const std::vector<std::string>& zero_gradients = {})
      : w(parameter(x.clone())) {
    options.zero_gradients = zero_gradients;
    f = [=, this] { return function(spoiled(w, factor)); };
    Array v = random_cotangent(f().shape(), 1);
    checked.emplace(CheckedGradients{f, named, options, v, gradients_of(f(), named, v)});
    dual.emplace(Method::dual, *checked);
    differences.emplace(Method::differences, *checked);
  }
  // A letter for each element: r(ight), w(rong) or u(ndecided).
  std::string verdicts(const Comparison& by) const {
    std::string all;
    for (Dim j = 0; j < w.size(); ++j) {
      const Found found = by.verdict(0, static_cast<std::size_t>(j));
      all += found == Found::right ? 'r' : found == Found::wrong ? 'w' : 'u';
    }
    return all;
  }

  Tensor w;
  GradcheckOptions options;
  std::function<Tensor()> f;
  std::vector<NamedTensor> named{{"w", w}};
  std::optional<CheckedGradients> checked;
  std::optional<Comparison> dual, differences;
};

namespace f_of_one {
const OneInput smooth = [](const Tensor& x) { return exp(x) * x; };
const OneInput kinked = [](const Tensor& x) { return relu(x) + x; };
const OneInput hidden = [](const Tensor& x) { return x * x + 1e10; };  // by rounding
const OneInput constant = [](const Tensor& x) { return sum(softmax(x)) + 0.0; };
}  // namespace f_of_one

}  // namespace

TEST_CASE("each oracle finds right, wrong and undecided elements, one beside the other") {
  const Array three = uniform({3}, 1), around_kink({3}, {0.5, 0, -0.5});
  const std::vector<std::string> listed{"w"};
  struct Row {
    const char* what;
    const OneInput& f;
    Array x;
    double factor;
    std::string dual, differences;
    std::vector<std::string> zero_gradients = {};
  };
  const std::vector<Row> rows = {
      {"right", f_of_one::smooth, three, 1, "rrr", "rrr"},
      {"half too much", f_of_one::smooth, three, 1.5, "wrr", "wrr"},
      {"no change with the last places", f_of_one::smooth, three, 1 + 1e-6, "wrr", "wrr"},
      {"between the two tolerances", f_of_one::smooth, three, 1 + 1e-10, "wrr", "rrr"},
      {"not a number", f_of_one::smooth, three, quiet_nan, "wrr", "wrr"},
      {"a kink", f_of_one::kinked, around_kink, 1, "rrr", "rur"},
      {"a wrong element beside a kink", f_of_one::kinked, around_kink, 1 + 1e-6, "wrr", "wur"},
      {"hidden by rounding", f_of_one::hidden, three, 1, "rrr", "uuu"},
      {"an error that rounding cannot explain", f_of_one::hidden, three, 2, "wrr", "wuu"},
      {"zeros", f_of_one::constant, three, 1, "uuu", "uuu"},
      {"zeros that are listed", f_of_one::constant, three, 1, "rrr", "rrr", listed},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const Compared both(row.f, row.x, row.factor, row.zero_gradients);
    CHECK(both.verdicts(*both.dual) == row.dual);
    CHECK(both.verdicts(*both.differences) == row.differences);
    for (const auto& by : {both.dual, both.differences}) {
      const std::string all = both.verdicts(*by);
      CHECK(by->wrong().has_value() == (all.find('w') != all.npos));
      CHECK(by->undecided().has_value() == (all.find('u') != all.npos));
      if (by->wrong()) CHECK(by->wrong()->worst().index == 0);
    }
  }
}

TEST_CASE("the largest error, both numbers and the problem are those of the decided elements") {
  const Array three = uniform({3}, 1), around_kink({3}, {0.5, 0, -0.5});
  const Compared right(f_of_one::smooth, three), wrong(f_of_one::smooth, three, 1.5),
      nan(f_of_one::smooth, three, quiet_nan), kink(f_of_one::kinked, around_kink),
      rounded(f_of_one::hidden, three), zeros(f_of_one::constant, three),
      moving(f_of_one::smooth, three, 1, {"w"});
  CHECK(right.dual->max_error() < 1e-14);
  CHECK(right.differences->max_error() < 1e-10);
  CHECK(kink.differences->max_error() < 1e-8);
  CHECK(rounded.differences->max_error() == infinity);
  for (const auto& by : {wrong.dual, wrong.differences}) {
    CHECK(by->wrong()->problem == "the gradient is wrong");
    CHECK_THAT(by->wrong()->worst().analytic, WithinRel(1.5 * by->wrong()->worst().expected, 1e-7));
    CHECK_THAT(by->max_error(), WithinRel(0.5, 1e-7));
    CHECK_THAT(by->diagnose_parameter(0).pattern, StartsWith("1 of 3 elements is wrong"));
  }
  for (const auto& by : {nan.dual, nan.differences}) {
    CHECK(std::isnan(by->max_error()));
    CHECK(std::isnan(by->wrong()->worst().analytic));
  }
  CHECK(kink.differences->undecided()->worst().index == 1);
  CHECK_THAT(kink.differences->undecided()->problem,
             StartsWith("finite differences do not converge"));
  CHECK_THAT(rounded.differences->undecided()->problem,
             StartsWith("rounding hides this derivative"));
  for (const auto& by : {zeros.dual, zeros.differences})
    CHECK_THAT(by->undecided()->problem, ContainsSubstring("zero_gradients"));
  for (const auto& by : {moving.dual, moving.differences})
    CHECK_THAT(by->wrong()->problem, StartsWith("the tensor is listed in zero_gradients"));
}

// Beside 2e-5 log has a smooth stretch that is too short for 1e-8: the steps disagree by more.
TEST_CASE("an error as small as the disagreement of the steps is undecided") {
  const OneInput f = [](const Tensor& x) { return log(x); };
  int undecided = 0;
  for (const double x : {1e-5, 1.5e-5, 2e-5, 3e-5, 5e-5}) {
    const Compared both(f, Array({1}, {x}));
    CHECK_FALSE(both.differences->wrong());
    undecided += both.verdicts(*both.differences) == "u" ? 1 : 0;
    CHECK(both.verdicts(*both.dual) == "r");
    CHECK(Compared(f, Array({1}, {x}), 2).dual->wrong());
  }
  CHECK(undecided >= 3);
}

TEST_CASE("where a gradient cancels to zero, what is left changes with the last places") {
  const OneInput f = [](const Tensor& b) { return (cosine_similarity(b, b) - 1.0) * 1e6 + 1.0; };
  int only_rounding = 0, right = 0, elements = 0;
  const std::uint64_t seeds = testing::sanitized ? 3 : 20;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    const Compared unlisted(f, uniform({3, 4}, seed)), listed(f, uniform({3, 4}, seed), 1, {"w"});
    CHECK_FALSE((unlisted.dual->wrong() || unlisted.differences->wrong()));
    CHECK_FALSE((listed.dual->wrong() || listed.differences->wrong()));
    const auto& zero = unlisted.dual->undecided();
    only_rounding += zero && zero->problem.find("zero_gradients") != std::string::npos ? 1 : 0;
    for (const auto& by : {listed.dual, listed.differences})
      for (std::size_t j = 0; j < 12; ++j, ++elements)
        right += by->verdict(0, j) == Found::right ? 1 : 0;
  }
  // By chance the change of an element is small: about one in a hundred is not recognised, and a
  // tensor of 12 elements is recognised only if all of them are.
  CHECK(right >= 0.95 * elements);
  CHECK(only_rounding >= 0.6 * static_cast<double>(seeds));
  // A derivative that is not zero is not taken for zero where rounding hides its last digits.
  const OneInput beside = [&](const Tensor& b) { return sum(f(b)) + sum(b); };
  const Compared unlisted(beside, uniform({3, 4}, 1)), listed(beside, uniform({3, 4}, 1), 1, {"w"});
  CHECK_FALSE((unlisted.dual->wrong() || unlisted.differences->wrong()));
  for (const auto& by : {listed.dual, listed.differences})
    CHECK_THAT(by->wrong()->problem, StartsWith("the tensor is listed in zero_gradients"));
}

TEST_CASE("an error stays wrong if f throws at the changed inputs") {
  const Array x = uniform({3}, 1), v = random_cotangent({3}, 1);
  const Tensor w = parameter(x.clone());
  const std::vector<NamedTensor> twice{{"w", w}, {"again", w}};
  const GradcheckOptions options;
  const auto compare = [&](auto error) {
    const std::function<Tensor()> f = [&] {
      if (to_vector(w.value()) != to_vector(x)) throw error;
      return f_of_one::smooth(spoiled(w, 1 + 1e-9));
    };
    const CheckedGradients checked{f, twice, options, v, gradients_of(f(), twice, v)};
    return Comparison(Method::dual, checked).verdict(0, 0);
  };
  CHECK(compare(std::invalid_argument("another input")) == Found::wrong);
  CHECK(same_bits(w.value(), x));
  CHECK_THROWS_AS(compare(Interrupted()), Interrupted);
  CHECK_THROWS_AS(compare(std::bad_alloc()), std::bad_alloc);
  CHECK(same_bits(w.value(), x));  // also after an interrupt, and although it is listed twice
}
