// 64-bit numbers as text. As JSON numbers, other programs would round them.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fledge {

/// The number as 16 hexadecimal digits in lower case.
inline std::string hexadecimal(std::uint64_t number) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  return text;
}

/// The number that the text spells in this base; nullopt unless the text has digits only, at least
/// one, and the number fits into 64 bits.
inline std::optional<std::uint64_t> unsigned_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stopped != end) return {};
  return number;
}

}  // namespace fledge
