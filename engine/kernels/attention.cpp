#include "engine/kernels/attention.h"

#include <algorithm>

#include "engine/kernels/blocking.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/simd_math.h"
#include "engine/kernels/small_head_attention.h"
#include "engine/kernels/sums.h"
#include "engine/kernels/tiles.h"

namespace fledge::kernels {

namespace {

// First the operands in scratch memory, and products that skip what is hidden; softmax follows.
// Copies are compact: in a tensor the rows of one head of a large model are far apart, often by a
// power of two, and such rows share few sets of L1.

/// Some neighbouring queries and some neighbouring keys.
struct AttentionBlock {
  const IndexRange* spans;  // of all queries
  IndexRange queries, keys;

  /// The keys, as columns of this block, that any of the queries first … first + count − 1 sees.
  IndexRange seen_by(Dim first, Dim count) const {
    const Dim begin = std::max(keys.begin, spans[first].begin);
    const Dim end = std::min(keys.end, spans[first + count - 1].end);
    return {begin - keys.begin, std::max(begin, end) - keys.begin};
  }
  IndexRange seen() const { return seen_by(queries.begin, queries.size()); }
};

/// A table (rows, columns). Rows are padded to whole panels, so that the last vector of a row may
/// be stored beyond its end. Rows of more than 64 columns are one panel longer: with a power of
/// two, the numbers of a column would share one set of the cache.
class PaddedMatrix {
 public:
  PaddedMatrix(Dim rows, Dim columns)
      : columns_(columns),
        step_(ceil_div(columns, tile_columns) * tile_columns + (columns > 64 ? tile_columns : 0)),
        numbers_(rows * step_ + tile_columns) {}

  Real* row(Dim i) { return numbers_.data() + i * step_; }
  const Real* row(Dim i) const { return numbers_.data() + i * step_; }
  Dim step() const { return step_; }
  Dim columns() const { return columns_; }

  void set_zero(Dim rows) { std::fill(row(0), row(rows), Real(0)); }
  // read() and write() prefetch x eight rows ahead: the rows of a head are apart in its tensor.
  void read(StridedRows x, IndexRange rows) {
    Vec zeros = splat(Real(0));
    for (Dim i = rows.begin; i < rows.end; ++i)
      by_vectors(columns_, [&, from = x.data + i * x.step, to = row(i - rows.begin)](Dim j, Dim n) {
        prefetch_far(from + 8 * x.step + j);
        const Vec numbers = load(from + j, n);
        store(to + j, numbers);
        add_product(zeros, splat(Real(0)), numbers);
      });
    finite_ = isfinite(sum_of(zeros));
  }
  void write(StridedRowsOut x, IndexRange rows) const {
    for (Dim i = rows.begin; i < rows.end; ++i)
      by_vectors(columns_, [&, from = row(i - rows.begin), to = x.data + i * x.step](Dim j, Dim n) {
        prefetch_far(to + 8 * x.step + j);
        store(to + j, load(from + j), n);
      });
  }
  /// Whether no number that was read is infinite or NaN. Then a product with 0 is 0.
  bool is_finite() const { return finite_; }

 private:
  Dim columns_, step_;
  bool finite_ = true;
  Buffer numbers_;
};

/// The transposed of a table (rows, D), in panels: the right factor of products with it.
class TransposedPanels {
 public:
  TransposedPanels(Dim most_rows, Dim D) : width_(D), numbers_(panels_size(D, most_rows)) {}

  void pack(StridedRows x, IndexRange rows) {
    pack_panels({x.data + rows.begin * x.step, 1, x.step}, width_, rows.size(), numbers_.data());
  }
  /// s_ij = ⟨x_i, row j⟩ for the queries of a block and its keys, which are the packed rows. x
  /// points at the first query. Tiles that are hidden as a whole are not computed.
  void scores(const AttentionBlock& at, const Real* x, Dim x_step, PaddedMatrix& s) const {
    const IndexRange seen = at.seen();
    if (seen.size() == 0) return;  // its begin may be beyond the columns of the block
    for (Dim j = seen.begin / tile_columns * tile_columns; j < seen.end; j += tile_columns)
      for (Dim i = 0; i < at.queries.size(); i += tile_rows) {
        const Dim rows = std::min(tile_rows, at.queries.size() - i);
        const IndexRange tile = at.seen_by(at.queries.begin + i, rows);
        if (tile.begin < j + tile_columns && tile.end > j)
          multiply(rows, {x + i * x_step, x_step, 1, numbers_.data() + j * width_, tile_columns,
                          width_, s.row(i) + j, s.step(), tile_columns});
      }
  }

 private:
  Dim width_;
  Buffer numbers_;
};

/// c_ij += Σ_p a_ip·b_pj, p = from.begin … from.end − 1. a points at p = 0, c has the step of b.
inline void add_products(Dim rows, const Real* a, Dim a_row, Dim a_step, IndexRange from,
                         const PaddedMatrix& b, Real* c) {
  if (from.size() <= 0) return;
  for (Dim j = 0; j < b.columns(); j += tile_columns)
    multiply(rows, {a + from.begin * a_step, a_row, a_step, b.row(from.begin) + j, b.step(),
                    from.size(), c + j, b.step(), tile_columns, Initial{c + j, b.step()}});
}

// Note [Hidden keys]: the rows of a tile see different keys. Where a row does not see a key of its
// tile, the weight in the table is 0, so the product adds 0 if the key is finite; 0·NaN is NaN. If
// b holds a number that is not finite, each tile has one row, and hidden keys are skipped.
inline Dim height_of(const PaddedMatrix& b) { return b.is_finite() ? tile_rows : Dim{1}; }

/// c_i += Σ_j w_ij·b_j over the keys of the block that query i sees, in increasing order. b has
/// a row for each key; c points at the row of the first query and has the step of b.
inline void add_weighted(const AttentionBlock& at, const PaddedMatrix& w, const PaddedMatrix& b,
                         Real* c) {
  const Dim height = height_of(b);
  for (Dim i = 0; i < at.queries.size(); i += height) {
    const Dim rows = std::min(height, at.queries.size() - i);
    add_products(rows, w.row(i), w.step(), 1, at.seen_by(at.queries.begin + i, rows), b,
                 c + i * b.step());
  }
}

/// c_j += Σ_i w_ij·b_i over the queries of the block that see j, in increasing order. b has a row
/// for each query, c for each key.
inline void add_weighted_transposed(const AttentionBlock& at, const PaddedMatrix& w,
                                    const PaddedMatrix& b, PaddedMatrix& c) {
  const Dim height = height_of(b), count = at.queries.size();
  const IndexRange* const spans = at.spans + at.queries.begin;
  const IndexRange seen = at.seen();
  IndexRange sees{0, 0};  // the queries that see a key of the tile are neighbours
  for (Dim j = seen.begin; j < seen.end; j += height) {
    const Dim rows = std::min(height, seen.end - j);
    while (sees.begin < count && spans[sees.begin].end <= at.keys.begin + j) ++sees.begin;
    while (sees.end < count && spans[sees.end].begin < at.keys.begin + j + rows) ++sees.end;
    add_products(rows, w.row(0) + j, 1, w.step(), sees, b, c.row(j));
  }
}

// With so few queries, as in a decoder, keys and values are not packed: packing reads and writes
// them, and the tiles read them once more. With two queries packing pays already.
constexpr Dim few_queries = 1;

// Queries of a table of weights. Backward multiplies it by queries, so with more of
// them the sums over queries stay in registers for longer.
constexpr Dim table_queries = 8 * tile_rows;

// Part `block` of `count` rows.
IndexRange part_of(Dim count, Dim block, Dim size) {
  return {block * size, std::min(count, (block + 1) * size)};
}

// Replaces each vector of a row, over the keys `own` that a query sees, by f(vector, first key, n),
// where n of its lanes hold such keys. The numbers of other keys in `all` become 0.
template <class F>
void over_seen(IndexRange own, IndexRange all, Real* row, F f) {
  if (own.begin > all.begin)
    std::fill(row + all.begin, row + std::min(own.begin, all.end), Real(0));
  Dim j = own.begin;
  for (; j + lanes <= own.end; j += lanes) store(row + j, f(load(row + j), j, lanes));
  if (j < own.end) {
    store(row + j, first_lanes(f(load(row + j), j, own.end - j), own.end - j, Real(0)));
    j += lanes;
  }
  for (; j < all.end; j += lanes) store(row + j, splat(Real(0)));
}

void multiply_row(Real* x, Dim n, Real factor) {
  by_vectors(n, [=](Dim i, Dim) { store(x + i, load(x + i) * factor); });
}

// Softmax in parts: over the keys of the blocks so far, the largest score and the sum of the
// weights exp(scale·(s − top)).
struct Total {
  Real top = Real(-infinity), sum = Real(0);

  // Before the first key: a sink has the weight exp(scale·(top − top)), 1 or NaN.
  explicit Total(const HeadSizes& sizes) {
    if (!sizes.has_sink()) return;
    top = sizes.sink_score();
    sum = exp(sizes.sink - sizes.sink);
  }

  // Scores of a row, over the keys that its query sees, become weights; y, the sum of weighted
  // values so far, is multiplied such that it fits the new top.
  void add(IndexRange own, IndexRange all, Real* row, Real scale, Real* y, Dim D) {
    Vec tops = splat(top), sums = splat(Real(0));
    by_vectors(own.size(), [&](Dim j, Dim n) {
      tops = larger(tops, first_lanes(load(row + own.begin + j), n, Real(-infinity)));
    });
    const Real old = top;
    top = fold(tops, larger);
    const Real base = top > Real(-infinity) ? top : Real(0);
    over_seen(own, all, row, [&](Vec s, Dim, Dim n) {
      const Vec e = first_lanes(exp_of_weight((s - base) * scale), n, Real(0));
      sums += e;
      return e;
    });
    if (old > Real(-infinity) && !(old == top)) {
      const Real factor = exp((old - base) * scale);
      sum *= factor;
      multiply_row(y, D, factor);
    }
    sum += sum_of(sums);
  }
};

}  // namespace

Dim attention_blocks(Dim D, Dim rows) {
  if (D <= small_head_D || rows == 0) return 1;
  return (rows + blocking.block_queries - 1) / blocking.block_queries;
}

void attention_head(const HeadSizes& sizes, Dim block, StridedRows q, StridedRows k, StridedRows v,
                    StridedRowsOut y, Real* log_sums) {
  const Dim D = sizes.D;
  if (D <= small_head_D) return small_head_attention(sizes, q, k, v, y, log_sums);
  const IndexRange queries = part_of(sizes.queries, block, blocking.block_queries);
  const Dim count = queries.size(), most_keys = std::min(blocking.block_keys, sizes.keys);
  if (count == 0) return;
  const bool few = sizes.queries <= few_queries;
  TransposedPanels key_panels(few ? 0 : most_keys, D);
  PaddedMatrix values(few ? 0 : most_keys, D), own_queries(count, D), mixed(count, D);
  PaddedMatrix weights(tile_rows, most_keys);
  own_queries.read(q, queries);
  mixed.set_zero(count);
  PoolVector<Total> totals(static_cast<std::size_t>(count), Total(sizes));
  const IndexRange all = AttentionBlock{sizes.spans, queries, {0, sizes.keys}}.seen();
  for (Dim b = all.begin / blocking.block_keys; all.size() > 0 && b * blocking.block_keys < all.end;
       ++b) {
    const IndexRange keys = part_of(sizes.keys, b, blocking.block_keys);
    if (!few) key_panels.pack(k, keys);
    if (!few) values.read(v, keys);
    for (Dim first = 0; first < count; first += tile_rows) {
      const Dim rows = std::min(tile_rows, count - first), query = queries.begin + first;
      const AttentionBlock at{sizes.spans, {query, query + rows}, keys};
      const IndexRange seen = at.seen();
      if (seen.size() == 0) continue;
      if (few)
        row_product({own_queries.row(0), own_queries.step(), 1},
                    {k.data + (keys.begin + seen.begin) * k.step, 1, k.step},
                    weights.row(0) + seen.begin, weights.step(), 1, D, seen.size());
      else
        key_panels.scores(at, own_queries.row(first), own_queries.step(), weights);
      for (Dim i = 0; i < rows; ++i)
        totals[static_cast<std::size_t>(first + i)].add(
            at.seen_by(query + i, 1), seen, weights.row(i), sizes.scale, mixed.row(first + i), D);
      if (few)
        row_product({weights.row(0) + seen.begin, weights.step(), 1},
                    {v.data + (keys.begin + seen.begin) * v.step, v.step, 1}, mixed.row(0),
                    mixed.step(), 1, seen.size(), D, {mixed.row(0), mixed.step()});
      else
        add_weighted(at, weights, values, mixed.row(first));
    }
  }
  for (Dim i = 0; i < count; ++i) {  // D divisions a query instead of one a key
    const auto& [top, sum] = totals[static_cast<std::size_t>(i)];
    log_sums[2 * (queries.begin + i)] = top;
    log_sums[2 * (queries.begin + i) + 1] = log(sum);
    const IndexRange span = sizes.spans[queries.begin + i];
    if (span.begin < span.end) multiply_row(mixed.row(i), D, Real(1) / sum);
  }
  mixed.write(y, queries);
}

void attention_head_vjp(const HeadSizes& sizes, Dim query_block, Dim key_block, StridedRows q,
                        StridedRows k, StridedRows v, StridedRows y, StridedRows dy,
                        const Real* log_sums, Real* means, StridedRowsOut dq, StridedRowsOut dk,
                        StridedRowsOut dv) {
  const Dim D = sizes.D;
  if (D <= small_head_D)
    return small_head_attention_vjp(sizes, q, k, v, y, dy, log_sums, dq, dk, dv);
  const IndexRange all = part_of(sizes.queries, query_block, blocking.block_queries);
  const IndexRange keys = part_of(sizes.keys, key_block, blocking.block_queries);
  const Dim key_count = keys.size(), most_rows = std::min(table_queries, all.size());
  const bool hidden = all.size() == 0 || AttentionBlock{sizes.spans, all, keys}.seen().size() == 0;
  if (hidden && key_block > 0 && query_block > 0) return;
  PaddedMatrix dq_rows(most_rows, D), dk_rows(key_count, D), dv_rows(key_count, D);
  if (query_block == 0) {
    dk_rows.set_zero(key_count);
    dv_rows.set_zero(key_count);
  } else {
    dk_rows.read({dk.data, dk.step}, keys);
    dv_rows.read({dv.data, dv.step}, keys);
  }
  TransposedPanels key_panels(key_count, D), value_panels(key_count, D);
  PaddedMatrix key_rows(key_count, D);
  key_panels.pack(k, keys);
  value_panels.pack(v, keys);
  key_rows.read(k, keys);
  PaddedMatrix queries(most_rows, D), cotangents(most_rows, D);
  PaddedMatrix weights(most_rows, key_count), slopes(most_rows, key_count);
  for (Dim first = all.begin; first < all.end; first += table_queries) {
    const AttentionBlock at{sizes.spans, {first, std::min(all.end, first + table_queries)}, keys};
    const IndexRange seen = at.seen();
    const Dim rows = at.queries.size();
    queries.read(q, at.queries);
    cotangents.read(dy, at.queries);
    if (key_block > 0)
      dq_rows.read({dq.data, dq.step}, at.queries);
    else {
      dq_rows.set_zero(rows);
      for (Dim i = 0; i < rows; ++i)
        means[first + i] = dot(cotangents.row(i), y.data + (first + i) * y.step, D);
    }
    key_panels.scores(at, queries.row(0), queries.step(), weights);
    value_panels.scores(at, cotangents.row(0), cotangents.step(), slopes);  // dp
    for (Dim i = 0; i < rows; ++i) {
      const IndexRange own = at.seen_by(first + i, 1);
      const Real top = log_sums[2 * (first + i)], log_total = log_sums[2 * (first + i) + 1];
      const Real mean = means[first + i];
      Real* const p = weights.row(i);
      over_seen(own, seen, p, [&](Vec s, Dim, Dim) {
        return exp_of_weight((s - top) * sizes.scale - log_total);
      });
      over_seen(own, seen, slopes.row(i),
                [&](Vec dp, Dim j, Dim) { return load(p + j) * (dp - mean) * sizes.scale; });
    }
    add_weighted(at, slopes, key_rows, dq_rows.row(0));
    add_weighted_transposed(at, slopes, queries, dk_rows);
    add_weighted_transposed(at, weights, cotangents, dv_rows);
    dq_rows.write(dq, at.queries);
  }
  dk_rows.write(dk, keys);
  dv_rows.write(dv, keys);
}

}  // namespace fledge::kernels
