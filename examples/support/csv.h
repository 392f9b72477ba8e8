// Rows of comma-separated values (RFC 4180; rows end with \n).
#pragma once

#include <string>
#include <vector>

#include "nn/io/utf8.h"

namespace support {

/// The fields joined by commas, with a line end. A field with a comma, a quote or a line end stands
/// in quotes, and its quotes are doubled. A byte that is not UTF-8 is written like \xff.
inline std::string csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) row += ',';
    const std::string field = fledge::utf8_text(fields[i]);
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      row += field;
      continue;
    }
    row += '"';
    for (const char c : field) row += c == '"' ? "\"\"" : std::string(1, c);
    row += '"';
  }
  return row + "\n";
}

}  // namespace support
