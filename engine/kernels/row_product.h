// The product of few rows with a matrix that lies in memory: gemv, for one row.
//
// Not here: products of many rows, which compute for longer than they read (gemm.h). Key idea: few
// rows multiply each number of B a few times only, so the time is that of reading B. B is read once,
// where it lies, in the order in which memory is fastest. Next: row_product.cpp.
#pragma once

#include "engine/kernels/gemm.h"
#include "engine/kernels/tiles.h"

namespace fledge::kernels {

constexpr Dim most_product_rows = tile_rows;

/// C = initial + A·B, with the same bits as gemm().   A (n, k)   B (k, m)   C (n, m)
///
/// n is at most most_product_rows, and k is not 0. The rows or the columns of B are contiguous:
/// b.column = 1 or b.row = 1.
void row_product(const Matrix& a, const Matrix& b, Real* c, Dim c_row, Dim n, Dim k, Dim m,
                 Initial initial = {});

}  // namespace fledge::kernels
