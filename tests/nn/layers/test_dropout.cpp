#include "nn/layers/layers.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace tests;

namespace {

Array dropped(const Array& x, double p, std::uint64_t seed) {
  Rng rng(seed);
  return Dropout(p)(x, Mode::training(rng)).value();
}

}  // namespace

TEST_CASE("Dropout: evaluating, x passes untouched, NaN and all; so it does in training at p = 0") {
  const Array x({4}, {1, -0.0, not_a_number, infinity});
  CHECK(same_bits(Dropout(0.9)(x, Mode::evaluation()).value(), x));
  const Tensor p = parameter(counting({3}));
  CHECK(Dropout(0.9)(p, Mode::evaluation()).node() == p.node());
  CHECK(same_bits(dropped(x, 0, 1), x));
}

TEST_CASE("Dropout: what is kept is x/(1 − p), the share of zeros is p, in five standard errors") {
  constexpr Dim n = 40000;
  const Array x = uniform({n}, 2, 1, 2);
  for (const double p : {0.1, 0.5, 0.75, 0.9}) {
    const Array y = dropped(x, p, 3);
    Dim zeros = 0;
    double furthest = 0;
    for (Dim i = 0; i < n; ++i) {
      zeros += y[i] == Real(0);
      if (y[i] != Real(0))
        furthest = std::max(furthest, std::abs(value_of(y[i] / x[i]) * (1 - p) - 1));
    }
    CHECK(furthest <= 4 * unit);
    CHECK_THAT(static_cast<double>(zeros), WithinAbs(p * n, 5 * std::sqrt(p * (1 - p) * n)));
  }
}

TEST_CASE("Dropout: the backward pass drops what the forward pass dropped, exactly") {
  Rng rng(4);
  const Tensor x = parameter(Array::ones({200}));
  const Tensor y = Dropout(0.5)(x, Mode::training(rng));
  const Array dy = integers({200}, 5), kept = y.value();
  backward(y, dy);
  for (Dim i = 0; i < 200; ++i) CHECK(x.grad()[i] == dy[i] * kept[i]);  // kept is 0 or 2
  CHECK(std::count(kept.data(), kept.data() + 200, Real(0)) > 50);
}

TEST_CASE("Dropout: a generator decides the zeros, and the next call draws new ones") {
  const Array x = Array::ones({100});
  CHECK(same_bits(dropped(x, 0.5, 6), dropped(x, 0.5, 6)));
  CHECK_FALSE(same_bits(dropped(x, 0.5, 6), dropped(x, 0.5, 7)));
  Rng rng(6);
  const Dropout drop(0.5);
  const Array first = drop(x, Mode::training(rng)).value();
  CHECK(same_bits(first, dropped(x, 0.5, 6)));
  CHECK_FALSE(same_bits(drop(x, Mode::training(rng)).value(), first));
}

TEST_CASE("Dropout: probabilities outside [0, 1) are refused") {
  for (const double p : {1.0, -0.1, 1.5, infinity, not_a_number})
    CHECK(refuses<ValueError>([p] { Dropout{p}; }, "Dropout", "[0, 1)", "got "));
  CHECK(Dropout(0).p == 0);
}
