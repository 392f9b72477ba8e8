// Reads a whole file; hashes bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nn/io/descriptor.h"

namespace fledge {

/// Reads all bytes of a regular file; "-" is standard input. Throws FileError if it cannot be opened
/// or read, as read_whole() does.
std::string read_file(const std::string& path, std::uint64_t most = std::uint64_t{1} << 40);

/// 64-bit FNV-1a hash of the bytes. To hash a text in parts, pass the hash of the earlier parts. It
/// detects accidental damage, not an attack.
std::uint64_t hash_of(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325u);

}  // namespace fledge
