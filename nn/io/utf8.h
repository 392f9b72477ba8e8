// UTF-8, decoded one code point at a time; and the escaping of text for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fledge {

struct CodePoint {
  char32_t value;     // U+FFFD if not valid
  std::size_t bytes;  // its length, at least 1
  bool valid;
};

/// The code point that starts at text[at], at < text.size(). Overlong forms, surrogates, values
/// over U+10FFFF and truncated sequences are not valid. The length of an invalid sequence is that
/// of its "maximal subpart" (Unicode 15, section 3.9, table 3-7).
inline CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [text](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80) return {lead, 1, true};
  if (lead < 0xC2 || lead > 0xF4) return {0xFFFD, 1, false};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t value = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned next = byte(at + i);
    if (next < low || next > high) return {0xFFFD, i, false};
    value = value << 6 | (next & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {value, length, true};
}

/// The bytes of a code point.
inline std::string utf8_of(char32_t c) {
  std::string bytes;
  const auto tail = [&](int shift) { bytes += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80)
    bytes += static_cast<char>(c);
  else if (c < 0x800)
    bytes += static_cast<char>(0xC0 | c >> 6), tail(0);
  else if (c < 0x10000)
    bytes += static_cast<char>(0xE0 | c >> 12), tail(6), tail(0);
  else
    bytes += static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0);
  return bytes;
}

/// The position of the first byte that is not valid UTF-8; npos if the whole text is valid.
inline std::size_t first_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!point.valid) return at;
    at += point.bytes;
  }
  return std::string_view::npos;
}

/// Whether a character could control a terminal or mislead a reader: control characters (C0, DEL,
/// C1), marks that change the direction of writing (UAX 9), line separators, the byte order mark.
inline bool is_misleading(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C || (c >= 0x200E && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

/// The text with invalid bytes and the characters for which is_escaped(c) replaced by escapes such
/// as \x1b.
template <class F>
std::string escaped_where(std::string_view text, F is_escaped) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, bytes, valid] = code_point_at(text, at);
    if (valid && !is_escaped(c))
      result += text.substr(at, bytes);
    else
      for (const char byte : text.substr(at, bytes))
        result += {'\\', 'x', digits[byte >> 4 & 15], digits[byte & 15]};
    at += bytes;
  }
  return result;
}

/// The text with escapes of misleading characters, too.
inline std::string escaped_text(std::string_view text) {
  return escaped_where(text, is_misleading);
}
/// The text with escapes of the bytes that are not UTF-8 alone.
inline std::string utf8_text(std::string_view text) {
  return escaped_where(text, [](char32_t) { return false; });
}

/// A name, key or path for a message: escaped, and cut to 80 bytes and "..." if it is longer.
inline std::string escaped_name(std::string_view name) {
  std::size_t end = 0;
  while (end < name.size()) {
    const std::size_t next = end + code_point_at(name, end).bytes;
    if (next > 80) return escaped_text(name.substr(0, end)) + "...";
    end = next;
  }
  return escaped_text(name);
}

/// escaped_name() between single quotes.
inline std::string in_quotes(std::string_view name) { return "'" + escaped_name(name) + "'"; }

}  // namespace fledge
