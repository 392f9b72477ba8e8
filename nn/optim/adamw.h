// AdamW: Adam with the weight decay separate from the moments (Kingma & Ba 2015, algorithm 1;
// Loshchilov & Hutter 2019, algorithm 2); and Muon for matrices: their momentum, made orthogonal, is
// their step (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks").
#pragma once

#include <vector>

#include "nn/optim/optimizer.h"

namespace fledge {

struct AdamWOptions {
  double rate = 1e-3;
  double beta1 = 0.9;      // β₁, of the mean gradient
  double beta2 = 0.999;    // β₂, of the mean square
  double eps = 1e-8;       // outside the root
  double decay = 1e-2;     // weight decay
  double times = 5;        // Muon's rate as a multiple of `rate`
  double momentum = 0.95;  // μ, of Muon
};

/// The matrix G = U·S·Vᵀ with its singular values moved near 1, by five steps of Newton and Schulz:
///
///   X ← G / (‖G‖_F + 1e-7)      X ← 3.4445·X − 4.7750·(X·Xᵀ)·X + 2.0315·(X·Xᵀ)²·X      G, X (n, m)
///
/// A singular value of at least ‖G‖_F / 500 ends between 0.68 and 1.21. It is not 1 in the limit:
/// the steps are chosen for fast growth of small ones. Throws ShapeError unless G is a matrix.
Array orthogonalised(const Array& g);

/// θ ← θ·(1 − rate·decay)
/// m ← β₁·m + (1 − β₁)·g        v ← β₂·v + (1 − β₂)·g²
/// θ ← θ − rate·m̂ / (√v̂ + eps),   m̂ = m/(1 − β₁ᵗ),  v̂ = v/(1 − β₂ᵗ)
/// where t = 1, 2, … counts the gradients of this parameter.
///
/// For each matrix W (in, out) that Muon moves, with a gradient G, M the momentum, first 0:
///
///   M ← μ·M + G          U = orthogonalised(G + μ·M)                           (Nesterov's momentum)
///   W ← W − η·(decay·W + √max(1, out/in)·U),      η = times·rate
///
/// The root makes steps of matrices with more outputs than inputs as large as of square ones, as
/// W acts on x (…, in) in y = x·W. Matrices side by side in one parameter, such as those of queries,
/// keys and values, are orthogonalised each alone.
class AdamW {
 public:
  /// `decay_factors` has one number per parameter, which multiplies options.decay; empty: all are
  /// 1. `matrices` has one list per parameter: the numbers of columns of the matrices side by side
  /// in it, which Muon moves. An empty list is for a parameter of AdamW; without lists, all are.
  ///
  /// Throws ValueError for a rate, eps, decay or times that is negative or not finite, eps = 0, a
  /// rate or decay too large for the number type, a β or momentum outside [0, 1), a factor outside
  /// [0, 1], a wrong number of factors or lists, columns that do not add up to those of a parameter
  /// (in, out), a constant among the parameters, or one parameter twice.
  AdamW(std::vector<Tensor> parameters, AdamWOptions options,
        std::vector<double> decay_factors = {}, std::vector<std::vector<Dim>> matrices = {});

  /// Updates every parameter that has a gradient. Throws NumericError if a gradient or its square
  /// is not finite, GraphError if a graph or another Array holds the numbers of a parameter, and
  /// Interrupted while matrices are made orthogonal. After an exception nothing has changed.
  void step();
  void zero_grad() const { fledge::zero_grad(parameters_); }

  std::vector<Moments> moments() const;
  /// Throws ValueError or ShapeError, and changes nothing, unless there is one element for
  /// each parameter, with moments of its shape and of what moves it.
  void restore(const std::vector<Moments>& moments);

  AdamWOptions options;  // may be changed between steps

 private:
  std::vector<Tensor> parameters_;
  std::vector<double> decay_factors_;       // of each parameter
  std::vector<std::vector<Dim>> matrices_;  // of each parameter
  std::vector<Moments> moments_;            // of each parameter
};

/// The matrices that Muon moves, for the constructor: those of the blocks. In attn.c_attn the three
/// of queries, keys and values are side by side: of (C, n) the first is (C, C), the others share
/// what is left.
std::vector<std::vector<Dim>> matrices_of_blocks(const std::vector<NamedTensor>& named);

}  // namespace fledge
