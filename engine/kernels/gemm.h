// General matrix multiply on plain memory.                                       Next: gemm.cpp.
#pragma once

#include "engine/real.h"

namespace fledge::kernels {

/// A matrix in memory: element (i, j) is data[i·row + j·column].
struct Matrix {
  const Real* data;
  Dim row, column;
  Matrix transposed() const { return {data, column, row}; }
  /// The part whose first element is (i, j).
  Matrix from(Dim i, Dim j) const { return {data + i * row + j * column, row, column}; }
};

/// What the sums of a product start from: (n, m) numbers, rows `row` apart. If data is null, zeros.
/// If it is C, the product is added to C. If `row` is 0, all rows start from one row, a bias.
struct Initial {
  const Real* data = nullptr;
  Dim row = 0;
  Initial from(Dim i, Dim j) const { return {data == nullptr ? nullptr : data + i * row + j, row}; }
  Real at(Dim i, Dim j) const { return data == nullptr ? Real(0) : data[i * row + j]; }
};

/// C = initial + A·B.   A (n, k)   B (k, m)   C (n, m), rows c_row apart     k = 0: C = initial
///
/// Every C_ij starts as initial_ij; then A_ip·B_pj is added for p = 0, 1, … k − 1. From p = 16,384
/// on (blocking.sum_k), every 16,384 products are added up from 0 first, then their sum is added to
/// C_ij. So the bits of C_ij depend on row i of A, column j of B and initial_ij only, for any
/// number of threads, and C_ij errs by at most
/// (min(k, 16384) + k / 16384)·u·(|initial_ij| + Σ_p |A_ip·B_pj|), u = 2⁻²⁴ in float. In one chain
/// of additions a sum of ones would stop at 16,777,216.
void gemm(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
          Initial initial = {});

/// The same on this thread alone, for k ≤ blocking.sum_k.
void gemm_block(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                Initial initial = {});

/// The same for few rows (gemv for one): n ≤ tile_rows, k > 0, and the rows or the columns of B are
/// contiguous. Few rows multiply each number of B a few times only, so the time is that of reading
/// B. B is read once, in place, in the order in which memory is fastest. In row_product.cpp.
void row_product(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                 Initial initial = {});

}  // namespace fledge::kernels
