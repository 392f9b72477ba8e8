#include "nn/inspect/verbatim_overlap.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/base/interrupt.h"

namespace fledge {

namespace {

// Calls f(position, hash) for each n-gram of a text, in order. The hash is Σ c_i·base^(n−1−i)
// modulo 2⁶⁴, so two multiplications give the hash of the next n-gram.
template <class F>
void each_gram(std::string_view text, std::size_t n, F f) {
  constexpr std::uint64_t base = 0x9E3779B97F4A7C15;
  const auto byte = [&](std::size_t i) -> std::uint64_t {
    return static_cast<unsigned char>(text[i]);
  };
  std::uint64_t sum = 0, power = 1;  // base^n
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 65536 == 0) check_interrupt();
    sum = sum * base + byte(i) + 1;
    if (i < n) power *= base;
    if (i >= n) sum -= power * (byte(i - n) + 1);
    if (i + 1 >= n) f(i + 1 - n, sum);
  }
}

// The share of the sample's bytes in n-grams that occur in the text. Strings with the same hash
// count as equal. For two different n-grams the probability of this is 2⁻⁶³.
double share_in_text(std::string_view sample, std::string_view text, std::size_t n) {
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
  std::size_t bytes = 0, counted = 0;  // the first `counted` bytes are done with
  each_gram(sample, n, [&](std::size_t at, std::uint64_t hash) {
    if (!in_text[hash]) return;
    bytes += at + n - std::max(at, counted);
    counted = at + n;
  });
  return bytes > 0 ? static_cast<double>(bytes) / static_cast<double>(sample.size()) : 0;
}

}  // namespace

VerbatimOverlap verbatim_overlap(std::string_view sample, std::string_view text,
                                 std::size_t least) {
  least = std::max<std::size_t>(least, 1);
  // There is a run of `longest` bytes, and none of `too_long`.
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
