// Products of matrices under a mask: the pair (i, j) is visible where may_look is not 0. Hidden pairs
// are skipped, never multiplied by zero, because 0·NaN is NaN.          Next: masked.cpp.
#pragma once

#include "engine/real.h"

namespace fledge::kernels {

/// c_ij = ⟨a_i, b_j⟩ where may_look, else `hidden`.   a (n, d)   b (m, d)   c (n, m)
void masked_dots(const Real* a, const Real* b, const unsigned char* may_look, Real* c, Real hidden,
                 Dim n, Dim m, Dim d);

/// c_i = Σ_j w_ij·b_j over visible j.   w (n, m)   b (m, d)   c (n, d)
void masked_mix(const Real* w, const Real* b, const unsigned char* may_look, Real* c, Dim n, Dim m,
                Dim d);

/// c_j = Σ_i w_ij·a_i over the i that see j.   w (n, m)   a (n, d)   c (m, d)
void masked_mix_back(const Real* w, const Real* a, const unsigned char* may_look, Real* c, Dim n,
                     Dim m, Dim d);

}  // namespace fledge::kernels
