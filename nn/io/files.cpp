#include "nn/io/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "nn/io/utf8.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

[[noreturn]] void refuse(const char* verb, const std::string& path, const std::string& reason) {
  throw FileError(std::string("cannot ") + verb + " '" + shown_name(path) + "': " + reason);
}
[[noreturn]] void fail(const char* verb, const std::string& path, int error) {
  std::string reason = std::generic_category().message(error);
  if (reason[0] >= 'A' && reason[0] <= 'Z') reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
  refuse(verb, path, reason);
}
// The system would take such a path to end at its zero.
void require_path(const char* verb, const std::string& path) {
  if (path.find('\0') != std::string::npos) refuse(verb, path, "a path holds no zero byte");
}

// A descriptor that is closed however its owner ends.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(open(path, flags)) {
    // Where standard output is closed a file could get its number, and what is printed.
    if (number_ < 0 || number_ > 2) return;
    const int above = ::fcntl(number_, F_DUPFD_CLOEXEC, 3);
    ::close(std::exchange(number_, above));
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  bool exists() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  // After EINTR it is closed too (Linux, close(2)).
  bool close() { return ::close(release()) == 0 || errno == EINTR; }

 private:
  static int open(const std::string& path, int flags) {
    int number = 0;
    do number = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    while (number < 0 && errno == EINTR);
    return number;
  }
  int number_;
};

// Up to `size` bytes; fewer only at the end.
std::size_t read_some(int descriptor, char* to, std::size_t size, const std::string& path) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor, to + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::string read_stream(int descriptor, std::uint64_t most, const std::string& path) {
  std::string bytes;
  for (std::size_t done = 0;;) {
    bytes.resize(done + (std::size_t{1} << 16));
    done += read_some(descriptor, bytes.data() + done, bytes.size() - done, path);
    if (done > most) refuse("read", path, "it has more than " + std::to_string(most) + " bytes");
    if (done < bytes.size()) {
      bytes.resize(done);
      return bytes;
    }
  }
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

// What is being written stands beside its file, with the number of its process:
// "model.safetensors.tmp-1234-0".
constexpr std::string_view mark = ".tmp-";

std::string name_beside(const std::string& path) {
  static std::atomic<unsigned> count = 0;
  return path + std::string(mark) + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

// 0, or the number of the error; then nothing is left beside `path`.
int replace(const std::string& path, std::string_view bytes) {
  for (;;) {
    const std::string beside = name_beside(path);
    Descriptor file(beside, O_WRONLY | O_CREAT | O_EXCL);
    // An earlier process may have had this number and been killed while it wrote.
    if (!file.exists() && errno == EEXIST) continue;
    if (!file.exists()) return errno;
    // A failed fsync is not tried again: the kernel may have dropped what it could not write.
    if (write_all(file.get(), bytes) && ::fsync(file.get()) == 0 && file.close() &&
        ::rename(beside.c_str(), path.c_str()) == 0)
      return 0;
    const int error = errno;
    ::unlink(beside.c_str());
    return error;
  }
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

// Whether this is the name of a file begun by a process that is no more.
bool left_behind(std::string_view name) {
  const std::size_t at = name.rfind(mark);
  if (at == std::string_view::npos) return false;
  long long process = 0;
  std::size_t i = at + mark.size();
  for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && process < 1'000'000'000; ++i)
    process = 10 * process + (name[i] - '0');
  const std::string_view rest = name.substr(i);
  return process > 0 && process != ::getpid() && rest.size() > 1 && rest[0] == '-' &&
         rest.find_first_not_of("0123456789", 1) == std::string_view::npos &&
         ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

void remove_what_was_left(const std::string& folder) {
  DIR* entries = ::opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = ::readdir(entries))
    if (left_behind(entry->d_name)) ::unlink((folder + "/" + entry->d_name).c_str());
  ::closedir(entries);
}

}  // namespace

std::string read_file(const std::string& path, std::uint64_t most) {
  if (path == "-") return read_stream(STDIN_FILENO, most, "standard input");
  require_path("read", path);
  // Without O_NONBLOCK a pipe that nobody writes to would wait for ever.
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);
  struct stat status {};
  if (!file.exists() || ::fstat(file.get(), &status) != 0) fail("read", path, errno);
  if (S_ISDIR(status.st_mode)) refuse("read", path, "it is a folder");
  if (!S_ISREG(status.st_mode)) refuse("read", path, "it is no regular file");
  std::string bytes;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  most = std::min<std::uint64_t>(most, bytes.max_size());
  if (size > most)
    refuse("read", path, "it has " + std::to_string(size) + " bytes, over " + std::to_string(most));
  bytes.resize(static_cast<std::size_t>(size));
  char more = 0;
  const bool whole = read_some(file.get(), bytes.data(), bytes.size(), path) == bytes.size();
  if (!whole || read_some(file.get(), &more, 1, path) != 0)
    refuse("read", path, "its size changed meanwhile");
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  require_path("write", path);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    refuse("write", path, S_ISDIR(status.st_mode) ? "it is a folder" : "it is no regular file");
  const std::string folder_name = folder_of(path);
  const Descriptor folder(folder_name, O_RDONLY | O_DIRECTORY);
  // A folder may be one to write to and not to read; then its sync is the system's affair.
  if (!folder.exists() && errno != EACCES) fail("write", path, errno);
  if (const int error = replace(path, bytes)) fail("write", path, error);
  // Some file systems cannot sync a folder and say EINVAL.
  if (folder.exists() && ::fsync(folder.get()) != 0 && errno != EINVAL)
    fail("sync the folder of the file just written,", folder_name, errno);
}

FolderLock::FolderLock(const std::string& folder) {
  require_path("lock", folder);
  const std::string path = folder + "/.lock";
  Descriptor file(path, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (!file.exists()) fail("lock", folder, errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail("lock", folder, errno);
    std::string number(20, '\0');
    number.resize(read_some(file.get(), number.data(), number.size(), path));
    const bool known =
        !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
    refuse("use", folder, (known ? "process " + number : "another process") + " is using it");
  }
  // The number is a courtesy: a full disk does not take the lock away.
  if (::ftruncate(file.get(), 0) == 0) write_all(file.get(), std::to_string(::getpid()));
  remove_what_was_left(folder);
  descriptor_ = file.release();
}

FolderLock::~FolderLock() { ::close(descriptor_); }

std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace fledge::inline FLEDGE_BUILD
