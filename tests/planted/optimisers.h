// Planted bugs in the optimisers and in clipping. Gradients stay right, so tests alone can see
// them.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr Bug optimiser_bugs[] = {
    {"adamw-without-correction", "nn/optim/adamw.cpp",
     R"(const double correction1 = 1 - std::pow(options.beta1, static_cast<double>(t));)",
     R"(const double correction1 = 1;)", "oxiglade/mlx-rs #301: no bias correction"},
    {"adamw-correction-not-to-the-t", "nn/optim/adamw.cpp",
     R"(const double correction2 = 1 - std::pow(options.beta2, static_cast<double>(t));)",
     R"(const double correction2 = 1 - options.beta2;)",
     "eriklindernoren/ML-From-Scratch #35: beta is not raised to the power t"},
    {"adamw-step-off-by-one", "nn/optim/adamw.cpp", R"(++moments_[p].t)",
     R"((moments_[p].t += moments_[p].t == 0 ? 2 : 1))",
     "a classic slip: t starts at the wrong number"},
    {"adamw-correction-of-the-first", "nn/optim/adamw.cpp", R"(if (++moments_[p].t != t) {)",
     R"(if (++moments_[p].t; t == 0) {)",
     "a classic slip: one count for all, also for who came later"},
    {"adamw-eps-inside-root", "nn/optim/adamw.cpp", R"((sqrt(square) / update.root2 + eps))",
     R"((sqrt(square + eps) / update.root2))",
     "d2l-ai/d2l-zh #502: epsilon inside the square root"},
    {"adamw-eps-scaled", "nn/optim/adamw.cpp",
     R"(update.rate * mean / (sqrt(square) / update.root2 + eps))",
     R"(update.rate * update.root2 * mean / (sqrt(square) + eps))",
     "karpathy/nanochat #304: epsilon scaled with the bias correction"},
    {"adamw-decay-in-moments", "nn/optim/adamw.cpp",
     R"(g = load(part.numbers + i, count);
        const Vec mean = first.template of<usual>(load(m + i, count), g);
        const Vec square = second.template of<usual>(load(v + i, count), g * g);
        const Vec step = update.rate * mean / (sqrt(square) / update.root2 + eps);
        store(theta + i, old - (update.decay * old + step), count);)",
     R"(g = load(part.numbers + i, count) + Real(options.decay) * old;
        const Vec mean = first.template of<usual>(load(m + i, count), g);
        const Vec square = second.template of<usual>(load(v + i, count), g * g);
        const Vec step = update.rate * mean / (sqrt(square) / update.root2 + eps);
        store(theta + i, old - step, count);)",
     "keras-team/keras #19051: Adam with L2 under the name of AdamW"},
    {"adamw-betas-mixed", "nn/optim/adamw.cpp",
     R"(const Average first_moment(options.beta1), second_moment(options.beta2);)",
     R"(const Average first_moment(options.beta1), second_moment(options.beta1);)",
     "a classic slip: one memory for both moments"},
    {"adamw-moment-from-the-far-end", "nn/optim/adamw.cpp",
     R"(: from_old_(beta >= 0.5), share_(Real(beta >= 0.5 ? 1 - beta : beta)))",
     R"(: from_old_(true), share_(Real(1 - beta)))",
     "fledge itself: v + 1·(g² − v) keeps the rounding error of a large v when beta2 is 0"},
    {"adamw-decay-without-rate", "nn/optim/adamw.cpp",
     R"(Real(options.rate * options.decay * decay_factors_[p]))",
     R"(Real(options.decay * decay_factors_[p]))", "joennlae/tensorli #1: the decay term of AdamW"},
    {"adamw-one-decay-for-all", "nn/optim/adamw.cpp",
     R"(Real(options.rate * options.decay * decay_factors_[p]))",
     R"(Real(options.rate * options.decay * decay_factors_[0]))",
     "a classic slip: the first parameter's decay for all of them"},
    {"momentum-on-the-wrong-term", "nn/optim/sgd.cpp", R"(v[i] = momentum * v[i] + g[i];)",
     R"(v[i] = v[i] + momentum * g[i];)", "ooples/AiDotNet #2008: the velocity never decays"},
    {"momentum-keeps-old-rates", "nn/optim/sgd.cpp",
     R"(v[i] = momentum * v[i] + g[i];
        theta[i] -= rate * v[i];)",
     R"(v[i] = momentum * v[i] + rate * g[i];
        theta[i] -= v[i];)",
     "paiml/aprender #2190: the rate baked into the velocity, seen under a schedule only"},
    {"clip-each-alone", "nn/optim/clip.cpp", R"(const Real by = Real(factor);)",
     R"(double own = 1e-30;
        for (Dim i = 0; i < part.count; ++i) own += value_of(g[i]) * value_of(g[i]);
        const Real by = Real(max_norm / std::sqrt(own));)",
     "huggingface/transformers #581: each tensor clipped to its own norm"},
    {"clip-also-stretches", "nn/optim/clip.cpp", R"(if (norm <= max_norm) return norm;)", "",
     "a classic slip: small gradients grow to the norm"},
    {"clip-on-the-square", "nn/optim/clip.cpp", R"(const double norm = std::sqrt(squares);)",
     R"(const double norm = squares;)", "paiml/entrenar C-CLIP-001: the norm without its root"},
};

}  // namespace planted
