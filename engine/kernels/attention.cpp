#include "engine/kernels/attention.h"

#include <algorithm>

#include "engine/base/memory.h"
#include "engine/kernels/blocking.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/row_product.h"
#include "engine/kernels/simd_math.h"
#include "engine/kernels/small_head_attention.h"
#include "engine/kernels/sums.h"
#include "engine/kernels/tiles.h"

namespace fledge::kernels {

namespace {

Matrix matrix(StridedRows x) { return {x.data, x.step, 1}; }

// A matrix (k, m) in panels, to be the right factor of many products.
class Panels {
 public:
  Panels(const Matrix& b, Dim k, Dim m) : k_(k), m_(m), numbers_(panels_size(k, m)) { pack(b, k); }
  /// Another matrix of at most as many rows.
  void pack(const Matrix& b, Dim k) {
    k_ = k;
    pack_panels(b, k, m_, numbers_.data());
  }

  // c_ij (+)= Σ_p a_ip·b_pj for p = from.begin … from.end − 1, `rows` rows and the columns of the
  // panels that hold `columns`, all of each panel. a points at p = from.begin.
  void multiply_by(Dim rows, const Real* a, Dim a_row, Dim a_step, KeyRange from, KeyRange columns,
                   Real* c, Dim c_row, bool add) const {
    for (Dim j = columns.begin / tile_columns * tile_columns; j < columns.end; j += tile_columns)
      for (Dim i = 0; i < rows; i += tile_rows)
        multiply(
            std::min(tile_rows, rows - i),
            {a + i * a_row, a_row, a_step, numbers_.data() + j * k_ + from.begin * tile_columns,
             tile_columns, from.end - from.begin, c + i * c_row + j, c_row, tile_columns,
             add ? Initial{c + i * c_row + j, c_row} : Initial{}});
  }

 private:
  Dim k_, m_;
  Buffer numbers_;
};

// A table (rows, columns) in scratch memory. Rows are padded to whole panels, so that the last
// vector of a row may be stored beyond its end. Rows of more than 256 columns are 32 longer: with a
// power of two, the numbers of a column would share one set of the cache.
class Table {
 public:
  Table(Dim rows, Dim columns)
      : step((columns + tile_columns - 1) / tile_columns * tile_columns + (columns > 256 ? 32 : 0)),
        numbers_(rows * step + tile_columns) {}
  Real* row(Dim i) { return numbers_.data() + i * step; }
  const Dim step;

 private:
  Buffer numbers_;
};

// With so few queries keys and values are not packed: packing reads and writes them, and the tiles
// read them once more. A decoder has one query: 12 heads of 64 numbers over 1,000 keys take 0.33 ms
// instead of 0.47 ms. With two queries over 60 keys packing is faster already.
constexpr Dim few_queries = 1;

// The queries first … first + rows − 1, and the keys that any of them sees.
struct Queries {
  Dim first, rows;
  KeyRange seen;
  const KeyRange* spans;

  Queries(const HeadSizes& sizes, Dim begin)
      : first(begin),
        rows(std::min(blocking.block_queries, sizes.queries - begin)),
        seen{sizes.spans[begin].begin, sizes.spans[begin + rows - 1].end},
        spans(sizes.spans + begin) {
    seen.end = std::max(seen.begin, seen.end);
  }
};

void score(const HeadSizes& sizes, const Queries& at, StridedRows q, const Panels& keys,
           Table& scores) {
  keys.multiply_by(at.rows, q.data + at.first * q.step, q.step, 1, {0, sizes.D}, at.seen,
                   scores.row(0), scores.step, false);
}

// Replaces each vector of a row, over the keys that a query sees, by f(vector, first key, n), where
// n of its lanes hold such keys. The last vector may overwrite numbers beyond the end: these keys
// are hidden from the query, and their numbers are never read.
template <class F>
void over_seen(KeyRange seen, Real* row, F f) {
  by_vectors(seen.end - seen.begin, [&](Dim j, Dim n) {
    Real* const x = row + seen.begin + j;
    store(x, f(load(x), seen.begin + j, n));
  });
}

// c_i = Σ_j w_ij·b_j over the keys that i sees, in increasing order. The keys that all rows of a
// tile see go through the tile, the others row by row.
void mix(const HeadSizes& sizes, const Queries& at, Table& weights, const Panels& b, Table& c) {
  for (Dim i0 = 0; i0 < at.rows; i0 += tile_rows) {
    const Dim rows = std::min(tile_rows, at.rows - i0);
    const KeyRange common{at.spans[i0 + rows - 1].begin, at.spans[i0].end};
    const auto add = [&](Dim i, Dim count, KeyRange keys, bool first) {
      if (keys.begin >= keys.end && !first) return;
      keys.end = std::max(keys.begin, keys.end);
      b.multiply_by(count, weights.row(i) + keys.begin, weights.step, 1, keys, {0, sizes.D},
                    c.row(i), c.step, !first);
    };
    if (common.begin >= common.end) {
      for (Dim i = i0; i < i0 + rows; ++i) add(i, 1, at.spans[i], true);
      continue;
    }
    const bool same_begin = at.spans[i0].begin == common.begin;
    if (!same_begin)
      for (Dim i = i0; i < i0 + rows; ++i) add(i, 1, {at.spans[i].begin, common.begin}, true);
    add(i0, rows, common, same_begin);
    for (Dim i = i0; i < i0 + rows; ++i) add(i, 1, {common.end, at.spans[i].end}, false);
  }
}

// c_j += Σ_i w_ij·b_i over the queries of a block that see j, in increasing order; b holds the rows
// of the block. The queries that see all keys of a tile go through the tile, the others key by key.
void weighted_sum_transposed(const HeadSizes& sizes, const Queries& at, Table& weights,
                             const Panels& b, Table& c) {
  for (Dim j0 = at.seen.begin; j0 < at.seen.end; j0 += tile_rows) {
    const Dim rows = std::min(tile_rows, at.seen.end - j0);
    const auto sees_all = [&](Dim i) {
      return at.spans[i].begin <= j0 && at.spans[i].end >= j0 + rows;
    };
    Dim begin = 0;
    while (begin < at.rows && !sees_all(begin)) ++begin;
    Dim end =
        begin < at.rows && sees_all(at.rows - 1) ? at.rows : begin;  // these queries are neighbours
    while (end < at.rows && sees_all(end)) ++end;
    const auto one_by_one = [&](Dim from, Dim to) {
      for (Dim i = from; i < to; ++i) {
        const Dim first = std::max(j0, at.spans[i].begin);
        const Dim last = std::min(j0 + rows, at.spans[i].end);
        if (first < last)
          b.multiply_by(last - first, weights.row(i) + first, 1, 1, {i, i + 1}, {0, sizes.D},
                        c.row(first), c.step, true);
      }
    };
    one_by_one(0, begin);
    if (begin < end)
      b.multiply_by(rows, weights.row(begin) + j0, 1, weights.step, {begin, end}, {0, sizes.D},
                    c.row(j0), c.step, true);
    one_by_one(end, at.rows);
  }
}

// The same as score() and mix(), with keys and values where they lie.
void score_few(const HeadSizes& sizes, const Queries& at, StridedRows q, StridedRows k,
               Table& scores) {
  const KeyRange seen = at.seen;
  if (seen.begin < seen.end)
    row_product({q.data + at.first * q.step, q.step, 1}, {k.data + seen.begin * k.step, 1, k.step},
                scores.row(0) + seen.begin, scores.step, at.rows, sizes.D, seen.end - seen.begin);
}
void mix_few(const HeadSizes& sizes, const Queries& at, Table& weights, StridedRows v, Table& c) {
  for (Dim i = 0; i < at.rows; ++i) {
    const auto [begin, end] = at.spans[i];
    if (begin >= end) continue;
    row_product({weights.row(i) + begin, weights.step, 1}, {v.data + begin * v.step, v.step, 1},
                c.row(i), c.step, 1, end - begin, sizes.D);
  }
}

void set_zero(Table& x, Dim rows) { std::fill(x.row(0), x.row(rows), Real(0)); }

void copy_rows(Table& from, Dim rows, Dim D, StridedRowsOut to, Dim first) {
  for (Dim i = 0; i < rows; ++i) std::copy_n(from.row(i), D, to.data + (first + i) * to.step);
}

}  // namespace

void attention_head(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                    StridedRowsOut y, Real* log_sums) {
  if (sizes.D <= small_head_D) return small_head_attention(sizes, q, k, v, y, log_sums);
  const bool few = sizes.queries <= few_queries;
  const Panels keys(matrix(k).transposed(), sizes.D, few ? 0 : sizes.keys);
  const Panels values(matrix(v), few ? 0 : sizes.keys, sizes.D);
  const Dim block = blocking.block_queries, most_rows = std::min(block, sizes.queries);
  Table weights(most_rows, sizes.keys), mixed(most_rows, sizes.D);
  Buffer sums_memory(most_rows);
  Real* const sums = sums_memory.data();
  for (Dim first = 0; first < sizes.queries; first += block) {
    const Queries at(sizes, first);
    if (few)
      score_few(sizes, at, q, k, weights);
    else
      score(sizes, at, q, keys, weights);
    for (Dim i = 0; i < at.rows; ++i) {
      const KeyRange seen = at.spans[i];
      if (seen.begin >= seen.end) continue;
      Real* const row = weights.row(i);
      Vec top = splat(Real(-infinity)), total = splat(Real(0));
      by_vectors(seen.end - seen.begin, [&](Dim j, Dim n) {
        top = larger(top, first_lanes(load(row + seen.begin + j), n, Real(-infinity)));
      });
      const Real most = fold(top, [](Vec a, Vec b) { return larger(a, b); });
      over_seen(seen, row, [&](Vec s, Dim, Dim n) {
        const Vec e = first_lanes(exp((s - most) * sizes.scale), n, Real(0));
        total += e;
        return e;
      });
      sums[i] = sum_of(total);
      log_sums[2 * (first + i)] = most;
      log_sums[2 * (first + i) + 1] = log(sums[i]);
    }
    if (few)
      mix_few(sizes, at, weights, v, mixed);
    else
      mix(sizes, at, weights, values, mixed);
    for (Dim i = 0; i < at.rows; ++i) {  // D divisions a query instead of one a key
      const bool empty_row = at.spans[i].begin >= at.spans[i].end;
      Real* const y_i = y.data + (first + i) * y.step;
      for (Dim d = 0; d < sizes.D; ++d) y_i[d] = empty_row ? Real(0) : mixed.row(i)[d] / sums[i];
    }
  }
}

void attention_head_vjp(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                        StridedRows y, StridedRows dy, const Real* log_sums, StridedRowsOut dq,
                        StridedRowsOut dk, StridedRowsOut dv) {
  const Dim D = sizes.D;
  if (D <= small_head_D)
    return small_head_attention_vjp(sizes, q, k, v, y, dy, log_sums, dq, dk, dv);
  const Panels keys(matrix(k).transposed(), D, sizes.keys), keys_back(matrix(k), sizes.keys, D);
  const Panels values(matrix(v).transposed(), D, sizes.keys);
  const Dim block = blocking.block_queries, most_rows = std::min(block, sizes.queries);
  Panels queries(matrix(q), most_rows, D), cotangents(matrix(dy), most_rows, D);
  Table weights(most_rows, sizes.keys), slopes(most_rows, sizes.keys);
  Table dq_rows(most_rows, D), dk_rows(sizes.keys, D), dv_rows(sizes.keys, D);
  set_zero(dk_rows, sizes.keys);
  set_zero(dv_rows, sizes.keys);
  for (Dim first = 0; first < sizes.queries; first += block) {
    const Queries at(sizes, first);
    score(sizes, at, q, keys, weights);
    score(sizes, at, dy, values, slopes);  // dp
    for (Dim i = 0; i < at.rows; ++i) {
      const KeyRange seen = at.spans[i];
      if (seen.begin >= seen.end) continue;
      const Real top = log_sums[2 * (first + i)], log_total = log_sums[2 * (first + i) + 1];
      const Real mean = dot(dy.data + (first + i) * dy.step, y.data + (first + i) * y.step, D);
      Real* const p = weights.row(i);
      over_seen(seen, p, [&](Vec s, Dim, Dim) { return exp((s - top) * sizes.scale - log_total); });
      over_seen(seen, slopes.row(i),
                [&](Vec dp, Dim j, Dim) { return load(p + j) * (dp - mean) * sizes.scale; });
    }
    mix(sizes, at, slopes, keys_back, dq_rows);
    copy_rows(dq_rows, at.rows, D, dq, first);
    queries.pack({q.data + first * q.step, q.step, 1}, at.rows);
    cotangents.pack({dy.data + first * dy.step, dy.step, 1}, at.rows);
    weighted_sum_transposed(sizes, at, slopes, queries, dk_rows);
    weighted_sum_transposed(sizes, at, weights, cotangents, dv_rows);
  }
  copy_rows(dk_rows, sizes.keys, D, dk, 0);
  copy_rows(dv_rows, sizes.keys, D, dv, 0);
}

}  // namespace fledge::kernels
