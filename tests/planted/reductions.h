// Planted bugs in sums, means, maxima, softmax and cross-entropy.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr Bug reduction_bugs[] = {
    {"mean-gradient-without-count", "engine/ops/reduce.cpp",
     R"(return sum(x, over, keep_axes) / static_cast<double>(count);)",
     R"(const Tensor total = sum(x, over, keep_axes);
        return record("mean", total.value() / Array::full({}, real(count)),
                      wrt(total, [](const Array& dy) { return dy; }));)",
     "a classic slip: the gradient of a mean without 1/n"},
    {"max-to-the-last-tie", "engine/ops/reduce.cpp", R"(at[i] > at[first])",
     R"(at[i] >= at[first])",
     "tensorflow/tensorflow #51682: which of equal maxima gets the gradient"},
    {"max-to-every-tie", "engine/ops/reduce.cpp",
     R"([winner](const Array& dy, Real* dx) {
          for (std::size_t r = 0; r < winner.size(); ++r)
            dx[winner[r]] += dy[static_cast<Dim>(r)];)",
     R"([winner, X, rows](const Array& dy, Real* dx) {
          for (Dim i = 0; i < X.size(); ++i)
            if (X[i] == X[winner[static_cast<std::size_t>(i / rows.length)]])
              dx[i] += dy[i / rows.length];)",
     "Theano/Theano #5248: all inputs equal to the maximum receive the whole gradient"},
    {"softmax-without-dot", "engine/kernels/rows.cpp", R"(dx[j] = y[j] * (dy[j] - mean);)",
     R"(dx[j] = y[j] * dy[j] + (mean - mean);)",
     "the diagonal of the Jacobian alone, in many first softmaxes"},
    {"softmax-with-plus", "engine/kernels/rows.cpp", R"(dx[j] = y[j] * (dy[j] - mean);)",
     R"(dx[j] = y[j] * (dy[j] + mean);)",
     "harvard-edge/cs249r_book #2053: no test saw this mutant, all of them summed the output"},
    {"softmax-copies-gradient", "engine/kernels/rows.cpp", R"(dx[j] = y[j] * (dy[j] - mean);)",
     R"(dx[j] = dy[j] + (mean - mean);)",
     "pjreddie/darknet #96: the gradient of the output copied into that of the input"},
    {"masked-softmax-without-dot", "engine/kernels/rows.cpp",
     R"(softmax_row_vjp(seen_y.data(), seen.data(), seen.data(), count);)",
     R"(for (Dim j = 0; j < count; ++j) seen.data()[j] *= seen_y.data()[j];)",
     "the same slip in the masked twin of a right softmax"},
    {"log-softmax-assumes-one-target", "engine/ops/softmax.cpp",
     R"(return shifted - log(sum(exp(shifted), {-1}, true));)",
     R"(const Tensor e = exp(shifted);
  const Tensor total = log(sum(e, {-1}, true));
  return record("log_softmax", (shifted - total).value(), wrt(x, [e](const Array& dy) {
                  const Tensor p = e.detach();
                  return (Tensor(dy) - p / sum(p, {-1}, true)).value();
                }));)",
     "mlpack/mlpack #2360: the backward of log_softmax"},
    {"log-softmax-overflows", "engine/ops/softmax.cpp",
     R"(const Tensor shifted = x - max(x, {-1}, true).detach();)", R"(const Tensor shifted = x;)",
     "a classic slip: log-sum-exp without the maximum taken off"},
    {"pairwise-sum-drops-the-middle", "engine/kernels/pairwise_sum.h",
     R"(return pairwise_sum(begin, middle, term) + pairwise_sum(middle, end, term);)",
     R"(return pairwise_sum(begin, middle, term) + pairwise_sum(middle + 1, end, term);)",
     "a classic slip: halves that do not meet, seen in long rows only"},

    {"cross-entropy-gradient-without-count", "engine/ops/cross_entropy.cpp",
     R"(const Real scale = dy[0] / n;)", R"(const Real scale = dy[0] + (n - n);)",
     "a classic slip: the gradient of the sum, the value of the mean"},
    {"cross-entropy-mean-over-padding", "engine/ops/cross_entropy.cpp",
     R"(const Real n = real(kept);)", R"(const Real n = real(m.count);)",
     "facebookresearch/fairseq2 #1455: the mean counts what was ignored"},
    {"cross-entropy-pulls-on-ignored", "engine/ops/cross_entropy.cpp",
     R"(if (targets[i] == ignored) {
                        std::fill_n(d_i, m.length, Real(0));
                        continue;
                      })",
     R"(if (targets[i] == ignored) {
                        for (Dim j = 0; j < m.length; ++j) d_i[j] = scale * p_i[j];
                        continue;
                      })",
     "lucidrains/DALLE-pytorch #57: ignore_index declared, not used"},
    {"cross-entropy-forgets-the-target", "engine/ops/cross_entropy.cpp",
     R"(d_i[targets[i]] -= scale;)", "", "a classic slip: p where p - onehot belongs"},
};

}  // namespace planted
