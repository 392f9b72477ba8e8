#include "nn/io/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace fledge {

namespace {

// The system would take such a path to end at its zero.
bool holds_zero(const std::string& path) { return path.find('\0') != std::string::npos; }
constexpr const char* no_zero = "a path holds no zero byte";

std::string read_stream(int descriptor, std::uint64_t most, const std::string& path) {
  std::string bytes;
  for (std::size_t done = 0;;) {
    bytes.resize(done + (std::size_t{1} << 16));
    done += read_some(descriptor, bytes.data() + done, bytes.size() - done, path);
    if (done > most)
      throw FileError(
          file_problem("read", path, "it has more than " + std::to_string(most) + " bytes"));
    if (done < bytes.size()) {
      bytes.resize(done);
      return bytes;
    }
  }
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
    if (write_all(file.get(), bytes) && sync_file(file.get()) && file.close() &&
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

}  // namespace

std::string read_file(const std::string& path, std::uint64_t most) {
  if (path == "-") return read_stream(STDIN_FILENO, most, "standard input");
  if (holds_zero(path)) throw FileError(file_problem("read", path, no_zero));
  // Without O_NONBLOCK a pipe that nobody writes to would wait for ever.
  return read_whole(Descriptor(path, O_RDONLY | O_NONBLOCK), path, most);
}

void write_file(const std::string& path, std::string_view bytes) {
  const auto refuse = [&](const char* reason) {
    throw WriteError(file_problem("write", path, reason));
  };
  if (holds_zero(path)) refuse(no_zero);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    refuse(S_ISDIR(status.st_mode) ? "it is a folder" : "it is no regular file");
  const std::string folder_name = folder_of(path);
  const Descriptor folder(folder_name, O_RDONLY | O_DIRECTORY);
  // A folder may be one to write to and not to read; then its sync is the system's affair.
  if (!folder.exists() && errno != EACCES) fail_writing("write", path, errno);
  if (const int error = replace(path, bytes)) fail_writing("write", path, error);
  if (folder.exists() && !sync_folder(folder.get()))
    fail_writing("sync the folder of the file just written,", folder_name, errno);
}

std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace fledge
