// Attention of a head of few numbers: one query a lane.                 Next: attention_narrow.cpp.
#pragma once

#include "engine/kernels/attention.h"
#include "engine/kernels/vector.h"

namespace fledge::inline FLEDGE_BUILD::kernels {

/// Heads of at most this size are narrow. Of 16 queries, heads of 4 take 0.4 of the time that they
/// take in tiles, heads of 8 take 0.7, heads of 16 take 1.1.
inline constexpr int narrow_D = 8;

/// As attention_head and attention_head_vjp, for D ≤ narrow_D.
void narrow_head(const HeadSizes& sizes, HeadRows q, HeadRows k, HeadRows v, HeadRowsOut y,
                 Real* log_sums);
void narrow_head_vjp(const HeadSizes& sizes, HeadRows q, HeadRows k, HeadRows v, HeadRows y,
                     HeadRows dy, const Real* log_sums, HeadRowsOut dq, HeadRowsOut dk,
                     HeadRowsOut dv);

}  // namespace fledge::inline FLEDGE_BUILD::kernels
