// The heads of a batch: how attention calls the kernel of one head (kernels/attention.h).
//                                                                       Next: attention.cpp.
#pragma once

#include <string_view>

#include "engine/kernels/attention.h"
#include "engine/ops.h"

namespace fledge {

/// Returns `heads`. Throws ValueError unless `heads` divides `channels` and both are positive.
Dim require_heads(std::string_view op, Dim channels, Dim heads);

/// The columns of q in qkv (…, T, (H + 2G)·D): H·D. Throws ShapeError unless the columns divide so.
Dim query_columns(std::string_view op, const Shape& qkv, HeadCount heads);
/// Throws ShapeError unless these are the shapes of q (…, T, H·D) and of k and v (…, S, G·D).
void require_q_k_v(std::string_view op, const Shape& q, const Shape& k, const Shape& v,
                   HeadCount heads);
/// Throws ShapeError unless there is no sink or it has shape (heads).
void require_sink(std::string_view op, const Tensor& sink, Dim heads);

/// The sizes of an attention, and the keys that each query sees. Queries and outputs are tables
/// (batch, queries, step), keys and values (batch, keys, step). In a row of a table, the D numbers
/// of head h begin at h·D; those of its keys and values at ⌊h·G/H⌋·D. The kernel gets one head of
/// one document at a time. So nothing is computed between documents, and the bits of a document do
/// not depend on its neighbours.
struct AttentionHeads {
  using StridedRows = kernels::StridedRows;
  using StridedRowsOut = kernels::StridedRowsOut;

  struct Document {
    IndexRange queries, keys;
  };

  Dim batch, heads, key_heads, queries, keys, D;
  Dim most_queries, most_keys;     // of a document
  PoolVector<Document> documents;  // one, unless the mask keeps some apart
  PoolVector<IndexRange> spans;    // of each query, counted from the first key of its document
  Dim share;                       // this many neighbours in the batch have the same spans
  Array sink;                      // (heads), or none

  /// q (…, queries, C)   C = heads·D. Throws ValueError when the heads do not divide C or for a
  /// custom mask, ShapeError when the mask or the sink does not fit.
  AttentionHeads(std::string_view op, const Shape& q, Dim keys, HeadCount heads, const Mask& mask,
                 const Tensor& sink);

  /// Writes y and, for the backward pass, log_sums (batch, heads, queries, 2).
  void attend(StridedRows q, StridedRows k, StridedRows v, StridedRowsOut y, Real* log_sums) const;
  /// Writes dq, dk and dv. Those of keys and values are sums over the heads of a group, in the order
  /// of the heads.
  void attend_vjp(StridedRows q, StridedRows k, StridedRows v, StridedRows y, StridedRows dy,
                  const Real* log_sums, StridedRowsOut dq, StridedRowsOut dk,
                  StridedRowsOut dv) const;
  /// dsink (heads); no array without a sink.
  Array sink_vjp(StridedRows y, StridedRows dy, const Real* log_sums) const;

  Shape log_sums_shape() const { return {batch, heads, queries, 2}; }
};

}  // namespace fledge
