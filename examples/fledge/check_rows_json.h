// The rows of a gradient check as JSON.
//
// Not for files of the dual build, which only make the rows: JSON belongs to the float library.
#pragma once

#include <string>
#include <vector>

#include "examples/fledge/check_row.h"
#include "nn/io/json.h"

namespace fledge {

/// One array of objects.
inline std::string as_json(const std::vector<report::CheckRow>& rows) {
  JsonWriter json(JsonWriter::Layout::indented);
  json.begin_array();
  for (const report::CheckRow& row : rows) {
    json.begin_object();
    json.field("name", row.name).field("shapes", row.shapes).field("oracle", row.oracle);
    json.field("elements", row.elements).field("max_error", row.max_error).field("ok", row.ok);
    if (!row.ok) json.field("problem", row.problem);
    json.end_object();
  }
  json.end_array();
  return json.text();
}

}  // namespace fledge
