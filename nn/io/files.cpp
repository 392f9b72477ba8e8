#include "nn/io/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace fledge {

namespace {

std::string reason_of(int error) {
  std::string reason = std::generic_category().message(error);
  if (reason[0] >= 'A' && reason[0] <= 'Z') reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
  return reason;
}

// Reads `count` bytes from byte `at` of a file on, or from where a stream is; fewer at its end.
std::size_t read_up_to(int file, const std::string& path, std::size_t count,
                       std::optional<std::uint64_t> at, char* to) {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = at ? ::pread(file, to + done, count - done, static_cast<off_t>(*at + done))
                           : ::read(file, to + done, count - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError("read", path, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

// Reads a stream to its end, at most `most` bytes. `expected` is the probable number.
std::string read_to_end(int file, const std::string& path, std::uint64_t expected,
                        std::uint64_t most) {
  constexpr std::size_t step = 1 << 16;
  std::string bytes;
  std::size_t done = 0;
  while (done == bytes.size()) {
    bytes.resize(std::max(static_cast<std::size_t>(expected), done) + step);
    done += read_up_to(file, path, bytes.size() - done, {}, bytes.data() + done);
    if (done > most)
      throw FileError("read", path, "it has more than " + std::to_string(most) + " bytes");
  }
  bytes.resize(done);
  return bytes;
}

// The number of bytes of an open regular file.
std::uint64_t size_of_file(const Descriptor& file, const std::string& path) {
  struct stat status {};
  if (!file.exists() || ::fstat(file.get(), &status) != 0) throw FileError("read", path, errno);
  if (S_ISDIR(status.st_mode)) throw FileError("read", path, "it is a folder");
  if (!S_ISREG(status.st_mode)) throw FileError("read", path, "it is not a regular file");
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

FileError::FileError(const char* verb, const std::string& path, const std::string& reason,
                     int error)
    : std::runtime_error(std::string("cannot ") + verb + " " + in_quotes(path) + ": " + reason),
      error_number(error) {}

FileError::FileError(const char* verb, const std::string& path, int error)
    : FileError(verb, path, reason_of(error), error) {}

Descriptor::Descriptor(int folder, const std::string& name, int flags) {
  if (name.find('\0') != std::string::npos)
    throw FileError("open", name, "a path holds no zero byte");
  do number_ = ::openat(folder, name.c_str(), flags | O_CLOEXEC, 0666);
  while (number_ < 0 && errno == EINTR);
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

std::string read_whole(const Descriptor& file, const std::string& path, std::uint64_t most) {
  const std::uint64_t size = size_of_file(file, path);
  if (size > most)
    throw FileError(
        "read", path,
        "it has " + std::to_string(size) + " bytes; at most " + std::to_string(most) + " are read");
  return read_to_end(file.get(), path, size, most);
}

std::string read_file(const std::string& path, std::uint64_t most) {
  if (path == "-") return read_to_end(STDIN_FILENO, "standard input", 0, most);
  // Without O_NONBLOCK, opening a pipe without a writer would never return.
  return read_whole(Descriptor(AT_FDCWD, path, O_RDONLY | O_NONBLOCK), path, most);
}

ByteSource::ByteSource(Descriptor file, const std::string& path) : size_(size_of_file(file, path)) {
  const auto shared = std::make_shared<const Descriptor>(std::move(file));
  read_file_ = [shared, path](std::uint64_t at, std::size_t count, char* to) {
    if (read_up_to(shared->get(), path, count, at, to) < count)
      throw FileError("read", path, "it has become shorter while it was read");
  };
}

void ByteSource::read(std::uint64_t at, std::size_t count, char* to) const {
  require<ValueError>(at <= size_ && count <= size_ - at, "ByteSource", "has ", size_,
                      " bytes: asked for ", count, " from ", at, " on");
  if (read_file_)
    read_file_(at, count, to);
  else
    std::memcpy(to, bytes_.data() + at, count);
}

std::string ByteSource::read(std::uint64_t at, std::size_t count) const {
  std::string bytes(count, '\0');
  read(at, count, bytes.data());
  return bytes;
}

std::string ByteSource::beginning(std::size_t count) const {
  return read(0, static_cast<std::size_t>(std::min<std::uint64_t>(count, size_)));
}

bool write_all(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote == 0) errno = EIO;
    if (wrote <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

bool sync_file(const Descriptor& file) {
  int result = 0;
  do result = ::fsync(file.get());
  while (result != 0 && errno == EINTR);
  return result == 0;
}

bool sync_folder(const Descriptor& folder) {
  return sync_file(folder) || errno == EINVAL || errno == ENOTSUP;
}

}  // namespace fledge
