#include "nn/text/byte_characters.h"

#include <array>
#include <map>

#include "nn/io/utf8.h"

namespace fledge {

namespace {

const std::array<char32_t, 256>& byte_characters() {
  static const auto table = [] {
    std::array<char32_t, 256> characters{};
    char32_t next = 256;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool is_printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
      characters[byte] = is_printable ? byte : next++;
    }
    return characters;
  }();
  return table;
}

}  // namespace

std::string characters_of_bytes(std::string_view bytes) {
  std::string characters;
  for (const char byte : bytes)
    characters += utf8_of(byte_characters()[static_cast<unsigned char>(byte)]);
  return characters;
}

std::optional<std::string> bytes_of_characters(std::string_view characters) {
  static const auto bytes_by_character = [] {
    std::map<char32_t, char> bytes;
    for (std::size_t byte = 0; byte < 256; ++byte)
      bytes[byte_characters()[byte]] = static_cast<char>(byte);
    return bytes;
  }();
  std::string bytes;
  for (std::size_t at = 0; at < characters.size();) {
    const CodePoint point = code_point_at(characters, at);
    const auto found = bytes_by_character.find(point.value);
    if (!point.valid || found == bytes_by_character.end()) return std::nullopt;
    bytes += found->second;
    at += point.bytes;
  }
  return bytes;
}

}  // namespace fledge
