// Planted bugs in what may be looked at, and in what becomes of what may not.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr Bug mask_bugs[] = {
    {"mask-polarity-inverted", "engine/masks.cpp", R"(allowed ? 1 : 0;)", R"(allowed ? 0 : 1;)",
     "rasbt/LLMs-from-scratch #1061: True hides in one API and shows in the other"},
    {"causal-leaks-one-word", "engine/masks.cpp", R"(Mask({.after = 1});)",
     R"(Mask({.after = 2});)",
     "huggingface/transformers #48745: each place sees its own answer, the loss collapses"},
    {"causal-hides-diagonal", "engine/masks.cpp", R"(Mask({.after = 1});)",
     R"(Mask({.after = 0});)", "PaddlePaddle/flash-attention #48: the mask at the diagonal"},
    {"causal-aligned-at-the-first", "engine/masks.cpp",
     R"(const Dim place = query + keys - queries;)", R"(const Dim place = query;)",
     "FlashAttention before 2.1 and since align the triangle at other corners"},
    {"padding-shows-one-too-many", "engine/masks.cpp",
     R"((*part.lengths)[static_cast<std::size_t>(batch)]);)",
     R"((*part.lengths)[static_cast<std::size_t>(batch)] + 1);)",
     "a classic slip: the last key is counted too"},
    {"window-one-sided", "engine/masks.cpp", R"(Mask({.before = width, .after = width});)",
     R"(Mask({.after = width});)", "a classic slip: the distance without its absolute value"},
    {"masks-joined-by-or", "engine/masks.cpp", R"(seen.end = std::min(seen.end, end);)",
     R"(seen.end = &part == parts_.data() ? std::min(keys, end)
                                             : std::max(seen.end, std::min(keys, end));)",
     "a classic slip: causal or padding, not both"},
    {"tables-joined-by-or", "engine/masks.cpp", R"(std::all_of(parts_.begin(), parts_.end(), [&])",
     R"(std::any_of(parts_.begin(), parts_.end(), [&])",
     "a classic slip: causal or the caller's own table, not both"},
    {"padding-of-another-sample", "engine/masks.cpp", R"(batch = row / rows_per_batch;)",
     R"(batch = row / queries % (static_cast<Dim>(spans.size()) / queries);)",
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
