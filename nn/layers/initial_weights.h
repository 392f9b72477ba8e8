// The initial weights of a layer: random, or not written yet.
#pragma once

#include "engine/array.h"

namespace fledge {

/// Linear(3, 4, rng) draws random weights: a generator converts to InitialWeights.
class InitialWeights {
 public:
  InitialWeights(Rng& rng) : rng_(&rng) {}  // NOLINT(google-explicit-constructor)
  /// Memory without values, for weights that are then read from a file.
  static InitialWeights none() { return InitialWeights(nullptr); }

  /// The generator; null for none().
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
