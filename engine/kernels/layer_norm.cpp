#include "engine/kernels/layer_norm.h"

#include <algorithm>

#include "engine/kernels/buffer.h"
#include "engine/kernels/pairwise_sum.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd_math.h"
#include "engine/kernels/sums.h"

namespace fledge::kernels {

namespace {

// A row of one, two or four whole vectors stays in registers from its first sum to its last
// product: loops of one or two turns would take longer than the arithmetic, and small models have
// such rows.
template <int vectors>
struct ShortRow {
  static constexpr Dim size = vectors * lanes;
  Vec at[vectors];

  explicit ShortRow(const Real* x) : at{} {
    for (int j = 0; j < vectors; ++j) at[j] = load(x + j * lanes);
  }
  // Each vector v becomes f(v, the vectors at the same index in `others`).
  template <class F, class... Others>
  void each(F f, const Others&... others) {
    for (int j = 0; j < vectors; ++j) at[j] = f(at[j], others.at[j]...);
  }
  Real mean() const {
    Vec sum = at[0];
    for (int j = 1; j < vectors; ++j) sum += at[j];
    return sum_of(sum) / real(size);
  }
  Real mean_product(const ShortRow& other) const {
    Vec sum = at[0] * other.at[0];
    for (int j = 1; j < vectors; ++j) sum += at[j] * other.at[j];
    return sum_of(sum) / real(size);
  }
  void store_to(Real* y) const {
    for (int j = 0; j < vectors; ++j) store(y + j * lanes, at[j]);
  }
};

template <int vectors>
void short_rows(const Real* x, const Real* gain, const Real* bias, Real* stats, Real* y, double eps,
                Dim rows, Centre centre) {
  using Row = ShortRow<vectors>;
  const Row gains(gain), biases(bias);
  for_rows(rows, Row::size, 8, [=](Dim r) {
    Row hat(x + r * Row::size);
    const Real mean = centre == Centre::mean ? hat.mean() : Real(0);
    hat.each([=](Vec v) { return v - mean; });
    const Real rest = centre == Centre::mean ? hat.mean() : Real(0);
    hat.each([=](Vec v) { return v - rest; });
    const Real rstd = Real(1) / sqrt(hat.mean_product(hat) + Real(eps));
    hat.each([=](Vec v, Vec g, Vec b) { return v * rstd * g + b; }, gains, biases);
    hat.store_to(y + r * Row::size);
    RowStats{mean, rest, rstd}.store_to(stats + r * RowStats::size);
  });
}

template <int vectors>
void short_rows_dx(const Real* x, const Real* stats, const Real* gain, const Real* dy, Real* dx,
                   Dim rows, Dim n, Centre centre) {
  const ShortRow<vectors> gains(gain);
  for (Dim r = 0; r < rows; ++r) {
    const RowStats row_stats(stats + r * RowStats::size);
    ShortRow<vectors> hat(x + r * n), g(dy + r * n);
    hat.each(row_stats);
    g.each([](Vec d, Vec by) { return d * by; }, gains);
    const Real mean = centre == Centre::mean ? g.mean() : Real(0), along = g.mean_product(hat);
    g.each([=](Vec v, Vec h) { return row_stats.rstd * (v - mean - h * along); }, hat);
    g.store_to(dx + r * n);
  }
}

void rows_dx(const Real* x, const Real* stats, const Real* gain, const Real* dy, Real* dx, Dim rows,
             Dim n, Centre centre) {
  for (Dim r = 0; r < rows; ++r) {
    const RowStats row_stats(stats + r * RowStats::size);
    const Real* const x_r = x + r * n;
    const Real* const dy_r = dy + r * n;
    const auto g = [=](Dim j, Dim count) { return load(dy_r + j, count) * load(gain + j, count); };
    const auto hat = [=](Dim j, Dim count) { return row_stats(load(x_r + j, count)); };
    const Real mean = centre == Centre::mean ? mean_of(n, g) : Real(0);
    // Past the end of the row g is 0, but x̂ of 0 may be infinite, and 0·∞ is NaN.
    const Real along = mean_of(n, [=](Dim j, Dim count) {
      const Vec product = g(j, count) * hat(j, count);
      return count == lanes ? product : first_lanes(product, count, Real(0));
    });
    by_vectors(n, [&](Dim j, Dim count) {
      const Vec rest = g(j, count) - mean - hat(j, count) * along;
      store(dx + r * n + j, row_stats.rstd * rest, count);
    });
  }
}

// dgain += dy ⊙ x̂ and dbias += dy, of neighbouring rows, from the first to the last.
template <int rows>
void add_gain_and_bias(const Real* x, const Real* stats, const Real* dy, Real* dgain, Real* dbias,
                       Dim n) {
  RowStats row_stats[rows];
  for (int r = 0; r < rows; ++r) row_stats[r] = RowStats(stats + r * RowStats::size);
  by_vectors(n, [=](Dim j, Dim count) {
    Vec gain = load(dgain + j, count), bias = load(dbias + j, count);
    for (int r = 0; r < rows; ++r) {
      const Vec d = load(dy + r * n + j, count);
      gain += d * row_stats[r](load(x + r * n + j, count));
      bias += d;
    }
    store(dgain + j, gain, count);
    store(dbias + j, bias, count);
  });
}

}  // namespace

// The mean first, then the squares about it, so a large mean does not cancel digits. Each pass
// over a row computes x − mean again, as only the first pass waits for memory.
void layer_norm_rows(const Real* x, const Real* gain, const Real* bias, Real* stats, Real* y,
                     double eps, Dim rows, Dim n, Centre centre) {
  if (n == lanes) return short_rows<1>(x, gain, bias, stats, y, eps, rows, centre);
  if (n == 2 * lanes) return short_rows<2>(x, gain, bias, stats, y, eps, rows, centre);
  if (n == 4 * lanes) return short_rows<4>(x, gain, bias, stats, y, eps, rows, centre);
  for_rows(rows, n, 4, [=](Dim r) {
    const Real* x_r = x + r * n;
    Real* y_r = y + r * n;
    const bool from_mean = centre == Centre::mean;
    const Real mean = from_mean ? sum(x_r, n) / real(n) : Real(0);
    const auto centred = [=](Dim j, Dim count, Real middle, Real rest) {
      const Vec v = load(x_r + j, count) - middle - rest;
      return count == lanes ? v : first_lanes(v, count, Real(0));
    };
    // What rounding the mean has left: with it a constant row becomes zeros.
    const auto without_mean = [=](Dim j, Dim m) { return centred(j, m, mean, Real(0)); };
    const Real rest = from_mean ? mean_of(n, without_mean) : Real(0);
    const Real variance = mean_of(n, [=](Dim j, Dim m) {
      const Vec v = centred(j, m, mean, rest);
      return v * v;
    });
    const RowStats row_stats{mean, rest, Real(1) / sqrt(variance + Real(eps))};
    by_vectors(n, [&](Dim j, Dim count) {
      const Vec hat = row_stats(load(x_r + j, count));
      store(y_r + j, hat * load(gain + j, count) + load(bias + j, count), count);
    });
    row_stats.store_to(stats + r * RowStats::size);
  });
}

// Four rows at a time: their dx first, then their terms of dgain and dbias, while x and dy are in
// the cache.
void layer_norm_rows_vjp(const Real* x, const Real* stats, const Real* gain, const Real* dy,
                         Real* dx, Real* dgain, Real* dbias, Dim rows, Dim n, Centre centre) {
  const auto dx_of_rows = n == lanes       ? short_rows_dx<1>
                          : n == 2 * lanes ? short_rows_dx<2>
                          : n == 4 * lanes ? short_rows_dx<4>
                                           : rows_dx;
  const auto write_dx = [=](Dim begin, Dim end) {
    if (dx != nullptr)
      dx_of_rows(x + begin * n, stats + begin * RowStats::size, gain, dy + begin * n,
                 dx + begin * n, end - begin, n, centre);
  };
  if (dgain == nullptr && dbias == nullptr)
    return for_rows(rows, n, 4, [&](Dim r) { write_dx(r, r + 1); });
  Buffer sums(2 * n);  // dgain, then dbias
  sum_all_rows(rows, 2 * n, rows * n * 8, sums.data(), [=](Dim begin, Dim end, Real* to) {
    std::fill_n(to, 2 * n, Real(0));
    const auto add = [&](auto add_few, Dim r) {
      add_few(x + r * n, stats + r * RowStats::size, dy + r * n, to, to + n, n);
    };
    Dim r = begin;
    for (; r + 4 <= end; r += 4) {
      write_dx(r, r + 4);
      add(add_gain_and_bias<4>, r);
    }
    write_dx(r, end);
    for (; r < end; ++r) add(add_gain_and_bias<1>, r);
  });
  if (dgain != nullptr) std::copy_n(sums.data(), n, dgain);
  if (dbias != nullptr) std::copy_n(sums.data() + n, n, dbias);
}

}  // namespace fledge::kernels
