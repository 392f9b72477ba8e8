// General matrix multiply on plain row-major memory.                       Next: gemm.cpp.
#pragma once

#include "engine/real.h"

namespace fledge::inline FLEDGE_BUILD::kernels {

/// C = A·B, overwriting C.   A (n, k)   B (k, m)   C (n, m)      k = 0 gives zeros.
void gemm(const Real* a, const Real* b, Real* c, Dim n, Dim k, Dim m);

}  // namespace fledge::inline FLEDGE_BUILD::kernels
