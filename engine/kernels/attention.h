// Attention of one head, forward and backward, without its table of weights in memory.
//
// One block of queries and one block of keys at a time; their scores stay in the cache. Backward
// computes the weights again from the log-sum of each row (Dao et al. 2022). What a query does not
// see changes no number of its results. Next: attention.cpp.
#pragma once

#include <algorithm>
#include <limits>

#include "engine/real.h"

namespace fledge::kernels {

/// Vectors of size D, one per row, rows `step` apart: the columns of one head in a table that holds
/// all heads.
struct StridedRows {
  const Real* data;
  Dim step;
};
struct StridedRowsOut {
  Real* data;
  Dim step;
};

struct HeadSizes {
  Dim queries = 0, keys = 0, D = 0;
  Real scale = 0;                     // of the scores: 1/√D
  const IndexRange* spans = nullptr;  // of each query; both ends never decrease
  Real sink = Real(-infinity);        // a score that no value belongs to; −∞: none
  bool has_sink() const { return !(sink == Real(-infinity)); }
  /// The sink as a score before scaling. A quotient beyond all numbers is the largest of its sign.
  Real sink_score() const {
    const Real most = std::numeric_limits<Real>::max();
    return std::clamp(sink / scale, -most, most);
  }
};

/// Into how many blocks the queries, or the keys, of a head are cut: at least one. Blocks are
/// computed by separate calls.
Dim attention_blocks(Dim D, Dim rows);

/// y_i = Σ_j p_ij·v_j,   p_ij = exp(scale·(s_ij − top_i) − log_total_i),   s_ij = ⟨q_i, k_j⟩,
/// over the keys that i sees. For a query that sees none y_i is 0, and its log_sums are not set.
/// y (queries, D)   log_sums (queries, 2): top_i, the largest s_ij, and log_total_i. They are two
/// numbers, because their sum in float rounds log_total_i away at scores of a thousand. The sink is
/// one more score, sink/scale, in both: a softmax that begins with it. A call writes the rows of one
/// block of queries.
void attention_head(const HeadSizes& sizes, Dim block, StridedRows q, StridedRows k, StridedRows v,
                    StridedRowsOut y, Real* log_sums);

/// dp_ij = ⟨dy_i, v_j⟩    ds_ij = scale·p_ij·(dp_ij − ⟨dy_i, y_i⟩)
/// dq_i = Σ_j ds_ij·k_j   dk_j = Σ_i ds_ij·q_i   dv_j = Σ_i p_ij·dy_i          written, not added
/// A call adds the part of one block of queries and one of keys. Before it come the calls with the
/// same queries and the block of keys before, and with the same keys and the block of queries
/// before. The calls with key_block 0 write means (queries): ⟨dy_i, y_i⟩; the others read them.
void attention_head_vjp(const HeadSizes& sizes, Dim query_block, Dim key_block, StridedRows q,
                        StridedRows k, StridedRows v, StridedRows y, StridedRows dy,
                        const Real* log_sums, Real* means, StridedRowsOut dq, StridedRowsOut dk,
                        StridedRowsOut dv);

}  // namespace fledge::kernels
