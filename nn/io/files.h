// Reads and writes whole files of the operating system (POSIX); hashes and checksums of bytes.
//
// A signal can interrupt any call (EINTR), and a call may read or write less than requested. Both
// are handled here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/real.h"
#include "nn/io/errors.h"

namespace fledge {

/// An open file or folder. The destructor closes it.
class Descriptor {
 public:
  /// Opens `name` in the folder that has this descriptor. AT_FDCWD stands for the current folder. A
  /// new file gets the permissions that the umask leaves. If it cannot be opened, exists() is false and
  /// errno is the reason. Throws FileError if the name has a zero byte: the system would ignore the
  /// rest of it.
  Descriptor(int folder, const std::string& name, int flags);
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  ~Descriptor();

  bool exists() const { return number_ >= 0; }
  int get() const { return number_; }

 private:
  int number_ = -1;
};

/// The default limit on the size of a file that is read, in bytes.
inline constexpr std::uint64_t most_file_size = std::uint64_t{1} << 40;

/// Reads all bytes of an open regular file. Throws FileError naming `path` if it is a folder, a
/// pipe or a device. A file of more than `most` bytes is an error too, and is not read.
std::string read_whole(const Descriptor& file, const std::string& path,
                       std::uint64_t most = most_file_size);
/// The first `count` bytes, or all if there are fewer. Throws FileError as read_whole() does.
std::string read_beginning(const Descriptor& file, const std::string& path, std::size_t count);
/// Opens and reads a file in the same way; "-" is standard input, which may be a pipe.
std::string read_file(const std::string& path, std::uint64_t most = most_file_size);

/// Writes all bytes. Returns false and sets errno on an error.
bool write_all(const Descriptor& file, std::string_view bytes);
/// Brings what was written from the kernel's memory to the disk (fsync). Returns false and sets
/// errno on an error. A failed fsync is not repeated: the kernel may have dropped the bytes that
/// were not written yet.
bool sync_file(const Descriptor& file);
/// Writes the names in a folder to the disk. Returns true also if the file system does not support
/// this operation.
bool sync_folder(const Descriptor& folder);

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
/// Throws FormatError if the text has no such key, or if its checksum does not match its contents.
/// Returns the checksum.
std::string require_checksum(std::string_view text);

}  // namespace fledge
