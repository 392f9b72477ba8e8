// Planted bugs in ops that move numbers: permute, slice, concat, row lookup.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr Bug moving_bugs[] = {
    {"permute-not-undone", "engine/ops/reshaping.cpp",
     R"(return permuted(dy, inverse_order(axes));)", R"(return permuted(dy, axes);)",
     "pytorch/pytorch #5945: the order was not inverted rightly; a swap of two hides it"},
    {"slice-without-offset", "engine/ops/reshaping.cpp",
     R"(dx[o * stride + start + i] += d[o * run + i];)", R"(dx[o * stride + i] += d[o * run + i];)",
     "a classic slip: the gradient of a slice lands at the beginning"},
    {"slice-assigns", "engine/ops/reshaping.cpp",
     R"(dx[o * stride + start + i] += d[o * run + i];)",
     R"(dx[o * stride + start + i] = d[o * run + i];)",
     "joey00072/Tinytorch #2: [1, 0] where [2, 0] is right"},
    {"slice-feeds-what-it-dropped", "engine/ops/reshaping.cpp",
     R"(for (Dim i = 0; i < run; ++i) dx[o * stride + start + i] += d[o * run + i];)",
     R"(for (Dim i = 0; i < (run > 0 ? stride : 0); ++i)
          dx[o * stride + i] += d[o * run + std::clamp<Dim>(i - start, 0, run - 1)];)",
     "zk4x/zyx #8: a slice gives gradient to the elements it dropped"},
    {"concat-without-offset", "engine/ops/reshaping.cpp",
     R"(std::copy_n(dy.data() + o * stride + start, run, into + o * run);)",
     R"(std::copy_n(dy.data() + o * stride, run, into + o * run);)",
     "Oneflow-Inc/oneflow #8208: the gradients of concat and split"},
    {"split-overlaps", "engine/ops/reshaping.cpp",
     R"(slice(x, axis, i * (length / parts), (i + 1) * (length / parts)))",
     R"(slice(x, axis, i * (length / parts) - (i > 0 ? 1 : 0),
              (i + 1) * (length / parts) - (i > 0 ? 1 : 0)))",
     "a classic slip: cut at wrong places"},
    {"embedding-assigns", "engine/ops/embedding.cpp", R"(dtable[ids[i] * C + c] += d[i * C + c];)",
     R"(dtable[ids[i] * C + c] = d[i * C + c];)",
     "ooples/AiDotNet.Tensors #894: a row looked up k times must receive k contributions"},
    {"embedding-all-in-row-zero", "engine/ops/embedding.cpp",
     R"(dtable[ids[i] * C + c] += d[i * C + c];)", R"(dtable[c] += d[i * C + c];)",
     "tsotchke/eshkol #392: everything accumulated into row 0"},
    {"embedding-mean-of-repeats", "engine/ops/embedding.cpp",
     R"(dtable[ids[i] * C + c] += d[i * C + c];)",
     R"(dtable[ids[i] * C + c] += d[i * C + c] / real(ids.size());)",
     "a classic slip: a mean over the words where a sum belongs"},
};

}  // namespace planted
