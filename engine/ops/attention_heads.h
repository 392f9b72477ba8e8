// The heads of a batch: how attention calls the kernel of one head (kernels/attention.h).
//                                                                       Next: attention.cpp.
#pragma once

#include <string_view>

#include "engine/base/memory.h"
#include "engine/base/shape.h"
#include "engine/kernels/attention.h"
#include "engine/masks.h"

namespace fledge {

/// Returns `heads`. Throws ValueError unless `heads` divides `channels` and both are positive.
Dim require_heads(std::string_view op, Dim channels, Dim heads);

/// The sizes of an attention, and the keys that each query sees. Queries and outputs are tables
/// (batch, queries, step), keys and values (batch, keys, step). In a row of a table, the D numbers
/// of head h begin at h·D.
struct AttentionHeads {
  using StridedRows = kernels::StridedRows;
  using StridedRowsOut = kernels::StridedRowsOut;

  Dim batch, heads, queries, keys, D;
  PoolVector<IndexRange> spans;  // of each query
  Dim share;                     // this many neighbours in the batch have the same spans

  /// q (…, queries, C)   C = heads·D. Throws ValueError when the heads do not divide C or for a
  /// custom mask, ShapeError when the mask does not fit.
  AttentionHeads(std::string_view op, const Shape& q, Dim keys, Dim heads, const Mask& mask);

  /// Writes y and, for the backward pass, log_sums (batch, heads, queries, 2).
  void attend(StridedRows q, StridedRows k, StridedRows v, StridedRowsOut y, Real* log_sums) const;
  /// Writes dq, dk and dv.
  void attend_vjp(StridedRows q, StridedRows k, StridedRows v, StridedRows y, StridedRows dy,
                  const Real* log_sums, StridedRowsOut dq, StridedRowsOut dk,
                  StridedRowsOut dv) const;

  Shape log_sums_shape() const { return {batch, heads, queries, 2}; }
};

}  // namespace fledge
