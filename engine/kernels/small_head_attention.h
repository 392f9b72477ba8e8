// Attention of a head of at most 8 numbers: one query per lane.     Next: small_head_attention.cpp.
#pragma once

#include "engine/kernels/attention.h"
#include "engine/kernels/simd.h"

namespace fledge::kernels {

/// Heads of at most this size are computed here. For 16 queries, heads of 4 take 0.4 of the time
/// that they take in tiles, heads of 8 take 0.7, heads of 16 take 1.1.
inline constexpr int small_head_D = 8;

/// As attention_head and attention_head_vjp, for D ≤ small_head_D.
void small_head_attention(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                          StridedRowsOut y, Real* log_sums);
void small_head_attention_vjp(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                              StridedRows y, StridedRows dy, const Real* log_sums,
                              StridedRowsOut dq, StridedRowsOut dk, StridedRowsOut dv);

}  // namespace fledge::kernels
