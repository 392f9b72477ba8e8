// General matrix multiply on plain memory.                                       Next: gemm.cpp.
#pragma once

#include "engine/real.h"

namespace fledge::kernels {

/// A matrix as it lies in memory: element (i, j) is data[i·row + j·column].
struct Matrix {
  const Real* data;
  Dim row, column;
  Matrix transposed() const { return {data, column, row}; }
};

/// What the sums of a product start from: (n, m) numbers, rows `row` apart, or zeros where there
/// are none. C itself is added to; rows 0 apart are one row, a bias.
struct Initial {
  const Real* data = nullptr;
  Dim row = 0;
};

/// C = initial + A·B.   A (n, k)   B (k, m)   C (n, m), rows c_row apart     k = 0 counts as zeros
///
/// Every C_ij is Σ_p A_ip·B_pj over p in increasing order, one addition after the other: a row of C
/// depends on its row of A alone, to the bit, however many rows, columns or threads there are.
void gemm(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
          Initial initial = {});

/// The same on this thread: the block of C that is one task of gemm().
void gemm_block(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                Initial initial = {});

}  // namespace fledge::kernels
