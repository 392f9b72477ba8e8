#include "engine/kernels/rows.h"

#include "engine/kernels/parallel.h"
#include "engine/kernels/sums.h"
#include "engine/kernels/vector_math.h"

namespace fledge::inline FLEDGE_BUILD::kernels {

namespace {

// Calls f(r) for every row, in tasks of about 16,000 numbers; `cost` is that of one number.
template <class F>
void for_rows(Dim rows, Dim n, Dim cost, F f) {
  const Dim grain = 1 + (1 << 14) / (n + 1);
  parallel_ranges(rows, grain, rows * n * cost, [&](Dim begin, Dim end) {
    for (Dim r = begin; r < end; ++r) f(r);
  });
}

Real largest(const Real* x, Dim n) {
  Vec top = splat(Real(-infinity));
  by_vectors(n, [&](Dim j, Dim count) { top = larger(top, load(x + j, count, Real(-infinity))); });
  return fold(top, larger<Real>);
}

}  // namespace

void softmax_rows(const Real* x, Real* y, Dim rows, Dim n) {
  for_rows(rows, n, 8, [=](Dim r) { softmax_row(x + r * n, y + r * n, n); });
}

LogSum softmax_row(const Real* x, Real* y, Dim n) {
  const Real top = largest(x, n);  // subtracting it changes nothing, but exp cannot overflow
  Vec sums = splat(Real(0));
  by_vectors(n, [&](Dim j, Dim count) {
    const Vec e = exp(load(x + j, count, Real(-infinity)) - top);
    sums += e;
    store(y + j, e, count);
  });
  const Real total = sum_of(sums);
  for (Dim j = 0; j < n; ++j) y[j] /= total;
  return {top, log(total)};
}

void softmax_rows_vjp(const Real* y, const Real* dy, Real* dx, Dim rows, Dim n) {
  for_rows(rows, n, 2, [=](Dim r) {
    const Real* y_r = y + r * n;
    const Real* dy_r = dy + r * n;
    Real* dx_r = dx + r * n;
    const Real mean = dot(dy_r, y_r, n);  // y sums to 1, so ⟨dy, y⟩ is the y-weighted mean of dy
    for (Dim j = 0; j < n; ++j) dx_r[j] = y_r[j] * (dy_r[j] - mean);
  });
}

void masked_softmax_rows(const Real* x, const unsigned char* may_look, Real* y, Dim rows, Dim n) {
  for (Dim r = 0; r < rows; ++r, x += n, may_look += n, y += n) {
    Real top = Real(-infinity);
    for (Dim j = 0; j < n; ++j)
      if (may_look[j] != 0) top = larger(top, x[j]);
    Real total = Real(0);
    for (Dim j = 0; j < n; ++j) {
      if (may_look[j] == 0) continue;
      y[j] = exp(x[j] - top);
      total += y[j];
    }
    for (Dim j = 0; j < n; ++j) y[j] = may_look[j] != 0 ? y[j] / total : Real(0);
  }
}

void masked_softmax_rows_vjp(const Real* y, const Real* dy, const unsigned char* may_look, Real* dx,
                             Dim rows, Dim n) {
  for (Dim r = 0; r < rows; ++r, y += n, dy += n, may_look += n, dx += n) {
    Real mean = Real(0);
    for (Dim j = 0; j < n; ++j)
      if (may_look[j] != 0) mean += dy[j] * y[j];
    for (Dim j = 0; j < n; ++j) dx[j] = may_look[j] != 0 ? y[j] * (dy[j] - mean) : Real(0);
  }
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

// Two passes: the mean first, then the squares about it, so a large mean does not cancel digits.
void layer_norm_rows(const Real* x, const Real* gain, const Real* bias, Real* x_hat, Real* rstd,
                     Real* y, double eps, Dim rows, Dim n) {
  for_rows(rows, n, 4, [=](Dim r) {
    const Real* x_r = x + r * n;
    Real* hat = x_hat + r * n;
    Real* y_r = y + r * n;
    const Real mean = sum(x_r, n) / real(n);
    for (Dim j = 0; j < n; ++j) hat[j] = x_r[j] - mean;
    const Real rest = sum(hat, n) / real(n);  // of rounding the mean: a constant row becomes zeros
    for (Dim j = 0; j < n; ++j) hat[j] -= rest;
    const Real variance = dot(hat, hat, n) / real(n);
    const Real scale = Real(1) / sqrt(variance + Real(eps));
    rstd[r] = scale;
    for (Dim j = 0; j < n; ++j) {
      hat[j] *= scale;
      y_r[j] = hat[j] * gain[j] + bias[j];
    }
  });
}

void layer_norm_rows_vjp(const Real* x_hat, const Real* rstd, const Real* gain, const Real* dy,
                         Real* dx, Dim rows, Dim n) {
  for_rows(rows, n, 4, [=](Dim r) {
    const Real* hat = x_hat + r * n;
    const Real* dy_r = dy + r * n;
    Real* g = dx + r * n;
    for (Dim j = 0; j < n; ++j) g[j] = dy_r[j] * gain[j];
    const Real mean = sum(g, n) / real(n);
    const Real along = dot(g, hat, n) / real(n);
    for (Dim j = 0; j < n; ++j) g[j] = rstd[r] * (g[j] - mean - hat[j] * along);
  });
}

}  // namespace fledge::inline FLEDGE_BUILD::kernels
