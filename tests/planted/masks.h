// Planted bugs in what may be looked at, and in what becomes of what may not.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr Bug mask_bugs[] = {
    {"mask-polarity-inverted", "engine/masks.cpp", R"(queries, keys}) ? 1 : 0;)",
     R"(queries, keys}) ? 0 : 1;)",
     "rasbt/LLMs-from-scratch #1061: True hides in one API and shows in the other"},
    {"causal-leaks-one-word", "engine/masks.h",
     R"(return at.key <= at.query + at.keys - at.queries;)",
     R"(return at.key <= at.query + at.keys - at.queries + 1;)",
     "huggingface/transformers #48745: each place sees its own answer, the loss collapses",
     "engine/masks.cpp"},
    {"causal-hides-diagonal", "engine/masks.h",
     R"(return at.key <= at.query + at.keys - at.queries;)",
     R"(return at.key < at.query + at.keys - at.queries;)",
     "PaddlePaddle/flash-attention #48: the mask at the diagonal", "engine/masks.cpp"},
    {"causal-aligned-at-the-first", "engine/masks.h",
     R"(return at.key <= at.query + at.keys - at.queries;)", R"(return at.key <= at.query;)",
     "FlashAttention before 2.1 and since align the triangle at other corners", "engine/masks.cpp"},
    {"padding-shows-one-too-many", "engine/masks.h",
     R"(return at.key < lengths[static_cast<std::size_t>(at.batch)];)",
     R"(return at.key <= lengths[static_cast<std::size_t>(at.batch)];)", "a classic slip: <= for <",
     "engine/masks.cpp"},
    {"window-one-sided", "engine/masks.h", R"(return gap < width && -gap < width;)",
     R"(return gap < width;)", "a classic slip: the distance without its absolute value",
     "engine/masks.cpp"},
    {"masks-joined-by-or", "engine/masks.cpp", R"(std::all_of(parts_.begin())",
     R"(std::any_of(parts_.begin())", "a classic slip: causal or padding, not both"},
    {"padding-of-another-sample", "engine/masks.cpp", R"(allows({grid / grids_per_batch,)",
     R"(allows({grid % (scores.size() / (queries * keys) / grids_per_batch),)",
     "ArrowLuo/CLIP4Clip #22: repeat for repeat_interleave, heads take another sample's mask"},
    {"hidden-row-becomes-nan", "engine/kernels/rows.cpp",
     R"(const Dim count = gather(visible + r * n, x + r * n, seen.data(), n);)",
     R"(const Dim count = gather(visible + r * n, x + r * n, seen.data(), n);
        for (Dim j = 0; j < n; ++j) y[r * n + j] = Real(0) / real(count);
        if (count == 0) return;)",
     "pytorch/pytorch #41508: one fully padded row makes every gradient NaN"},
    {"hidden-value-times-zero", "engine/ops/masked_products.cpp",
     R"(for (Dim e = 0; e < d; ++e) to[i * d + e] += W[ij] * B[j * d + e];
                 });)",
     R"(for (Dim e = 0; e < d; ++e) to[i * d + e] += W[ij] * B[j * d + e];
                 });
  Table hidden = visible;
  for (unsigned char& place : hidden) place = place == 0 ? 1 : 0;
  g.each_visible(hidden, [to = c.write(), B = b.data(), d = g.d](Dim i, Dim j, Dim) {
    for (Dim e = 0; e < d; ++e) to[i * d + e] += Real(0) * B[j * d + e];
  });)",
     "pytorch/pytorch #101967: NaN in a masked key leaks"},
    {"hidden-gradient-times-zero", "engine/kernels/rows.cpp",
     R"(softmax_row_vjp(seen_y.data(), seen.data(), seen.data(), count);)", R"(Buffer all(n);
        softmax_row_vjp(y + r * n, dy + r * n, all.data(), n + 0 * count);
        gather(visible + r * n, all.data(), seen.data(), n);)",
     "pytorch/pytorch #41508: excluded from the loss, yet 0*NaN = NaN comes back"},
    {"softmax-maximum-over-hidden", "engine/kernels/rows.cpp",
     R"(softmax_row(seen.data(), seen.data(), count);)", R"(Buffer all(n);
        softmax_row(x + r * n, all.data(), n);
        gather(visible + r * n, all.data(), seen.data(), n + 0 * count);)",
     "a classic slip: hidden scores take part in the maximum and the sum"},
};

}  // namespace planted
