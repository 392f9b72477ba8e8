// Every op with its formula, a line or two each. The rules are in ops/*.cpp.
//
// Shapes broadcast where said: aligned at the last axis, sizes of 1 stretch. Axes count from 0, or
// from the end when negative. Every op throws ShapeError at the call, with the shapes, when they do
// not fit; infinities and NaN are computed as IEEE 754 says. Next: ops/softmax.cpp.
#pragma once

#include <optional>
#include <vector>

#include "engine/array.h"
#include "engine/masks.h"
#include "engine/tensor.h"

namespace fledge {

using Axes = std::vector<int>;  // {} means all of them

// -- elementwise, two arguments: ops/arithmetic.cpp. Both broadcast. ------------------------------
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& x);
/// xⁿ; n may be a number or a tensor. dn is 0 where x = 0 and n ≥ 0.
Tensor pow(const Tensor& x, const Tensor& n);
/// a where the condition is not 0, else b. The side not chosen gets the gradient 0 and its value is
/// not read, be it NaN. Yet a rule that led to that side may turn 0 into NaN: 0·∞ in sqrt at 0. So
/// choose the argument too:   where(c, sqrt(where(c, x, 1)), y)   instead of   where(c, sqrt(x), y)
Tensor where(const Array& condition, const Tensor& a, const Tensor& b);
/// The larger, the smaller of two; where they are equal the first gets the gradient; NaN wins.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
/// 1 where it holds, else 0: a condition for where, or a factor. No gradient; false of NaN but for
/// !=. With array_math.h a product is "and":   where((x > 0.0) * (x < 1.0), x, 0.0)
Array operator<(const Tensor& a, const Tensor& b);
Array operator<=(const Tensor& a, const Tensor& b);
Array operator>(const Tensor& a, const Tensor& b);
Array operator>=(const Tensor& a, const Tensor& b);
Array operator==(const Tensor& a, const Tensor& b);
Array operator!=(const Tensor& a, const Tensor& b);

// -- elementwise, one argument: ops/elementwise.cpp -----------------------------------------------
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sin(const Tensor& x);  // of sin and cos the last bit depends on the C library
Tensor cos(const Tensor& x);
/// eˣ − 1 and log(1 + x), with all digits for small x.
Tensor expm1(const Tensor& x);
Tensor log1p(const Tensor& x);
/// log(1 + eˣ), which does not overflow.                         Dugas et al. 2000
Tensor softplus(const Tensor& x);
/// |x|; slope 0 at 0.
Tensor abs(const Tensor& x);
/// min(max(x, low), high); slope 1 from low to high, both included, else 0; NaN stays NaN. Throws
/// ValueError for low > high.
Tensor clamp(const Tensor& x, double low, double high);
/// 1 / (1 + e⁻ˣ)
Tensor sigmoid(const Tensor& x);
/// max(x, 0); slope 0 at 0; NaN stays NaN.
Tensor relu(const Tensor& x);
/// x·Φ(x), Φ the normal distribution function.                   Hendrycks & Gimpel 2016
Tensor gelu(const Tensor& x);
/// ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))): GPT-2's approximation of gelu.
Tensor gelu_tanh(const Tensor& x);
/// x·sigmoid(x), also called swish.                    Hendrycks & Gimpel 2016, Elfwing et al. 2017
Tensor silu(const Tensor& x);

// -- reductions: ops/reduce.cpp -------------------------------------------------------------------
/// Σ x over the axes; keep_axes leaves them as size 1. Over nothing: 0.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
/// Σ x / count. Throws ShapeError over nothing.
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
/// Σ (x − mean)² / count: no correction of the count. Throws ShapeError over nothing.
Tensor var(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
/// The largest, the smallest; ties give the gradient to the first in row order; any NaN wins. Not
/// over nothing.
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
/// Where the largest is along an axis, which disappears: the first of several, any NaN before all
/// numbers. No gradient. Not over nothing.
Indices argmax(const Tensor& x, int axis = -1);
/// log Σ exp(x), computed without overflow. Where all x are −∞, so is y, and the slope is NaN;
/// where one is ∞, so is y, and its own slope is NaN. Throws ShapeError for a sum over nothing.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
/// y_i = x_0 + … + x_i along an axis, added one after the other.
Tensor cumsum(const Tensor& x, int axis = -1);

// -- products: ops/matmul.cpp ---------------------------------------------------------------------
/// C = A·B over the last two axes; leading axes broadcast.  A (…, n, k)   B (…, k, m)   C (…, n, m)
/// The order of the sums and their error, also in linear, matmul_transposed and the gradients of
/// all three: kernels/gemm.h.
Tensor matmul(const Tensor& a, const Tensor& b);
/// y = x·W + b in one product; the bias may be left out.
/// x (…, in)   W (in, out)   b (out)   y (…, out)
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
/// y = x·tableᵀ, y_…j = ⟨x_…, table_j⟩: how much x is like each row.
/// x (…, C)   table (V, C)   y (…, V)
Tensor matmul_transposed(const Tensor& x, const Tensor& table);
/// ⟨a, b⟩ / (‖a‖·‖b‖) along an axis, which disappears: never outside −1 … 1, whatever the lengths.
/// A zero vector gives NaN, and so does one with an infinity.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis = -1);

// -- moving numbers: ops/reshaping.cpp ------------------------------------------------------------
/// The same numbers, row by row, under another shape of equal size.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Axis i of the result is axis order[i] of x.
Tensor permute(const Tensor& x, const Axes& order);
/// Two axes swapped; the last two unless named.
Tensor transpose(const Tensor& x, int axis_a = -2, int axis_b = -1);
/// Elements begin … end − 1 along an axis.
Tensor slice(const Tensor& x, int axis, Dim begin, Dim end);
/// The parts one after another along an axis; the other sizes are equal.
Tensor concat(const std::vector<Tensor>& parts, int axis);
/// Equal parts along an axis; concat is the inverse.
std::vector<Tensor> split(const Tensor& x, Dim parts, int axis);
/// Tensors of one shape side by side along a new axis: n of shape (3) give (n, 3) for axis 0.
Tensor stack(const std::vector<Tensor>& parts, int axis = 0);
/// x with `before` and `after` elements more along an axis, all of them `value`.
Tensor pad(const Tensor& x, int axis, Dim before, Dim after, double value = 0);
/// One element of x per index: for axis 1   y_ij = x[i, ids_ij].     y has the shape of ids, which
/// is that of x but along the axis. Throws ValueError naming an index outside the axis.
Tensor gather(const Tensor& x, int axis, const Indices& ids);
/// x with a value added per index: for axis 1   y = x, then y[i, ids_ij] += values_ij, one after
/// the other in row order; an index may occur twice. ids and values have one shape, that of x but
/// along the axis. Throws ValueError as above.
Tensor scatter_add(const Tensor& x, int axis, const Indices& ids, const Tensor& values);

// -- attention: ops/softmax.cpp, attention.cpp, masked_products.cpp, rotate.cpp -------------------
/// H heads of queries and G heads of keys and values. Head h looks at keys and values ⌊h·G/H⌋, so
/// neighbours share them (Ainslie et al. 2023); with one, all do (Shazeer 2019). A number of heads
/// converts: each has its own. Throws ValueError unless G divides H.
struct HeadCount {
  Dim queries, keys;
  HeadCount(Dim heads) : queries(heads), keys(heads) {}  // NOLINT(google-explicit-constructor)
  HeadCount(Dim heads, Dim key_heads);
};

/// Softmax over the last axis: positive numbers that sum to 1.   y_i = exp(x_i) / Σ_j exp(x_j)
Tensor softmax(const Tensor& x);
/// Softmax over the keys a query may look at. x (…, queries, keys). Weights of hidden keys are
/// exactly 0 and their scores are not read; a row that may look nowhere is all zeros.
Tensor softmax(const Tensor& x, const Mask& mask);
/// log softmax over the last axis.   y_i = x_i − log Σ_j exp(x_j)
Tensor log_softmax(const Tensor& x);
/// softmax(Q·Kᵀ/√D over what the mask shows)·V of every head at once.    Vaswani et al. 2017, eq. 1
/// qkv (…, T, 3C): q, k and v side by side, in each the heads, D = C / heads   y (…, T, C)
/// With fewer heads of keys and values qkv is (…, T, (H + 2G)·D). A sink b (H) is one more score of
/// each head, that no value belongs to: w_ij = exp(s_ij) / (exp(b_h) + Σ_j exp(s_ij)), so a head can
/// attend to nothing (OpenAI 2025, gpt-oss; with b = 0 Miller 2023). b = −∞ is none.
/// Memory grows with T, not T². Hidden keys and values are not read; a row that may look nowhere
/// gives zeros. The terms of a sum over n keys or queries are added one after the other: in float
/// it errs by at most n·2⁻²⁴ of their sizes together, and a sum of ones stops at 16,777,216. The
/// same holds for attention_scores and weighted_sum. Throws ValueError for a custom mask: for
/// those, and for the weights, see nn/layers/attention.h.
Tensor attention(const Tensor& qkv, HeadCount heads, const Mask& mask, const Tensor& sink = {});
/// The same for queries of one sequence and keys and values of another (cross attention).
/// q (…, T, C)   k, v (…, S, C), or (…, S, G·D)   mask over T × S   y (…, T, C)
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, HeadCount heads,
                 const Mask& mask, const Tensor& sink = {});
/// S_ij = ⟨q_i, k_j⟩ where query i may look at key j, −∞ elsewhere.
/// q (…, queries, D)   k (…, keys, D)   S (…, queries, keys)       What is hidden is not read. A
/// gradient of what multiplies S would be 0·−∞, NaN: multiply q, or matmul(q, transpose(k)).
Tensor attention_scores(const Tensor& q, const Tensor& k, const Mask& mask);
/// y_i = Σ_j w_ij·v_j over the keys query i may look at.
/// w (…, queries, keys)   v (…, keys, D)   y (…, queries, D)       What is hidden is not read.
Tensor weighted_sum(const Tensor& weights, const Tensor& v, const Mask& mask);

/// Rotary positions: at position p = first + t the pair (i, i + D/2) of a head is turned by the angle
/// p·base^(−2i/D), so that ⟨q, k⟩ depends on the distance of their positions.       Su et al. 2021
/// x, y (…, T, n·D): the first `heads` groups of D columns are turned, the others copied; thus q and
/// k of qkv are turned in one call. The halves of a head are the two parts of its pairs, as in Llama;
/// the paper's pairs are neighbours. Documents of given lengths, one after another, each begin at
/// `first`. Throws ValueError for an odd D, first < 0, base < 1 and positions of 2³¹ and more,
/// ShapeError for lengths that do not make T together.
Tensor rotate(const Tensor& x, Dim D, Dim heads, Dim first = 0, double base = 10000,
              const std::vector<Dim>& lengths = {});

// -- layers' ops: ops/norms.cpp, embedding.cpp, cross_entropy.cpp, dropout.cpp --------------------
/// y = gain·x̂ + bias, x̂ = (x − mean) / √(variance + eps) over the last axis.      Ba et al. 2016
/// x (…, C)   gain (C)   bias (C)     In float the variance overflows where |x − mean| passes 10¹⁹:
/// y is then the bias, or NaN where Σx overflows; and an eps below 10⁻⁴⁵ is none.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps = 1e-5);
/// y = gain·x / √(mean(x²) + eps) over the last axis.                        Zhang & Sennrich 2019
/// x (…, C)   gain (C)     In float mean(x²) overflows where |x| passes 10¹⁹: y is then 0.
Tensor rms_norm(const Tensor& x, const Tensor& gain, double eps = 1e-5);
/// Rows of a table.   table (V, C)   ids (…)   y (…, C)
/// The gradient of a row that is looked up n times is n numbers added one after the other: in float
/// it errs by at most n·2⁻²⁴ of their sizes together, and a sum of ones stops at 16,777,216.
/// Throws ValueError naming an id outside 0 … V − 1.
Tensor embedding(const Tensor& table, const Indices& ids);
/// tokens[ids] + positions[first … first + T − 1]: the vector of each token plus that of its
/// position.
/// tokens (V, C)   positions (context, C)   ids (…, T)   y (…, T, C).  Throws ValueError as above.
Tensor embedding(const Tensor& tokens, const Tensor& positions, const Indices& ids, Dim first = 0);
/// Mean of −log softmax(logits)[target] over the targets kept.   logits (…, V)   targets (…)   y ()
/// Targets equal to `ignored` do not count. Throws ValueError for a target outside 0 … V − 1 or
/// when none is left.
Tensor cross_entropy(const Tensor& logits, const Indices& targets, std::optional<Dim> ignored = {});

enum class Reduction { mean, sum, none };
struct CrossEntropyOptions {
  std::optional<Dim> ignored = {};  // the target that does not count; its loss is 0
  double smoothing = 0;             // ε, from 0 to 1
  Array weights = {};               // w (V), of each class, none negative; if left out, ones
  Reduction reduction = Reduction::mean;
};
/// The same with a share ε of each target spread evenly over all classes, and with weights:
///
///   l_i = (1 − ε)·w_t·(−log p_it) + ε/V·Σ_c w_c·(−log p_ic)      t = target_i, p_i = softmax_i
///
/// y is Σ_i l_i / Σ_i w_t for `mean`, Σ_i l_i for `sum`, and the l_i, of the targets' shape, for
/// `none`. Throws ValueError as above, the last only for `mean`, and for options out of range.
///                                                               Szegedy et al. 2016, section 7
Tensor cross_entropy(const Tensor& logits, const Indices& targets,
                     const CrossEntropyOptions& options);
/// Zero with probability p, else x / (1 − p); 0 ≤ p < 1.      Srivastava et al. 2014
Tensor dropout(const Tensor& x, double p, Rng& rng);

}  // namespace fledge
