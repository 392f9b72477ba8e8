#include "nn/io/checksum.h"

#include <charconv>
#include <system_error>

namespace fledge {

namespace {

constexpr std::size_t checksum_digits = 16;
constexpr std::size_t bytes_at_once = 1 << 18;  // they stay in the L2 cache

// The position of the digits of the checksum. Only the key itself matches: inside strings of JSON,
// quotes are escaped.
std::size_t position_of_checksum(std::string_view text) {
  constexpr std::string_view key = "\"checksum\":";
  const std::size_t found = text.find(key);
  const std::size_t quote = found == std::string::npos ? found : text.find('"', found + key.size());
  if (quote == std::string::npos || text.size() - quote < checksum_digits + 1)
    throw FormatError("it has no checksum: it was not written by fledge");
  return quote + 1;
}

// A hash of words of 64 bits at the speed of memory: eight sums that do not wait for each other,
// each with the round of XXH64 (Collet 2012). Zeros must follow the bytes, up to a multiple of 64.
// With all else fixed, the hash is a one-to-one function of each word, and of `hash`.
std::uint64_t hash_of_words(std::string_view bytes, std::uint64_t hash) {
  constexpr std::uint64_t odd = 0x9e3779b185ebca87u, odder = 0xc2b2ae3d27d4eb4fu;
  std::uint64_t sums[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (const char *at = bytes.data(), *const end = at + bytes.size(); at < end;)
    for (std::uint64_t& sum : sums) {
      sum = std::rotl(sum + load_little_endian<std::uint64_t>(at) * odder, 31) * odd;
      at += sizeof sum;
    }
  hash ^= bytes.size();
  for (const std::uint64_t sum : sums) hash = std::rotl(hash ^ sum, 27) * odd;
  return hash;
}

// The hash of all bytes, with zeros for the digits. Parts and their target are aligned: rep movsb,
// which copies in the kernel, takes four times as long to a target 1 to 31 bytes behind its source,
// modulo 4096.
template <class Hash>
std::string checksum_of(const ByteSource& bytes, std::uint64_t digits, const Hash& add) {
  std::uint64_t hash = hash_of("");
  PoolVector<char> part(std::min(bytes_at_once, static_cast<std::size_t>(bytes.size()) + 64));
  for (std::uint64_t at = 0; at < bytes.size(); at += bytes_at_once) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes_at_once, bytes.size() - at));
    bytes.read(at, count, part.data());
    std::fill(part.begin() + static_cast<std::ptrdiff_t>(count), part.end(), '\0');
    for (std::uint64_t i = digits; i < digits + checksum_digits; ++i)
      if (i >= at && i < at + count) part[static_cast<std::size_t>(i - at)] = '0';
    hash = add({part.data(), count}, hash);
  }
  return hexadecimal(hash);
}

}  // namespace

std::uint64_t hash_of(std::string_view bytes, std::uint64_t hash) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string hexadecimal(std::uint64_t number) {
  std::string text(checksum_digits, '0');
  for (std::size_t i = checksum_digits; i-- > 0; number >>= 4)
    text[i] = "0123456789abcdef"[number & 15];
  return text;
}

std::optional<std::uint64_t> unsigned_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stopped != end) return {};
  return number;
}

std::string with_checksum(std::string text) {
  const std::size_t position = position_of_checksum(text);
  const std::string checksum = checksum_of(text, position, hash_of_words);
  return text.replace(position, checksum_digits, checksum);
}

std::string require_checksum(const ByteSource& bytes, std::uint64_t beginning) {
  const std::string text =
      bytes.read(0, static_cast<std::size_t>(std::min(beginning, bytes.size())));
  const std::size_t position = position_of_checksum(text);
  std::string found = text.substr(position, checksum_digits);
  // Files that fledge wrote up to commit 5ec600d have FNV-1a.
  if (found != checksum_of(bytes, position, hash_of_words) &&
      found != checksum_of(bytes, position, hash_of))
    throw FormatError("it is damaged: its checksum does not match its contents", damage_advice);
  return found;
}

}  // namespace fledge
