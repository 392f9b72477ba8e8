// A moving average of the weights, which is often a better model than the last weights.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/kernels/parallel.h"
#include "engine/tensor.h"

namespace fledge {

/// After step t = 1, 2, …, from a₀ = w₀ on (the average of Kingma & Ba 2015, section 7.2, with a βₜ of
/// our own):
///
///   aₜ = βₜ·aₜ₋₁ + (1 − βₜ)·wₜ,      βₜ = min(β, t / (t + 10))
///
/// In early steps βₜ is small, so that the random first weights soon count for nothing. With β = 0
/// there is no average, and nothing is kept or computed.
class WeightAverage {
 public:
  /// Throws ValueError for β outside [0, 1).
  WeightAverage(std::vector<Tensor> parameters, double beta)
      : parameters_(std::move(parameters)), beta_(beta) {
    require<ValueError>(beta >= 0 && beta < 1, "WeightAverage",
                        "the average must be in [0, 1), 0 for none: got ", beta);
    if (beta > 0)
      for (const Tensor& p : parameters_) numbers_.push_back(p.value().clone());
  }

  WeightAverage(WeightAverage&&) = default;  // a copy would share the numbers

  bool exists() const { return !numbers_.empty(); }

  /// Moves the average towards the weights after step t. Throws nothing.
  void follow(std::int64_t t) {
    const InterruptScope no_interrupt(nullptr);
    const auto steps = static_cast<double>(t);
    const Real share = Real(1 - std::min(beta_, steps / (steps + 10)));
    for (std::size_t p = 0; p < numbers_.size(); ++p) {
      const Real* const w = parameters_[p].value().data();
      Real* const a = numbers_[p].write();
      kernels::parallel_ranges(numbers_[p].size(), grain, numbers_[p].size(), [=](Dim i, Dim end) {
        for (; i < end; ++i) a[i] += share * (w[i] - a[i]);
      });
    }
  }

  /// Copies of the average, in the order of the parameters; nothing without one.
  std::vector<Array> copies() const { return copies_of(numbers_); }
  /// Copies of an average that was saved, for restore(). Throws ValueError or ShapeError unless it is
  /// one of these parameters.
  std::vector<Array> copies_of(const std::vector<Array>& saved) const {
    require<ValueError>(saved.size() == numbers_.size(), "WeightAverage", "has ", numbers_.size(),
                        " arrays: got ", saved.size());
    std::vector<Array> copies;
    for (std::size_t p = 0; p < saved.size(); ++p) {
      require(saved[p].shape() == numbers_[p].shape(), "WeightAverage", "array ", p, " has shape ",
              numbers_[p].shape(), ": got ", saved[p].shape());
      copies.push_back(saved[p].clone());
    }
    return copies;
  }
  void restore(std::vector<Array> copies) { numbers_ = std::move(copies); }

  /// While it lives, the parameters have the average, if there is one, and the average their numbers.
  class InPlace {
   public:
    /// Throws GraphError if a graph still needs the numbers of a parameter.
    explicit InPlace(WeightAverage& average) {
      for (std::size_t p = 0; p < average.numbers_.size(); ++p)
        pairs_.push_back({average.parameters_[p].write(), average.numbers_[p].write(),
                          average.numbers_[p].size()});
      exchange();
    }
    ~InPlace() { exchange(); }
    InPlace(const InPlace&) = delete;
    InPlace& operator=(const InPlace&) = delete;

   private:
    void exchange() const {
      for (const auto& [w, a, size] : pairs_) std::swap_ranges(w, w + size, a);
    }
    struct Pair {
      Real *w, *a;
      Dim size;
    };
    std::vector<Pair> pairs_;
  };

 private:
  static constexpr Dim grain = 16'384;

  std::vector<Tensor> parameters_;
  double beta_;
  std::vector<Array> numbers_;
};

}  // namespace fledge
