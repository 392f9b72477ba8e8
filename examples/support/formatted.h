// Numbers in a text, in printf's words.
#pragma once

#include <cstdio>
#include <string>

namespace support {

/// What printf would print, at most 199 bytes: for numbers, whose lengths are known.
template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace support
