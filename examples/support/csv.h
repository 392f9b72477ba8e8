// Rows of comma-separated values (RFC 4180; rows end with \n).
#pragma once

#include <string>
#include <vector>

namespace support {

/// The fields joined by commas, with a line end. A field with a comma, a quote or a line end stands
/// in quotes, and its quotes are doubled.
inline std::string csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) row += ',';
    if (fields[i].find_first_of(",\"\r\n") == std::string::npos) {
      row += fields[i];
      continue;
    }
    row += '"';
    for (const char c : fields[i]) row += c == '"' ? "\"\"" : std::string(1, c);
    row += '"';
  }
  return row + "\n";
}

}  // namespace support
