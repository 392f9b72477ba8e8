// Open files and folders of the operating system (POSIX): open, read, write, sync.
//
// A signal can interrupt any call (EINTR), and a call may read or write less than requested. Both are
// handled here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/real.h"
#include "nn/io/errors.h"

namespace fledge {

/// "cannot VERB 'PATH': REASON", the path escaped.
std::string file_problem(const char* verb, const std::string& path, const std::string& reason);
/// The system's message for an error number, with a lower-case first letter.
std::string reason_of(int error);
/// Throws FileError with the reason for this error number.
[[noreturn]] void fail_reading(const std::string& path, int error);
/// Throws WriteError with the reason for this error number.
[[noreturn]] void fail_writing(const char* verb, const std::string& path, int error);

/// An open file or folder. The destructor closes it.
class Descriptor {
 public:
  Descriptor() = default;
  /// Opens `name` in an open folder. The umask decides who may read and write a new file. If it cannot
  /// be opened, exists() is false and errno is the reason. The number is never 0 to 2: if standard
  /// output was closed, the file would otherwise get its number and receive printed text.
  Descriptor(int folder, const std::string& name, int flags);
  /// Opens a path.
  Descriptor(const std::string& path, int flags);
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  bool exists() const { return number_ >= 0; }
  int get() const { return number_; }
  /// Closes the file. Returns false and sets errno if written bytes may be lost.
  bool close();

 private:
  int number_ = -1;
};

/// Reads `size` bytes, or fewer at the end of the file. Throws FileError naming `path`.
std::size_t read_some(int descriptor, char* to, std::size_t size, const std::string& path);

/// Reads all bytes of an open regular file. Throws FileError naming `path` if it is a folder, a pipe
/// or a device, if it has more than `most` bytes, or if its size changes while it is read.
std::string read_whole(const Descriptor& file, const std::string& path, std::uint64_t most);

/// Writes all bytes. Returns false and sets errno if some could not be written.
bool write_all(int descriptor, std::string_view bytes);

/// Writes the file from the kernel's memory to the disk (fsync). Returns false and sets errno on an
/// error. A failed fsync is not repeated: the kernel may have dropped the bytes that failed.
bool sync_file(int descriptor);
/// Writes the names in a folder to the disk. Also returns true if the file system does not support it.
bool sync_folder(int descriptor);

}  // namespace fledge
