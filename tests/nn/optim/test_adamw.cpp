#include "nn/optim/adamw.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

// AdamW for one number in long double, written from the papers' formulas alone.
struct Reference {
  AdamWOptions o;
  long double theta, m = 0, v = 0;
  int t = 0;

  void step(long double g) {
    ++t;
    theta *= 1 - static_cast<long double>(o.rate) * o.decay;
    m = o.beta1 * m + (1 - static_cast<long double>(o.beta1)) * g;
    v = o.beta2 * v + (1 - static_cast<long double>(o.beta2)) * g * g;
    const long double m_hat = m / (1 - std::pow(static_cast<long double>(o.beta1), t));
    const long double v_hat = v / (1 - std::pow(static_cast<long double>(o.beta2), t));
    theta -= o.rate * m_hat / (std::sqrt(v_hat) + o.eps);
  }
};

const std::vector<AdamWOptions> settings{
    {},
    {.rate = 1e-2, .decay = 0},
    {.rate = 3e-3, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-6, .decay = 0.1},
    {.rate = 1e-3, .beta1 = 0, .beta2 = 0.5, .decay = 1}};

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

TEST_CASE("AdamW: 1000 steps follow the formulas") {
  constexpr bool in_double = sizeof(Real) != sizeof(float);
  for (const AdamWOptions& options : settings) {
    Rng rng(1);
    for (int number = 0; number < 8; ++number) {
      const double start = static_cast<double>(static_cast<float>(2 + rng.uniform()));
      const Tensor p = parameter(Array({1}, {start}));
      AdamW adamw({p}, options);
      Reference reference{options, start};
      double worst = 0;
      for (int step = 0; step < 1000; ++step) {
        const double g = static_cast<double>(static_cast<float>(rng.normal()));
        p.set_grad(Array({1}, {g}));
        if (in_double) {  // each step starts where the reference is
          assign(p, Array({1}, {static_cast<double>(reference.theta)}));
          reference.theta = p.item();
        }
        adamw.step();
        reference.step(g);
        const double expected = static_cast<double>(reference.theta),
                     off = std::abs(p.item() - expected);
        worst = std::max(worst, in_double ? off / ulp(expected) : off / std::abs(expected));
      }
      // Float: every step rounds θ, by 0.29 of its last place in the mean square; five times what
      // 1000 such errors add up to.
      CHECK(worst <= (in_double ? 4 : 5 * 0.29 * std::sqrt(1000.0) * 0x1p-23));
    }
  }
}

// A gradient that falls by 10⁴ lets v fall by 10⁸: what is rounded away at the old size of v must not
// stay behind. Each step starts at θ = 0, so θ is then the step.
TEST_CASE("AdamW: moments follow gradients that jump, whatever the betas") {
  const std::vector<double> betas{0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1 - 1e-7};
  const std::vector<double> sizes{1, 1e-4, 1e4, 1, 1, 1e-4, 1e-4, 1e4, 1e4, 1};
  for (const double beta1 : betas)
    for (const double beta2 : betas) {
      CAPTURE(beta1, beta2);
      const AdamWOptions options{.rate = 0.5, .beta1 = beta1, .beta2 = beta2, .decay = 0};
      const Tensor p = parameter(Array::zeros({1}));
      AdamW adamw({p}, options);
      Reference reference{options, 0};
      Rng rng(6);
      double reach = 0;  // of m, were all gradients of one sign: m itself may cancel
      for (int t = 1; t <= 40; ++t) {
        const double g =
            value_of(Real(rng.normal() * sizes[static_cast<std::size_t>(t) % sizes.size()]));
        assign(p, Array::zeros({1}));
        p.set_grad(Array({1}, {g}));
        adamw.step();
        reference.theta = 0;
        reference.step(g);
        reach = beta1 * reach + (1 - beta1) * std::abs(g);
        // Each step rounds each moment by no more than two last places. 1 - βᵗ is computed in double.
        const double last_place = sizeof(Real) == sizeof(float) ? 0x1p-23 : 0x1p-52;
        const double off = 2 * t * last_place;
        const double off_correction = 0x1p-52 / (1 - std::max(beta1, beta2));
        const AdamW::Moments moments = adamw.moments()[0];
        const double m = static_cast<double>(reference.m), v = static_cast<double>(reference.v);
        CHECK_THAT(value_of(moments.m.item()), WithinAbs(m, off * reach));
        CHECK_THAT(value_of(moments.v.item()), WithinRel(v, off));
        const double step = static_cast<double>(reference.theta);
        const double larger = std::abs(step) * std::max(reach / std::max(std::abs(m), 1e-300), 1.0);
        CHECK_THAT(p.item(), WithinAbs(step, (off + 8 * last_place + off_correction) * larger));
      }
    }
}

TEST_CASE("AdamW: without memory a step has the size of the rate after any gradient") {
  const Tensor p = parameter(Array::zeros({1}));
  AdamW adamw({p}, {.rate = 0.01, .beta1 = 0, .beta2 = 0, .decay = 0});
  for (const double g : {1.0, 1e-4, 1e4, -1e-3}) {
    assign(p, Array::zeros({1}));
    p.set_grad(Array({1}, {g}));
    adamw.step();
    CHECK_THAT(p.item(), WithinRel(-0.01 * g / (std::abs(g) + 1e-8), 10 * rounding));
  }
}

// At t = 1 the corrected moments are g and g²: θ − rate·g/(|g| + eps).
TEST_CASE("AdamW: the first step has the size of the rate, whatever the gradient") {
  for (const double g : {1.0, -1.0, 1e-3, -30.0, 1e15}) {
    CHECK_THAT(stepped(0, g, {.decay = 0}),
               WithinRel(-1e-3 * g / (std::abs(g) + 1e-8), 10 * rounding));
    CHECK_THAT(stepped(0, g, {.rate = 0.5, .beta1 = 0.2, .beta2 = 0.3, .decay = 0}),
               WithinRel(-0.5 * g / (std::abs(g) + 1e-8), 10 * rounding));
  }
}

TEST_CASE("AdamW: a gradient of 0 moves only by decay") {
  CHECK(stepped(3, 0, {.rate = 0.5, .decay = 0}) == 3);
  CHECK(stepped(3, 0, {.rate = 0.5, .decay = 0.5}) == 2.25);
}

TEST_CASE("AdamW: gradients too small for their squares move nothing but break nothing") {
  for (const double g : {1e-30, -1e-30, 1e-40})
    CHECK_THAT(stepped(3, g, {.decay = 0}), WithinAbs(3, 1e-15));
}

// A square beyond the largest number would freeze the parameter for good: v stays infinite.
TEST_CASE("AdamW: a gradient too large for its square is refused, and moves nothing") {
  const double g = sizeof(Real) == sizeof(float) ? 1e25 : 1e200;
  const Tensor first = parameter(Array({1}, {2})), p = parameter(Array({2}, {3, 4}));
  first.set_grad(Array({1}, {1}));
  p.set_grad(Array({2}, {1, g}));
  AdamW adamw({first, p}, {});
  CHECK(refusal<NumericError>([&] { adamw.step(); }) ==
        "AdamW: the gradient of parameter 1 of shape (2) is " +
            std::string(sizeof(Real) == sizeof(float) ? "1e+25" : "1e+200") +
            " at element 1, and its square overflows; no parameter was changed; a smaller rate or "
            "clipping may help");
  CHECK(same_bits(first.value(), Array({1}, {2})));
  CHECK(same_bits(p.value(), Array({2}, {3, 4})));
}

// g = 1 throughout: m̂ = v̂ = 1 at every t, so each step is rate/(1 + eps) and nothing else.
TEST_CASE("AdamW: bias correction makes a constant gradient's steps all alike") {
  const Tensor p = parameter(Array({1}, {0}));
  AdamW adamw({p}, {.rate = 0.25, .eps = 1, .decay = 0});
  for (int t = 1; t <= 200; ++t) {
    p.set_grad(Array({1}, {1}));
    adamw.step();
    CHECK_THAT(p.item(), WithinRel(-0.125 * t, 10 * rounding));
  }
}

// eps = 1, g = 1: outside the root the step is rate/2, inside it would be rate/√2.
TEST_CASE("AdamW: eps stands outside the root") {
  CHECK_THAT(stepped(0, 1, {.rate = 1, .eps = 1, .decay = 0}), WithinAbs(-0.5, 10 * rounding));
  CHECK_THAT(stepped(0, 3, {.rate = 1, .eps = 1, .decay = 0}), WithinAbs(-0.75, 10 * rounding));
}

// Decay in the gradient (Adam with L2) would vanish in the quotient: θ − rate·sign(g + λθ).
TEST_CASE("AdamW: decay is kept out of the moments") {
  const AdamWOptions options{.rate = 0.125, .eps = 1e-12, .decay = 0.5};
  const double decoupled = 8 * (1 - 0.125 * 0.5) - 0.125, with_l2 = 8 - 0.125;
  CHECK_THAT(stepped(8, 1, options), WithinRel(decoupled, rounding));
  CHECK(std::abs(stepped(8, 1, options) - with_l2) > 0.4);
}

TEST_CASE("AdamW: each parameter has a decay of its own") {
  const auto parameters_of = [](double start) {
    return std::vector<Tensor>{parameter(Array({2}, {start, -start})), parameter(Array({1}, {3}))};
  };
  const std::vector<Tensor> both = parameters_of(2), apart = parameters_of(2);
  AdamW together(both, {.rate = 0.1, .decay = 0.5}, {0.25, 0});
  AdamW first({apart[0]}, {.rate = 0.1, .decay = 0.125}),
      second({apart[1]}, {.rate = 0.1, .decay = 0});
  for (int step = 1; step <= 20; ++step) {
    for (const auto& list : {both, apart}) {
      list[0].set_grad(Array({2}, {1.0 / step, -2}));
      list[1].set_grad(Array({1}, {0.5}));
    }
    together.step();
    first.step();
    second.step();
  }
  CHECK(same_bits(both[0].value(), apart[0].value()));
  CHECK(same_bits(both[1].value(), apart[1].value()));
  CHECK(both[0].value()[0] < Real(1));
}

TEST_CASE("AdamW: each number has moments of its own") {
  const Tensor both = parameter(Array::zeros({2})), a = parameter(Array::zeros({1}));
  const Tensor b = parameter(Array::zeros({1}));
  AdamW together({both}, {}), apart({a, b}, {});
  Rng rng(4);
  for (int step = 0; step < 20; ++step) {
    const double g = rng.normal(), h = 10 * rng.normal();
    both.set_grad(Array({2}, {g, h}));
    a.set_grad(Array({1}, {g}));
    b.set_grad(Array({1}, {h}));
    together.step();
    apart.step();
  }
  CHECK(same_bits(both.value(), joined({a.value(), b.value()}, 0)));
}

TEST_CASE("AdamW: the settings may change between steps, and rate 0 stays") {
  const Tensor p = parameter(Array({1}, {10}));
  AdamW adamw({p}, {.rate = 0});
  p.set_grad(Array({1}, {1}));
  adamw.step();
  CHECK(p.item() == 10);
  adamw.options.rate = 1;
  adamw.options.decay = 0;
  adamw.step();
  CHECK_THAT(p.item(), WithinRel(10 - 1 / (1 + 1e-8), rounding));
}

TEST_CASE("AdamW: the defaults are the papers'") {
  const AdamWOptions o;
  CHECK(o.rate == 1e-3);
  CHECK(o.beta1 == 0.9);
  CHECK(o.beta2 == 0.999);
  CHECK(o.eps == 1e-8);
  CHECK(o.decay == 1e-2);
}

TEST_CASE("AdamW: settings that make no sense are refused") {
  const auto refused = [](const AdamWOptions& o) {
    return refusal<ValueError>([&] { AdamW({}, o); });
  };
  const std::string finite = " must be finite and not negative: got ";
  CHECK(refused({.rate = -1}) == "AdamW: the rate" + finite + "-1");
  CHECK(refused({.rate = infinity}) == "AdamW: the rate" + finite + "inf");
  CHECK(refused({.rate = not_a_number}).find("AdamW: the rate" + finite) == 0);
  CHECK(refused({.decay = -0.01}) == "AdamW: the decay" + finite + "-0.01");
  CHECK(refused({.decay = not_a_number}).find("AdamW: the decay" + finite) == 0);
  CHECK(refused({.eps = -1e-8}) == "AdamW: eps" + finite + "-1e-08");
  CHECK(refused({.eps = 0}) == "AdamW: eps must be positive: got 0");
  if (sizeof(Real) == sizeof(float))  // there it is 0
    CHECK(refused({.eps = 1e-50}) == "AdamW: eps must be positive: got 1e-50");
  const std::string betas = "AdamW: both betas must be in [0, 1): got ";
  CHECK(refused({.beta1 = 1}) == betas + "1");
  CHECK(refused({.beta1 = -0.1}) == betas + "-0.1");
  CHECK(refused({.beta2 = 1.5}) == betas + "1.5");
  CHECK(refused({.beta2 = not_a_number}).find(betas) == 0);
  CHECK_NOTHROW(AdamW({}, {.rate = 0, .beta1 = 0, .beta2 = 0, .decay = 0}));
  const auto refused_factors = [](const std::vector<double>& factors) {
    const Tensor p = parameter(Array::zeros({1})), q = parameter(Array::zeros({1}));
    return refusal<ValueError>([&] { AdamW({p, q}, {}, factors); });
  };
  CHECK(refused_factors({1}) ==
        "AdamW: has 2 parameters: got 1 factors of the decay; give one per parameter");
  const std::string factor = "AdamW: a factor of the decay must be in [0, 1]: got ";
  CHECK(refused_factors({1, -0.5}) == factor + "-0.5");
  CHECK(refused_factors({1.5, 0}) == factor + "1.5");
  CHECK(refused_factors({1, not_a_number}).find(factor) == 0);
}
