// Attention of one head, forward and backward, without its table of weights in memory.
//
// Key idea: one block of queries at a time. A buffer holds the scores of the block, not those of
// all queries. Backward computes the weights again from the log-sum of each row (Dao et al. 2022).
// No sum contains a key that is hidden from its query.                       Next: attention.cpp.
#pragma once

#include "engine/real.h"

namespace fledge::kernels {

/// The keys begin … end − 1.
struct KeyRange {
  Dim begin, end;
};

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
  Real scale = 0;                   // of the scores: 1/√D
  const KeyRange* spans = nullptr;  // of each query; both ends never decrease
};

/// y_i = Σ_j p_ij·v_j,   p_ij = exp(scale·(s_ij − top_i) − log_total_i),   s_ij = ⟨q_i, k_j⟩,
/// over the keys that i sees. For a query that sees none y_i is 0, and its log_sums are not set.
/// y (queries, D)   log_sums (queries, 2): top_i, the largest s_ij, and log_total_i. They are two
/// numbers, because their sum in float rounds log_total_i away at scores of a thousand.
void attention_head(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                    StridedRowsOut y, Real* log_sums);

/// dp_ij = ⟨dy_i, v_j⟩    ds_ij = scale·p_ij·(dp_ij − ⟨dy_i, y_i⟩)
/// dq_i = Σ_j ds_ij·k_j   dk_j = Σ_i ds_ij·q_i   dv_j = Σ_i p_ij·dy_i          written, not added
void attention_head_vjp(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                        StridedRows y, StridedRows dy, const Real* log_sums, StridedRowsOut dq,
                        StridedRowsOut dk, StridedRowsOut dv);

}  // namespace fledge::kernels
