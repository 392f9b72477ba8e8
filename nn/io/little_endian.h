// Numbers as little-endian bytes at any address, on a machine of any byte order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

namespace fledge {

inline constexpr bool is_little_endian = std::endian::native == std::endian::little;

template <class T>
T load_little_endian(const char* from) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof bytes);
  if constexpr (!is_little_endian) std::reverse(bytes, bytes + sizeof bytes);
  T number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

template <class T>
void store_little_endian(T number, char* to) {
  std::memcpy(to, &number, sizeof number);
  if constexpr (!is_little_endian) std::reverse(to, to + sizeof number);
}

}  // namespace fledge
