// Planted bugs in layer normalisation and dropout.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr Bug normalising_bugs[] = {
    {"layer-norm-without-mean-term", "engine/kernels/layer_norm.cpp",
     R"(const Vec rest = g(j, count) - mean - hat(j, count) * along;)",
     R"(const Vec rest = g(j, count) - (mean - mean) - hat(j, count) * along;)",
     "BVLC/caffe #1891: the part of the gradient through the mean is missing"},
    {"layer-norm-without-variance-term", "engine/kernels/layer_norm.cpp",
     R"(const Vec rest = g(j, count) - mean - hat(j, count) * along;)",
     R"(const Vec rest = g(j, count) - mean - hat(j, count) * (along - along);)",
     "AlexeyAB/darknet #4605: a part of the normalisation's gradient is missing"},
    {"layer-norm-statistics-constant", "engine/kernels/layer_norm.cpp",
     R"(const Vec rest = g(j, count) - mean - hat(j, count) * along;)",
     R"(const Vec rest = g(j, count) + (mean - mean) + (along - along);)",
     "mlpack/mlpack #1923: parameters were checked, the gradient of the input was not"},
    {"layer-norm-eps-outside-root", "engine/kernels/layer_norm.cpp",
     R"(sqrt(variance + Real(eps)))", R"((sqrt(variance) + Real(eps)))",
     "a classic slip: eps outside the root"},
    {"layer-norm-sample-variance", "engine/kernels/layer_norm.cpp", R"(sqrt(variance + Real(eps)))",
     R"(sqrt(variance * (real(n) / real(n > 1 ? n - 1 : n)) + Real(eps)))",
     "a classic slip: n - 1 forward, n backward"},
    {"layer-norm-one-pass-variance", "engine/kernels/layer_norm.cpp",
     R"(sqrt(variance + Real(eps)))",
     R"(sqrt((variance - variance) + dot(x_r, x_r, n) / real(n) - mean * mean + Real(eps)))",
     "a classic slip: mean of squares less square of mean, which cancels all digits"},
    {"layer-norm-variance-past-the-end", "engine/kernels/layer_norm.cpp",
     R"(return count == lanes ? v : first_lanes(v, count, Real(0));)", R"(return v;)",
     "a classic slip: lanes past the end of a row enter its sum"},
    {"layer-norm-gradient-past-the-end", "engine/kernels/layer_norm.cpp",
     R"(return count == lanes ? product : first_lanes(product, count, Real(0));)",
     R"(return product;)", "fledge itself: 0 times infinity in lanes past the end of a row"},
    {"layer-norm-of-the-first-row", "engine/kernels/layer_norm.cpp",
     R"(row_stats[r] = RowStats(stats + r * RowStats::size);)",
     R"(row_stats[r] = RowStats(stats + r * 0);)",
     "a classic slip: what one row has kept serves them all"},
    {"layer-norm-short-without-mean-term", "engine/kernels/layer_norm.cpp",
     R"(return row_stats.rstd * (v - mean - h * along);)",
     R"(return row_stats.rstd * (v - (mean - mean) - h * along);)",
     "BVLC/caffe #1891, in the rows that stay in registers"},
    {"layer-norm-gain-sees-x", "engine/kernels/layer_norm.cpp",
     R"(gain += d * row_stats[r](load(x + r * n + j, count));)",
     R"(gain += d * load(x + r * n + j, count);)",
     "a classic slip: the gain's gradient from x before it was normalised"},
    {"layer-norm-forgets-gain", "engine/kernels/layer_norm.cpp",
     R"(return load(dy_r + j, count) * load(gain + j, count);)",
     R"(return load(dy_r + j, count) + (load(gain + j, count) - load(gain + j, count));)",
     "a classic slip: unseen while every gain is still 1"},
    {"dropout-redrawn-in-backward", "engine/ops/dropout.cpp",
     R"(wrt(x, [kept, scaled](const Array& dy) { return zip("dropout", dy, kept, scaled); }))",
     R"(wrt(x, [kept, scaled, p, later = rng](const Array& dy) {
          Rng again = later;
          Array other(kept.shape());
          Real* factor = other.write();
          for (Dim i = 0; i < other.size(); ++i)
            factor[i] = Real(again.uniform() < p ? 0 : 1 / (1 - p));
          return zip("dropout", dy, other, scaled);
        }))",
     "kaldi-asr/kaldi #3890: no mask is kept between the passes"},
    {"dropout-backward-without-scale", "engine/ops/dropout.cpp",
     R"(wrt(x, [kept, scaled](const Array& dy) { return zip("dropout", dy, kept, scaled); }))",
     R"(wrt(x, [kept](const Array& dy) {
          return zip("dropout", dy, kept, [](Real d, Real k) { return k == Real(0) ? k : d; });
        }))",
     "a classic slip: 1/(1 - p) in one direction only"},
    {"dropout-scaled-by-the-wrong-rate", "engine/ops/dropout.cpp", R"(1 / (1 - p))", R"(1 / p)",
     "rasbt/LLMs-from-scratch #431: 1/dropout where 1/(1 - dropout) is meant"},
};

}  // namespace planted
