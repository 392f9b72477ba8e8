#include "examples/support/token_label.h"

#include <algorithm>

#include "examples/support/text.h"

namespace support {

std::string token_label(std::string_view token, bool unicode) {
  if (token.empty()) return "''";
  std::string label;
  for (std::size_t at = 0; at < token.size();) {
    const char c = token[at];
    if (c == '\n' || c == ' ' || c == '\t') {
      label += c == '\n'  ? (unicode ? "⏎" : "\\n")
               : c == ' ' ? (unicode ? "␣" : "_")
                          : (unicode ? "⇥" : "\\t");
      ++at;
      continue;
    }
    const std::size_t end = std::min(token.find_first_of("\n \t", at), token.size());
    label += printable(token.substr(at, end - at));
    at = end;
  }
  return label;
}

}  // namespace support
