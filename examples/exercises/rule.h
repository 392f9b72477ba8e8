// The op of exercise 16. Its file uses the engine, which the others do not.
#pragma once

#include "engine/tensor.h"
#include "examples/exercises/exercise.h"

namespace exercises {

/// softmax(beta·s) along each row.   s (rows, keys)
fledge::Tensor sharpened_weights(const fledge::Tensor& s, double beta);

}  // namespace exercises
