// A head of attention and its gradients: close to the formulas, and the same bits in every number
// of blocks; what a query does not see changes none of its bits. Heads of at most 8 numbers have a
// kernel of their own, and so has a query alone.
#include "engine/kernels/attention.h"

#include <cmath>
#include <vector>

#include "engine/kernels/small_head_attention.h"
#include "engine/kernels/tiles.h"
#include "engine/masks.h"
#include "tests/engine/kernels/guarded.h"
#include "tests/support/sanitized.h"

using namespace tests;
using kernels::lanes;
using kernels::tile_columns;
using kernels::tile_rows;

namespace {

using Spans = PoolVector<IndexRange>;

struct HeadResults {
  Array y, log_sums, means, dq, dk, dv;
};

// The rows of a head lie `step` numbers apart in q, k, v and dy, as among other heads.
struct Head {
  Dim n, m, D, step;
  Spans spans;
  Array q, k, v, dy;

  Head(Dim queries, Dim keys, Dim size, Spans seen, Dim gap = 2)
      : n(queries),
        m(keys),
        D(size),
        step(size + gap),
        spans(std::move(seen)),
        q(uniform({numbers(n)}, 1)),
        k(uniform({numbers(m)}, 2)),
        v(uniform({numbers(m)}, 3)),
        dy(uniform({numbers(n)}, 4)) {}
  Head(Dim queries, Dim keys, Dim size, const Mask& mask, Dim gap = 2)
      : Head(queries, keys, size, mask.spans({1, queries, keys}, "test"), gap) {}

  Dim numbers(Dim rows) const { return rows == 0 ? 0 : (rows - 1) * step + D; }
  IndexRange span(Dim i) const { return spans[static_cast<std::size_t>(i)]; }
  bool sees(Dim i, Dim j) const { return span(i).begin <= j && j < span(i).end; }
  bool sees_none(Dim i) const { return span(i).begin >= span(i).end; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(D)); }

  Array row(const Array& x, Dim i) const {
    Array part({D});
    std::copy_n(x.data() + i * step, D, part.write());
    return part;
  }
  void fill_row(Array& x, Dim i, double number) const {
    std::fill_n(x.write() + i * step, D, Real(number));
  }
  Real log_sum(const HeadResults& found, Dim i) const {
    return Real(scale()) * found.log_sums[2 * i] + found.log_sums[2 * i + 1];
  }

  HeadResults run() const {
    int calls = 0;
    const std::vector<Array> found = run_guarded(
        {q, k, v, dy}, {q.size(), 2 * n, n, q.size(), k.size(), k.size()},
        [&](const Inputs& in, const Outputs& out) {
          const Guarded<IndexRange> seen(spans, calls++ == 0 ? Guard::behind : Guard::before);
          const kernels::HeadSizes sizes{n, m, D, Real(scale()), seen.data()};
          const kernels::StridedRows of_q{in[0], step}, of_k{in[1], step}, of_v{in[2], step},
              of_dy{in[3], step}, of_y{out[0], step};
          const Dim blocks = kernels::attention_blocks(D, n);
          for (Dim b = 0; b < blocks; ++b)
            kernels::attention_head(sizes, b, of_q, of_k, of_v, {out[0], step}, out[1]);
          for (Dim b = 0; b < blocks; ++b)
            for (Dim c = 0; c < kernels::attention_blocks(D, m); ++c)
              kernels::attention_head_vjp(sizes, b, c, of_q, of_k, of_v, of_y, of_dy, out[1],
                                          out[2], {out[3], step}, {out[4], step}, {out[5], step});
        });
    return {found[0], found[1], found[2], found[3], found[4], found[5]};
  }
};

struct ExactHead {
  std::vector<double> y, dq, dk, dv, log_sums;

  explicit ExactHead(const Head& head) {
    const Dim n = head.n, m = head.m, D = head.D;
    const auto rows = [&](Dim count) {
      std::vector<double> table(static_cast<std::size_t>(head.numbers(count)), quiet_nan);
      for (Dim i = 0; i < count * D; ++i)
        table[static_cast<std::size_t>(i / D * head.step + i % D)] = 0;
      return table;
    };
    const auto at = [&](const Array& x, Dim i, Dim d) { return value_of(x[i * head.step + d]); };
    const auto to = [&](std::vector<double>& x, Dim i, Dim d) -> double& {
      return x[static_cast<std::size_t>(i * head.step + d)];
    };
    y = dq = rows(n);
    dk = dv = rows(m);
    for (Dim i = 0; i < n; ++i) {
      std::vector<double> p(static_cast<std::size_t>(m), 0), dp = p;
      double total = 0, mean = 0;
      for (Dim j = head.span(i).begin; j < head.span(i).end; ++j) {
        const auto key = static_cast<std::size_t>(j);
        double score = 0;
        for (Dim d = 0; d < D; ++d) {
          score += at(head.q, i, d) * at(head.k, j, d) * head.scale();
          dp[key] += at(head.dy, i, d) * at(head.v, j, d);
        }
        total += p[key] = std::exp(score);
      }
      log_sums.push_back(std::log(total));
      for (std::size_t key = 0; key < p.size(); ++key)
        mean += (p[key] /= total > 0 ? total : 1) * dp[key];
      for (Dim j = head.span(i).begin; j < head.span(i).end; ++j)
        for (Dim d = 0; d < D; ++d) {
          const auto key = static_cast<std::size_t>(j);
          const double ds = head.scale() * p[key] * (dp[key] - mean);
          to(y, i, d) += p[key] * at(head.v, j, d);
          to(dq, i, d) += ds * at(head.k, j, d);
          to(dk, j, d) += ds * at(head.q, i, d);
          to(dv, j, d) += p[key] * at(head.dy, i, d);
        }
    }
  }
};

// Close to the formulas. What sees nothing and what nobody sees is 0 to the bit, and what lies
// between rows is not written.
HeadResults check_head(const Head& head) {
  const HeadResults found = head.run();
  const ExactHead exact(head);
  INFO(head.n << " queries, " << head.m << " keys of size " << head.D);
  const std::pair<const Array&, const std::vector<double>&> all[] = {
      {found.y, exact.y}, {found.dq, exact.dq}, {found.dk, exact.dk}, {found.dv, exact.dv}};
  for (const auto& [is, must] : all)
    REQUIRE(compare(is, Array({is.size()}, must), [](Real f, Real e) {
      const double a = value_of(f), b = value_of(e);
      return std::isnan(b) ? std::isnan(a)
                           : std::abs(a - b) <= rounding * std::max(1.0, std::abs(b));
    }));
  const Array zeros = Array::zeros({head.D});
  for (Dim i = 0; i < head.n; ++i) {
    if (head.sees_none(i)) {
      REQUIRE(same_bits(head.row(found.y, i), zeros));
      REQUIRE(same_bits(head.row(found.dq, i), zeros));
    } else {
      REQUIRE(close(Array::full({}, head.log_sum(found, i)),
                    Array({}, {exact.log_sums[static_cast<std::size_t>(i)]})));
    }
  }
  for (Dim j = 0; j < head.m; ++j) {
    const bool is_seen = std::any_of(head.spans.begin(), head.spans.end(), [=](IndexRange span) {
      return span.begin <= j && j < span.end;
    });
    if (is_seen) continue;
    REQUIRE(same_bits(head.row(found.dk, j), zeros));
    REQUIRE(same_bits(head.row(found.dv, j), zeros));
  }
  return found;
}

Blocking head_blocks(Dim queries, Dim keys = kernels::blocking.block_keys) {
  Blocking sizes = kernels::blocking;
  sizes.block_queries = sizes.small_head_queries = queries;
  sizes.block_keys = keys;
  return sizes;
}

// The same bits in blocks of so many queries, and close to the formulas.
void check_in_blocks(const Head& head, std::initializer_list<Dim> blocks) {
  const HeadResults whole = check_head(head);
  for (const Dim block : blocks) {
    const Blocked blocked(head_blocks(block));
    const HeadResults found = head.run();
    INFO(head.n << " queries in blocks of " << block << ", " << head.m << " keys of size "
                << head.D);
    REQUIRE(same_bits_or_nan(found.y, whole.y));
    REQUIRE(same_bits_or_nan(found.dq, whole.dq));
    REQUIRE(same_bits_or_nan(found.dk, whole.dk));
    REQUIRE(same_bits_or_nan(found.dv, whole.dv));
  }
}

const std::vector<Mask> some_masks = {Mask(), causal(), window(3), padding({0})};

}  // namespace

TEST_CASE("a head of attention is the formulas under every mask") {
  const std::vector<Mask> masks = {Mask(),
                                   causal(),
                                   window(1),
                                   window(5),
                                   window(70),
                                   causal() & window(4),
                                   padding({3}),
                                   padding({0}),
                                   causal() & padding({2}),
                                   window(3) & padding({4})};
  for (const Mask& mask : masks) {
    for (const Dim T : {4, 5, 6, 7, 12, 13, 33, 49, 97, 200})
      for (const Dim D : {1, 3, 4, 8, 9, 17, 64})
        if (!testing::sanitized || T * D < 1000) check_head(Head(T, T, D, mask));
    for (const auto& [n, m] :
         {std::pair<Dim, Dim>{1, 9}, {9, 4}, {60, 7}, {7, 60}, {49, 130}, {1, 4}})
      for (const Dim D : {1, 4, 5, 8, 16}) check_head(Head(n, m, D, mask, m % 2));
  }
  for (const auto& [n, m] : {std::pair<Dim, Dim>{0, 0}, {0, 3}, {3, 0}, {1, 1}, {2, 2}, {3, 3}})
    for (const Dim D : {4, 8, 12}) check_head(Head(n, m, D, causal()));
  for (const Dim D : {3, 8, 9}) check_head(Head(9, 1, D, Mask()));
}

TEST_CASE("a head of attention has the same bits on both sides of every two borders of blocks") {
  for (const Mask& mask : some_masks) {
    for (const Dim n : around(tile_rows + 1))
      for (const Dim m : around(tile_columns))
        for (const Dim D : around(tile_columns))
          check_in_blocks(Head(n, m, D, mask), {tile_rows + 1, tile_rows, 3});
    for (const Dim n : around(2 * lanes))
      for (const Dim m : around(lanes))
        for (const Dim D : {1, 3, 4, 5, 7, 8, 9})
          check_in_blocks(Head(n, m, D, mask), {2 * lanes, lanes, 3});
  }
  for (const Dim m : {63, 64, 65})  // rows of a table become longer after 64
    for (const Dim D : {4, 9, 65})
      check_in_blocks(Head(tile_rows + 1, m, D, causal()), {tile_rows});
  for (const Dim block : {Dim{3}, tile_rows})  // blocks of keys that are hidden from whole blocks
    check_in_blocks(Head(9 * tile_columns, 9 * tile_columns, 9, window(3)), {block});
  const Dim size = 2 * kernels::blocking.block_queries + 1;
  check_head(Head(size, size, 9, window(60)));
}

TEST_CASE("a softmax in parts is right on both sides of every border of keys") {
  for (const Dim block : {Dim{1}, Dim{5}, lanes, tile_columns + 1}) {
    const Blocked blocked(head_blocks(tile_rows + 1, block));
    for (const Mask& mask : some_masks)
      for (const Dim n : {Dim{1}, tile_rows, 2 * tile_rows + 3})
        for (const Dim m : around(block)) check_head(Head(n, m, 9, mask));
  }
}

TEST_CASE("what is hidden changes no bit: keys and values of a query, queries of a key") {
  for (const Dim D : {4, 5, 17})
    for (const Mask& mask : {causal(), window(1), window(4), causal() & window(9), padding({40})}) {
      const Head clean(60, 60, D, mask);
      const HeadResults expected = clean.run();
      for (const double poison : {quiet_nan, infinity, -infinity})
        for (const Dim at : {0, 1, 5, 6, 30, 47, 48, 59})
          for (const bool of_key : {false, true}) {
            Head head = clean;
            for (Array* x : {of_key ? &head.k : &head.q, of_key ? &head.v : &head.dy}) {
              *x = x->clone();
              head.fill_row(*x, at, poison);
            }
            const HeadResults found = head.run();
            INFO((of_key ? "key " : "query ") << at << " is " << poison << ", size " << D);
            for (Dim i = 0; i < 60; ++i) {
              if (of_key ? clean.sees(i, at) : clean.sees(at, i)) continue;
              REQUIRE(same_bits(clean.row(of_key ? found.y : found.dk, i),
                                clean.row(of_key ? expected.y : expected.dk, i)));
              REQUIRE(same_bits(clean.row(of_key ? found.dq : found.dv, i),
                                clean.row(of_key ? expected.dq : expected.dv, i)));
              if (of_key && !clean.sees_none(i))
                REQUIRE(clean.log_sum(found, i) == clean.log_sum(expected, i));
            }
          }
    }
}

TEST_CASE("a query has the same bits alone, at the end of a text and within one") {
  for (const Dim D : {4, 7, 9, 17})
    for (const Dim keys : {kernels::blocking.block_keys, Dim{3}, lanes}) {
      const Blocked blocked(head_blocks(kernels::blocking.block_queries, keys));
      const Head whole(130, 130, D, causal());
      const HeadResults expected = whole.run();
      for (const Dim t : {1, 2, 5, 6, 7, 14, 47, 48, 49, 96, 97, 129}) {
        const Head first(t, t, D, causal());  // the same numbers: drawn row by row
        Head last(1, t, D, causal());
        std::copy_n(whole.q.data() + (t - 1) * whole.step, D, last.q.write());
        const HeadResults found = first.run(), alone = last.run();
        INFO("the first " << t << ", size " << D << ", " << keys << " keys in a part");
        for (Dim i = 0; i < t; ++i) {
          REQUIRE(same_bits(first.row(found.y, i), first.row(expected.y, i)));
          REQUIRE(same_bits(first.row(found.dq, i), first.row(expected.dq, i)));
          REQUIRE(first.log_sum(found, i) == first.log_sum(expected, i));
        }
        REQUIRE(same_bits(last.row(alone.y, 0), last.row(expected.y, t - 1)));
      }
    }
}

TEST_CASE(
    "small heads: a key is seen by the lanes whose spans hold it, also beyond 2^24 and 2^53") {
  for (const Mask& mask : {Mask(), causal(), window(3), causal() & window(2), padding({2})})
    for (const Dim count : {Dim{1}, Dim{2}, lanes})
      for (const Dim offset : {Dim{0}, (Dim{1} << 24) - 2, (Dim{1} << 25) + 1, Dim{1} << 60}) {
        const Dim keys = count + 3;
        Spans spans = mask.spans({1, count, keys}, "test");
        for (IndexRange& span : spans) {
          if (span.begin > 0) span.begin += offset;  // the others see all keys before them
          span.end += offset;
        }
        kernels::SeeingLanes seeing(spans.data(), count);
        for (Dim j = offset; j < offset + keys; ++j) {
          const kernels::LaneMask found = seeing.of(j);
          for (int i = 0; i < lanes; ++i) {
            const auto query = static_cast<std::size_t>(i);
            const bool sees = i < count && spans[query].begin <= j && j < spans[query].end;
            INFO("key " << j << " of " << keys << " from " << offset << " on, lane " << i);
            REQUIRE((found[i] != 0) == sees);
          }
        }
      }
}

// In the lanes past the last key a score of 0 stands beside scores of 10³⁶: its weight is infinite.
TEST_CASE("lanes past the last key enter no sum, however large the scores") {
  const double large = sizeof(Real) == sizeof(float) ? 1e18 : 1e153;
  for (const Dim D : {3, 4, 8, 12})
    for (Dim T = 1; T <= 2 * lanes + 1; ++T)
      for (const double sign : {1.0, -1.0}) {
        Head head(T, T, D, Mask(), 0);
        head.q = Array::full(head.q.shape(), Real(large));
        head.k = Array::full(head.k.shape(), Real(sign * large));
        const HeadResults found = head.run();
        INFO(T << " queries and keys of size " << D);
        for (Dim d = 0; d < D; ++d) {
          double mean = 0;  // every key has the weight 1/T
          for (Dim j = 0; j < T; ++j) mean += value_of(head.v[j * D + d]) / value_of(real(T));
          for (Dim i = 0; i < T; ++i) {
            REQUIRE(std::abs(value_of(found.y[i * D + d]) - mean) <= rounding);
            for (const Array& gradient : {found.dq, found.dk, found.dv})
              REQUIRE(isfinite(gradient[i * D + d]));
          }
        }
      }
}

TEST_CASE("scores of minus infinity have the weight 0, in parts as well") {
  const double large = sizeof(Real) == sizeof(float) ? 1e25 : 1e200;
  for (const Dim D : {5, 9})
    for (const Dim keys : {1, 2, 100}) {
      const Blocked blocked(head_blocks(kernels::blocking.block_queries, keys));
      Head head(3, 6, D, Mask());
      head.q = Array::full(head.q.shape(), Real(large));
      for (const Dim j : {0, 1, 4}) head.fill_row(head.k, j, -large);
      for (const Dim j : {2, 3, 5}) head.fill_row(head.k, j, 0);
      const HeadResults found = head.run();
      const Array a = head.row(head.v, 2), b = head.row(head.v, 3), c = head.row(head.v, 5);
      for (Dim d = 0; d < D; ++d) {  // the keys 2, 3 and 5 have the weight 1/3
        const double mean = (value_of(a[d]) + value_of(b[d]) + value_of(c[d])) / 3;
        REQUIRE(std::abs(value_of(found.y[d]) - mean) < 1e-6);
      }
    }
}
