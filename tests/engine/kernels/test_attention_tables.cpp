#include "engine/kernels/attention_tables.h"

#include "engine/masks.h"
#include "tests/support/arrays.h"
#include "tests/support/blocking.h"
#include "tests/support/catch.h"

using namespace tests;
using kernels::AttentionBlock;
using kernels::Range;
using kernels::size_of;

namespace {

// A table that has read the rows of x.
struct Copy : kernels::Table {
  explicit Copy(const Array& x) : kernels::Table(x.dim(0), x.dim(1)) { read(x); }
  using kernels::Table::read;
  void read(const Array& x) { kernels::Table::read({x.data(), x.dim(1)}, {0, x.dim(0)}); }
};

// x with one more row, which holds NaN.
Array with_nan(const Array& x) {
  Array more = Array::full({x.dim(0) + 1, x.dim(1)}, nan_number);
  std::copy_n(x.data(), x.size(), more.write());
  return more;
}

}  // namespace

TEST_CASE("a block knows which of its keys some of its queries see") {
  const std::vector<kernels::KeyRange> spans = {{0, 1}, {0, 2}, {2, 2}, {2, 9}};
  const AttentionBlock at{spans.data(), {1, 4}, {1, 6}};
  const auto is = [](Range x, Dim begin, Dim end) { return x.begin == begin && x.end == end; };
  REQUIRE(is(at.seen(), 0, 5));
  REQUIRE(is(at.seen_by(1, 1), 0, 1));
  REQUIRE(is(at.seen_by(1, 2), 0, 1));
  REQUIRE(size_of(at.seen_by(2, 1)) == 0);
  REQUIRE(is(at.seen_by(3, 1), 1, 5));
  REQUIRE(size_of(AttentionBlock{spans.data(), {0, 2}, {6, 9}}.seen()) == 0);
}

TEST_CASE("a table keeps its rows, and finds a number that is not finite in any place") {
  const Dim rows = 3;
  for (const Dim columns : {1, 8, 17, 65}) {
    const Array x = uniform({rows, columns}, 1);
    Copy table(x);
    Array copy({rows, columns});
    table.write({copy.write(), columns}, {0, rows});
    REQUIRE(same_bits(copy, x));
    REQUIRE(table.is_finite());
    for (const Real poison : {nan_number, Real(infinity), Real(-infinity)})
      for (Dim i = 0; i < x.size(); ++i) {
        Array other = x.clone();
        other.write()[i] = poison;
        table.read(other);
        REQUIRE(!table.is_finite());
      }
    table.read(x);
    REQUIRE(table.is_finite());
  }
}

TEST_CASE("scores and weighted sums of a block, by the formulas") {
  for (const Mask& mask : {Mask(), causal(), window(3), padding({2}), causal() & window(9)})
    for (const Dim n : {1, 13, 45})
      for (const Dim m : {2, 31, 70})
        for (const Dim D : {3, 33}) {
          const auto spans = mask.spans({1, n, m}, "test");
          const AttentionBlock at{spans.data(), {n / 3, n}, {m / 4, m}};
          const Dim queries = size_of(at.queries), keys = size_of(at.keys);
          const Array q = uniform({queries, D}, 1), k = uniform({keys, D}, 2);
          const auto sees = [&](Dim i, Dim j) {
            const auto [begin, end] = spans[static_cast<std::size_t>(at.queries.begin + i)];
            return begin <= at.keys.begin + j && at.keys.begin + j < end;
          };
          INFO(n << " queries, " << m << " keys of size " << D);
          kernels::TransposedPanels panels(keys, D);
          panels.pack({k.data(), D}, {0, keys});
          kernels::Table scores(queries, keys);
          const Copy rows(q);
          panels.scores(at, rows.row(0), rows.step(), scores);
          Array weights = Array::zeros({queries, keys});
          for (Dim i = 0; i < queries; ++i)
            for (Dim j = 0; j < keys; ++j) {
              Real s = Real(0);
              for (Dim d = 0; d < D; ++d) s += q[i * D + d] * k[j * D + d];
              if (sees(i, j)) REQUIRE(close(Array::full({}, scores.row(i)[j]), Array::full({}, s)));
              if (sees(i, j)) weights.write()[i * keys + j] = s / real(D);
            }
          const Copy w(weights);
          for (const bool finite : {true, false}) {  // not finite: a row of NaN that no query sees
            const Copy b_keys(finite ? k : with_nan(k)), b_queries(finite ? q : with_nan(q));
            REQUIRE(b_keys.is_finite() == finite);
            kernels::Table by_query(queries, D), by_key(keys, D);
            by_query.set_zero(queries);
            by_key.set_zero(keys);
            kernels::add_weighted(at, w, b_keys, by_query.row(0));
            kernels::add_weighted_transposed(at, w, b_queries, by_key);
            for (Dim d = 0; d < D; ++d) {
              Array expected_q = Array::zeros({queries}), expected_k = Array::zeros({keys});
              for (Dim i = 0; i < queries; ++i)
                for (Dim j = 0; j < keys; ++j) {
                  expected_q.write()[i] += weights[i * keys + j] * k[j * D + d];
                  expected_k.write()[j] += weights[i * keys + j] * q[i * D + d];
                }
              for (Dim i = 0; i < queries; ++i)
                REQUIRE(close(Array::full({}, by_query.row(i)[d]), Array::full({}, expected_q[i])));
              for (Dim j = 0; j < keys; ++j)
                REQUIRE(close(Array::full({}, by_key.row(j)[d]), Array::full({}, expected_k[j])));
            }
          }
        }
}
