// A system may give fewer bytes than were asked for: a file is read whole all the same, and nothing
// is written behind what was asked for. pread is replaced below by one that gives 3 bytes at most.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "nn/io/files.h"
#include "tests/support/folder.h"

namespace {

int calls = 0;

}  // namespace

extern "C" ssize_t pread(int file, void* to, size_t count, off_t at) {
  ++calls;
  if (lseek(file, at, SEEK_SET) < 0) return -1;
  return read(file, to, std::min<size_t>(count, 3));
}

int main() try {
  const testing::Folder folder;
  const std::string path = folder / "letters", text = "abcdefghijklmnopqrstuvwxyz";
  testing::write_file(path, text);
  const fledge::ByteSource source(fledge::Descriptor(AT_FDCWD, path, O_RDONLY), path);
  int failed = 0;
  for (std::size_t at = 0; at <= text.size(); ++at)
    for (std::size_t count = 0; at + count <= text.size(); ++count) {
      std::string got(100, '.'), want = got;
      want.replace(0, count, text, at, count);
      source.read(at, count, got.data());
      if (got != want) ++failed;
    }
  std::printf("%d reads are wrong, of %d calls\n", failed, calls);
  return failed == 0 && calls > 1000 ? 0 : 1;
} catch (const std::exception& error) {
  std::printf("failed: %s\n", error.what());
  return 1;
}
