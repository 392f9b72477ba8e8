// Kernels over rows of length n: softmax and layer norm. y may be the same memory as x.
//
// Each row is summed in an order that depends on its length alone; a masked row as if its visible
// entries were side by side. So the bits of a row depend neither on other rows nor on the values and
// places of hidden entries.                                        Next: rows.cpp.
#pragma once

#include "engine/real.h"

namespace fledge::kernels {

/// log Σ exp(x) = top + log_total, top the largest x; kept apart, as their sum would round the
/// small one.
struct LogSum {
  Real top, log_total;
};

/// y = softmax(x) of one row
LogSum softmax_row(const Real* x, Real* y, Dim n);
/// y = softmax(x)
void softmax_rows(const Real* x, Real* y, Dim rows, Dim n);
/// dx = y ⊙ (dy − ⟨dy, y⟩) of one row
void softmax_row_vjp(const Real* y, const Real* dy, Real* dx, Dim n);
/// The same of every row.
void softmax_rows_vjp(const Real* y, const Real* dy, Real* dx, Dim rows, Dim n);

/// y = softmax of the entries with may_look = 1; the others are not read and become 0.
void masked_softmax_rows(const Real* x, const unsigned char* may_look, Real* y, Dim rows, Dim n);
/// dx = y ⊙ (dy − ⟨dy, y⟩) over the visible entries; the others become 0.
void masked_softmax_rows_vjp(const Real* y, const Real* dy, const unsigned char* may_look, Real* dx,
                             Dim rows, Dim n);

/// y = x − log Σ exp(x)
void log_softmax_rows(const Real* x, Real* y, Dim rows, Dim n);
/// dx = dy − exp(y)·Σ dy
void log_softmax_rows_vjp(const Real* y, const Real* dy, Real* dx, Dim rows, Dim n);

/// How a row was normalised: x̂ = ((x − mean) − rest)·rstd, where `rest` is the rounding error of the
/// mean. The backward pass computes x̂ again from these three numbers and x. To store x̂ and load it
/// twice would move 192 MB instead of 160 MB for 4096×1024, forward and backward.
struct Normal {
  Real mean, rest, rstd;
  static constexpr Dim size = 3;  // numbers kept per row

  Normal(Real m, Real left, Real scale) : mean(m), rest(left), rstd(scale) {}
  explicit Normal(const Real* kept) : mean(kept[0]), rest(kept[1]), rstd(kept[2]) {}
  void store_to(Real* kept) const { kept[0] = mean, kept[1] = rest, kept[2] = rstd; }

  template <class V>
  V operator()(V x) const {
    return ((x - mean) - rest) * rstd;
  }
};

/// y = gain ⊙ x̂ + bias,   x̂ = (x − mean)·rstd,   rstd = 1/√(variance + eps),
/// variance = Σ (x − mean)² / n
/// x, y (rows, n)   gain, bias (n)   normals (rows, 3)
void layer_norm_rows(const Real* x, const Real* gain, const Real* bias, Real* normals, Real* y,
                     double eps, Dim rows, Dim n);
/// dx = rstd·(g − mean(g) − x̂·mean(g ⊙ x̂)),  g = dy ⊙ gain
void layer_norm_rows_vjp(const Real* x, const Real* normals, const Real* gain, const Real* dy,
                         Real* dx, Dim rows, Dim n);

}  // namespace fledge::kernels
