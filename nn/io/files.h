// Files that are there whole or not at all.
//
// Key idea: write beside, sync, rename, sync the folder; whatever stops the program, the name leads
// to the old bytes or to the new ones. POSIX, as the standard has no word for it.
//                                                                                  Next: files.cpp.
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

/// Makes `path` hold these bytes, at once: another reader sees the old file or the new one, and the
/// new one outlives a power cut. A link at `path` is replaced, not followed; what is there and is
/// no file is refused. Throws WriteError, the old file being as it was, with one exception: when the
/// folder cannot be synced at the very end, the message says that the file was written.
void write_file(const std::string& path, std::string_view bytes);

/// 64-bit FNV-1a of the bytes: tells texts and checkpoints apart; no defence against an enemy.
std::uint64_t hash_of(std::string_view bytes);

}  // namespace fledge
