// Layer norm and RMS norm of rows of length n, forward and backward.       Next: layer_norm.cpp.
//
// Sums over a row are added in an order that depends only on n. Sums over rows are added in an
// order that depends only on the number of rows. So the number of threads changes no bit.
#pragma once

#include "engine/real.h"

namespace fledge::kernels {

/// The statistics of a row: x̂ = ((x − mean) − rest)·rstd, where `rest` is the rounding error of
/// the mean. The backward pass computes x̂ again from these three numbers and x, which costs less
/// than storing x̂ and loading it.
struct RowStats {
  Real mean, rest, rstd;
  static constexpr Dim size = 3;  // numbers kept per row

  RowStats() = default;
  RowStats(Real m, Real left, Real scale) : mean(m), rest(left), rstd(scale) {}
  explicit RowStats(const Real* kept) : mean(kept[0]), rest(kept[1]), rstd(kept[2]) {}
  void store_to(Real* kept) const {
    kept[0] = mean;
    kept[1] = rest;
    kept[2] = rstd;
  }

  template <class V>
  V operator()(V x) const {
    return ((x - mean) - rest) * rstd;
  }
};

/// What a row is measured from: its mean, as in layer norm, or 0, as in RMS norm.
enum class Centre { zero, mean };

/// y = gain ⊙ x̂ + bias,   x̂ = (x − mean)·rstd,   rstd = 1/√(variance + eps),
/// variance = Σ (x − mean)² / n;   with Centre::zero the mean in these formulas is 0
/// x, y (rows, n)   gain, bias (n)   stats (rows, 3)
void layer_norm_rows(const Real* x, const Real* gain, const Real* bias, Real* stats, Real* y,
                     double eps, Dim rows, Dim n, Centre centre);

/// dx = rstd·(g − mean(g) − x̂·mean(g ⊙ x̂)),  g = dy ⊙ gain;  without mean(g) for Centre::zero
/// dgain = Σ_rows dy ⊙ x̂                     dbias = Σ_rows dy
/// A gradient that is not needed has a null pointer and is not written.
void layer_norm_rows_vjp(const Real* x, const Real* stats, const Real* gain, const Real* dy,
                         Real* dx, Real* dgain, Real* dbias, Dim rows, Dim n, Centre centre);

}  // namespace fledge::kernels
