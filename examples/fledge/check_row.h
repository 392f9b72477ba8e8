// One line of a gradient check, in words that do not depend on the number type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/io/json.h"

namespace fledge::report {

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

/// One array of objects.
inline std::string as_json(const std::vector<CheckRow>& rows) {
  JsonWriter json(JsonWriter::Layout::indented);
  json.begin_array();
  for (const CheckRow& row : rows) {
    json.begin_object();
    json.field("name", row.name).field("shapes", row.shapes).field("oracle", row.oracle);
    json.field("elements", row.elements).field("max_error", row.max_error).field("ok", row.ok);
    if (!row.ok) json.field("problem", row.problem);
    json.end_object();
  }
  json.end_array();
  return json.text();
}

}  // namespace fledge::report
