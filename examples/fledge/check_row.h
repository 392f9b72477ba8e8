// One row of a gradient check, in types that do not depend on the number type.
#pragma once

#include <cstdint>
#include <string>

namespace report {

struct CheckRow {
  std::string name;    // the op, module or model
  std::string shapes;  // of its inputs
  std::string oracle;  // "dual" or "differences"
  std::int64_t elements = 0;
  double max_error = 0;
  bool ok = false;
  std::string problem;  // empty when ok: what is wrong, where, both numbers, likely cause
};

/// What to check: rows whose name is `only` or starts with `only` and a space; all when it is
/// empty.
struct CheckRequest {
  std::string only;
  std::uint64_t seed = 1;
};

}  // namespace report
