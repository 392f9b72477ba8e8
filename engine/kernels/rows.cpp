#include "engine/kernels/rows.h"

#include "engine/kernels/sums.h"

namespace fledge::inline FLEDGE_BUILD::kernels {

namespace {

// The largest of a and b; a NaN on either side wins.
Real larger(Real a, Real b) { return a >= b || isnan(a) ? a : b; }

}  // namespace

void softmax_rows(const Real* x, Real* y, Dim rows, Dim n) {
  for (Dim r = 0; r < rows; ++r, x += n, y += n) {
    Real top = Real(-infinity);  // subtracting it changes nothing, but exp cannot overflow
    for (Dim j = 0; j < n; ++j) top = larger(top, x[j]);
    Real total = Real(0);
    for (Dim j = 0; j < n; ++j) {
      y[j] = exp(x[j] - top);
      total += y[j];
    }
    for (Dim j = 0; j < n; ++j) y[j] /= total;
  }
}

void softmax_rows_vjp(const Real* y, const Real* dy, Real* dx, Dim rows, Dim n) {
  for (Dim r = 0; r < rows; ++r, y += n, dy += n, dx += n) {
    Real mean = Real(0);  // y sums to 1, so ⟨dy, y⟩ is the y-weighted mean of dy
    for (Dim j = 0; j < n; ++j) mean += dy[j] * y[j];
    for (Dim j = 0; j < n; ++j) dx[j] = y[j] * (dy[j] - mean);
  }
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
  for (Dim r = 0; r < rows; ++r, x += n, y += n) {
    Real top = Real(-infinity);
    for (Dim j = 0; j < n; ++j) top = larger(top, x[j]);
    Real total = Real(0);
    for (Dim j = 0; j < n; ++j) total += exp(x[j] - top);
    const Real log_total = log(total);
    for (Dim j = 0; j < n; ++j) y[j] = x[j] - top - log_total;
  }
}

void log_softmax_rows_vjp(const Real* y, const Real* dy, Real* dx, Dim rows, Dim n) {
  for (Dim r = 0; r < rows; ++r, y += n, dy += n, dx += n) {
    const Real total = sum(dy, n);
    for (Dim j = 0; j < n; ++j) dx[j] = dy[j] - exp(y[j]) * total;
  }
}

// Two passes: the mean first, then the squares about it, so a large mean does not cancel digits.
void normalise_rows(const Real* x, Real* x_hat, Real* rstd, double eps, Dim rows, Dim n) {
  for (Dim r = 0; r < rows; ++r, x += n, x_hat += n) {
    const Real mean = sum(x, n) / real(n);
    for (Dim j = 0; j < n; ++j) x_hat[j] = x[j] - mean;
    const Real rest =
        sum(x_hat, n) / real(n);  // of rounding the mean: a constant row becomes zeros
    for (Dim j = 0; j < n; ++j) x_hat[j] -= rest;
    const Real variance = dot(x_hat, x_hat, n) / real(n);
    rstd[r] = Real(1) / sqrt(variance + Real(eps));
    for (Dim j = 0; j < n; ++j) x_hat[j] *= rstd[r];
  }
}

void normalise_rows_vjp(const Real* x_hat, const Real* rstd, const Real* g, Real* dx, Dim rows,
                        Dim n) {
  for (Dim r = 0; r < rows; ++r, x_hat += n, g += n, dx += n) {
    const Real mean = sum(g, n) / real(n);
    const Real along = dot(g, x_hat, n) / real(n);
    for (Dim j = 0; j < n; ++j) dx[j] = rstd[r] * (g[j] - mean - x_hat[j] * along);
  }
}

}  // namespace fledge::inline FLEDGE_BUILD::kernels
