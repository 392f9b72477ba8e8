// Hashes of bytes, and files that hold the checksum of their own bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "nn/io/files.h"

namespace fledge {

inline constexpr bool is_little_endian = std::endian::native == std::endian::little;

/// The number that these bytes are, at any address, on a machine of any byte order.
template <class T>
T load_little_endian(const char* from) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof bytes);
  if constexpr (!is_little_endian) std::reverse(bytes, bytes + sizeof bytes);
  T number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

/// 64-bit FNV-1a hash of the bytes. To hash a text in parts, pass the hash of the earlier parts. It
/// detects accidental damage, not an attack.
std::uint64_t hash_of(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325u);
/// The number as 16 hexadecimal digits. As JSON numbers, other programs would round 64 bits.
std::string hexadecimal(std::uint64_t number);
/// The number that the text spells in this base; nullopt unless the text has digits only, at least
/// one, and the number fits into 64 bits.
std::optional<std::uint64_t> unsigned_number(std::string_view text, int base);

/// The text with the checksum of all its bytes in the place of the 16 zeros behind the first key
/// "checksum", as in  "checksum": "0000000000000000".
std::string with_checksum(std::string text);
/// Throws FormatError if the first `beginning` bytes have no such key, or if the checksum does not
/// match all bytes. Returns the checksum.
std::string require_checksum(const ByteSource& bytes, std::uint64_t beginning = ~std::uint64_t{0});

}  // namespace fledge
