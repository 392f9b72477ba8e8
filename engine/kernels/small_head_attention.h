// Attention of a head of at most 8 numbers: one query per lane.     Next: small_head_attention.cpp.
#pragma once

#include "engine/kernels/attention.h"
#include "engine/kernels/simd.h"

namespace fledge::kernels {

/// Heads of at most this size are computed here: they would fill a small part of a tile.
inline constexpr int small_head_D = 8;

/// Which of some neighbouring queries, one per lane, see a key. Both ends of their spans never
/// decrease from lane to lane, so these lanes are neighbours: from the first span that has not
/// ended to the last that has begun. Keys are counted in integers: a float would stop at 2²⁴.
class SeeingLanes {
 public:
  SeeingLanes(const IndexRange* spans, Dim count) : spans_(spans), count_(count) {}

  /// The lanes that see key j. From call to call j must not decrease.
  LaneMask of(Dim j) {
    while (begun_ < count_ && spans_[begun_].begin <= j) ++begun_;
    while (ended_ < count_ && spans_[ended_].end <= j) ++ended_;
    NativeVec lane;
    for (int i = 0; i < lanes; ++i) lane[i] = static_cast<Native>(i);
    return lane >= static_cast<Native>(ended_) && lane < static_cast<Native>(begun_);
  }

 private:
  const IndexRange* spans_;
  Dim count_, begun_ = 0, ended_ = 0;
};

/// As attention_head and attention_head_vjp, for D ≤ small_head_D.
void small_head_attention(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                          StridedRowsOut y, Real* log_sums);
void small_head_attention_vjp(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                              StridedRows y, StridedRows dy, const Real* log_sums,
                              StridedRowsOut dq, StridedRowsOut dk, StridedRowsOut dv);

}  // namespace fledge::kernels
