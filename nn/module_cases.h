// The table of modules: a row for each layer and for the language model.
//
// `fledge gradcheck` proves every row by both oracles, tests/nn/test_module_gradients.cpp proves
// it for further shapes of the input. A new layer gets a row; until it has one a test fails. The table
// is in no library.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/gradcheck/gradcheck.h"

namespace fledge {

/// A function, and the tensors with respect to which its gradient is checked.
struct Subject {
  std::function<Tensor()> f;
  std::vector<NamedTensor> inputs;
};

struct ModuleCase {
  std::string name, shapes;
  std::vector<Shape> inputs;  // the one of the row, then others; {} for tokens
  /// The seed draws the parameters and the input.
  std::function<Subject(std::uint64_t seed, const Shape& input)> make;
};

const std::vector<ModuleCase>& module_cases();

}  // namespace fledge
