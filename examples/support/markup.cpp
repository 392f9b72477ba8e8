#include "examples/support/markup.h"

#include "examples/support/text.h"

namespace support {

std::string markup_escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text))
    result += c == '&'   ? "&amp;"
              : c == '<' ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

}  // namespace support
