// Random numbers that are the same everywhere: a counter, a key and a mixing function.
//
// The distributions of std differ between libraries. Number i of a stream is mix(key + i·γ), so a
// stream is two integers, and independent streams are made from it (SplitMix64: Steele, Lea & Flood
// 2014, with Stafford's variant 13 of the mixer).
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/cosine.h"
#include "engine/base/errors.h"

namespace fledge {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : key_(mix(seed + gamma)) {}

  /// A separate stream for a purpose: data, dropout, sampling. Draws from one change no other.
  Rng stream(std::uint64_t purpose) const {
    Rng child(0);
    // Mix the key again, so that Rng(a).stream(b) differs from Rng(b).stream(a).
    child.key_ = mix(mix(key_) ^ mix(purpose + gamma));
    return child;
  }

  /// 64 random bits.
  std::uint64_t bits() { return mix(key_ + gamma * ++counter_); }

  /// Uniform in [0, 1): 53 random bits, exact in double.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  /// Uniform in {0, …, n − 1}, n ≥ 1, without bias: draws beyond the last whole multiple are
  /// repeated.
  Dim below(Dim n) {
    require<ValueError>(n >= 1, "below", "needs at least one number to choose from: got ", n);
    const auto range = static_cast<std::uint64_t>(n);
    const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % range;
    std::uint64_t draw = bits();
    while (draw >= limit) draw = bits();
    return static_cast<Dim>(draw % range);
  }

  /// Standard normal: √(−2·log u)·cos(2πv) (Box & Muller 1958); the second of the pair is not kept.
  double normal() {
    const double u = 1 - uniform();  // in (0, 1]: the logarithm is finite
    const double v = uniform();
    return std::sqrt(-2 * std::log(u)) * cos_pi(2 * v);
  }

  /// Fisher-Yates: every order equally likely.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (Dim i = static_cast<Dim>(items.size()) - 1; i > 0; --i)
      std::swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(below(i + 1))]);
  }

 private:
  static constexpr std::uint64_t gamma = 0x9E3779B97F4A7C15;  // 2⁶⁴ / golden ratio, odd

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  std::uint64_t key_ = 0;
  std::uint64_t counter_ = 0;
};

}  // namespace fledge
