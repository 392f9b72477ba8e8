// A head of attention with its gradients, by the kernels and by the formulas.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "engine/kernels/attention.h"
#include "engine/masks.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

namespace tests {

using kernels::StridedRows;
using kernels::StridedRowsOut;

// What kernels::attention_head and its vjp read and write. Rows lie two numbers further apart than
// they are long, as a head lies among others; what is between them must stay as it is.
struct Head {
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Dim queries, keys, D;
  PoolVector<KeyRange> spans;
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
  StridedRows rows(const Array& x) const { return {x.data(), D + 2}; }
  StridedRowsOut out(Array& x, Dim count) {
    x = Array::full({count, D + 2}, Real(99));
    for (Dim i = 0; i < count; ++i) std::fill_n(x.write() + i * (D + 2), D, Real(nan));
    return {x.write(), D + 2};
  }
  Head& run() {
    log_sums = Array({queries, 2});
    Array means({queries});
    const StridedRowsOut to = out(y, queries), to_q = out(dq, queries), to_k = out(dk, keys),
                         to_v = out(dv, keys);
    const Dim blocks = kernels::attention_blocks(D, queries);
    for (Dim b = 0; b < blocks; ++b)
      kernels::attention_head(sizes(), b, rows(q), rows(k), rows(v), to, log_sums.write());
    for (Dim b = 0; b < blocks; ++b)
      for (Dim c = 0; c < kernels::attention_blocks(D, keys); ++c)
        kernels::attention_head_vjp(sizes(), b, c, rows(q), rows(k), rows(v), rows(y), rows(dy),
                                    log_sums.data(), means.write(), to_q, to_k, to_v);
    return *this;
  }
  KeyRange span(Dim i) const { return spans[static_cast<std::size_t>(i)]; }
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

inline void check_head(Head head) {
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

}  // namespace tests
