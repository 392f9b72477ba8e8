// A text of many scripts, with everything that cuts it: blanks of all kinds, contractions, line
// ends, digits, combining marks, emoji.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "nn/io/utf8.h"

namespace tests {

/// What may be in a mixed text.
enum class CodePoints {
  of_old_scripts,  // code points whose classes are the same in all versions of Unicode since 6.0
  all              // any code point but surrogates, most of them without a character
};

/// About `size` bytes, in UTF-8. Words repeat, as they do in texts.
inline std::string mixed_text(std::uint64_t seed, std::size_t size, CodePoints points) {
  static constexpr std::array<std::pair<char32_t, fledge::Dim>, 21> scripts{{
      {U'a', 26},    {U'A', 26},   {U'0', 10},    {0x3B1, 17},   {0x430, 32},    {0x5D0, 27},
      {0x621, 26},   {0x905, 53},  {0xE01, 46},   {0xAC00, 500}, {0x4E00, 2000}, {0x3041, 80},
      {0x1F601, 16}, {0x300, 60},  {0x2460, 40},  {0x660, 10},   {U'!', 15},     {0x20000, 200},
      {0x1D400, 50}, {0xFE00, 16}, {0xE0100, 20},
  }};
  static constexpr std::u32string_view blanks =
      U"\t\n\v\f\r        \u0085\u00A0\u1680\u2000\u2003\u200A\u2028\u2029\u202F\u205F\u3000\u200B\u001F";
  static constexpr std::array<std::string_view, 14> endings{
      "'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'", "''", "\r\n", "\n\n", "  ", " \n"};
  fledge::Rng rng(seed);
  const auto below = [&rng](std::size_t n) {
    return static_cast<std::size_t>(rng.below(static_cast<fledge::Dim>(n)));
  };
  std::vector<std::string> words;
  while (words.size() < 3000) {
    const auto& [first, count] = scripts[below(scripts.size())];
    std::string& word = words.emplace_back();
    for (std::size_t length = 1 + below(9); length > 0; --length)
      word += fledge::utf8_of(first + static_cast<char32_t>(rng.below(count)));
  }
  std::string text;
  while (text.size() < size) {
    const std::size_t kind = below(20);
    if (kind < 4) {
      text += endings[below(endings.size())];
    } else if (kind < 10) {
      const std::string blank = fledge::utf8_of(blanks[below(blanks.size())]);
      for (std::size_t times = below(4) == 0 ? 1 + below(3) : 1; times > 0; --times) text += blank;
    } else if (kind == 10 && points == CodePoints::all) {
      const auto point = static_cast<char32_t>(below(0x110000));
      if (point < 0xD800 || point > 0xDFFF) text += fledge::utf8_of(point);
    } else {
      text += words[below(1 + below(words.size()))];  // the first ones more often
    }
  }
  return text;
}

}  // namespace tests
