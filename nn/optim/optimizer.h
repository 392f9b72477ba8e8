// Functions that all optimisers share, clipping, and the schedule of the rate. A step changes all
// parameters or none.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/kernels/parallel.h"
#include "engine/tensor.h"

namespace fledge {

/// Removes all gradients.
inline void zero_grad(const std::vector<Tensor>& parameters) {
  for (const Tensor& p : parameters) p.zero_grad();
}

/// Throws ValueError for a tensor that is no parameter, and for a parameter that is listed twice:
/// it would be updated twice.
void require_parameters(const char* op, const std::vector<Tensor>& parameters);

/// The gradients of all parameters, cut into parts of at most 16,384 numbers. One loop over the
/// parts is parallel also where each parameter alone is too small for several threads.
class GradientParts {
 public:
  struct Part {
    std::size_t parameter;
    Dim begin, count;     // numbers of the parameter
    const Real* numbers;  // of its gradient, from `begin` on
  };

  /// Parameters without a gradient have no part.
  explicit GradientParts(const std::vector<Tensor>& parameters);

  /// Calls f(part) for every part, in any order: `cost` elementary operations for each number.
  template <class F>
  void each(Dim cost, F f) const {
    kernels::parallel_for(static_cast<Dim>(parts_.size()), cost * numbers_,
                          [&](Dim i) { f(parts_[static_cast<std::size_t>(i)]); });
  }
  /// Σ g² in double: first over each part, then over the parts in their order.
  double sum_of_squares() const;

 private:
  PoolVector<Part> parts_;
  Dim numbers_ = 0;  // of all parts
};

/// Which numbers must be finite: all g, or all g².
enum class Finite { gradients, squares };

/// Throws NumericError unless the numbers are finite. The message has the index of the parameter.
void require_finite(const char* op, const std::vector<Tensor>& parameters,
                    const GradientParts& parts, Finite what);

/// Makes a moment of zeros for a parameter that has its first gradient, and one of its own where a
/// copy of the optimiser shares it. It is called before any parameter changes, because memory may run
/// out.
inline void allocate_moment(Array& moment, const Tensor& p) {
  if (moment.exists() && !moment.is_unique()) moment = moment.clone();
  if (!moment.exists() && p.has_grad()) moment = Array::zeros(p.shape());
}

/// What an optimiser keeps of a parameter between steps, which can be saved and restored.
struct Moments {
  Array m{}, v{};        // no arrays before the first gradient
  Dim t = 0;             // gradients so far
  bool is_muon = false;  // m is the momentum of Muon, which has no v

  /// Calls f("adamw.m.", m), … for each array: in a file these words stand before the name of the
  /// parameter.
  void each(auto&& f) {
    if (t > 0) f(is_muon ? "muon.m." : "adamw.m.", m);
    if (t > 0 && !is_muon) f("adamw.v.", v);
  }
};
/// With arrays of its own.
Moments copy_of(const Moments& moments);
/// Throws ValueError or ShapeError unless there is one element for each parameter, with the arrays
/// that its number of gradients asks for, in its shape.
void require_moments(const char* op, const std::vector<Tensor>& parameters,
                     const std::vector<Moments>& moments);

/// Pointers to the numbers of each parameter; null for a parameter without a gradient. Throws
/// GraphError if a graph still needs the old numbers of one of them.
PoolVector<Real*> writable_numbers(const std::vector<Tensor>& parameters);

/// Gradient clipping by global norm (Pascanu, Mikolov & Bengio 2013).
///
/// Scales all gradients by the same factor so that ‖g‖₂ ≤ max_norm. Returns ‖g‖₂ before scaling. If
/// it is already ≤ max_norm, the gradients keep their bits. Squares and small factors are computed
/// in double, so even float gradients of 1e30 can be clipped to 1e-10. Throws ValueError if max_norm
/// is below 9.9e-32 (1e-292 in double), for a tensor that is no parameter and for a parameter that is
/// listed twice; NumericError if the norm is not finite.
double clip_gradients(const std::vector<Tensor>& parameters, double max_norm);

/// The learning rate as a function of the step, so a resumed run gets the same rates. Linear warm-up,
/// then half a cosine down to final_ratio·rate (Loshchilov & Hutter 2017, eq. 5):
///
///   rate·(step + 1) / warmup                                    step < warmup
///   rate·(final_ratio + (1 − final_ratio)·½·(1 + cos(π·p)))     else
///   where p = (step − warmup) / (steps − warmup)
///
/// Steps are counted from 0. From step `steps` on, the rate is final_ratio·rate. With
/// final_ratio = 1 the rate stays constant after the warm-up.
struct CosineSchedule {
  double rate = 1e-3;
  double final_ratio = 0.1;  // the final rate as a share of `rate`
  std::int64_t warmup = 0, steps = 1;

  /// Throws ValueError for a negative step, a rate that is negative or not finite, `final_ratio`
  /// outside [0, 1], and a warm-up outside 0 … steps.
  double at(std::int64_t step) const {
    require<ValueError>(step >= 0, "CosineSchedule", "steps are counted from 0: got ", step);
    require<ValueError>(std::isfinite(rate) && rate >= 0, "CosineSchedule",
                        "the rate must be finite and at least 0: got ", rate);
    require<ValueError>(final_ratio >= 0 && final_ratio <= 1, "CosineSchedule",
                        "the least rate is a share of the rate, 0 to 1: got ", final_ratio);
    require<ValueError>(warmup >= 0 && warmup <= steps, "CosineSchedule",
                        "the warm-up must be within the ", steps, " steps: got ", warmup);
    if (step >= steps) return rate * final_ratio;
    if (step < warmup) return rate * static_cast<double>(step + 1) / static_cast<double>(warmup);
    const double p = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
    return rate * (final_ratio + (1 - final_ratio) * 0.5 * (1 + cos_pi(p)));
  }
};

}  // namespace fledge
