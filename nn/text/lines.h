// The lines of a text.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace fledge {

/// The lines that are not blank, without \n or \r\n at their ends. The last line may have no line end.
/// An \r that is not before \n belongs to its line.
inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (end < text.size() && line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t\r\v\f") != std::string_view::npos) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

}  // namespace fledge
