// Muon against its formulas: singular values by matrices that are made of them, steps by arrays.
#include "nn/optim/adamw.h"

#include <cmath>

#include "engine/array_math.h"
#include "tests/nn/modules.h"
#include "tests/support/threads.h"

using namespace tests;

namespace {

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
double stepped(double s) {
  for (int step = 0; step < 5; ++step)
    s = 3.4445 * s - 4.7750 * std::pow(s, 3) + 2.0315 * std::pow(s, 5);
  return s;
}

Array nesterov(const Array& g, const Array& m) { return g + m * Real(0.9); }

}  // namespace

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
      for (const double value : s) expected.push_back(stepped(value / (std::sqrt(squares) + 1e-7)));
      for (const double value : expected) CHECK((value > 0.68 && value < 1.21));
      CAPTURE(n, m, size);
      CHECK(close(orthogonalised(of_singular_values(n, m, s)), of_singular_values(n, m, expected),
                  1e4 * rounding));
    }
}

TEST_CASE("orthogonalised: an orthogonal matrix stays what it is, but for one factor; 0 stays 0") {
  const Array q = orthogonal(9, 3);
  CHECK(close(orthogonalised(q), q * Real(stepped(1 / (3 + 1e-7))), 1e3 * rounding));
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
