#include "nn/io/checksum.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace fledge {

namespace {

constexpr std::size_t checksum_digits = 16;
constexpr std::size_t bytes_at_once = 1 << 20;

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

// The hash of all bytes, with zeros for the digits.
std::string checksum_of(const ByteSource& bytes, std::size_t position) {
  std::uint64_t hash = hash_of(std::string(checksum_digits, '0'), hash_of(bytes.read(0, position)));
  for (std::uint64_t at = position + checksum_digits; at < bytes.size(); at += bytes_at_once)
    hash = hash_of(bytes.read(at, static_cast<std::size_t>(
                                      std::min<std::uint64_t>(bytes_at_once, bytes.size() - at))),
                   hash);
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
  const std::string checksum = checksum_of(text, position);
  return text.replace(position, checksum_digits, checksum);
}

std::string require_checksum(const ByteSource& bytes, std::uint64_t beginning) {
  const std::string text =
      bytes.read(0, static_cast<std::size_t>(std::min(beginning, bytes.size())));
  const std::size_t position = position_of_checksum(text);
  std::string found = text.substr(position, checksum_digits);
  if (found != checksum_of(bytes, position))
    throw FormatError("it is damaged: its checksum does not match its contents", damage_advice);
  return found;
}

}  // namespace fledge
