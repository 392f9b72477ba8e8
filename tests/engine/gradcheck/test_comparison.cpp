// What each oracle finds alone: right, wrong or undecided, element by element.
#include "engine/gradcheck/comparison.h"

#include <new>
#include <stdexcept>

#include "engine/base/interrupt.h"
#include "tests/engine/gradcheck/rules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

using Found = Comparison::Verdict;
using OneInput = std::function<Tensor(const Tensor&)>;

// f at x, whose element 0 has a gradient that is wrong by a factor; compared by each oracle.
struct Compared {
  Compared(const OneInput& function, const Array& x, double factor = 1,
           const std::vector<std::string>& zero_gradients = {})
      : w(parameter(x.clone())) {
    options.zero_gradients = zero_gradients;
    f = [=, this] { return function(spoiled_at(w, 0, factor)); };
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

namespace sample {
const OneInput smooth = [](const Tensor& x) { return exp(x) * x; };
const OneInput kinked = [](const Tensor& x) { return relu(x) + x; };
const OneInput hidden = [](const Tensor& x) { return x * x + 1e10; };  // by rounding
const OneInput constant = [](const Tensor& x) { return sum(softmax(x)) + 0.0; };
const Array three = uniform({3}, 1), around_kink({3}, {0.5, 0, -0.5});
}  // namespace sample

}  // namespace

TEST_CASE("each oracle finds right, wrong and undecided elements, one beside the other") {
  struct Row {
    const char* what;
    const OneInput& f;
    Array x;
    double factor;
    std::string dual, differences;
    std::vector<std::string> zero_gradients = {};
  };
  const std::vector<Row> rows = {
      {"right", sample::smooth, sample::three, 1, "rrr", "rrr"},
      {"half too much", sample::smooth, sample::three, 1.5, "wrr", "wrr"},
      {"no change with the last places", sample::smooth, sample::three, 1 + 1e-6, "wrr", "wrr"},
      {"between the two tolerances", sample::smooth, sample::three, 1 + 1e-10, "wrr", "rrr"},
      {"not a number", sample::smooth, sample::three, quiet_nan, "wrr", "wrr"},
      {"a kink", sample::kinked, sample::around_kink, 1, "rrr", "rur"},
      {"a wrong element beside a kink", sample::kinked, sample::around_kink, 1 + 1e-6, "wrr",
       "wur"},
      {"hidden by rounding", sample::hidden, sample::three, 1, "rrr", "uuu"},
      {"an error that rounding cannot explain", sample::hidden, sample::three, 2, "wrr", "wuu"},
      {"zeros", sample::constant, sample::three, 1, "uuu", "uuu"},
      {"zeros that are listed", sample::constant, sample::three, 1, "rrr", "rrr", {"w"}},
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

TEST_CASE("an error stays wrong if f throws at the changed inputs") {
  const Array x = uniform({3}, 1), v = random_cotangent({3}, 1);
  const Tensor w = parameter(x.clone());
  const std::vector<NamedTensor> twice{{"w", w}, {"again", w}};
  const GradcheckOptions options;
  const auto compare = [&](auto error) {
    const std::function<Tensor()> f = [&] {
      if (to_vector(w.value()) != to_vector(x)) throw error;
      return sample::smooth(spoiled_at(w, 0, 1 + 1e-9));
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
