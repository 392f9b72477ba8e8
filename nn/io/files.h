// Reads and writes files of the operating system (POSIX).
//
// A signal can interrupt any call (EINTR), and a call may read or write less than requested. Both
// are handled here.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
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
  /// new file gets the permissions that the umask leaves. If it cannot be opened, exists() is false
  /// and errno is the reason. Throws FileError if the name has a zero byte: the system would ignore
  /// the rest of it.
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

/// Reads all bytes of an open regular file. Throws FileError naming `path` if it is not open, or is
/// a folder, a pipe or a device. A file of more than `most` bytes is an error too, and is not read.
std::string read_whole(const Descriptor& file, const std::string& path,
                       std::uint64_t most = most_file_size);
/// Opens and reads a file in the same way; "-" is standard input, which may be a pipe.
std::string read_file(const std::string& path, std::uint64_t most = most_file_size);

/// Bytes that are read in parts: those of a string or of an open file.
class ByteSource {
 public:
  /// The bytes of a string, which must outlive the source.
  template <std::convertible_to<std::string_view> Text>
  ByteSource(const Text& text) : bytes_(text), size_(bytes_.size()) {}
  /// The bytes of an open regular file, which has this path. Throws FileError as read_whole() does.
  ByteSource(Descriptor file, const std::string& path);

  std::uint64_t size() const { return size_; }
  /// Copies the bytes at … at + count − 1. Throws FileError if the file has become shorter. The
  /// file is read, not mapped: a mapped file that becomes shorter ends the program with a signal.
  void read(std::uint64_t at, std::size_t count, char* to) const;
  /// The same as a string.
  std::string read(std::uint64_t at, std::size_t count) const;
  /// The first `count` bytes, or all if there are fewer.
  std::string beginning(std::size_t count) const;

 private:
  std::string_view bytes_;
  std::function<void(std::uint64_t at, std::size_t count, char* to)> read_file_;  // null: a string
  std::uint64_t size_ = 0;
};

/// Writes all bytes. Returns false and sets errno on an error.
bool write_all(const Descriptor& file, std::string_view bytes);
/// Brings what was written from the kernel's memory to the disk (fsync). Returns false and sets
/// errno on an error. A failed fsync is not repeated: the kernel may have dropped the bytes that
/// were not written yet.
bool sync_file(const Descriptor& file);
/// Writes the names in a folder to the disk. Returns true also if the file system does not support
/// this operation.
bool sync_folder(const Descriptor& folder);

}  // namespace fledge
