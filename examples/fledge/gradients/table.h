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

struct ModuleCase {
  std::string name, shapes;
  std::function<GradcheckReport(std::uint64_t seed)> check;
};

const std::vector<OpCase>& op_cases();
const std::vector<ModuleCase>& module_cases();

/// The rows of the request, two for each name: by dual numbers, then by differences.
std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request);

/// The names of all rows.
std::vector<std::string> gradient_names();

}  // namespace fledge
