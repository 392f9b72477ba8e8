// The table of gradients: a line per op, module and model, each proved by both oracles.
//
// These files are compiled for Dual; the command that prints the table is compiled for float.
// A new op gets its line in ops.cpp.                                    Next: ops.cpp, modules.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/array.h"
#include "engine/gradcheck/gradcheck.h"
#include "examples/fledge/check_row.h"
#include "examples/fledge/explanation.h"

namespace fledge {

/// The distribution of an input.
enum class Draw {
  normal,    // both signs
  positive,  // ½ … 2½
  apart,     // distinct, at least ⅛ from 0, in random order: no kink or tie is near
};

struct Input {
  Shape shape;
  Draw draw = Draw::normal;
};

struct OpCase {
  std::string name;
  std::vector<Input> inputs;
  std::function<Tensor(const std::vector<Tensor>&)> f;
};

/// A function, and the tensors with respect to which its gradient is checked.
struct Subject {
  std::function<Tensor()> f;
  std::vector<NamedTensor> inputs;
};

/// A row of the table; the seed draws the inputs.
struct GradientCase {
  std::string name, shapes;
  std::function<Subject(std::uint64_t seed)> make;
};

const std::vector<OpCase>& op_cases();
const std::vector<GradientCase>& module_cases();

/// The ops, then the modules.
const std::vector<GradientCase>& gradient_cases();

/// The rows of the request, two for each name: by dual numbers, then by differences.
std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request);

/// The names of all rows.
std::vector<std::string> gradient_names();

/// How one number of a gradient comes about: explain.cpp.
report::Explanation explain_gradient(const report::ExplainRequest& request);

}  // namespace fledge
