// Open files and folders of the system, and what reading and writing them can meet.
//
// Not here: names and what stands in files (files.h, folder.h). Key idea: a signal may interrupt
// any call (EINTR), and any call may do less than it was asked; both are handled here, once. POSIX.
//                                                                             Next: descriptor.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/real.h"
#include "nn/io/errors.h"

namespace fledge {

/// "cannot VERB 'PATH': REASON", the path escaped.
std::string file_problem(const char* verb, const std::string& path, const std::string& reason);
/// The system's words for an error number, beginning in lower case.
std::string reason_of(int error);
/// Throws FileError with them.
[[noreturn]] void fail_reading(const std::string& path, int error);
/// Throws WriteError with them.
[[noreturn]] void fail_writing(const char* verb, const std::string& path, int error);

/// An open file or folder that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  /// Opens `name` in an open folder; a new file may be read and written by all that the umask lets.
  /// When it cannot be opened, exists() is false and errno is the reason. Never one of the numbers
  /// 0 to 2: where standard output is closed a file would get its number, and what is printed.
  Descriptor(int folder, const std::string& name, int flags);
  /// Opens a path.
  Descriptor(const std::string& path, int flags);
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  bool exists() const { return number_ >= 0; }
  int get() const { return number_; }
  /// Closes it. False, errno being the reason, when what was written may be lost.
  bool close();

 private:
  int number_ = -1;
};

/// Reads up to `size` bytes; fewer only at the end of the file. Throws FileError naming `path`.
std::size_t read_some(int descriptor, char* to, std::size_t size, const std::string& path);

/// All bytes of an open regular file. Throws FileError naming `path` when it is a folder, a pipe or
/// a device, has more than `most` bytes, or changes its size meanwhile.
std::string read_whole(const Descriptor& file, const std::string& path, std::uint64_t most);

/// Writes all bytes. False, errno being the reason, when some could not be written.
bool write_all(int descriptor, std::string_view bytes);

/// Brings a file to the disk. False, errno being the reason. A failed call is not tried again: the
/// kernel may have dropped what it could not write.
bool sync_file(int descriptor);
/// Brings the names in a folder to the disk. True also where the file system cannot do that.
bool sync_folder(int descriptor);

}  // namespace fledge
