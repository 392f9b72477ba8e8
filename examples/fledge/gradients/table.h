// The table of gradients: the rows of the ops, then those of the modules, each proved by both oracles.
//
// These files are compiled for Dual; the command that prints the table is compiled for float.
// A new op gets its row in engine/gradcheck/op_cases.cpp, a new module in nn/module_cases.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "examples/fledge/check_row.h"
#include "nn/module_cases.h"

namespace fledge {

/// A row of the table; the seed draws the inputs.
struct GradientCase {
  std::string name, shapes;
  std::function<Subject(std::uint64_t seed)> make;
};

/// The ops, then the modules.
const std::vector<GradientCase>& gradient_cases();

/// The rows of the request, two for each name: by dual numbers, then by differences.
std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request);

/// The names of all rows.
std::vector<std::string> gradient_names();

/// How one number of a gradient comes about: explain.cpp.
report::Explanation explain_gradient(const report::ExplainRequest& request);

}  // namespace fledge
