// Optimisers of whole tensors against one number in long double, by the papers' formulas alone; a step
// moves all parameters or none; clipping. Muon: singular values by matrices that are made of them, steps
// by arrays.
#include "nn/optim/optimizer.h"

#include <algorithm>
#include <cmath>

#include "engine/array_math.h"
#include "nn/optim/adamw.h"
#include "nn/optim/sgd.h"
#include "tests/nn/modules.h"
#include "tests/support/threads.h"

using namespace tests;

namespace {

constexpr bool in_float = sizeof(Real) == sizeof(float);

struct AdamWNumber {
  using Options = AdamWOptions;
  long double theta, m = 0, v = 0;
  int t = 0;

  void step(long double g, const Options& o, double decay_factor = 1) {
    ++t;
    theta *= 1 - static_cast<long double>(o.rate) * o.decay * decay_factor;
    m = o.beta1 * m + (1 - static_cast<long double>(o.beta1)) * g;
    v = o.beta2 * v + (1 - static_cast<long double>(o.beta2)) * g * g;
    const long double m_hat = m / (1 - std::pow(static_cast<long double>(o.beta1), t));
    const long double v_hat = v / (1 - std::pow(static_cast<long double>(o.beta2), t));
    theta -= o.rate * m_hat / (std::sqrt(v_hat) + o.eps);
  }
};

struct SgdNumber {
  using Options = SgdOptions;
  long double theta, v = 0;

  void step(long double g, const Options& o, double /*decay_factor*/ = 1) {
    v = o.momentum * v + g;
    theta -= o.rate * v;
  }
};

Tensor with_gradient(const Array& value, const Array& gradient) {
  const Tensor p = parameter(value);
  p.set_grad(gradient);
  return p;
}

/// The number after one step from `theta` with gradient g.
double stepped(double theta, double g, const AdamWOptions& options) {
  const Tensor p = with_gradient(Array({1}, {theta}), Array({1}, {g}));
  AdamW({p}, options).step();
  return p.item();
}

/// Runs `test` with a maker of each optimiser.
template <class Test>
void for_each_optimizer(Test test) {
  SECTION("Sgd") {
    test([](const std::vector<Tensor>& p) { return Sgd(p, {.rate = 0.5, .momentum = 0.5}); });
  }
  SECTION("AdamW") {
    test([](const std::vector<Tensor>& p) { return AdamW(p, {.rate = 0.5, .decay = 0.5}); });
  }
  SECTION("Muon") {
    test([](const std::vector<Tensor>& p) {
      std::vector<std::vector<Dim>> matrices;
      for (const Tensor& x : p)
        matrices.push_back(x.rank() == 2 ? std::vector{x.dim(1)} : std::vector<Dim>());
      return AdamW(p, {.rate = 0.1}, {}, matrices);
    });
  }
}

/// Three parameters, of which the last has its first gradient late, under a rate that changes.
template <class Number, class Make>
void check_formula(const typename Number::Options& options, Make make) {
  const std::vector<double> decay_factors{0.25, 0, 1};
  const std::vector<Tensor> p{parameter(uniform({5}, 1)), parameter(uniform({1, 1}, 2)),
                              parameter(uniform({2, 3}, 3))};
  std::vector<std::vector<Number>> expected(3);
  for (std::size_t k = 0; k < 3; ++k)
    for (const double theta : to_vector(p[k].value())) expected[k].push_back({theta});
  auto optimizer = make(p, decay_factors);
  for (int step = 0; step < 40; ++step) {
    optimizer.options.rate = options.rate * (step % 4) / 2;  // also 0
    for (std::size_t k = 0; k < (step < 20 ? 2u : 3u); ++k) {
      p[k].set_grad(uniform(p[k].shape(), static_cast<std::uint64_t>(step) + 10 * k));
      for (std::size_t i = 0; i < expected[k].size(); ++i)
        expected[k][i].step(value_of(p[k].grad()[static_cast<Dim>(i)]), optimizer.options,
                            decay_factors[k]);
    }
    optimizer.step();
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<double> thetas;
      for (const Number& number : expected[k]) thetas.push_back(static_cast<double>(number.theta));
      CHECK(close(p[k].value(), Array(p[k].shape(), thetas), 20 * rounding));
    }
  }
}

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

std::vector<Tensor> with_gradients(const std::vector<Array>& gradients) {
  std::vector<Tensor> parameters;
  for (const Array& g : gradients) parameters.push_back(with_gradient(Array::zeros(g.shape()), g));
  return parameters;
}

long double norm_of(const std::vector<Tensor>& parameters) {
  long double squares = 0;
  for (const Tensor& p : parameters)
    for (const long double g : to_vector(p.grad())) squares += g * g;
  return std::sqrt(squares);
}

/// An orthogonal matrix that is not symmetric: the product of two reflections I − 2·v·vᵀ/(vᵀ·v).
Array orthogonal(Dim n, std::uint64_t seed) {
  const auto reflection = [n](std::uint64_t of) {
    const Array v = uniform({n, 1}, of), square = product(transposed(v), v);
    Array h = product(v, transposed(v)) * (Real(-2) / square[0]);
    for (Dim i = 0; i < n; ++i) h.write()[i * n + i] += Real(1);
    return h;
  };
  return product(reflection(seed), reflection(seed + 1));
}

/// U·S·Vᵀ of shape (n, m) with these singular values.
Array of_singular_values(Dim n, Dim m, const std::vector<double>& s) {
  Array diagonal = Array::zeros({n, m});
  for (std::size_t i = 0; i < s.size(); ++i)
    diagonal.write()[static_cast<Dim>(i) * (m + 1)] = Real(s[i]);
  return product(product(orthogonal(n, 1), diagonal), transposed(orthogonal(m, 7)));
}

/// What five steps make of a singular value.
double muon_steps(double s) {
  for (int step = 0; step < 5; ++step)
    s = 3.4445 * s - 4.7750 * std::pow(s, 3) + 2.0315 * std::pow(s, 5);
  return s;
}

Array nesterov(const Array& g, const Array& m) { return g + m * Real(0.9); }

}  // namespace

TEST_CASE("optimisers follow their formulas: lists, late gradients, and rates that change") {
  for (const double momentum : {0.0, 0.3, 0.9})
    check_formula<SgdNumber>({.rate = 0.1, .momentum = momentum},
                             [&](const auto& p, const auto& /*factors*/) {
                               return Sgd(p, {.rate = 0.1, .momentum = momentum});
                             });
  for (const AdamWOptions& options :
       {AdamWOptions{.rate = 0.1, .decay = 0.5},
        AdamWOptions{.rate = 0.1, .beta1 = 0.5, .beta2 = 0.8, .eps = 0.5, .decay = 0.5}})
    check_formula<AdamWNumber>(
        options, [&](const auto& p, const auto& factors) { return AdamW(p, options, factors); });
}

TEST_CASE("Sgd: settings that make no sense are refused") {
  const auto made = [](double rate, double momentum) {
    return [=] { Sgd({}, {.rate = rate, .momentum = momentum}); };
  };
  for (const double wrong : {-0.1, infinity, quiet_nan})
    CHECK(refuses<ValueError>(made(wrong, 0), "Sgd: the rate", "got "));
  if (value_of(Real(1e39)) > 1e300)  // in float
    CHECK(refuses<ValueError>(made(1e39, 0), "Sgd: the rate", "got 1e+39"));
  for (const double wrong : {1.0, -0.5, quiet_nan})
    CHECK(refuses<ValueError>(made(0.1, wrong), "Sgd: the momentum", "[0, 1)", "got "));
  CHECK_NOTHROW(made(0, 0.999)());
}

TEST_CASE("GradientParts: every number of every gradient once, and one norm for all threads") {
  const Dim most = kernels::blocking.task_numbers;
  std::vector<Tensor> p{parameter(counting({2}))};
  for (const Dim size : {Dim{0}, Dim{1}, most, 5 * most + 3, Dim{2}})
    p.push_back(with_gradient(Array::zeros({size}), uniform({size}, 3)));
  const GradientParts gradients(p);
  std::vector<std::vector<int>> seen(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) seen[i].resize(static_cast<std::size_t>(p[i].size()));
  gradients.each(1, [&](const GradientParts::Part& part) {
    for (Dim i = 0; i < part.count; ++i)
      ++seen[part.parameter][static_cast<std::size_t>(part.begin + i)];
  });
  double plain = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    CHECK(seen[i] == std::vector<int>(seen[i].size(), i == 0 ? 0 : 1));
    if (i > 0)
      for (const double g : to_vector(p[i].grad())) plain += g * g;
  }
  CHECK_THAT(gradients.sum_of_squares(), WithinRel(plain, 1e-12));
  const auto norm_on = [&](int count) {
    const Threads threads(count);
    return gradients.sum_of_squares();
  };
  CHECK(norm_on(1) == norm_on(3));
}

// AdamW refuses a gradient whose square overflows: v would stay infinite, the parameter frozen.
TEST_CASE("optimisers: a gradient that is not finite is named, and moves nothing at all") {
  for_each_optimizer([](auto make) {
    using Optimizer = decltype(make(std::vector<Tensor>()));
    const double large = in_float ? 1e25 : 1e200;
    for (const double bad : {infinity, -infinity, quiet_nan, large}) {
      if (bad == large && std::is_same_v<Optimizer, Sgd>) continue;
      const std::vector<Tensor> p{with_gradient(counting({2}), counting({2})),
                                  with_gradient(counting({3}), Array({3}, {1, bad, 2})),
                                  with_gradient(counting({2, 2}), counting({2, 2}))};
      auto optimizer = make(p), fresh = make(p);
      const std::string said = bad == large      ? in_float ? "1e+25" : "1e+200"
                               : std::isnan(bad) ? "nan"
                               : bad > 0         ? "inf"
                                                 : "-inf";
      CHECK(refuses<NumericError>([&] { optimizer.step(); },
                                  "parameter 1 of shape (3) is " + said + " at element 1",
                                  bad == large ? "square" : ""));
      for (const Tensor& x : p) CHECK(same_bits(x.value(), counting(x.shape())));
      // Nor its memory: the next step is that of an optimiser that never met the bad gradient.
      p[1].set_grad(counting({3}));
      optimizer.step();
      std::vector<Array> moved;
      for (const Tensor& x : p) {
        moved.push_back(x.value().clone());
        assign(x, counting(x.shape()));
      }
      fresh.step();
      for (std::size_t i = 0; i < 3; ++i) CHECK(same_bits(p[i].value(), moved[i]));
    }
  });
}

TEST_CASE("optimisers and clipping: constants, and a parameter named twice, are refused") {
  const auto refused = [](const std::string& op, const auto& use) {
    const Tensor first = parameter(counting({3})), constant(counting({2, 2}));
    const auto with = [&](const std::vector<Tensor>& p) { return [&use, p] { use(p); }; };
    CHECK(refuses<ValueError>(with({first, constant}), op + ": ", "tensor 1 of shape (2, 2)"));
    CHECK(refuses<ValueError>(with({first * 2.0}), op + ": ", "tensor 0 of shape (3)"));
    CHECK(refuses<ValueError>(with({parameter(counting({1})), first, first}), op + ": ",
                              "parameters 1 and 2"));
  };
  using Parameters = std::vector<Tensor>;
  refused("Sgd", [](const Parameters& p) { Sgd(p, {}); });
  refused("AdamW", [](const Parameters& p) { AdamW(p, {}); });
  refused("clip_gradients", [](const Parameters& p) { clip_gradients(p, 1); });
}

TEST_CASE("optimisers: without a gradient, without numbers, without parameters") {
  for_each_optimizer([](auto make) {
    const std::vector<Tensor> p{parameter(uniform({4}, 1)),
                                with_gradient(Array::zeros({0, 3}), Array::zeros({0, 3})),
                                with_gradient(counting({2}), counting({2}))};
    const Array before = p[0].value().clone();
    auto optimizer = make(p);
    for (int step = 0; step < 5; ++step) optimizer.step();
    CHECK(same_bits(p[0].value(), before));
    CHECK(p[1].size() == 0);
    const Array moved = p[2].value().clone();
    CHECK_FALSE(same_bits(moved, counting({2})));
    CHECK(same_bits(p[2].grad(), counting({2})));  // it stays until zero_grad()
    optimizer.zero_grad();
    for (const Tensor& x : p) CHECK_FALSE(x.has_grad());
    optimizer.step();
    CHECK(same_bits(p[2].value(), moved));
    CHECK_NOTHROW(make({}).step());
  });
}

TEST_CASE("optimisers: numbers that a graph still needs are not written") {
  for_each_optimizer([](auto make) {
    const Tensor p = with_gradient(uniform({2, 2}, 1), counting({2, 2}));
    const Array before = p.value().clone();
    auto optimizer = make({p});
    {
      const Tensor waiting = sum(p * p);
      CHECK(refuses<GraphError>([&] { optimizer.step(); }, "write", "graph"));
      CHECK(same_bits(p.value(), before));
      p.zero_grad();
      backward(waiting);
      CHECK(close(p.grad(), (Tensor(before) * 2.0).value()));
      CHECK_NOTHROW(optimizer.step());  // backward() has let go of the values
    }
    CHECK_FALSE(same_bits(p.value(), before));
  });
}

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
          const Moments moments = adamw.moments()[0];
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

TEST_CASE("AdamW: gradients that are 0, too small for their squares, or large") {
  CHECK(stepped(3, 0, {.rate = 0.5, .decay = 0}) == 3);
  CHECK(stepped(3, 0, {.rate = 0.5, .decay = 0.5}) == 2.25);
  for (const double g : {1e-30, -1e-30, 1e-40})
    CHECK_THAT(stepped(3, g, {.decay = 0}), WithinAbs(3, 1e-15));
  CHECK_THAT(stepped(0, 1e15, {.decay = 0}), WithinRel(-1e-3, 10 * rounding));
}

TEST_CASE("AdamW: the defaults are the papers', and settings that make no sense are refused") {
  const AdamWOptions o;
  CHECK((o.rate == 1e-3 && o.beta1 == 0.9 && o.beta2 == 0.999 && o.eps == 1e-8 && o.decay == 1e-2));
  const auto made = [](const AdamWOptions& options) { return [options] { AdamW({}, options); }; };
  CHECK_NOTHROW(made({.rate = 0, .beta1 = 0, .beta2 = 0, .decay = 0})());
  for (const double wrong : {-1.0, infinity, quiet_nan}) {
    CHECK(refuses<ValueError>(made({.rate = wrong}), "AdamW: the rate", "got "));
    CHECK(refuses<ValueError>(made({.eps = wrong}), "AdamW: eps", "got "));
    CHECK(refuses<ValueError>(made({.decay = wrong}), "AdamW: the decay", "got "));
  }
  for (const double wrong : {1.0, -0.1, 1.5, quiet_nan}) {
    CHECK(refuses<ValueError>(made({.beta1 = wrong}), "AdamW", "betas", "got "));
    CHECK(refuses<ValueError>(made({.beta2 = wrong}), "AdamW", "betas", "got "));
  }
  CHECK(refuses<ValueError>(made({.eps = 0}), "AdamW: eps", "got 0"));
  if (in_float) {  // there it is 0, and infinite
    CHECK(refuses<ValueError>(made({.eps = 1e-50}), "AdamW: eps", "got 1e-50"));
    CHECK(refuses<ValueError>(made({.rate = 1e39}), "AdamW: the rate", "got 1e+39"));
    CHECK(refuses<ValueError>(made({.rate = 1e38}), "AdamW: the rate", "got 1e+38"));
  }
  const auto factors = [](std::vector<double> list) {
    return [list] {
      AdamW({parameter(Array::zeros({1})), parameter(Array::zeros({1}))}, {}, list);
    };
  };
  CHECK(refuses<ValueError>(factors({1}), "AdamW", "2 parameters", "1 factors"));
  CHECK(refuses<ValueError>(factors({1, -0.5}), "AdamW", "[0, 1]", "got -0.5"));
  CHECK(refuses<ValueError>(factors({1.5, 0}), "AdamW", "[0, 1]", "got 1.5"));
  CHECK(refuses<ValueError>(factors({1, quiet_nan}), "AdamW", "[0, 1]", "nan"));
}

TEST_CASE("AdamW: with its moments restored it goes on in the same bits") {
  for (const int stop : {0, 1, 2, 5}) {
    TwoWeights whole, first, second;
    for (int step = 0; step < 8; ++step) whole.step(step);
    for (int step = 0; step < stop; ++step) first.step(step);
    const std::vector<Moments> moments = first.adamw.moments();
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

TEST_CASE("a copy of an optimiser keeps its moments, and hinders no step of the other") {
  TwoWeights pair;
  Sgd sgd({pair.a}, {.momentum = 0.9});
  pair.step(0);
  sgd.step();
  const AdamW copy = pair.adamw;
  Sgd other = sgd;
  const Array before = copy.moments()[0].m;
  CHECK_NOTHROW(pair.step(1));
  CHECK_NOTHROW((sgd.step(), other.step()));
  CHECK(same_bits(copy.moments()[0].m, before));
}

TEST_CASE("AdamW: moments that no steps give are refused, and change nothing") {
  TwoWeights pair;
  for (int step = 0; step < 3; ++step) pair.step(step);
  const std::vector<Moments> good = pair.adamw.moments();
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
  const std::vector<Moments> now = pair.adamw.moments();
  for (std::size_t p = 0; p < good.size(); ++p) {
    CHECK(now[p].t == good[p].t);
    CHECK(same_bits(now[p].m, good[p].m));
    CHECK(same_bits(now[p].v, good[p].v));
  }
}

TEST_CASE("clip_gradients: within the norm every bit stays") {
  const Array a({2}, {3, -0.0}), b({1}, {4});
  for (const double most : {5.0, 5.5, 1e300, infinity}) {
    const auto p = with_gradients({a, b});
    CHECK(clip_gradients(p, most) == 5);
    CHECK(same_bits(p[0].grad(), a));
    CHECK(same_bits(p[1].grad(), b));
  }
}

// Sizes whose squares a float cannot hold, and factors that it cannot hold.
TEST_CASE("clip_gradients: beyond it all shrink by one factor, to a norm no larger than asked") {
  struct Row {
    double size, most;
  };
  std::vector<Row> rows{{1, 0.1}, {1, 0.37}, {1e3, 0.59}, {1e12, 0.2}, {1e30, 1}};
  const std::vector<Row> tiny =
      in_float ? std::vector<Row>{{1e30, 1e-10}, {3e38, 1e-7}} : std::vector<Row>{{1e150, 1e-170}};
  rows.insert(rows.end(), tiny.begin(), tiny.end());
  for (const auto& [size, most] : rows) {
    CAPTURE(size, most);
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const std::vector<Array> before{uniform({7}, seed, -size, size), Array({0, 2}, {}),
                                      uniform({3, 2}, seed + 500, -size, size)};
      std::vector<Tensor> p = with_gradients(before);
      const long double norm = norm_of(p);
      p.push_back(parameter(Array::ones({2})));
      CHECK_THAT(clip_gradients(p, most), WithinRel(static_cast<double>(norm), 1e-12));
      CHECK_FALSE(p.back().has_grad());
      p.pop_back();
      CHECK(norm_of(p) <= most);
      CHECK(norm_of(p) > most * (1 - 1e-5));
      for (std::size_t i = 0; i < 3; ++i)
        for (Dim k = 0; k < before[i].size(); ++k)
          CHECK_THAT(value_of(p[i].grad()[k]) / most,
                     WithinAbs(value_of(before[i][k]) / static_cast<double>(norm), 1e-5));
    }
  }
  CHECK(clip_gradients({}, 1) == 0);
  CHECK(clip_gradients(with_gradients({Array::zeros({3})}), 1) == 0);
}

TEST_CASE("clip_gradients: gradients and norms that are not finite or positive are refused") {
  for (const double bad : {infinity, -infinity, quiet_nan}) {
    const auto p = with_gradients({Array({2}, {30, 40}), Array({1}, {bad})});
    CHECK(refuses<NumericError>([&] { clip_gradients(p, 1); }, "clip_gradients",
                                "parameter 1 of shape (1) is "));
    CHECK(same_bits(p[0].grad(), Array({2}, {30, 40})));
  }
  if (!in_float) {
    const auto p = with_gradients({Array({1}, {1e200})});
    CHECK(refuses<NumericError>([&] { clip_gradients(p, 1); }, "clip_gradients", "is inf"));
    CHECK(same_bits(p[0].grad(), Array({1}, {1e200})));
  }
  for (const double most : {0.0, -1.0, quiet_nan})
    CHECK(refuses<ValueError>([&] { clip_gradients({}, most); }, "max_norm", "at least", "got "));
}

TEST_CASE("the rate climbs, stands at its height, and comes down half a cosine") {
  const CosineSchedule schedule{.rate = 2, .final_ratio = 0.1, .warmup = 10, .steps = 110};
  for (const auto& [step, rate] : std::vector<std::pair<std::int64_t, double>>{
           {0, 0.2},
           {1, 0.4},
           {4, 1.0},
           {9, 2.0},
           {10, 2.0},
           {35, 2 * (0.1 + 0.9 * (0.5 + std::sqrt(0.125)))},  // cos 45°
           {60, 2 * (0.1 + 0.9 / 2)},
           {85, 2 * (0.1 + 0.9 * (0.5 - std::sqrt(0.125)))},
           {110, 0.2},
           {111, 0.2},
           {1'000'000'000'000, 0.2}})
    CHECK_THAT(schedule.at(step), WithinAbs(rate, 1e-15));
  for (std::int64_t step = 0; step < 9; ++step) CHECK(schedule.at(step + 1) > schedule.at(step));
  for (std::int64_t step = 10; step < 110; ++step) CHECK(schedule.at(step + 1) < schedule.at(step));
}

TEST_CASE("without warm-up the first step has the whole rate; a run of warm-up alone ends") {
  CHECK(CosineSchedule{.rate = 3, .warmup = 0, .steps = 5}.at(0) == 3);
  CHECK(CosineSchedule{.rate = 3, .warmup = 0, .steps = 0}.at(0) == 3 * 0.1);
  const CosineSchedule all{.rate = 1, .final_ratio = 0.5, .warmup = 4, .steps = 4};
  CHECK(all.at(3) == 1);
  CHECK(all.at(4) == 0.5);
  CHECK(CosineSchedule{.rate = 1, .warmup = 1, .steps = 4}.at(0) == 1);
  CHECK(CosineSchedule{.rate = 1, .warmup = 1, .steps = 4}.at(1) == 1);
  const CosineSchedule constant{.rate = 0.3, .final_ratio = 1, .steps = 9};
  for (const std::int64_t step : {0, 4, 8, 9}) CHECK(constant.at(step) == 0.3);
}

TEST_CASE("a schedule refuses what is no schedule") {
  const auto rate = [](CosineSchedule schedule, std::int64_t step = 0) {
    return [=] { schedule.at(step); };
  };
  CHECK(refuses<ValueError>(rate({}, -1), "CosineSchedule", "steps", "got -1"));
  CHECK(refuses<ValueError>(rate({.rate = -1}), "the rate", "got -1"));
  CHECK(refuses<ValueError>(rate({.rate = infinity}), "the rate", "got inf"));
  CHECK(refuses<ValueError>(rate({.final_ratio = 1.5}), "0 to 1", "got 1.5"));
  CHECK(refuses<ValueError>(rate({.final_ratio = quiet_nan}), "0 to 1", "got nan"));
  CHECK(refuses<ValueError>(rate({.warmup = 6, .steps = 5}), "5 steps", "got 6"));
  CHECK(refuses<ValueError>(rate({.warmup = -1, .steps = 5}), "5 steps", "got -1"));
}

TEST_CASE("orthogonalised: singular values near 1, the same directions, whatever the shape") {
  for (const Shape& shape : {Shape{1, 1}, {1, 6}, {6, 1}, {4, 4}, {3, 8}, {8, 3}, {40, 40}})
    for (const double size : {1e-3, 1.0, 1e6}) {
      const Dim n = shape[0], m = shape[1];
      std::vector<double> s, expected;
      double squares = 0;
      for (Dim i = 0; i < std::min(n, m); ++i) {
        s.push_back(size * (0.02 + 0.98 / static_cast<double>(i + 1)));
        squares += s.back() * s.back();
      }
      for (const double value : s)
        expected.push_back(muon_steps(value / (std::sqrt(squares) + 1e-7)));
      for (const double value : expected) CHECK((value > 0.68 && value < 1.21));
      CAPTURE(n, m, size);
      CHECK(close(orthogonalised(of_singular_values(n, m, s)), of_singular_values(n, m, expected),
                  1e4 * rounding));
    }
}

TEST_CASE("orthogonalised: an orthogonal matrix stays what it is, but for one factor; 0 stays 0") {
  const Array q = orthogonal(9, 3);
  CHECK(close(orthogonalised(q), q * Real(muon_steps(1 / (3 + 1e-7))), 1e3 * rounding));
  CHECK(same_bits(orthogonalised(Array::zeros({3, 2})), Array::zeros({3, 2})));
  CHECK(refuses<ShapeError>([] { orthogonalised(Array::zeros({4})); }, "orthogonalised", "(4)"));
}

TEST_CASE("Muon: steps by the formula; matrices side by side; all else has the bits of AdamW") {
  const std::vector<Shape> sizes{{3, 5}, {5, 3}, {4, 12}, {4}, {6, 4}};
  const std::vector<std::vector<Dim>> matrices{{5}, {3}, {4, 4, 4}, {}, {}};
  const std::vector<double> decay_factors{1, 0.5, 1, 0, 1};
  std::vector<Tensor> p, others;
  for (const Shape& shape : sizes) p.push_back(parameter(uniform(shape, p.size() + 1)));
  for (std::size_t i : {3u, 4u}) others.push_back(parameter(p[i].value().clone()));
  const AdamWOptions options{.rate = 0.01, .decay = 0.5, .times = 4, .momentum = 0.9};
  AdamW muon(p, options, decay_factors, matrices), adamw(others, options, {0, 1});
  std::vector<Array> w, m;
  for (std::size_t i = 0; i < 3; ++i) {
    w.push_back(p[i].value().clone());
    m.push_back(Array::zeros(sizes[i]));
  }
  for (int step = 0; step < 5; ++step) {
    const double rate = 0.01 * (step + 1);
    muon.options.rate = adamw.options.rate = rate;
    for (std::size_t i = 0; i < p.size(); ++i)
      p[i].set_grad(uniform(sizes[i], static_cast<std::uint64_t>(step) + 20 * i));
    for (std::size_t i : {0u, 1u}) others[i].set_grad(p[i + 3].grad().clone());
    muon.step();
    adamw.step();
    for (std::size_t i = 0; i < 3; ++i) {
      m[i] = m[i] * Real(0.9) + p[i].grad();
      Array u = orthogonalised(nesterov(p[i].grad(), m[i]));
      if (i == 0) u = u * Real(std::sqrt(5.0 / 3));
      if (i == 2) {
        const Tensor all = Tensor(nesterov(p[i].grad(), m[i]));
        const auto third = [&](Dim k) {
          return Tensor(orthogonalised(slice(all, 1, 4 * k, 4 * k + 4).value()));
        };
        u = concat({third(0), third(1), third(2)}, 1).value();
      }
      w[i] = w[i] * Real(1 - 4 * rate * 0.5 * decay_factors[i]) - u * Real(4 * rate);
      CHECK(close(p[i].value(), w[i], 1e4 * rounding));
    }
    for (std::size_t i : {0u, 1u}) CHECK(same_bits(p[i + 3].value(), others[i].value()));
  }
}

TEST_CASE("Muon: the same bits for any number of threads") {
  const auto stepped_on = [](int count) {
    const Threads threads(count);
    const Tensor p = parameter(uniform({96, 288}, 1));
    AdamW muon({p}, {}, {}, {{96, 96, 96}});
    for (std::uint64_t step = 0; step < 2; ++step) {
      p.set_grad(uniform({96, 288}, step + 2));
      muon.step();
    }
    return p.value().clone();
  };
  CHECK(same_bits(stepped_on(1), stepped_on(3)));
}

TEST_CASE("Muon: settings and moments that make no sense are refused, and change nothing") {
  const Tensor p = parameter(uniform({2, 6}, 1)), q = parameter(uniform({2}, 2));
  const auto made = [&](const AdamWOptions& options, const std::vector<Dim>& columns,
                        std::size_t lists = 2) {
    return [=] {
      std::vector<std::vector<Dim>> matrices(lists);
      matrices[0] = columns;
      return AdamW({p, q}, options, {}, matrices);
    };
  };
  CHECK(refuses<ValueError>(made({.times = -1}, {6}), "AdamW: times", "got -1"));
  CHECK(refuses<ValueError>(made({.momentum = 1}, {6}), "AdamW: the momentum", "got 1"));
  CHECK(refuses<ValueError>(made({.eps = 0}, {6}), "AdamW: eps", "got 0"));
  CHECK(refuses<ValueError>(made({}, {2, 3}), "AdamW", "parameter 0 of shape (2, 6)", "5 columns"));
  CHECK(refuses<ValueError>(made({}, {0, 6}), "AdamW", "parameter 0 of shape (2, 6)"));
  CHECK(refuses<ValueError>(made({}, {6}, 1), "AdamW", "2 parameters"));
  for (const double wrong : {-0.5, 1.5, quiet_nan})
    CHECK(refuses<ValueError>([&] { AdamW({p}, {}, {wrong}, {{6}}); }, "AdamW", "[0, 1]"));
  if (sizeof(Real) == sizeof(float))  // infinite there
    CHECK(
        refuses<ValueError>(made({.rate = 1, .decay = 2e38, .times = 5}, {6}), "AdamW: the rate"));
  AdamW muon = made({}, {6})(), adamw = made({}, {})();
  p.set_grad(uniform({2, 6}, 3));
  q.set_grad(uniform({2}, 4));
  muon.step();
  adamw.step();
  const std::vector<Moments> right = muon.moments();
  CHECK((right[0].is_muon && right[0].t == 1 && !right[0].v.exists() && !right[1].is_muon));
  CHECK(refuses<ValueError>([&] { muon.restore(adamw.moments()); }, "parameter 0",
                            "is a matrix of Muon"));
  CHECK(refuses<ValueError>([&] { adamw.restore(right); }, "parameter 0", "is moved by AdamW"));
  CHECK(same_bits(muon.moments()[0].m, right[0].m));
  CHECK(same_bits(muon.moments()[1].v, right[1].v));
}

TEST_CASE("Muon: a gradient that is not finite is named, and moves nothing") {
  const Tensor p = parameter(uniform({2, 3}, 1)), q = parameter(uniform({2}, 2));
  AdamW muon({p, q}, {}, {}, {{3}, {}});
  const Array before = p.value().clone();
  p.set_grad(Array::full({2, 3}, Real(quiet_nan)));
  q.set_grad(uniform({2}, 4));
  CHECK(refuses<NumericError>([&] { muon.step(); }, "parameter 0 of shape (2, 3)"));
  CHECK(same_bits(p.value(), before));
}
