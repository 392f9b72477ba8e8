// Arrays of random numbers.
#pragma once

#include "engine/array.h"

namespace fledge {

/// An array of independent draws from uniform [low, high).
Array random_uniform(const Shape& shape, double low, double high, Rng& rng);

/// An array of independent normal draws with the given mean and standard deviation.
Array random_normal(const Shape& shape, double mean, double deviation, Rng& rng);

}  // namespace fledge
