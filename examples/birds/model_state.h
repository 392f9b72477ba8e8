// The trained model in plain numbers, so that it can be checked in double and in dual numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/indices.h"

namespace report {

struct ModelState {
  std::int64_t vocabulary = 0, context = 0, layers = 0, heads = 0, width = 0, hidden = 0;
  std::vector<std::vector<double>> parameters;  // in the order of named_parameters()
  fledge::Indices ids{}, targets{};             // (batch, time); target −1: none
};

struct ModelCheck {
  std::int64_t elements = 0;
  double max_error = 0;
  bool ok = false;
  std::string text;  // the report in words
};

/// The same gradients, by both oracles.
struct ModelProof {
  ModelCheck differences, dual;
};

/// The gradient of the loss with respect to every parameter of this model on this batch, by both
/// oracles. Differences must decide every element. Compiled for Dual.
ModelProof check_model(const ModelState& state, std::uint64_t seed);

}  // namespace report
