// Every op with its formula, a line or two each. The rules are in ops/*.cpp.
//
// Shapes broadcast where said: aligned at the last axis, sizes of 1 stretch. Axes count from 0, or
// from the end when negative. Every op throws ShapeError at the call, with the shapes, when they do
// not fit; infinities and NaN are computed as IEEE 754 says. Next: ops/softmax.cpp.
#pragma once

#include <optional>
#include <vector>

#include "engine/array.h"
#include "engine/base/indices.h"
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

// -- elementwise, one argument: ops/elementwise.cpp -----------------------------------------------
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor tanh(const Tensor& x);
/// 1 / (1 + e⁻ˣ)
Tensor sigmoid(const Tensor& x);
/// max(x, 0); slope 0 at 0; NaN stays NaN.
Tensor relu(const Tensor& x);
/// x·Φ(x), Φ the normal distribution function.                   Hendrycks & Gimpel 2016
Tensor gelu(const Tensor& x);
/// ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))): GPT-2's approximation of gelu.
Tensor gelu_tanh(const Tensor& x);

// -- reductions: ops/reduce.cpp -------------------------------------------------------------------
/// Σ x over the axes; keep_axes leaves them as size 1. Over nothing: 0.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
/// Σ x / count. Throws ShapeError over nothing.
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);
/// The largest; ties give the gradient to the first in row order; any NaN wins. Not over nothing.
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_axes = false);

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

// -- attention: ops/softmax.cpp, ops/attention.cpp, ops/masked_products.cpp -----------------------
/// Softmax over the last axis: positive numbers that sum to 1.   y_i = exp(x_i) / Σ_j exp(x_j)
Tensor softmax(const Tensor& x);
/// Softmax over the keys a query may look at. x (…, queries, keys). Weights of hidden keys are
/// exactly 0 and their scores are not read; a row that may look nowhere is all zeros.
Tensor softmax(const Tensor& x, const Mask& mask);
/// log softmax over the last axis.   y_i = x_i − log Σ_j exp(x_j)
Tensor log_softmax(const Tensor& x);
/// softmax(Q·Kᵀ/√D over what the mask shows)·V of every head at once.    Vaswani et al. 2017, eq. 1
/// qkv (…, T, 3C): q, k and v side by side, in each the heads, D = C / heads   y (…, T, C)
/// Memory grows with T, not T². Hidden keys and values are not read; a row that may look nowhere
/// gives zeros. The terms of a sum over n keys or queries are added one after the other: in float
/// it errs by at most n·2⁻²⁴ of their sizes together, and a sum of ones stops at 16,777,216. The
/// same holds for attention_scores and weighted_sum. Throws ValueError for a custom mask: for
/// those, and for the weights, see nn/layers/attention.h.
Tensor attention(const Tensor& qkv, Dim heads, const Mask& mask);
/// The same for queries of one sequence and keys and values of another (cross attention).
/// q (…, T, C)   k, v (…, S, C)   mask over T × S   y (…, T, C)
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, Dim heads, const Mask& mask);
/// S_ij = ⟨q_i, k_j⟩ where query i may look at key j, −∞ elsewhere.
/// q (…, queries, D)   k (…, keys, D)   S (…, queries, keys)       What is hidden is not read.
Tensor attention_scores(const Tensor& q, const Tensor& k, const Mask& mask);
/// y_i = Σ_j w_ij·v_j over the keys query i may look at.
/// w (…, queries, keys)   v (…, keys, D)   y (…, queries, D)       What is hidden is not read.
Tensor weighted_sum(const Tensor& weights, const Tensor& v, const Mask& mask);

// -- layers' ops: ops/layer_norm.cpp, embedding.cpp, cross_entropy.cpp, dropout.cpp ---------------
/// y = gain·x̂ + bias, x̂ = (x − mean) / √(variance + eps) over the last axis.      Ba et al. 2016
/// x (…, C)   gain (C)   bias (C)     In float the variance overflows where |x − mean| passes 10¹⁹:
/// y is then the bias; and an eps below 10⁻⁴⁵ is none.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps = 1e-5);
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
/// Zero with probability p, else x / (1 − p); 0 ≤ p < 1.      Srivastava et al. 2014
Tensor dropout(const Tensor& x, double p, Rng& rng);

}  // namespace fledge
