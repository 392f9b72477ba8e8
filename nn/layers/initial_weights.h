// How the weights of a layer start: drawn at random, or not yet written.
#pragma once

#include "engine/random_array.h"

namespace fledge {

/// A generator passed where InitialWeights are expected draws them: Linear(3, 4, rng).
class InitialWeights {
 public:
  InitialWeights(Rng& rng) : rng_(&rng) {}  // NOLINT(google-explicit-constructor)
  /// Memory that is yet to be written: for weights that are read from a file.
  static InitialWeights none() { return InitialWeights(nullptr); }

  /// The generator; null when nothing is drawn.
  Rng* rng() const { return rng_; }
  Array uniform(const Shape& shape, double low, double high) const {
    return rng_ ? random_uniform(shape, low, high, *rng_) : Array(shape);
  }
  Array normal(const Shape& shape, double mean, double deviation) const {
    return rng_ ? random_normal(shape, mean, deviation, *rng_) : Array(shape);
  }

 private:
  explicit InitialWeights(std::nullptr_t) {}
  Rng* rng_ = nullptr;
};

}  // namespace fledge
