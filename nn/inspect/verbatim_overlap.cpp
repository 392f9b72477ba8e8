#include "nn/inspect/verbatim_overlap.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/base/interrupt.h"

namespace fledge {

namespace {

// Calls f(position, hash) for each n-gram of a text, in order. The hash is Σ c_i·base^(n−1−i) modulo
// 2⁶⁴, so two multiplications give the hash of the next n-gram. A hash of 0 is replaced by 1.
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
    if (i + 1 >= n) f(i + 1 - n, sum + (sum == 0));
  }
}

struct Matches {
  double share = 0;  // the share of the sample's bytes in n-grams that occur in the text
  std::vector<std::string_view> parts;  // the parts of the text that have these n-grams
};

// Strings with the same hash count as equal. For two different n-grams the probability of this is 2⁻⁶³.
Matches matching_grams(std::string_view sample, const std::vector<std::string_view>& text,
                       std::size_t n) {
  struct Slot {
    std::uint64_t hash = 0;  // 0: the slot is free
    bool in_text = false;
  };
  std::size_t size = 2;
  while (size < 2 * sample.size()) size *= 2;
  std::vector<Slot> table(size);
  const auto slot = [&](std::uint64_t hash) -> Slot& {
    std::size_t at = static_cast<std::size_t>(hash >> 24) & (size - 1);
    while (table[at].hash != 0 && table[at].hash != hash) at = (at + 1) & (size - 1);
    return table[at];
  };
  Matches result;
  each_gram(sample, n, [&](std::size_t, std::uint64_t hash) { slot(hash).hash = hash; });
  for (const std::string_view part : text) {
    const char* end = nullptr;  // the end of the last match in this part
    each_gram(part, n, [&](std::size_t at, std::uint64_t hash) {
      Slot& found = slot(hash);
      if (found.hash == 0) return;
      found.in_text = true;
      const char* const begin = part.data() + at;
      if (end == nullptr || begin > end) result.parts.emplace_back(begin, 0);
      end = begin + n;
      std::string_view& last = result.parts.back();
      last = {last.data(), static_cast<std::size_t>(end - last.data())};
    });
  }
  std::size_t bytes = 0, counted = 0;  // the first `counted` bytes are done with
  each_gram(sample, n, [&](std::size_t at, std::uint64_t hash) {
    if (!slot(hash).in_text) return;
    bytes += at + n - std::max(at, counted);
    counted = at + n;
  });
  if (bytes > 0) result.share = static_cast<double>(bytes) / static_cast<double>(sample.size());
  return result;
}

}  // namespace

// A part of the text without a run of n bytes has no longer run. So after the first match only few
// parts are searched.
VerbatimOverlap verbatim_overlap(std::string_view sample, std::string_view text,
                                 std::size_t least) {
  least = std::max<std::size_t>(least, 1);
  std::vector<std::string_view> parts{text};
  // There is a run of `longest` bytes, and none of `too_long`.
  std::size_t longest = 0, too_long = std::min(sample.size(), text.size()) + 1;
  const auto try_length = [&](std::size_t n) {
    Matches found = matching_grams(sample, parts, n);
    if (found.parts.empty()) {
      too_long = std::min(too_long, n);
    } else {
      longest = n;
      parts = std::move(found.parts);
    }
    return found.share;
  };
  const double share = try_length(least);
  while (longest + 1 < too_long) try_length(std::min(2 * longest + 1, (longest + too_long) / 2));
  return {share, longest};
}

}  // namespace fledge
