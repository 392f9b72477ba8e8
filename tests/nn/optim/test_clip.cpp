#include "nn/optim/optimizer.h"

#include "engine/array_math.h"
#include "engine/base/errors.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace tests;

namespace {

std::vector<Tensor> with_gradients(const std::vector<Array>& gradients) {
  std::vector<Tensor> parameters;
  for (const Array& g : gradients) {
    parameters.push_back(parameter(Array::zeros(g.shape())));
    parameters.back().set_grad(g);
  }
  return parameters;
}

long double norm_of(const std::vector<Tensor>& parameters) {
  long double squares = 0;
  for (const Tensor& p : parameters)
    for (const long double g : to_vector(p.grad())) squares += g * g;
  return std::sqrt(squares);
}

}  // namespace

TEST_CASE("clip_gradients: within the norm every bit stays") {
  const Array a({2}, {3, -0.0}), b({1}, {4});
  for (const double most : {5.0, 5.5, 1e300, infinity}) {
    const auto p = with_gradients({a, b});
    CHECK(clip_gradients(p, most) == 5);
    CHECK(same_bits(p[0].grad(), a));
    CHECK(same_bits(p[1].grad(), b));
  }
}

TEST_CASE("clip_gradients: beyond it all gradients shrink by one factor, of a norm over all") {
  // The second row has squares that a float cannot hold.
  for (const double size : {1.0, 1e30}) {
    auto p =
        with_gradients({Array({2}, {3 * size, 0}), Array({1}, {-4 * size}), Array({0, 2}, {})});
    p.push_back(parameter(Array::ones({2})));
    CHECK_THAT(clip_gradients(p, 1), WithinRel(5 * size, 1e-6));
    CHECK(close(p[0].grad(), Array({2}, {0.6, 0}), 1e-6));
    CHECK(close(p[1].grad(), Array({1}, {-0.8}), 1e-6));
    CHECK_FALSE(p[3].has_grad());
    CHECK(norm_of({p[0], p[1]}) <= 1);
  }
  CHECK(clip_gradients({}, 1) == 0);
  CHECK(clip_gradients(with_gradients({Array::zeros({3})}), 1) == 0);
}

TEST_CASE("clip_gradients: the norm is then no larger than asked") {
  for (const double size : {1.0, 1e3, 1e12}) {
    int too_large = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      const auto p = with_gradients(
          {uniform({7}, seed, -size, size), uniform({3, 2}, seed + 500, -size, size)});
      const double most = 0.1 + 0.01 * static_cast<double>(seed % 50);
      REQUIRE(clip_gradients(p, most) > most);
      CHECK(norm_of(p) > most * (1 - 1e-5));
      if (!(norm_of(p) <= most)) ++too_large;
    }
    CHECK(too_large == 0);
  }
}

TEST_CASE("clip_gradients: a factor that a float cannot hold still keeps the norm") {
  const bool single = sizeof(Real) == sizeof(float);
  struct Case {
    double size, most;
  };
  for (const Case c : single ? std::vector<Case>{{1e30, 1e-10}, {3e38, 1e-7}, {1, 1e-36}}
                             : std::vector<Case>{{1e150, 1e-170}, {1, 1e-300}}) {
    CAPTURE(c.size, c.most);
    int too_large = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const Array a = uniform({7}, seed, -c.size, c.size);
      const auto p = with_gradients({a, Array({1}, {c.size})});
      const double norm = clip_gradients(p, c.most);
      CHECK(close(p[0].grad() * Real(1 / c.most), a * Real(1 / norm), 1e-5));
      CHECK(norm_of(p) > c.most * (1 - 1e-5));
      if (!(norm_of(p) <= c.most)) ++too_large;
    }
    CHECK(too_large == 0);
  }
  // A hundred thousand equal numbers, each rounded alike, in a place where digits are few.
  const double least = single ? 1e-38 : 1e-308;
  const auto p = with_gradients({Array::ones({100'000})});
  clip_gradients(p, least);
  CHECK(norm_of(p) <= least);
  CHECK(norm_of(p) > least * (1 - 1e-4));
}

TEST_CASE("clip_gradients: gradients and norms that are not finite or positive are refused") {
  for (const double bad : {infinity, -infinity, not_a_number}) {
    const auto p = with_gradients({Array({2}, {30, 40}), Array({1}, {bad})});
    CHECK(refuses<NumericError>([&] { clip_gradients(p, 1); }, "clip_gradients",
                                "parameter 1 of shape (1) is "));
    CHECK(same_bits(p[0].grad(), Array({2}, {30, 40})));
  }
  if (sizeof(Real) != sizeof(float)) {
    const auto p = with_gradients({Array({1}, {1e200})});
    CHECK(refuses<NumericError>([&] { clip_gradients(p, 1); }, "clip_gradients", "is inf"));
    CHECK(same_bits(p[0].grad(), Array({1}, {1e200})));
  }
  for (const double most : {0.0, -1.0, not_a_number})
    CHECK(refuses<ValueError>([&] { clip_gradients({}, most); }, "max_norm", "positive", "got "));
}
