#include "engine/kernels/attention.h"

#include <algorithm>

#include "engine/kernels/attention_tables.h"
#include "engine/kernels/blocking.h"
#include "engine/kernels/simd_math.h"
#include "engine/kernels/small_head_attention.h"
#include "engine/kernels/sums.h"

namespace fledge::kernels {

namespace {

// With so few queries, as in a decoder, keys and values are not packed: packing reads and writes
// them, and the tiles read them once more. With two queries packing pays already.
constexpr Dim few_queries = 1;

// The table of weights holds so many queries. Backward multiplies it by queries, so with more of
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
  PoolVector<Total> totals(static_cast<std::size_t>(count));
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
    const auto [top, sum] = totals[static_cast<std::size_t>(i)];
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
