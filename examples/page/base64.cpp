#include "examples/page/base64.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "engine/base/errors.h"
#include "nn/io/errors.h"

namespace fledge::page {

namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(const std::string& bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t bits = 0;
  int waiting = 0;  // of the bits
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (waiting += 8; waiting >= 6; waiting -= 6) text += digits[bits >> (waiting - 6) & 63];
  }
  if (waiting > 0) text += digits[bits << (6 - waiting) & 63];
  text.resize((bytes.size() + 2) / 3 * 4, '=');
  return text;
}

std::string base64_decoded(const std::string& text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int waiting = 0;
  for (const char c : text) {
    bits = bits << 6 | static_cast<std::uint32_t>(std::min<std::size_t>(digits.find(c), 63));
    if ((waiting += 6) >= 8) bytes += static_cast<char>(bits >> (waiting -= 8) & 255);
  }
  bytes.resize((text.find_last_not_of('=') + 1) * 6 / 8);
  require<FormatError>(base64(bytes) == text, "base64",
                       "expected groups of four letters or digits");
  return bytes;
}

}  // namespace fledge::page
