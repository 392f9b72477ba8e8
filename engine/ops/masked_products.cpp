// The two products of attention step by step, reading only what the mask allows:
//
//     S = Q·Kᵀ      Y = W·V                                            (Vaswani et al. 2017, eq. 1)
//
// The softmax between them is in ops/softmax.cpp.
#include "engine/autograd.h"
#include "engine/kernels/sums.h"
#include "engine/ops.h"

namespace fledge {

namespace {

void require_same_lead(std::string_view op, const Shape& a, const Shape& b) {
  require(a.rank() >= 2 && a.rank() == b.rank() &&
              a.without(-1).without(-1) == b.without(-1).without(-1),
          op, "needs the same leading axes: ", a, " and ", b);
}

// A batch of grids of n queries × m keys, with vectors of size d. Row i of all grids together
// belongs to query i mod n of grid i / n.
struct Grids {
  Dim count, n, m, d;

  // Calls f(i, j, ij) for every visible pair of a query i and a key j of its grid; ij is their
  // place in a table. Hidden pairs are skipped, never multiplied by zero, because 0·NaN is NaN.
  template <class F>
  void each_visible(const VisibleTable& visible, F f) const {
    for (Dim i = 0; i < count * n; ++i)
      for (Dim j = 0; j < m; ++j)
        if (visible[static_cast<std::size_t>(i * m + j)] != 0) f(i, i / n * m + j, i * m + j);
  }
};

/// C_ij = ⟨A_i, B_j⟩ where visible, else `hidden`
Array dots(const Array& a, const Array& b, const VisibleTable& visible, Real hidden,
           const Grids& g) {
  Array c = Array::full(a.shape().with(-1, g.m), hidden);
  g.each_visible(visible, [&, to = c.write(), d = g.d](Dim i, Dim j, Dim ij) {
    to[ij] = kernels::dot(a.data() + i * d, b.data() + j * d, d);
  });
  return c;
}

/// C_i = Σ_j W_ij·B_j over visible j
Array mix(const Array& w, const Array& b, const VisibleTable& visible, const Grids& g) {
  Array c = Array::zeros(w.shape().with(-1, g.d));
  g.each_visible(visible,
                 [to = c.write(), W = w.data(), B = b.data(), d = g.d](Dim i, Dim j, Dim ij) {
                   for (Dim e = 0; e < d; ++e) to[i * d + e] += W[ij] * B[j * d + e];
                 });
  return c;
}

/// C_j = Σ_i W_ij·A_i over the i that see j
Array weighted_sum_transposed(const Array& w, const Array& a, const VisibleTable& visible,
                              const Grids& g) {
  Array c = Array::zeros(a.shape().with(-2, g.m));
  g.each_visible(visible,
                 [to = c.write(), W = w.data(), A = a.data(), d = g.d](Dim i, Dim j, Dim ij) {
                   for (Dim e = 0; e < d; ++e) to[j * d + e] += W[ij] * A[i * d + e];
                 });
  return c;
}

}  // namespace

/// S_ij = ⟨q_i, k_j⟩ where visible, −∞ elsewhere.   q (…, n, D)   k (…, m, D)   S (…, n, m)
///
///   dq_i = Σ_j dS_ij·k_j         dk_j = Σ_i dS_ij·q_i         over visible (i, j)
Tensor attention_scores(const Tensor& q, const Tensor& k, const Mask& mask) {
  require_same_lead("attention_scores", q.shape(), k.shape());
  require(q.dim(-1) == k.dim(-1), "attention_scores",
          "queries and keys differ in size: ", q.shape(), " and ", k.shape());
  const Grids g{q.shape().without(-1).without(-1).size(), q.dim(-2), k.dim(-2), q.dim(-1)};
  const VisibleTable visible = mask.table(q.shape().with(-1, g.m), "attention_scores");
  const Array Q = q.value(), K = k.value();
  return record("attention_scores", dots(Q, K, visible, Real(-infinity), g),
                wrt(q, [K, visible, g](const Array& dS) { return mix(dS, K, visible, g); }),
                wrt(k, [Q, visible, g](const Array& dS) {
                  return weighted_sum_transposed(dS, Q, visible, g);
                }));
}

/// y_i = Σ_j w_ij·v_j over visible j.   w (…, n, m)   v (…, m, D)   y (…, n, D)
///
///   dw_ij = ⟨dy_i, v_j⟩ where visible, else 0         dv_j = Σ_i w_ij·dy_i over the i that see j
Tensor weighted_sum(const Tensor& weights, const Tensor& v, const Mask& mask) {
  require_same_lead("weighted_sum", weights.shape(), v.shape());
  require(weights.dim(-1) == v.dim(-2), "weighted_sum",
          "keys and values differ in number: ", weights.shape(), " and ", v.shape());
  const Grids g{v.shape().without(-1).without(-1).size(), weights.dim(-2), v.dim(-2), v.dim(-1)};
  const VisibleTable visible = mask.table(weights.shape(), "weighted_sum");
  const Array W = weights.value(), V = v.value();
  return record(
      "weighted_sum", mix(W, V, visible, g),
      wrt(weights, [V, visible, g](const Array& dy) { return dots(dy, V, visible, Real(0), g); }),
      wrt(v,
          [W, visible, g](const Array& dy) { return weighted_sum_transposed(W, dy, visible, g); }));
}

}  // namespace fledge
