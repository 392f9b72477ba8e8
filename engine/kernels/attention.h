// Attention of one head, forward and backward, without its table of weights in memory.
//
// Key idea: a block of queries at a time; its scores live in a buffer as long as the keys, never as
// large as queries × keys. Backward makes the weights again from the log-sum of each row (Dao et
// al. 2022). What a query may not see is not read into any sum.              Next: attention.cpp.
#pragma once

#include "engine/real.h"

namespace fledge::kernels {

/// The keys begin … end − 1.
struct KeyRange {
  Dim begin, end;
};

/// Vectors of size D, one a row, rows `step` apart: the part of a head in a table of all heads.
struct StridedRows {
  const Real* data;
  Dim step;
};
struct HeadRowsOut {
  Real* data;
  Dim step;
};

struct HeadSizes {
  Dim queries, keys, D;
  Real scale;             // of the scores: 1/√D
  const KeyRange* spans;  // of each query; both ends never decrease
};

/// y_i = Σ_j p_ij·v_j,   p_ij = exp(scale·(s_ij − top_i) − log_total_i),   s_ij = ⟨q_i, k_j⟩,
/// over the keys that i sees; zeros for a query that sees none, whose log_sums mean nothing.
/// y (queries, D)   log_sums (queries, 2): top_i, the largest s_ij, and log_total_i, kept apart:
/// in float their sum has lost the small one at scores of a thousand.
void attention_head(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                    HeadRowsOut y, Real* log_sums);

/// dp_ij = ⟨dy_i, v_j⟩    ds_ij = scale·p_ij·(dp_ij − ⟨dy_i, y_i⟩)
/// dq_i = Σ_j ds_ij·k_j   dk_j = Σ_i ds_ij·q_i   dv_j = Σ_i p_ij·dy_i          written, not added
void attention_head_vjp(const HeadSizes& sizes, StridedRows q, StridedRows k, StridedRows v,
                        StridedRows y, StridedRows dy, const Real* log_sums, HeadRowsOut dq,
                        HeadRowsOut dk, HeadRowsOut dv);

}  // namespace fledge::kernels
