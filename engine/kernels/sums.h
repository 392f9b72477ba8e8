// Sums in a fixed order, halving: error grows with log n, not n (Higham 1993).    Next: sums.cpp.
#pragma once

#include "engine/real.h"

namespace fledge::kernels {

/// Σ_i x_i
Real sum(const Real* x, Dim n);

/// Σ_i a_i·b_i
Real dot(const Real* a, const Real* b, Dim n);

/// Σ_i x_i² in double, of the values: 1e30 in float does not overflow.
double sum_of_squares(const Real* x, Dim n);

/// Whether no number is infinite or NaN.
bool all_finite(const Real* x, Dim n);

/// out[o, i] = Σ_r x[o, r, i]      x (outer, reduced, inner)   out (outer, inner)
void sum_columns(const Real* x, Real* out, Dim outer, Dim reduced, Dim inner);

}  // namespace fledge::kernels
