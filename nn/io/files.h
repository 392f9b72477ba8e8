// A file read whole, and the hash of its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nn/io/descriptor.h"

namespace fledge {

/// All bytes of a regular file; "-" is standard input. Throws FileError when it cannot be opened or
/// read, is a folder, a pipe or a device, has more than `most` bytes, or changes its size
/// meanwhile.
std::string read_file(const std::string& path, std::uint64_t most = std::uint64_t{1} << 40);

/// 64-bit FNV-1a of the bytes, or of them behind those that gave `hash`: it shows damage by accident,
/// not by intent.
std::uint64_t hash_of(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325u);

}  // namespace fledge
