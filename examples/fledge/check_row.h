// One row of a gradient check, in types that do not depend on the number type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// Whether `name` selects the row: it is the row's name, or its first words.
inline bool is_named(const std::string& row, const std::string& name) {
  return row == name || row.starts_with(name + " ");
}

/// What to check: the rows that one of the names selects; all when there is none.
struct CheckRequest {
  std::vector<std::string> names;
  std::uint64_t seed = 1;
};

}  // namespace report
