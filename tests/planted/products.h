// Planted bugs in matrix products.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr Bug product_bugs[] = {
    {"matmul-da-without-transpose", "engine/ops/matmul.cpp",
     R"(wrt(a, [B](const Array& dC) { return product(dC, transposed(B)); }))",
     R"(wrt(a, [B](const Array& dC) {
          return product(dC, B.dim(-1) == B.dim(-2) ? B : transposed(B));
        }))",
     "harvard-edge/cs249r_book #1781: a transpose that does nothing"},
    {"matmul-db-transposed", "engine/ops/matmul.cpp",
     R"(wrt(b, [A](const Array& dC) { return product(transposed(A), dC); }))",
     R"(wrt(b, [A](const Array& dC) { return product(transposed(dC), A); }))",
     "a classic slip: dW transposed, unseen while layers are square"},
    {"matmul-first-batch-only", "engine/ops/matmul.cpp",
     R"(wrt(b, [A](const Array& dC) { return product(transposed(A), dC); }))",
     R"(wrt(b, [A](const Array& dC) {
          Array dB = product(transposed(A), dC);
          Real* to = dB.write();
          for (Dim i = A.dim(-1) * dC.dim(-1); i < dB.size(); ++i) to[i] = Real(0);
          return dB;
        }))",
     "NVIDIA/warp #147: the backward of the batched product was that of a single one"},
    {"matmul-gradients-swapped", "engine/ops/matmul.cpp",
     R"(wrt(a, [B](const Array& dC) { return product(dC, transposed(B)); }))",
     R"(wrt(a, [A, B](const Array& dC) {
          return A.shape() == B.shape() ? product(transposed(A), dC) : product(dC, transposed(B));
        }))",
     "a classic slip: each argument gets the other's gradient"},
    {"product-reads-one-batch", "engine/array_math.cpp", R"(matrix({B, b.transposed}, i * k * m))",
     R"(matrix({B, b.transposed}, i * 0))",
     "flashlight/flashlight #760: gradients of the batched product"},
    {"gemm-last-term-lost", "engine/kernels/tiles.h",
     R"(for (Dim p = 0; p < t.k; ++p, b += t.b_step))",
     R"(for (Dim p = 0; p + (t.k > 1 ? 1 : 0) < t.k; ++p, b += t.b_step))",
     "a classic slip: the inner loop ends early"},
    {"gemm-tail-columns-lost", "engine/kernels/tiles.h",
     R"(for (Dim j = 0; j < tile.columns; ++j) tile.c)",
     R"(for (Dim j = 0; j + (tile.columns > 1 ? 1 : 0) < tile.columns; ++j) tile.c)",
     "a classic slip: what is left over after whole vectors is skipped"},
    {"gemm-start-of-first-panel", "engine/kernels/gemm.cpp",
     R"(c_row, rows, part(initial, top + i, j));)", R"(c_row, rows, part(initial, top + i, 0));)",
     "fledge itself: the next panel of columns began from what lay in the first"},
    {"gemm-remainder-of-second-block-lost", "engine/kernels/gemm.cpp",
     R"(f(KBlock{p0, k * (block + 1) / blocks - p0});)",
     R"(f(KBlock{p0, k * (block + 1) / blocks - p0 - (block > 0 ? 1 : 0)});)",
     "a classic slip: right until the sum is longer than a block"},
    {"gemm-copy-of-columns-of-first-block", "engine/kernels/gemm.cpp",
     R"(const Matrix a = part(a_, 0, at.p0);)",
     R"(const Matrix a = part(a_, 0, copies_ ? 0 : at.p0);)",
     "a classic slip: right until the sum is longer than a block"},
    {"gemm-rows-of-second-task-lost", "engine/kernels/gemm.cpp", R"(i_end = n * (row + 1) / down;)",
     R"(i_end = n * (row + 1) / down - (row > 0 ? 1 : 0);)",
     "a classic slip: right until the rows are shared out"},
    {"cosine-without-root", "engine/ops/matmul.cpp",
     R"((sqrt(sum(A * A, over)) * sqrt(sum(B * B, over))))",
     R"((sum(A * A, over) * sum(B * B, over)))",
     "a classic slip: divided by the squares of the lengths"},
};

}  // namespace planted
