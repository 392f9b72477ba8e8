#include "nn/inspect/verbatim_overlap.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/interrupt.h"
#include "nn/io/utf8.h"

namespace fledge {

namespace {

// The characters of a text, several blanks in a row as one space.
std::u32string characters_of(std::string_view text) {
  constexpr std::string_view white_space = " \t\n\r\v\f";
  constexpr char32_t after_unicode = 0x110000;
  std::u32string characters;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const bool is_blank = white_space.find(text[at]) != std::string_view::npos;
    if (!point.valid)
      characters += static_cast<char32_t>(after_unicode + static_cast<unsigned char>(text[at]));
    else if (!is_blank)
      characters += static_cast<char32_t>(point.value);
    else if (characters.empty() || characters.back() != U' ')
      characters += U' ';
    at += point.valid ? point.bytes : 1;
  }
  return characters;
}

// Calls f(position, hash) for each n-gram of a text, in order. The hash is Σ c_i·base^(n−1−i)
// modulo 2⁶⁴, so two multiplications give the hash of the next n-gram.
template <class F>
void each_gram(std::u32string_view text, std::size_t n, F f) {
  constexpr std::uint64_t base = 0x9E3779B97F4A7C15;
  std::uint64_t sum = 0, power = 1;  // base^n
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 65536 == 0) check_interrupt();
    sum = sum * base + text[i] + 1;
    if (i < n) power *= base;
    if (i >= n) sum -= power * (std::uint64_t{text[i - n]} + 1);
    if (i + 1 >= n) f(i + 1 - n, sum);
  }
}

// The share of the sample's characters in n-grams that occur in the text. Strings with the same
// hash count as equal. For two different n-grams the probability of this is 2⁻⁶³.
double share_in_text(std::u32string_view sample, std::u32string_view text, std::size_t n) {
  std::unordered_map<std::uint64_t, bool> in_text;  // of each n-gram of the sample
  // The first 16 bits of these hashes. Most n-grams of the text are not in the sample, and a look
  // at the bits is ten times as fast as find().
  std::vector<bool> first_bits(1 << 16);
  each_gram(sample, n, [&](std::size_t, std::uint64_t hash) {
    in_text[hash] = false;
    first_bits[hash >> 48] = true;
  });
  each_gram(text, n, [&](std::size_t, std::uint64_t hash) {
    if (!first_bits[hash >> 48]) return;
    if (const auto gram = in_text.find(hash); gram != in_text.end()) gram->second = true;
  });
  std::size_t found = 0, counted = 0;  // the first `counted` characters are done with
  each_gram(sample, n, [&](std::size_t at, std::uint64_t hash) {
    if (!in_text[hash]) return;
    found += at + n - std::max(at, counted);
    counted = at + n;
  });
  return found > 0 ? static_cast<double>(found) / static_cast<double>(sample.size()) : 0;
}

}  // namespace

VerbatimOverlap verbatim_overlap(std::string_view sample_bytes, std::string_view text_bytes,
                                 std::size_t least) {
  const std::u32string sample = characters_of(sample_bytes), text = characters_of(text_bytes);
  least = std::max<std::size_t>(least, 1);
  // There is a run of `longest` characters, and none of `too_long`.
  std::size_t longest = 0, too_long = std::min(sample.size(), text.size()) + 1;
  const auto try_length = [&](std::size_t n) {
    const double share = share_in_text(sample, text, n);
    if (share > 0)
      longest = n;
    else
      too_long = std::min(too_long, n);
    return share;
  };
  const double share = try_length(least);
  while (longest + 1 < too_long) try_length(std::min(2 * longest + 1, (longest + too_long) / 2));
  return {share, longest};
}

}  // namespace fledge
