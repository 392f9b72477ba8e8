#include "engine/kernels/attention.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "engine/masks.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace tests;
using kernels::HeadRows;
using kernels::HeadRowsOut;

namespace {

// What kernels::attention_head and its vjp read and write. Rows lie two numbers further apart than
// they are long, as a head lies among others; what is between them must stay as it is.
struct Head {
  Dim queries, keys, D;
  PoolVector<Span> spans;
  Array q, k, v, dy;
  Array y = {}, log_sums = {}, dq = {}, dk = {}, dv = {};

  Head(Dim n, Dim m, Dim d, const Mask& mask)
      : queries(n),
        keys(m),
        D(d),
        spans(mask.spans({1, n, m}, "test")),
        q(uniform({n, d + 2}, 1)),
        k(uniform({m, d + 2}, 2)),
        v(uniform({m, d + 2}, 3)),
        dy(uniform({n, d + 2}, 4)) {}

  kernels::HeadSizes sizes() const {
    return {queries, keys, D, static_cast<Real>(1 / std::sqrt(static_cast<double>(D))),
            spans.data()};
  }
  HeadRows rows(const Array& x) const { return {x.data(), D + 2}; }
  HeadRowsOut out(Array& x, Dim count) {
    x = Array::full({count, D + 2}, Real(99));
    return {x.write(), D + 2};
  }
  Head& run() {
    log_sums = Array({queries, 2});
    const HeadRowsOut to = out(y, queries), to_q = out(dq, queries), to_k = out(dk, keys),
                      to_v = out(dv, keys);
    kernels::attention_head(sizes(), rows(q), rows(k), rows(v), to, log_sums.write());
    kernels::attention_head_vjp(sizes(), rows(q), rows(k), rows(v), rows(y), rows(dy),
                                log_sums.data(), to_q, to_k, to_v);
    return *this;
  }
  Span span(Dim i) const { return spans[static_cast<std::size_t>(i)]; }
  Real log_sum(Dim i) const { return sizes().scale * log_sums[2 * i] + log_sums[2 * i + 1]; }
  bool sees(Dim i, Dim j) const { return span(i).begin <= j && j < span(i).end; }
};

using Table = std::vector<double>;

// The same by the formulas, in double.
struct Naive {
  Table y, log_sums, dq, dk, dv;

  explicit Naive(const Head& head) {
    const Dim n = head.queries, m = head.keys, D = head.D;
    const double scale = 1 / std::sqrt(static_cast<double>(D));
    const auto at = [&](const Array& x, Dim i, Dim d) { return value_of(x[i * (D + 2) + d]); };
    const auto to = [&](Table& x, Dim i, Dim d) -> double& {
      return x[static_cast<std::size_t>(i * (D + 2) + d)];
    };
    for (Table* table : {&y, &dq}) table->assign(static_cast<std::size_t>(n * (D + 2)), 99);
    for (Table* table : {&dk, &dv}) table->assign(static_cast<std::size_t>(m * (D + 2)), 99);
    for (Dim d = 0; d < D; ++d) {
      for (Dim i = 0; i < n; ++i) to(y, i, d) = to(dq, i, d) = 0;
      for (Dim j = 0; j < m; ++j) to(dk, j, d) = to(dv, j, d) = 0;
    }
    for (Dim i = 0; i < n; ++i) {
      Table p(static_cast<std::size_t>(m), 0), dp = p;
      double total = 0, mean = 0;
      for (Dim j = 0; j < m; ++j) {
        const auto key = static_cast<std::size_t>(j);
        if (!head.sees(i, j)) continue;
        double score = 0;
        for (Dim d = 0; d < D; ++d) {
          score += at(head.q, i, d) * at(head.k, j, d) * scale;
          dp[key] += at(head.dy, i, d) * at(head.v, j, d);
        }
        p[key] = std::exp(score);
        total += p[key];
      }
      log_sums.push_back(std::log(total));
      for (Dim j = 0; j < m; ++j) {
        const auto key = static_cast<std::size_t>(j);
        if (head.sees(i, j)) p[key] /= total;
        mean += p[key] * dp[key];
      }
      for (Dim j = 0; j < m; ++j)
        for (Dim d = 0; d < D && head.sees(i, j); ++d) {
          const auto key = static_cast<std::size_t>(j);
          const double ds = scale * p[key] * (dp[key] - mean);
          to(y, i, d) += p[key] * at(head.v, j, d);
          to(dq, i, d) += ds * at(head.k, j, d);
          to(dk, j, d) += ds * at(head.q, i, d);
          to(dv, j, d) += p[key] * at(head.dy, i, d);
        }
    }
  }
};

void check_head(Head head) {
  head.run();
  const Naive naive(head);
  INFO(head.queries << " queries, " << head.keys << " keys of size " << head.D);
  const Shape q = head.q.shape(), k = head.k.shape();
  REQUIRE(close(head.y, Array(q, naive.y)));
  for (Dim i = 0; i < head.queries; ++i)  // of a query that sees nothing there is none
    if (head.span(i).begin < head.span(i).end)
      REQUIRE(close(Array::full({}, head.log_sum(i)),
                    Array({}, {naive.log_sums[static_cast<std::size_t>(i)]})));
  REQUIRE(close(head.dq, Array(q, naive.dq)));
  REQUIRE(close(head.dk, Array(k, naive.dk)));
  REQUIRE(close(head.dv, Array(k, naive.dv)));
}

const std::vector<Mask> masks = {Mask(),
                                 causal(),
                                 window(1),
                                 window(5),
                                 causal() & window(4),
                                 padding({3}),
                                 window(70),
                                 padding({0}),
                                 causal() & padding({2}),
                                 window(3) & padding({4})};

// Numbers of row i, of all D, replaced.
void spoil(Array& x, Dim i, Dim D, double poison) {
  x = x.clone();
  std::fill_n(x.write() + i * x.dim(1), D, Real(poison));
}

bool same_row(const Array& a, const Array& b, Dim i) {
  return std::memcmp(a.data() + i * a.dim(1), b.data() + i * b.dim(1),
                     static_cast<std::size_t>(a.dim(1)) * sizeof(Real)) == 0;
}

}  // namespace

TEST_CASE("a head of attention, and its gradients, by the formulas", "[ACC][OP14]") {
  for (const Mask& mask : masks) {
    for (const Dim T : {4, 5, 6, 7, 12, 13, 33, 49, 97, 200})
      for (const Dim D : {1, 3, 4, 8, 9, 17, 64})
        if (!fledge::testing::sanitized || T * D < 1000) check_head(Head(T, T, D, mask));
    for (const auto& [n, m] : {std::pair<Dim, Dim>{1, 9}, {9, 4}, {60, 7}, {7, 60}, {49, 130}})
      for (const Dim D : {1, 4, 5, 8, 16}) check_head(Head(n, m, D, mask));
  }
  for (const Mask& mask : {Mask(), causal(), window(1)})
    for (const Dim T : {1, 2, 3})
      for (const Dim D : {4, 8, 12}) check_head(Head(T, T, D, mask));
}

TEST_CASE("a head of attention over nothing", "[OP14]") {
  for (const auto& [n, m] : {std::pair<Dim, Dim>{0, 0}, {0, 3}, {3, 0}})
    for (const Dim D : {4, 12}) check_head(Head(n, m, D, causal()));
}

TEST_CASE("a query that sees nothing gets zeros, to the bit") {
  for (const Dim D : {3, 4, 11}) {
    const Head head = Head(60, 7, D, causal()).run();
    for (Dim i = 0; i < 60; ++i)
      for (Dim d = 0; d < D && head.span(i).end <= 0; ++d) {
        REQUIRE(same_bits(Array::full({}, head.y[i * (D + 2) + d]), Array::zeros({})));
        REQUIRE(same_bits(Array::full({}, head.dq[i * (D + 2) + d]), Array::zeros({})));
      }
  }
}

TEST_CASE("keys and values change no bit of a query that does not see them", "[OP18]") {
  const Dim D = GENERATE(4, 5, 17);
  for (const Mask& mask : {causal(), window(1), window(4), causal() & window(9), padding({40})}) {
    const Head clean = Head(60, 60, D, mask).run();
    for (const double poison : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity})
      for (const Dim j : {0, 1, 5, 6, 30, 47, 48, 59}) {
        Head found(60, 60, D, mask);
        spoil(found.k, j, D, poison);
        spoil(found.v, j, D, poison);
        found.run();
        INFO("key " << j << " is " << poison << ", size " << D);
        for (Dim i = 0; i < 60; ++i) {
          if (clean.sees(i, j)) continue;
          REQUIRE(same_row(found.y, clean.y, i));
          REQUIRE(same_row(found.dq, clean.dq, i));
          if (clean.span(i).begin < clean.span(i).end)
            REQUIRE(found.log_sum(i) == clean.log_sum(i));
        }
      }
  }
}

TEST_CASE("queries and cotangents change no bit of the keys and values they do not see", "[OP18]") {
  const Dim D = GENERATE(4, 5, 17);
  for (const Mask& mask : {causal(), window(1), window(4), causal() & window(9), padding({40})}) {
    const Head clean = Head(60, 60, D, mask).run();
    for (const double poison : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity})
      for (const Dim i : {0, 1, 5, 6, 30, 47, 48, 59}) {
        Head found(60, 60, D, mask);
        spoil(found.q, i, D, poison);
        spoil(found.dy, i, D, poison);
        found.run();
        INFO("query " << i << " is " << poison << ", size " << D);
        for (Dim j = 0; j < 60; ++j) {
          if (clean.sees(i, j)) continue;
          REQUIRE(same_row(found.dk, clean.dk, j));
          REQUIRE(same_row(found.dv, clean.dv, j));
        }
      }
  }
}

TEST_CASE("what follows changes no bit of the first queries of a causal head") {
  const Dim D = GENERATE(4, 7, 17);
  const Head whole = Head(130, 130, D, causal()).run();
  for (const Dim t : {1, 2, 5, 6, 7, 14, 47, 48, 49, 96, 97, 129}) {
    const Head first = Head(t, t, D, causal()).run();  // the same numbers: drawn row by row
    INFO("the first " << t);
    for (Dim i = 0; i < t; ++i) {
      REQUIRE(same_row(first.y, whole.y, i));
      REQUIRE(same_row(first.dq, whole.dq, i));
      REQUIRE(first.log_sum(i) == whole.log_sum(i));
    }
  }
}
