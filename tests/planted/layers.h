// Planted bugs in blocks and in the language model.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr std::string_view block_callers =
    "examples/fledge/gradients/modules.cpp nn/gpt/language_model.cpp "
    "tests/nn/layers/test_block.cpp tests/nn/layers/test_layer_gradients.cpp";

inline constexpr Bug layer_bugs[] = {
    {"residual-doubles-attention", "nn/layers/block.h",
     R"(const Tensor seen = x + dropout(attended, mode);)",
     R"(const Tensor seen = attended + dropout(attended, mode);)",
     "kyegomez/BitNet #32: x = x + x is no residual connection", block_callers},
    {"residual-from-normalised", "nn/layers/block.h",
     R"(const Tensor seen = x + dropout(attended, mode);)",
     R"(const Tensor seen = ln_1(x) + dropout(attended, mode);)",
     "Howuhh/faster-trajectory-transformer #3: norm(x) + attn(norm(x))", block_callers},
    {"residual-skips-attention", "nn/layers/block.h",
     R"(return seen + dropout(mlp(ln_2(seen)), mode);)",
     R"(return x + dropout(mlp(ln_2(seen)), mode);)",
     "strutive07/transformer-tensorflow2.0 #14: the second residual starts from the inputs",
     block_callers},
    {"part-not-listed", "nn/layers/block.h", R"(f("ln_2", ln_2);)", "",
     "a classic slip: a layer that is used and never learns"},
    {"dropout-in-evaluation", "nn/layers/dropout.h",
     R"(return mode.dropout() != nullptr ? dropout(x, p, *mode.dropout()) : x;)",
     R"(Rng always(1);
        return dropout(x, p, mode.dropout() != nullptr ? *mode.dropout() : always);)",
     "a classic slip: model.eval() forgotten",
     "tests/nn/layers/test_block.cpp tests/nn/layers/test_dropout.cpp"},
    {"causal-mask-forgotten", "nn/gpt/language_model.cpp",
     R"(block.forward_with_weights(x, mask(), mode))",
     R"(block.forward_with_weights(x, Mask(), mode))",
     "facebookresearch/xformers #103: no mask passed, so the causal one was skipped too"},
    {"tied-table-cut", "nn/gpt/language_model.cpp", R"(matmul_transposed(ln_f(x), wte.weight))",
     R"(matmul_transposed(ln_f(x), wte.weight.detach()))",
     "paiml/entrenar #314: tied weights receive half of their gradient"},
    {"last-normalisation-skipped", "nn/gpt/language_model.cpp",
     R"(matmul_transposed(ln_f(x), wte.weight))", R"(matmul_transposed(x, wte.weight))",
     "a classic slip: ln_f is made, saved, and not used"},
    {"positions-off-by-one", "engine/ops/embedding.cpp", R"(places + (first + i % T) * C;)",
     R"(places + (first + (i + 1) % T) * C;)",
     "a classic slip: the first word is at place 1, until the context is full"},
    {"positions-never-learned", "nn/gpt/language_model.cpp",
     R"(embedding(wte.weight, wpe.weight, ids))",
     R"(embedding(wte.weight, wpe.weight.detach(), ids))",
     "a classic slip: positions used and never learned"},
};

}  // namespace planted
