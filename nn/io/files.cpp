#include "nn/io/files.h"

#include <fcntl.h>
#include <unistd.h>

namespace fledge {

namespace {

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

}  // namespace

std::string read_file(const std::string& path, std::uint64_t most) {
  if (path == "-") return read_stream(STDIN_FILENO, most, "standard input");
  if (path.find('\0') != std::string::npos)  // the system would ignore all that follows it
    throw FileError(file_problem("read", path, "a path holds no zero byte"));
  // Without O_NONBLOCK, opening a pipe without a writer would never return.
  return read_whole(Descriptor(path, O_RDONLY | O_NONBLOCK), path, most);
}

std::uint64_t hash_of(std::string_view bytes, std::uint64_t hash) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace fledge
