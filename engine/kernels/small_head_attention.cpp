// Attention of a head of few numbers: one query per lane.
//
// The lanes of a vector are neighbouring queries, and a loop visits their keys. For dk and dv the
// lanes are neighbouring keys, and a loop visits their queries. No sum runs across lanes, so the
// result of a lane does not depend on the other lanes.
#include "engine/kernels/small_head_attention.h"

#include <algorithm>

#include "engine/base/memory.h"
#include "engine/kernels/blocking.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/simd_math.h"

namespace fledge::kernels {

namespace {

// True if a table of `lanes` rows and `size` columns is transposed in registers.
template <int size>
constexpr bool transposable = size > 1 && lanes % size == 0;

// The vector of the rows r, r + size, r + 2·size, …, side by side: lanes / size of them.
template <int size>
Vec load_rows(const Real* x, Dim step) {
  if constexpr (size == lanes) return load(x);
  if constexpr (2 * size == lanes) return load_halves(x, x + size * step);
  Real parts[lanes];
  for (Dim i = 0; i < lanes; i += size) std::copy_n(x + i * step, size, parts + i);
  return load(parts);
}
// With AddressSanitizer, Clang 14 does not align the stack if it passes a Vec of Dual by value
// here.
template <int size>
void store_rows(const Vec& rows, Real* x, Dim step) {
  if constexpr (size == lanes) return store(x, rows);
  if constexpr (2 * size == lanes) return store_halves(rows, x, x + size * step);
  Real parts[lanes];
  store(parts, rows);
  for (Dim i = 0; i < lanes; i += size) std::copy_n(parts + i, size, x + i * step);
}

template <int size>
void load_columns(const Real* x, Dim step, Vec (&columns)[size]) {
  for (Dim r = 0; r < size; ++r) columns[r] = load_rows<size>(x + r * step, step);
  transpose(columns);
}
template <int size>
void store_columns(Vec (&columns)[size], Real* x, Dim step) {
  transpose(columns);
  for (Dim r = 0; r < size; ++r) store_rows<size>(columns[r], x + r * step, step);
}

// Neighbouring rows, one per lane. Lanes beyond the last row hold zeros.
struct Lanes {
  Dim first, count;

  Lanes(Dim from, Dim size) : first(from), count(std::min(lanes, size - from)) {}

  // Column d of the rows, for every d.
  template <int most>
  void read(StridedRows x, Dim D, Vec (&columns)[most]) const {
    const Real* const from = x.data + first * x.step;
    if constexpr (transposable<most>)
      if (count == lanes && D == most) return load_columns(from, x.step, columns);
    Real numbers[most * lanes] = {};
    for (Dim i = 0; i < count; ++i)
      for (Dim d = 0; d < D; ++d) numbers[d * lanes + i] = from[i * x.step + d];
    for (Dim d = 0; d < D; ++d) columns[d] = load(numbers + d * lanes);
  }
  // The inverse; it overwrites the columns.
  template <int most>
  void write(Vec (&columns)[most], Dim D, StridedRowsOut x) const {
    Real* const to = x.data + first * x.step;
    if constexpr (transposable<most>)
      if (count == lanes && D == most) return store_columns(columns, to, x.step);
    Real numbers[most * lanes];
    for (Dim d = 0; d < D; ++d) store(numbers + d * lanes, columns[d]);
    for (Dim i = 0; i < count; ++i)
      for (Dim d = 0; d < D; ++d) to[i * x.step + d] = numbers[d * lanes + i];
  }
};

// Queries, one per lane, and the keys that each sees. A lane without a query sees no key.
struct Queries : Lanes {
  const IndexRange* spans;  // of these queries
  IndexRange any{}, all{};  // what some of them see, and what every lane sees

  // `apart`: the keys that all lanes see have a loop without a mask. Only where the compiler
  // unrolls the loops over d: elsewhere GCC 12 fuses multiply-adds in one loop and not in the
  // other, and the bits of a query would depend on its neighbours.
  Queries(const HeadSizes& sizes, Dim from, bool apart)
      : Lanes(from, sizes.queries), spans(sizes.spans + from) {
    any = {spans[0].begin, std::max(spans[0].begin, spans[count - 1].end)};
    all = {spans[count - 1].begin, apart && count == lanes ? spans[0].end : 0};
    if (all.begin >= all.end) all = {any.end, any.end};
  }

  // Calls f(j, seen) for what any lane sees: seen(value, other) is `value` in the lanes that see j,
  // `other` elsewhere. What is computed from a hidden j may be anything, NaN too.
  template <class F>
  void each(F f) const {
    const auto some_see = [&](Dim from, Dim to) {
      SeeingLanes seeing(spans, count);
      for (Dim j = from; j < to; ++j)
        f(j, [sees = seeing.of(j)](Vec value, Vec other) { return select(sees, value, other); });
    };
    some_see(any.begin, all.begin);
    for (Dim j = all.begin; j < all.end; ++j) f(j, [](Vec value, Vec) { return value; });
    some_see(all.end, any.end);
  }
};

// Keys, one per lane, and the queries that see them.
struct Keys : Lanes {
  const IndexRange* spans;
  Vec lane_index;

  Keys(const HeadSizes& sizes, Dim from) : Lanes(from, sizes.keys), spans(sizes.spans) {
    Real indices[lanes];
    for (Dim i = 0; i < lanes; ++i) indices[i] = real(i);
    lane_index = load(indices);
  }

  // Calls f(i, seen) for the queries from … to − 1 that see any lane; `seen` as in Queries::each.
  template <class F>
  void each(Dim from, Dim to, F f) const {
    for (Dim i = from; i < to; ++i) {
      const Dim begin = spans[i].begin - first, end = spans[i].end - first;
      if (end <= 0) continue;
      if (begin >= lanes) break;  // both ends never decrease
      if (begin <= 0 && end >= lanes) {
        f(i, [](Vec value, Vec) { return value; });
      } else if (begin < end) {
        const auto sees = lane_index >= real(begin) && lane_index < real(end);
        f(i, [sees](Vec value, Vec other) { return select(sees, value, other); });
      }
    }
  }
};

// Σ_d x_d·row_d, in every lane
Vec dots(const Vec* x, const Real* row, Dim D) {
  Vec sum = x[0] * row[0];
  for (Dim d = 1; d < D; ++d) sum += x[d] * row[d];
  return sum;
}

// `size` is D where the compiler knows it, else 0. With a known size the head stays in registers.
template <int size>
void head(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v, StridedRowsOut y,
          Real* log_sums) {
  constexpr int most = size > 0 ? size : small_head_D;
  const Dim D = size > 0 ? size : sizes.D;
  Buffer scores(sizes.keys * lanes);
  const Vec sink = splat(sizes.has_sink() ? sizes.sink_score() : Real(-infinity));
  for (Dim query = 0; query < sizes.queries; query += lanes) {
    const Queries near(sizes, query, size > 0);
    Vec queries[most], mixed[most] = {};
    near.read(q, D, queries);
    Vec top = sink, total = splat(Real(0));
    near.each([&](Dim j, auto seen) {
      const Vec s = dots(queries, k.data + j * k.step, D);
      store(scores.data() + j * lanes, s);
      top = larger(top, seen(s, splat(Real(-infinity))));
    });
    if (isfinite(sizes.sink))
      total = exp_of_weight((sink - top) * sizes.scale);
    else if (sizes.has_sink())  // ∞: NaN, but not in a lane that sees no key
      near.each([&](Dim, auto seen) { total = seen(splat(sizes.sink - sizes.sink), total); });
    near.each([&](Dim j, auto seen) {
      const Vec e = exp_of_weight((load(scores.data() + j * lanes) - top) * sizes.scale);
      total = seen(total + e, total);
      for (Dim d = 0; d < D; ++d) mixed[d] = seen(mixed[d] + e * v.data[j * v.step + d], mixed[d]);
    });
    const auto empty = total == splat(Real(0));  // else it is at least 1, or NaN
    for (Dim d = 0; d < D; ++d) mixed[d] = select(empty, splat(Real(0)), mixed[d] / total);
    near.write(mixed, D, y);
    Vec sums[] = {top, log(total)};
    near.write(sums, 2, {log_sums, 2});
  }
}

// A table (rows, columns) of squares of lanes × lanes, one after the other: element (r, c) is
// number c of row r, and a square is transposed in registers. Rows are `across` numbers apart.
struct BlockedMatrix {
  Real* numbers;
  Dim across;  // up(columns)

  static Dim up(Dim size) { return ceil_div(size, lanes) * lanes; }
  Real* row(Dim r, Dim c) const { return numbers + r * across + c; }

  // Columns from … to − 1 of `lanes` rows from r on, a column a vector, at out + column·lanes.
  void columns(Dim r, Dim from, Dim to, Real* out) const {
    for (Dim c = from / lanes * lanes; c < to; c += lanes) {
      Vec square[lanes];
      for (Dim i = 0; i < lanes; ++i) square[i] = load(row(r + i, c));
      transpose(square);
      for (Dim i = 0; i < lanes; ++i) store(out + (c + i) * lanes, square[i]);
    }
  }
};

// One block of queries at a time. The loops for dk and dv, with keys in the lanes, also compute the
// slopes ds (queries, keys), which dq needs: they are stored rather than computed twice.
template <int size>
void head_vjp(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v, StridedRows y,
              StridedRows dy, const Real* log_sums, StridedRowsOut dq, StridedRowsOut dk,
              StridedRowsOut dv) {
  constexpr int most = size > 0 ? size : small_head_D;
  const Dim D = size > 0 ? size : sizes.D;
  const Dim block = std::min(blocking.small_head_queries, sizes.queries);
  // One piece of memory for four tables.
  const Dim across = BlockedMatrix::up(sizes.keys), squares = BlockedMatrix::up(block) * across;
  Buffer memory(squares + across * (lanes + 2 * D) + block + lanes);
  const BlockedMatrix slopes{memory.data(), across};
  Real* const transposed_block = memory.data() + squares;
  Real* const sums = transposed_block + across * lanes;
  Real* const means = sums + across * 2 * D;  // ⟨dy_i, y_i⟩
  Dim first = 0;
  do {
    const Dim last = std::min(first + block, sizes.queries);
    for (Dim query = first; query < last; query += lanes) {
      const Lanes near(query, sizes.queries);
      Vec cotangents[most], outputs[most], mean = splat(Real(0));
      near.read(dy, D, cotangents);
      near.read(y, D, outputs);
      for (Dim d = 0; d < D; ++d) mean += cotangents[d] * outputs[d];
      store(means + (query - first), mean);
    }
    for (Dim key = 0; key < sizes.keys; key += lanes) {
      const Keys near(sizes, key);
      Real* const before = sums + key * 2 * D;
      Vec keys[most], values[most], dks[most] = {}, dvs[most] = {};
      near.read(k, D, keys);
      near.read(v, D, values);
      for (Dim d = 0; first > 0 && d < D; ++d) {
        dks[d] = load(before + 2 * d * lanes);
        dvs[d] = load(before + (2 * d + 1) * lanes);
      }
      near.each(first, last, [&](Dim i, auto seen) {
        const Real* const q_i = q.data + i * q.step;
        const Real* const dy_i = dy.data + i * dy.step;
        const Vec s = dots(keys, q_i, D), dp = dots(values, dy_i, D);
        const Vec p = exp_of_weight((s - log_sums[2 * i]) * sizes.scale - log_sums[2 * i + 1]);
        const Vec ds = p * (dp - means[i - first]) * sizes.scale;
        store(slopes.row(i - first, key), ds);
        for (Dim d = 0; d < D; ++d) {
          dks[d] = seen(dks[d] + ds * q_i[d], dks[d]);
          dvs[d] = seen(dvs[d] + p * dy_i[d], dvs[d]);
        }
      });
      for (Dim d = 0; last < sizes.queries && d < D; ++d) {
        store(before + 2 * d * lanes, dks[d]);
        store(before + (2 * d + 1) * lanes, dvs[d]);
      }
      if (last < sizes.queries) continue;
      near.write(dks, D, dk);
      near.write(dvs, D, dv);
    }
    for (Dim query = first; query < last; query += lanes) {
      const Queries near(sizes, query, size > 0);
      Vec dqs[most] = {};
      slopes.columns(query - first, near.any.begin, near.any.end, transposed_block);
      near.each([&](Dim j, auto seen) {
        const Vec ds = load(transposed_block + j * lanes);
        for (Dim d = 0; d < D; ++d) dqs[d] = seen(dqs[d] + ds * k.data[j * k.step + d], dqs[d]);
      });
      near.write(dqs, D, dq);
    }
    first += block;
  } while (first < sizes.queries);
}

}  // namespace

void small_head_attention(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                          StridedRowsOut y, Real* log_sums) {
  const auto run = sizes.D == 4 ? head<4> : sizes.D == 8 ? head<8> : head<0>;
  run(sizes, q, k, v, y, log_sums);
}

void small_head_attention_vjp(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                              StridedRows y, StridedRows dy, const Real* log_sums,
                              StridedRowsOut dq, StridedRowsOut dk, StridedRowsOut dv) {
  const auto run = sizes.D == 4 ? head_vjp<4> : sizes.D == 8 ? head_vjp<8> : head_vjp<0>;
  run(sizes, q, k, v, y, dy, log_sums, dq, dk, dv);
}

}  // namespace fledge::kernels
