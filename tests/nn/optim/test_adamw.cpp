// AdamW against ten lines of long double, and its moments saved and restored. What it shares with
// other optimisers is in test_optimizer.cpp.
#include "nn/optim/adamw.h"

#include <algorithm>

#include "tests/nn/modules.h"
#include "tests/nn/optim/by_definition.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace tests;

namespace {

constexpr bool in_float = sizeof(Real) == sizeof(float);

double ulp(double x) { return std::nextafter(std::abs(x), infinity) - std::abs(x); }

/// The number after one step from `theta` with gradient g.
double stepped(double theta, double g, const AdamWOptions& options) {
  const Tensor p = parameter(Array({1}, {theta}));
  p.set_grad(Array({1}, {g}));
  AdamW adamw({p}, options);
  adamw.step();
  return p.item();
}

}  // namespace

// A gradient that falls by 10⁴ lets v fall by 10⁸: what is rounded away at the old size of v must not
// stay behind. Each step starts at the same θ.
TEST_CASE("AdamW: steps and moments follow the formulas, whatever the settings and the gradients") {
  const std::vector<double> betas{0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1 - 1e-7};
  const std::vector<double> sizes{1, 1e-4, 1e4, 1, 1, 1e-4, 1e-4, 1e4, 1e4, 1};
  const double last_place = in_float ? 0x1p-23 : 0x1p-52;
  for (const double beta1 : betas)
    for (const double beta2 : betas)
      for (const bool has_decay : {false, true}) {
        CAPTURE(beta1, beta2, has_decay);
        const double theta = has_decay ? 3 : 0, eps = has_decay ? 1 : 1e-8;
        const AdamWOptions options{
            .rate = 0.5, .beta1 = beta1, .beta2 = beta2, .eps = eps, .decay = has_decay ? 0.25 : 0};
        const Tensor p = parameter(Array({1}, {theta}));
        AdamW adamw({p}, options);
        AdamWNumber expected{theta};
        Rng rng(6);
        double reach = 0;  // of m, were all gradients of one sign: m itself may cancel
        for (int t = 1; t <= 40; ++t) {
          const double g =
              value_of(Real(rng.normal() * sizes[static_cast<std::size_t>(t) % sizes.size()]));
          assign(p, Array({1}, {theta}));
          p.set_grad(Array({1}, {g}));
          adamw.step();
          expected.theta = theta;
          expected.step(g, options);
          reach = beta1 * reach + (1 - beta1) * std::abs(g);
          // Each step rounds each moment by at most two last places. 1 − βᵗ is computed in double.
          const double off = 2 * t * last_place;
          const double off_correction = 0x1p-52 / (1 - std::max(beta1, beta2));
          const AdamW::Moments moments = adamw.moments()[0];
          const double m = static_cast<double>(expected.m), v = static_cast<double>(expected.v);
          CHECK_THAT(value_of(moments.m.item()), WithinAbs(m, off * reach));
          CHECK_THAT(value_of(moments.v.item()), WithinRel(v, off));
          const double decayed = theta * (1 - options.rate * options.decay),
                       step = static_cast<double>(expected.theta) - decayed,
                       larger =
                           std::abs(step) * std::max(reach / std::max(std::abs(m), 1e-300), 1.0);
          CHECK_THAT(p.item(),
                     WithinAbs(decayed + step, (off + 8 * last_place + off_correction) * larger +
                                                   4 * last_place * theta));
        }
      }
}

TEST_CASE("AdamW: the errors of 1000 steps add up to no more than those of rounding θ") {
  for (const AdamWOptions& options : std::vector<AdamWOptions>{
           {},
           {.rate = 1e-2, .decay = 0},
           {.rate = 3e-3, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-6, .decay = 0.1},
           {.rate = 1e-3, .beta1 = 0, .beta2 = 0.5, .decay = 1}}) {
    Rng rng(1);
    for (int number = 0; number < 8; ++number) {
      const double start = static_cast<double>(static_cast<float>(2 + rng.uniform()));
      const Tensor p = parameter(Array({1}, {start}));
      AdamW adamw({p}, options);
      AdamWNumber reference{start};
      double worst = 0;
      for (int step = 0; step < 1000; ++step) {
        const double g = static_cast<double>(static_cast<float>(rng.normal()));
        p.set_grad(Array({1}, {g}));
        if (!in_float) {  // each step starts where the reference is
          assign(p, Array({1}, {static_cast<double>(reference.theta)}));
          reference.theta = p.item();
        }
        adamw.step();
        reference.step(g, options);
        const double expected = static_cast<double>(reference.theta),
                     off = std::abs(p.item() - expected);
        worst = std::max(worst, in_float ? off / std::abs(expected) : off / ulp(expected));
      }
      // Float: every step rounds θ, by 0.29 of its last place in the mean square; five times what
      // 1000 such errors add up to.
      CHECK(worst <= (in_float ? 5 * 0.29 * std::sqrt(1000.0) * 0x1p-23 : 4));
    }
  }
}

TEST_CASE("AdamW: gradients that are 0, too small for their squares, or large") {
  CHECK(stepped(3, 0, {.rate = 0.5, .decay = 0}) == 3);
  CHECK(stepped(3, 0, {.rate = 0.5, .decay = 0.5}) == 2.25);
  for (const double g : {1e-30, -1e-30, 1e-40})
    CHECK_THAT(stepped(3, g, {.decay = 0}), WithinAbs(3, 1e-15));
  CHECK_THAT(stepped(0, 1e15, {.decay = 0}), WithinRel(-1e-3, 10 * rounding));
}

// A square beyond the largest number would freeze the parameter for good: v stays infinite.
TEST_CASE("AdamW: a gradient too large for its square is refused, and moves nothing") {
  const Tensor first = parameter(Array({1}, {2})), p = parameter(Array({2}, {3, 4}));
  first.set_grad(Array({1}, {1}));
  p.set_grad(Array({2}, {1, in_float ? 1e25 : 1e200}));
  AdamW adamw({first, p}, {});
  CHECK(refuses<NumericError>([&] { adamw.step(); }, "AdamW", "parameter 1 of shape (2)",
                              in_float ? "1e+25 at element 1" : "1e+200 at element 1", "square"));
  CHECK(same_bits(first.value(), Array({1}, {2})));
  CHECK(same_bits(p.value(), Array({2}, {3, 4})));
}

TEST_CASE("AdamW: the defaults are the papers', and settings that make no sense are refused") {
  const AdamWOptions o;
  CHECK((o.rate == 1e-3 && o.beta1 == 0.9 && o.beta2 == 0.999 && o.eps == 1e-8 && o.decay == 1e-2));
  const auto made = [](const AdamWOptions& options) { return [options] { AdamW({}, options); }; };
  CHECK_NOTHROW(made({.rate = 0, .beta1 = 0, .beta2 = 0, .decay = 0})());
  for (const double wrong : {-1.0, infinity, not_a_number}) {
    CHECK(refuses<ValueError>(made({.rate = wrong}), "AdamW: the rate", "got "));
    CHECK(refuses<ValueError>(made({.eps = wrong}), "AdamW: eps", "got "));
    CHECK(refuses<ValueError>(made({.decay = wrong}), "AdamW: the decay", "got "));
  }
  for (const double wrong : {1.0, -0.1, 1.5, not_a_number}) {
    CHECK(refuses<ValueError>(made({.beta1 = wrong}), "AdamW", "betas", "got "));
    CHECK(refuses<ValueError>(made({.beta2 = wrong}), "AdamW", "betas", "got "));
  }
  CHECK(refuses<ValueError>(made({.eps = 0}), "AdamW: eps", "got 0"));
  if (in_float) {  // there it is 0, and infinite
    CHECK(refuses<ValueError>(made({.eps = 1e-50}), "AdamW: eps", "got 1e-50"));
    CHECK(refuses<ValueError>(made({.rate = 1e39}), "AdamW: the rate", "got 1e+39"));
  }
  const auto factors = [](std::vector<double> list) {
    return [list] {
      AdamW({parameter(Array::zeros({1})), parameter(Array::zeros({1}))}, {}, list);
    };
  };
  CHECK(refuses<ValueError>(factors({1}), "AdamW", "2 parameters", "1 factors"));
  CHECK(refuses<ValueError>(factors({1, -0.5}), "AdamW", "[0, 1]", "got -0.5"));
  CHECK(refuses<ValueError>(factors({1.5, 0}), "AdamW", "[0, 1]", "got 1.5"));
  CHECK(refuses<ValueError>(factors({1, not_a_number}), "AdamW", "[0, 1]", "nan"));
}

namespace {

/// Two parameters with gradients of a seed; the second only from its second step on.
struct TwoWeights {
  Tensor a = parameter(Array({2}, {1, 2})), b = parameter(Array({1, 1}, {3}));
  AdamW adamw{{a, b}, {}};

  void step(int number) {
    Rng rng(static_cast<std::uint64_t>(number));
    adamw.zero_grad();
    a.set_grad(Array({2}, {rng.normal(), rng.normal()}));
    if (number > 0) b.set_grad(Array({1, 1}, {rng.normal()}));
    adamw.step();
  }
  void take_numbers_of(const TwoWeights& other) const {
    assign(a, other.a.value());
    assign(b, other.b.value());
  }
};

}  // namespace

TEST_CASE("AdamW: with its moments restored it goes on in the same bits") {
  for (const int stop : {0, 1, 2, 5}) {
    TwoWeights whole, first, second;
    for (int step = 0; step < 8; ++step) whole.step(step);
    for (int step = 0; step < stop; ++step) first.step(step);
    const std::vector<AdamW::Moments> moments = first.adamw.moments();
    CHECK(moments[0].t == stop);
    CHECK(moments[1].t == std::max(stop - 1, 0));
    CHECK(moments[1].m.exists() == (stop > 1));
    second.take_numbers_of(first);
    second.step(5);  // what it remembers before is gone
    second.take_numbers_of(first);
    second.adamw.restore(moments);
    first.step(stop);  // the moments are copies: neither moves the other's
    for (int step = stop; step < 8; ++step) second.step(step);
    CHECK(same_bits(second.a.value(), whole.a.value()));
    CHECK(same_bits(second.b.value(), whole.b.value()));
  }
}

TEST_CASE("AdamW: moments that no steps give are refused, and change nothing") {
  TwoWeights pair;
  for (int step = 0; step < 3; ++step) pair.step(step);
  const std::vector<AdamW::Moments> good = pair.adamw.moments();
  const auto restored = [&](auto change) {
    return [&pair, moments = good, change]() mutable {
      change(moments);
      pair.adamw.restore(moments);
    };
  };
  CHECK(refuses<ValueError>(restored([](auto& m) { m.pop_back(); }), "2 parameters", "of 1"));
  const auto misfit = [&](auto change, const char* which) {
    CHECK(refuses<ValueError>(restored(change), which, "do not fit"));
  };
  misfit([](auto& m) { m[1].t = -1; }, "parameter 1 has had -1");
  misfit([](auto& m) { m[1] = {Array(), Array(), -1}; }, "parameter 1 has had -1");
  misfit([](auto& m) { m[1].t = 0; }, "parameter 1 has had 0");
  misfit([](auto& m) { m[0].v = Array(); }, "parameter 0 has had 3");
  CHECK(refuses<ShapeError>(restored([](auto& m) { m[1].m = Array({1}, {0}); }),
                            "parameter 1 of shape (1, 1)", "(1) and (1, 1)"));
  const std::vector<AdamW::Moments> now = pair.adamw.moments();
  for (std::size_t p = 0; p < good.size(); ++p) {
    CHECK(now[p].t == good[p].t);
    CHECK(same_bits(now[p].m, good[p].m));
    CHECK(same_bits(now[p].v, good[p].v));
  }
}
