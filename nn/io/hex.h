// Numbers of 64 bits in text, where JSON's readers elsewhere would round them.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fledge {

/// 16 digits of base 16, lower case.
inline std::string hexadecimal(std::uint64_t number) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  return text;
}

/// The whole text as a number of a base: digits alone, no sign, no space, nothing behind them.
inline std::optional<std::uint64_t> unsigned_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stopped != end) return {};
  return number;
}

}  // namespace fledge
