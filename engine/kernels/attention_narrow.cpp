// Attention of a head of few numbers: one query a lane.
//
// Key idea: a head of 4 numbers fills half of AVX's vectors and a quarter of a tile. Here the lanes of
// a vector are neighbouring queries, which go down the keys together; for dk and dv they are
// neighbouring keys, which go down the queries. No sum runs across lanes, and nothing depends on who
// is in the next one.
#include "engine/kernels/attention_narrow.h"

#include <algorithm>

#include "engine/kernels/vector_math.h"
#include "engine/memory.h"

namespace fledge::inline FLEDGE_BUILD::kernels {

namespace {

// Neighbouring queries, one a lane, and the keys that each sees; or keys, and the queries that see
// each. A lane without a query sees nothing.
struct Neighbours {
  Dim first, count;
  Span any{}, all{};  // what some of them see, and what every lane sees
  Vec begin, end;     // of each lane's span, from any.begin on: exact in float up to 2²⁴

  Neighbours(const Span* spans, Dim size, Dim from)
      : first(from), count(std::min(lanes, size - from)) {
    Real begins[lanes] = {}, ends[lanes] = {};
    spans += first;
    for (Dim i = 0; i < count; ++i) {
      begins[i] = real(spans[i].begin - spans[0].begin);
      ends[i] = real(spans[i].end - spans[0].begin);
    }
    any = {spans[0].begin, std::max(spans[0].begin, spans[count - 1].end)};
    all = {spans[count - 1].begin, count < lanes ? 0 : spans[0].end};
    if (all.begin >= all.end) all = {any.end, any.end};
    begin = load(begins);
    end = load(ends);
  }

  // Calls f(j, seen) for what any lane sees: seen(value, other) is `value` in the lanes that see j,
  // `other` elsewhere. What is computed from a hidden j may be anything, NaN too.
  template <class F>
  void each(F f) const {
    const auto some_see = [&](Dim from, Dim to) {
      for (Dim j = from; j < to; ++j) {
        const Vec key = splat(real(j - any.begin));
        f(j, [&](Vec value, Vec other) { return key < begin ? other : key < end ? value : other; });
      }
    };
    some_see(any.begin, all.begin);
    for (Dim j = all.begin; j < all.end; ++j) f(j, [](Vec value, Vec) { return value; });
    some_see(all.end, any.end);
  }

  // `value` in the lanes that see anything, else 0.
  Vec unless_blind(Vec value) const { return begin < end ? value : splat(Real(0)); }

  // Column d of their rows, for every d.
  template <int most>
  void read(HeadRows x, Dim D, Vec (&columns)[most]) const {
    Real numbers[most * lanes] = {};
    for (Dim i = 0; i < count; ++i)
      for (Dim d = 0; d < D; ++d) numbers[d * lanes + i] = x.data[(first + i) * x.step + d];
    for (Dim d = 0; d < D; ++d) columns[d] = load(numbers + d * lanes);
  }
  template <int most>
  void write(const Vec (&columns)[most], Dim D, HeadRowsOut x) const {
    Real numbers[most * lanes];
    for (Dim d = 0; d < D; ++d) store(numbers + d * lanes, columns[d]);
    for (Dim i = 0; i < count; ++i)
      for (Dim d = 0; d < D; ++d) x.data[(first + i) * x.step + d] = numbers[d * lanes + i];
  }
};

// Σ_d x_d·row_d, in every lane
Vec dots(const Vec* x, const Real* row, Dim D) {
  Vec sum = x[0] * row[0];
  for (Dim d = 1; d < D; ++d) sum += x[d] * row[d];
  return sum;
}

// Which queries see each key: neighbours, as both ends of their spans never decrease.
PoolVector<Span> seen_by(const HeadSizes& sizes) {
  PoolVector<Span> queries(static_cast<std::size_t>(sizes.keys));
  Dim begin = 0, end = 0;
  for (Dim j = 0; j < sizes.keys; ++j) {
    while (begin < sizes.queries && sizes.spans[begin].end <= j) ++begin;
    while (end < sizes.queries && sizes.spans[end].begin <= j) ++end;
    queries[static_cast<std::size_t>(j)] = {begin, std::max(begin, end)};
  }
  return queries;
}

// `size` is D where the compiler knows it, and can keep a head in registers: half the time. Else 0.
template <int size>
void head(const HeadSizes& sizes, HeadRows q, HeadRows k, HeadRows v, HeadRowsOut y,
          Real* log_sums) {
  constexpr int most = size > 0 ? size : narrow_D;
  const Dim D = size > 0 ? size : sizes.D;
  Buffer scores(sizes.keys * lanes);
  for (Dim query = 0; query < sizes.queries; query += lanes) {
    const Neighbours near(sizes.spans, sizes.queries, query);
    Vec queries[most], mixed[most] = {};
    near.read(q, D, queries);
    Vec top = splat(Real(-infinity)), total = splat(Real(0));
    near.each([&](Dim j, auto seen) {
      const Vec s = dots(queries, k.data + j * k.step, D);
      store(scores.data() + j * lanes, s);
      top = larger(top, seen(s, splat(Real(-infinity))));
    });
    near.each([&](Dim j, auto seen) {
      const Vec e = exp((load(scores.data() + j * lanes) - top) * sizes.scale);
      total = seen(total + e, total);
      for (Dim d = 0; d < D; ++d) mixed[d] = seen(mixed[d] + e * v.data[j * v.step + d], mixed[d]);
    });
    for (Dim d = 0; d < D; ++d) mixed[d] = near.unless_blind(mixed[d] / total);
    near.write(mixed, D, y);
    const Vec sums[] = {top, log(total)};
    near.write(sums, 2, {log_sums, 2});
  }
}

template <int size>
void head_vjp(const HeadSizes& sizes, HeadRows q, HeadRows k, HeadRows v, HeadRows y, HeadRows dy,
              const Real* log_sums, HeadRowsOut dq, HeadRowsOut dk, HeadRowsOut dv) {
  constexpr int most = size > 0 ? size : narrow_D;
  const Dim D = size > 0 ? size : sizes.D;
  Buffer means(sizes.queries + lanes);  // ⟨dy_i, y_i⟩
  for (Dim query = 0; query < sizes.queries; query += lanes) {
    const Neighbours near(sizes.spans, sizes.queries, query);
    Vec queries[most], cotangents[most], outputs[most], dqs[most] = {}, sums[2];
    near.read(q, D, queries);
    near.read(dy, D, cotangents);
    near.read(y, D, outputs);
    near.read({log_sums, 2}, 2, sums);
    Vec mean = splat(Real(0));
    for (Dim d = 0; d < D; ++d) mean += cotangents[d] * outputs[d];
    store(means.data() + query, mean);
    near.each([&](Dim j, auto seen) {
      const Real* const k_j = k.data + j * k.step;
      const Vec p = exp((dots(queries, k_j, D) - sums[0]) * sizes.scale - sums[1]);
      const Vec dp = dots(cotangents, v.data + j * v.step, D);
      const Vec ds = p * (dp - mean) * sizes.scale;
      for (Dim d = 0; d < D; ++d) dqs[d] = seen(dqs[d] + ds * k_j[d], dqs[d]);
    });
    near.write(dqs, D, dq);
  }

  const PoolVector<Span> spans = seen_by(sizes);
  for (Dim key = 0; key < sizes.keys; key += lanes) {
    const Neighbours near(spans.data(), sizes.keys, key);
    Vec keys[most], values[most], dks[most] = {}, dvs[most] = {};
    near.read(k, D, keys);
    near.read(v, D, values);
    near.each([&](Dim i, auto seen) {
      const Real* const q_i = q.data + i * q.step;
      const Real* const dy_i = dy.data + i * dy.step;
      const Vec s = dots(keys, q_i, D), dp = dots(values, dy_i, D);
      const Vec p = exp((s - log_sums[2 * i]) * sizes.scale - log_sums[2 * i + 1]);
      const Vec ds = p * (dp - means.data()[i]) * sizes.scale;
      for (Dim d = 0; d < D; ++d) {
        dks[d] = seen(dks[d] + ds * q_i[d], dks[d]);
        dvs[d] = seen(dvs[d] + p * dy_i[d], dvs[d]);
      }
    });
    near.write(dks, D, dk);
    near.write(dvs, D, dv);
  }
}

}  // namespace

void narrow_head(const HeadSizes& sizes, HeadRows q, HeadRows k, HeadRows v, HeadRowsOut y,
                 Real* log_sums) {
  const auto run = sizes.D == 4 ? head<4> : sizes.D == 8 ? head<8> : head<0>;
  run(sizes, q, k, v, y, log_sums);
}

void narrow_head_vjp(const HeadSizes& sizes, HeadRows q, HeadRows k, HeadRows v, HeadRows y,
                     HeadRows dy, const Real* log_sums, HeadRowsOut dq, HeadRowsOut dk,
                     HeadRowsOut dv) {
  const auto run = sizes.D == 4 ? head_vjp<4> : sizes.D == 8 ? head_vjp<8> : head_vjp<0>;
  run(sizes, q, k, v, y, dy, log_sums, dq, dk, dv);
}

}  // namespace fledge::inline FLEDGE_BUILD::kernels
