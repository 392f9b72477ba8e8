// Numbers in a text, formatted as by printf.
#pragma once

#include <cstdio>
#include <string>

namespace support {

/// The text that printf would print, at most 199 bytes. For numbers, whose lengths are known.
template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace support
