#include "nn/io/files.h"

#include <fcntl.h>

#include <filesystem>

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

ByteSource opened(const std::string& path) {
  return {Descriptor(AT_FDCWD, path, O_RDONLY | O_NONBLOCK), path};
}

}  // namespace

TEST_CASE("a string and a file give the same bytes in any parts") {
  const testing::Folder folder;
  const std::string path = folder / "words", text("birds\0sometimes walk", 20);
  testing::write_file(path, text);
  for (const ByteSource& source : {ByteSource(text), opened(path)}) {
    CHECK(source.size() == text.size());
    for (std::size_t at = 0; at <= text.size(); ++at)
      for (std::size_t count = 0; at + count <= text.size(); ++count)
        CHECK(source.read(at, count) == text.substr(at, count));
    CHECK(refusal<ValueError>([&] { source.read(19, 2); }) ==
          "ByteSource: has 20 bytes: asked for 2 from 19 on");
    CHECK_THROWS_AS(source.read(~std::uint64_t{0}, 2), ValueError);
  }
}

TEST_CASE("a file that becomes shorter while it is read is an error") {
  const testing::Folder folder;
  const std::string path = folder / "words";
  testing::write_file(path, std::string(100'000, 'x'));
  const ByteSource source = opened(path);
  std::filesystem::resize_file(path, 10);
  CHECK(refusal<FileError>([&] { source.read(0, 100); }) ==
        "cannot read '" + path + "': it has become shorter while it was read");
}

TEST_CASE("what is not a regular file, or not open for reading, is not read") {
  const testing::Folder folder;
  const std::string path = folder / "words";
  testing::write_file(path, "x");
  CHECK(refusal<FileError>([&] {
          ByteSource(Descriptor(AT_FDCWD, path, O_WRONLY), path).read(0, 1);
        }) == "cannot read '" + path + "': bad file descriptor");
  CHECK(refusal<FileError>([&] { opened(folder.path()); }) ==
        "cannot read '" + folder.path() + "': it is a folder");
  CHECK(refusal<FileError>([&] { opened("/dev/zero"); }) ==
        "cannot read '/dev/zero': it is not a regular file");
  CHECK(refusal<FileError>([&] { opened(folder / "none"); }) ==
        "cannot read '" + (folder / "none") + "': no such file or directory");
}
