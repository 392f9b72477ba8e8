// Planted bugs in the checker and its oracles: a check that cannot fail is the worst bug of all.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr Bug checker_bugs[] = {
    {"check-nan-passes", "engine/gradcheck.cpp",
     R"(any_bad = !(report_.max_error <= options_.tolerance);)",
     R"(any_bad = report_.max_error > options_.tolerance;)",
     "ggml test-backend-ops, llm.c test_gpt2: if (error > tolerance) fail"},
    {"check-nan-skipped", "engine/gradcheck.cpp", R"(if (error <= report_.max_error) continue;)",
     R"(if (!(error > report_.max_error)) continue;)",
     "a classic slip: the largest of numbers and NaN is a number"},
    {"check-nothing-passes", "engine/gradcheck.cpp", R"(if (report_.elements == 0))",
     R"(if (report_.elements < 0))", "a classic slip: zero elements compared, zero errors found"},
    {"check-with-ones", "engine/pullback.cpp",
     R"(to[i] = Real(rng.uniform() < 0.5 ? -magnitude : magnitude);)",
     R"(to[i] = Real(magnitude > 0 ? 1 : 0);)",
     "harvard-edge/cs249r_book #2053, clab/dynet #1132: the sum of a softmax is always 1"},
    {"check-ignores-the-error", "engine/gradcheck.cpp", R"(if (!any_bad) return;)",
     R"(if (!any_bad || report_.max_error >= 0) return;)",
     "chainer/chainer #3541: bad gradients pass the gradient check"},
    {"check-accepts-zeros", "engine/gradcheck.cpp", R"(refuse_silent_zeros();)", R"({})",
     "tiny-dnn/tiny-dnn #871: many checks passed, both sides were zero"},
    {"check-compares-with-itself", "engine/gradcheck.cpp",
     R"(const double a = analytic_[p][j], n = found_[p][j].value;
    return)",
     R"(const double a = analytic_[p][j], n = analytic_[p][j];
    return)",
     "tiny-dnn/tiny-dnn #871: a checker whose two sides are the same number"},
    {"check-of-one-element", "engine/gradcheck.cpp",
     R"(const double a = analytic_[p][j], n = found_[p][j].value;
    return)",
     R"(const double n = found_[p][j].value, a = j == 0 ? analytic_[p][j] : n;
    return)",
     "minitorch grad_check: one element of each tensor is compared"},
    {"check-of-one-tensor", "engine/gradcheck.cpp",
     R"(const double a = analytic_[p][j], n = found_[p][j].value;
    return)",
     R"(const double n = found_[p][j].value, a = p == 0 ? analytic_[p][j] : n;
    return)",
     "mlpack/mlpack #1923: the check of one gradient says nothing of the others"},
    {"check-without-absolute-value", "engine/gradcheck.cpp", R"(std::abs(a - n) / std::max(found)",
     R"((a - n) / std::max(found)", "a classic slip: whatever is too small passes"},
    {"check-with-a-loose-tolerance", "engine/oracle.cpp", R"(gradcheck_tolerance = 1e-8;)",
     R"(gradcheck_tolerance = 2e-2;)", "karpathy/llm.c test_gpt2: 2e-2, absolute"},
    {"check-ignores-zero-cotangents", "engine/pullback.cpp",
     R"(if (zeros[p][j] != 0 && std::isfinite(first[p][j])))", R"(if (std::isinf(zeros[p][j])))",
     "a classic slip: an offset added to every gradient"},
    {"check-ignores-a-second-answer", "engine/pullback.cpp",
     R"(const bool same = first[p][j] == again[p][j] ||)", R"(const bool same = true ||)",
     "a classic slip: a backward pass that is not repeatable passes"},
    {"check-takes-one-side-for-noise", "engine/gradcheck.cpp",
     R"(<= found.noise && std::abs(found.value))", R"(<= found.noise || std::abs(found.value))",
     "a classic slip: zero by backward() alone passes for zero by mathematics"},
    {"check-of-what-changes", "engine/gradcheck.cpp",
     R"(if (first.shape() != again.shape() || to_vector(first) != to_vector(again)))",
     R"(if (first.shape() != again.shape()))",
     "a classic slip: dropout left on while the gradient is checked"},
    {"check-of-parameters-only", "nn/gradcheck.h",
     R"(return gradcheck([&] { return module(x); }, named, options);)",
     R"(named.erase(named.begin());
        return gradcheck([&] { return module(x); }, named, options);)",
     "mlpack/mlpack #1923: the gradient of the input was never checked"},
    {"check-measures-by-rounding", "engine/pullback.cpp",
     R"(0.01 * largest_of_all, 0.01 * beside})", R"(0 * largest_of_all, 0 * beside})",
     "fledge itself: cosine_similarity(b, b) was called wrong, its gradient being only rounding"},
    {"check-forgives-what-is-overwritten", "engine/pullback.cpp", R"(> 1e-6 * sizes[p])",
     R"(> 2 * sizes[p])", "a classic slip: a tolerance as large as what it should find"},
    {"check-takes-errors-for-rounding", "engine/rounding.h", R"(change >= 0.5 * size())",
     R"(change >= 0 * size())", "a classic slip: an excuse that always holds",
     "engine/gradcheck.cpp engine/rounding.cpp"},
    {"diagnosis-from-one-element", "engine/diagnosis.cpp", R"(if (count == 1) return)",
     R"(if (count == 0) return)",
     "fledge itself: one wrong element was always called a constant factor"},
    {"oracle-at-half-speed", "engine/oracle.cpp", R"(x.to({x.before().value, 1});)",
     R"(x.to({x.before().value, 0.5});)", "a classic slip: a tangent that is not one"},
    {"oracle-does-not-restore", "engine/oracle.cpp", R"(~Moved() { *element_ = before_; })",
     R"(~Moved() {})", "a classic slip: the next difference starts where the last one ended"},
    {"oracle-with-wrong-weights", "engine/oracle.cpp", R"({45, -9, 1})", R"({45, 9, 1})",
     "a classic slip: a sign in the six-point formula"},
    {"dual-tanh-slope", "engine/dual.h", R"((1 - y * y) * x.tangent)", R"((1 - y) * x.tangent)",
     "a classic slip: a rule of the oracle itself is wrong", "engine/ops/elementwise.cpp"},
    {"dual-quotient-slope", "engine/dual.h", R"((tangent - quotient * b.tangent) / b.value)",
     R"((tangent + quotient * b.tangent) / b.value)",
     "a classic slip: a rule of the oracle itself is wrong"},
};

}  // namespace planted
