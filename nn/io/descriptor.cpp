#include "nn/io/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace fledge {

std::string file_problem(const char* verb, const std::string& path, const std::string& reason) {
  return std::string("cannot ") + verb + " " + in_quotes(path) + ": " + reason;
}

std::string reason_of(int error) {
  std::string reason = std::generic_category().message(error);
  if (reason[0] >= 'A' && reason[0] <= 'Z') reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
  return reason;
}

void fail_reading(const std::string& path, int error) {
  throw FileError(file_problem("read", path, reason_of(error)), error);
}

void fail_writing(const char* verb, const std::string& path, int error) {
  throw WriteError(file_problem(verb, path, reason_of(error)), error);
}

Descriptor::Descriptor(int folder, const std::string& name, int flags) {
  do number_ = ::openat(folder, name.c_str(), flags | O_CLOEXEC, 0666);
  while (number_ < 0 && errno == EINTR);
  if (number_ < 0 || number_ > 2) return;
  const int above = ::fcntl(number_, F_DUPFD_CLOEXEC, 3), error = errno;
  ::close(std::exchange(number_, above));
  errno = error;
}

Descriptor::Descriptor(const std::string& path, int flags) : Descriptor(AT_FDCWD, path, flags) {}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

// If close() fails with EINTR, the descriptor is closed nevertheless (Linux, close(2)).
bool Descriptor::close() { return ::close(std::exchange(number_, -1)) == 0 || errno == EINTR; }

std::size_t read_some(int descriptor, char* to, std::size_t size, const std::string& path) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor, to + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_reading(path, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::string read_whole(const Descriptor& file, const std::string& path, std::uint64_t most) {
  const auto refuse = [&](const std::string& reason) {
    throw FileError(file_problem("read", path, reason));
  };
  struct stat status {};
  if (!file.exists() || ::fstat(file.get(), &status) != 0) fail_reading(path, errno);
  if (S_ISDIR(status.st_mode)) refuse("it is a folder");
  if (!S_ISREG(status.st_mode)) refuse("it is no regular file");
  std::string bytes;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  most = std::min<std::uint64_t>(most, bytes.max_size());
  if (size > most)
    refuse("it has " + std::to_string(size) + " bytes, over " + std::to_string(most));
  bytes.resize(static_cast<std::size_t>(size));
  char more = 0;
  const bool whole = read_some(file.get(), bytes.data(), bytes.size(), path) == bytes.size();
  if (!whole || read_some(file.get(), &more, 1, path) != 0) refuse("its size changed meanwhile");
  return bytes;
}

bool write_all(int descriptor, std::string_view bytes) {
  for (bool wrote_nothing = false; !bytes.empty();) {
    const ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    if (wrote == 0 && wrote_nothing) {
      errno = EIO;
      return false;
    }
    wrote_nothing = wrote == 0;  // the next call fails with a reason or writes nothing again
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

bool sync_file(int descriptor) {
  int result = 0;
  do result = ::fsync(descriptor);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

bool sync_folder(int descriptor) {
  return sync_file(descriptor) || errno == EINVAL || errno == ENOTSUP;
}

}  // namespace fledge
