// Muon: the momentum of a matrix, made orthogonal, is its step (Jordan et al. 2024, "Muon: An
// optimizer for hidden layers in neural networks"). All other parameters are moved by AdamW.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nn/optim/adamw.h"

namespace fledge {

struct MuonOptions {
  AdamWOptions adamw = {};  // of the parameters that Muon does not move
  double times = 5;         // Muon's rate as a multiple of adamw.rate
  double momentum = 0.95;   // μ
};

/// The matrix G = U·S·Vᵀ with its singular values moved near 1, by five steps of Newton and Schulz:
///
///   X ← G / (‖G‖_F + 1e-7)      X ← 3.4445·X − 4.7750·(X·Xᵀ)·X + 2.0315·(X·Xᵀ)²·X      G, X (n, m)
///
/// A singular value of at least ‖G‖_F / 500 ends between 0.68 and 1.21. It is not 1 in the limit:
/// the steps are chosen for fast growth of small ones. Throws ShapeError unless G is a matrix.
Array orthogonalised(const Array& g);

/// For each matrix W (in, out) with a gradient G, M the momentum, first 0:
///
///   M ← μ·M + G          U = orthogonalised(G + μ·M)                           (Nesterov's momentum)
///   W ← W − η·(λ·W + √max(1, out/in)·U),      η = times·adamw.rate,   λ = adamw.decay·decay factor
///
/// The root makes steps of matrices with more outputs than inputs as large as of square ones, as
/// W acts on x (…, in) in y = x·W. Matrices side by side in one parameter, such as those of queries,
/// keys and values, are orthogonalised each alone.
class Muon {
 public:
  /// `matrices` has a list for each parameter: the numbers of columns of the matrices side by side
  /// in it; empty for a parameter of AdamW. Without any matrix this is AdamW, to the bit. Throws
  /// as AdamW does, and ValueError for columns that do not add up to those of a parameter (in, out),
  /// times that is negative or not finite and a momentum outside [0, 1).
  Muon(std::vector<Tensor> parameters, MuonOptions options, std::vector<double> decay_factors,
       std::vector<std::vector<Dim>> matrices);

  /// As AdamW::step(). May also throw Interrupted; after any exception nothing has changed.
  void step();
  void zero_grad() const { fledge::zero_grad(parameters_); }

  /// In the order of the parameters.
  std::vector<Moments> moments() const;
  /// As AdamW::restore(). Throws ValueError also for moments of the other optimiser.
  void restore(const std::vector<Moments>& moments);

  MuonOptions options;  // may be changed between steps

 private:
  struct Matrix {
    std::size_t parameter;
    std::vector<Dim> columns;
    double decay_factor;
    Moments moments;
  };

  std::vector<Tensor> parameters_;
  std::vector<Matrix> matrices_;
  AdamW adamw_;  // of the parameters without matrices, in their order
};

/// The matrices that Muon moves, for its constructor: those of the blocks. In attn.c_attn the three
/// of queries, keys and values are side by side: of (C, n) the first is (C, C), the others share
/// what is left.
std::vector<std::vector<Dim>> matrices_of_blocks(
    const std::vector<std::pair<std::string, Tensor>>& named);

}  // namespace fledge
