#include "engine/kernels/rows.h"

#include <algorithm>

#include "engine/base/memory.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/pairwise_sum.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd_math.h"
#include "engine/kernels/sums.h"

namespace fledge::kernels {

namespace {

// Calls f(r) for every row, in sixteen tasks, or in more where a task would have more than 16,000
// numbers. `cost` is the number of elementary operations per number.
template <class F>
void for_rows(Dim rows, Dim n, Dim cost, F f) {
  const Dim grain = 1 + std::min(rows / blocking.tasks, blocking.task_numbers / (n + 1));
  parallel_ranges(rows, grain, rows * n * cost, [&](Dim begin, Dim end) {
    for (Dim r = begin; r < end; ++r) f(r);
  });
}

Real largest(const Real* x, Dim n) {
  Vec top = splat(Real(-infinity));
  by_vectors(n, [&](Dim j, Dim count) { top = larger(top, load(x + j, count, Real(-infinity))); });
  return fold(top, [](Vec a, Vec b) { return larger(a, b); });
}

// Softmax of a row that stays in registers: the numbers after its last whole vector, which are slow
// to load and to store, are loaded once and stored once. 256 rows of 27 take 20 µs; with the loops
// of softmax_row they take 23 µs.
template <int vectors>
LogSum short_softmax(const Real* x, Real* y, Dim n) {
  constexpr int last = vectors - 1;
  const Dim rest = n - last * lanes;
  Vec at[vectors], top = splat(Real(-infinity)), sums = splat(Real(0));
  for (int j = 0; j < last; ++j) at[j] = load(x + j * lanes);
  at[last] = load(x + last * lanes, rest, Real(-infinity));
  for (const Vec& v : at) top = larger(top, v);
  const Real most = fold(top, [](Vec a, Vec b) { return larger(a, b); });
  for (Vec& v : at) sums += v = exp(v - most);
  const Real total = sum_of(sums);
  for (int j = 0; j < last; ++j) store(y + j * lanes, at[j] / total);
  store(y + last * lanes, at[last] / total, rest);
  return {most, log(total)};
}

}  // namespace

void softmax_rows(const Real* x, Real* y, Dim rows, Dim n) {
  for_rows(rows, n, 8, [=](Dim r) { softmax_row(x + r * n, y + r * n, n); });
}

LogSum softmax_row(const Real* x, Real* y, Dim n) {
  constexpr LogSum (*short_ones[])(const Real*, Real*, Dim) = {short_softmax<1>, short_softmax<2>,
                                                               short_softmax<3>, short_softmax<4>};
  if (n > 0 && n <= 4 * lanes) return short_ones[(n - 1) / lanes](x, y, n);
  const Real top = largest(x, n);  // subtracting it changes nothing, but exp cannot overflow
  Vec sums = splat(Real(0));
  by_vectors(n, [&](Dim j, Dim count) {
    const Vec e = exp(load(x + j, count, Real(-infinity)) - top);
    sums += e;
    store(y + j, e, count);
  });
  const Real total = sum_of(sums);
  by_vectors(n, [&](Dim j, Dim count) { store(y + j, load(y + j, count) / total, count); });
  return {top, log(total)};
}

void softmax_row_vjp(const Real* y, const Real* dy, Real* dx, Dim n) {
  const Real mean = dot(dy, y, n);  // y sums to 1, so ⟨dy, y⟩ is the y-weighted mean of dy
  for (Dim j = 0; j < n; ++j) dx[j] = y[j] * (dy[j] - mean);
}

void softmax_rows_vjp(const Real* y, const Real* dy, Real* dx, Dim rows, Dim n) {
  for_rows(rows, n, 2, [=](Dim r) { softmax_row_vjp(y + r * n, dy + r * n, dx + r * n, n); });
}

namespace {

// Copies the visible numbers of x to `seen`, side by side; returns their count.
Dim gather(const unsigned char* may_look, const Real* x, Real* seen, Dim n) {
  Dim count = 0;
  for (Dim j = 0; j < n; ++j)
    if (may_look[j] != 0) seen[count++] = x[j];
  return count;
}

// Copies them back to their places in x; hidden numbers become 0.
void scatter(const unsigned char* may_look, const Real* seen, Real* x, Dim n) {
  for (Dim j = 0; j < n; ++j) x[j] = may_look[j] != 0 ? *seen++ : Real(0);
}

}  // namespace

void masked_softmax_rows(const Real* x, const unsigned char* may_look, Real* y, Dim rows, Dim n) {
  for_rows(rows, n, 8, [=](Dim r) {
    Buffer seen(n);
    const Dim count = gather(may_look + r * n, x + r * n, seen.data(), n);
    softmax_row(seen.data(), seen.data(), count);
    scatter(may_look + r * n, seen.data(), y + r * n, n);
  });
}

void masked_softmax_rows_vjp(const Real* y, const Real* dy, const unsigned char* may_look, Real* dx,
                             Dim rows, Dim n) {
  for_rows(rows, n, 2, [=](Dim r) {
    Buffer seen_y(n), seen(n);
    const Dim count = gather(may_look + r * n, dy + r * n, seen.data(), n);
    gather(may_look + r * n, y + r * n, seen_y.data(), n);
    softmax_row_vjp(seen_y.data(), seen.data(), seen.data(), count);
    scatter(may_look + r * n, seen.data(), dx + r * n, n);
  });
}

void log_softmax_rows(const Real* x, Real* y, Dim rows, Dim n) {
  for_rows(rows, n, 8, [=](Dim r) {
    const Real* x_r = x + r * n;
    Real* y_r = y + r * n;
    const Real top = largest(x_r, n);
    Vec sums = splat(Real(0));
    by_vectors(n,
               [&](Dim j, Dim count) { sums += exp(load(x_r + j, count, Real(-infinity)) - top); });
    const Real log_total = log(sum_of(sums));
    for (Dim j = 0; j < n; ++j) y_r[j] = x_r[j] - top - log_total;
  });
}

void log_softmax_rows_vjp(const Real* y, const Real* dy, Real* dx, Dim rows, Dim n) {
  for_rows(rows, n, 8, [=](Dim r) {
    const Real* y_r = y + r * n;
    const Real* dy_r = dy + r * n;
    Real* dx_r = dx + r * n;
    const Real total = sum(dy_r, n);
    by_vectors(n, [&](Dim j, Dim count) {
      store(dx_r + j, load(dy_r + j, count) - exp(load(y_r + j, count)) * total, count);
    });
  });
}

namespace {

// Note [Short rows]: a row of up to four whole vectors stays in registers from its first sum to its
// last product. The rows of tiny models are that short: a training step of 16 sequences of 16
// tokens, 16 wide, takes 288 µs; with the general loops below it takes 346 µs.
template <int vectors>
struct ShortRow {
  static constexpr Dim size = vectors * lanes;
  Vec at[vectors];

  explicit ShortRow(const Real* x) : at{} {
    for (int j = 0; j < vectors; ++j) at[j] = load(x + j * lanes);
  }
  // Each vector v becomes f(v, the vectors at the same place in `others`).
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
void short_rows(const Real* x, const Real* gain, const Real* bias, Real* normals, Real* y,
                double eps, Dim rows) {
  using Row = ShortRow<vectors>;
  const Row gains(gain), biases(bias);
  for_rows(rows, Row::size, 8, [=](Dim r) {
    Row hat(x + r * Row::size);
    const Real mean = hat.mean();
    hat.each([=](Vec v) { return v - mean; });
    const Real rest = hat.mean();
    hat.each([=](Vec v) { return v - rest; });
    const Real rstd = Real(1) / sqrt(hat.mean_product(hat) + Real(eps));
    hat.each([=](Vec v, Vec g, Vec b) { return v * rstd * g + b; }, gains, biases);
    hat.store_to(y + r * Row::size);
    Normal{mean, rest, rstd}.store_to(normals + r * Normal::size);
  });
}

template <int vectors>
void short_rows_vjp(const Real* x, const Real* normals, const Real* gain, const Real* dy, Real* dx,
                    Dim rows) {
  using Row = ShortRow<vectors>;
  const Row gains(gain);
  for_rows(rows, Row::size, 8, [=](Dim r) {
    const Normal normal(normals + r * Normal::size);
    Row hat(x + r * Row::size), g(dy + r * Row::size);
    hat.each(normal);
    g.each([](Vec d, Vec by) { return d * by; }, gains);
    const Real mean = g.mean(), along = g.mean_product(hat);
    g.each([=](Vec v, Vec h) { return normal.rstd * (v - mean - h * along); }, hat);
    g.store_to(dx + r * Row::size);
  });
}

}  // namespace

// The mean first, then the squares about it, so a large mean does not cancel digits. Each pass
// over a row computes x − mean again, as only the first pass waits for memory: 4096×1024 takes
// 0.95 ms; with the differences stored it takes 1.5 ms.
void layer_norm_rows(const Real* x, const Real* gain, const Real* bias, Real* normals, Real* y,
                     double eps, Dim rows, Dim n) {
  if (n == lanes) return short_rows<1>(x, gain, bias, normals, y, eps, rows);
  if (n == 2 * lanes) return short_rows<2>(x, gain, bias, normals, y, eps, rows);
  if (n == 4 * lanes) return short_rows<4>(x, gain, bias, normals, y, eps, rows);
  for_rows(rows, n, 4, [=](Dim r) {
    const Real* x_r = x + r * n;
    Real* y_r = y + r * n;
    const Real mean = sum(x_r, n) / real(n);
    const auto centred = [=](Dim j, Dim count, Real middle, Real rest) {
      const Vec v = load(x_r + j, count) - middle - rest;
      return count == lanes ? v : first_lanes(v, count, Real(0));
    };
    // What rounding the mean has left: with it a constant row becomes zeros.
    const Real rest = mean_of(n, [=](Dim j, Dim m) { return centred(j, m, mean, Real(0)); });
    const Real variance = mean_of(n, [=](Dim j, Dim m) {
      const Vec v = centred(j, m, mean, rest);
      return v * v;
    });
    const Normal normal{mean, rest, Real(1) / sqrt(variance + Real(eps))};
    by_vectors(n, [&](Dim j, Dim count) {
      const Vec hat = normal(load(x_r + j, count));
      store(y_r + j, hat * load(gain + j, count) + load(bias + j, count), count);
    });
    normal.store_to(normals + r * Normal::size);
  });
}

void layer_norm_rows_vjp(const Real* x, const Real* normals, const Real* gain, const Real* dy,
                         Real* dx, Dim rows, Dim n) {
  if (n == lanes) return short_rows_vjp<1>(x, normals, gain, dy, dx, rows);
  if (n == 2 * lanes) return short_rows_vjp<2>(x, normals, gain, dy, dx, rows);
  if (n == 4 * lanes) return short_rows_vjp<4>(x, normals, gain, dy, dx, rows);
  for_rows(rows, n, 4, [=](Dim r) {
    const Normal normal(normals + r * Normal::size);
    const Real* x_r = x + r * n;
    const Real* dy_r = dy + r * n;
    Real* const dx_r = dx + r * n;
    const auto g = [=](Dim j, Dim count) { return load(dy_r + j, count) * load(gain + j, count); };
    const auto hat = [=](Dim j, Dim count) { return normal(load(x_r + j, count)); };
    const Real mean = mean_of(n, g);
    // Past the end of the row g is 0, but x̂ of 0 may be infinite, and 0·∞ is NaN.
    const Real along = mean_of(n, [=](Dim j, Dim count) {
      const Vec product = g(j, count) * hat(j, count);
      return count == lanes ? product : first_lanes(product, count, Real(0));
    });
    by_vectors(n, [&](Dim j, Dim count) {
      const Vec rest = g(j, count) - mean - hat(j, count) * along;
      store(dx_r + j, normal.rstd * rest, count);
    });
  });
}

}  // namespace fledge::kernels
