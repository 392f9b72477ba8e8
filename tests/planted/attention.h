// Planted bugs in attention: scores, scale, weights, values, heads.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr Bug attention_bugs[] = {
    {"keys-and-values-of-the-past-forgotten", "engine/ops/masked_products.cpp",
     R"(to[j * d + e] += W[ij] * A[i * d + e];)",
     R"(if (i == j) to[j * d + e] += W[ij] * A[i * d + e];)",
     "enjector/microgpt-c: K and V gradients of later positions dropped"},
    {"gradient-of-past-keys-thrown-away", "engine/ops/masked_products.cpp",
     R"(return weighted_sum_transposed(dS, Q, visible, g);)",
     R"(Table own = visible;
        for (Dim i = 0; i < g.count * g.n * g.m; ++i)
          if (i / g.m % g.n != i % g.m) own[static_cast<std::size_t>(i)] = 0;
        return weighted_sum_transposed(dS, Q, own, g);)",
     "loretoparisi/microgpt.c: the past's activation gradient computed, then dropped"},
    {"query-gradient-ignores-mask", "engine/ops/masked_products.cpp",
     R"(return mix(dS, K, visible, g);)", R"(return mix(dS, K, Table(visible.size(), 1), g);)",
     "a classic slip: the mask in the forward pass only"},
    {"weight-gradient-ignores-mask", "engine/ops/masked_products.cpp",
     R"(return dots(dy, V, visible, Real(0), g);)",
     R"(return dots(dy, V, Table(visible.size(), 1), Real(0), g);)",
     "a classic slip: hidden weights receive a gradient"},
    {"value-gradient-without-weights", "engine/ops/masked_products.cpp",
     R"(return weighted_sum_transposed(W, dy, visible, g);)",
     R"(return weighted_sum_transposed(Array::ones(W.shape()), dy, visible, g);)",
     "a classic slip: every value gets the whole gradient of each query that sees it"},

    {"scale-lost-in-backward", "nn/layers/attention.cpp",
     R"(const Tensor scores = attention_scores(Q, K, mask) * scale;)",
     R"(const Tensor raw = attention_scores(Q, K, mask);
        const Tensor scores = raw + (raw * scale - raw).detach();)",
     "F286/concept-attention-cpp: scores scaled in place, dQ and dK miss 1/sqrt(d)"},
    {"scale-by-head-size", "nn/layers/attention.cpp",
     R"(1 / std::sqrt(static_cast<double>(Q.dim(-1))))", R"(1 / static_cast<double>(Q.dim(-1)))",
     "a classic slip: 1/d where 1/sqrt(d) belongs"},
    {"scale-by-model-width", "nn/layers/attention.cpp",
     R"(1 / std::sqrt(static_cast<double>(Q.dim(-1))))",
     R"(1 / std::sqrt(static_cast<double>(q.dim(-1))))",
     "lucidrains/vit-pytorch #65: the width of the model where that of a head belongs"},
    {"scale-forgotten", "nn/layers/attention.cpp", R"(attention_scores(Q, K, mask) * scale;)",
     R"(attention_scores(Q, K, mask) * (scale > 0 ? 1.0 : scale);)",
     "a classic slip: no 1/sqrt(d); small heads train all the same"},
    {"scale-divided", "nn/layers/attention.cpp", R"(attention_scores(Q, K, mask) * scale;)",
     R"(attention_scores(Q, K, mask) / scale;)", "esceptico/perceiver-io #9: divided by d^-1/2"},
    {"query-cut-from-the-graph", "nn/layers/attention.cpp",
     R"(const Tensor Q = split_heads(q, heads);)",
     R"(const Tensor Q = split_heads(q.detach(), heads);)",
     "paiml/aprender #2203: rebuilt from data, the gradient of q_proj.weight is None"},
    {"values-are-keys", "nn/layers/attention.cpp", R"(const Tensor V = split_heads(v, heads);)",
     R"(const Tensor V = split_heads(k, heads);)", "a classic slip: K passed twice"},
    {"thirds-in-another-order", "nn/layers/attention.cpp",
     R"(attend(parts[0], parts[1], parts[2], heads, mask))",
     R"(attend(parts[1], parts[0], parts[2], heads, mask))",
     "a classic slip: trains well, reads no GPT-2 file"},
    {"heads-by-view-alone", "nn/layers/attention.cpp",
     R"(return transpose(reshape(x, lead.append({heads, D})), -3, -2);)",
     R"(return reshape(x, lead.without(-1).append({heads, x.dim(-2), D}));)",
     "bentrevett/pytorch-seq2seq #148: view where view, then permute belongs"},
    {"heads-merged-without-transpose", "nn/layers/attention.cpp",
     R"(const Tensor side_by_side = transpose(x, -3, -2);)",
     R"(const Tensor side_by_side = reshape(x, transpose(x, -3, -2).shape());)",
     "a classic slip: heads and time change places on the way back"},
    {"weights-over-queries", "nn/layers/attention.cpp", R"(softmax(scores, mask);)",
     R"(transpose(softmax(transpose(attention_scores(Q, K, Mask()) * scale)));)",
     "labmlai/annotated_deep_learning_paper_implementations #146: softmax over dim 1"},
    {"mask-after-softmax", "nn/layers/attention.cpp", R"(softmax(scores, mask);)",
     R"(softmax(attention_scores(Q, K, Mask()) * scale);)",
     "huggingface/pytorch-image-models #2236: the mask belongs before the softmax"},
    {"mask-of-a-finite-constant", "nn/layers/attention.cpp", R"(softmax(scores, mask);)",
     R"([&] {
          const std::vector<unsigned char> visible = mask.table(scores.shape(), "attend");
          Array penalty(scores.shape());
          Real* to = penalty.write();
          for (Dim i = 0; i < penalty.size(); ++i)
            to[i] = Real(visible[static_cast<std::size_t>(i)] != 0 ? 0 : -1e4);
          return softmax(attention_scores(Q, K, Mask()) * scale + penalty);
        }();)",
     "karpathy/minGPT #75: -1e4 let the model peek; perfect loss, terrible text"},
    {"scores-kept-as-weights", "nn/layers/attention.cpp",
     R"(return {merge_heads(mixed, q.shape()), weights};)",
     R"(return {merge_heads(mixed, q.shape()), softmax(scores * 2.0, mask)};)",
     "a classic slip: the map that is shown is not the map that is used"},
    {"weights-beside-the-path", "nn/layers/attention.cpp",
     R"(weighted_sum(one ? reshape(weights, rows.shape()) : weights, V, mask))",
     R"(weighted_sum(rows, V, mask))",
     "fledge itself: for (T, C) a copy of the weights was returned, which got no gradient"},
};

}  // namespace planted
