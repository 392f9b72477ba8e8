// builds: f64
#include "nn/io/files.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/catch.h"

using namespace fledge;
namespace fs = std::filesystem;

namespace {

// A folder of its own for each test, gone behind it.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("fledge_files_" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

}  // namespace

TEST_CASE("what is written is read again, any bytes, and replaces what was there") {
  const Folder folder;
  const std::string name = folder / "a file";
  for (const std::string& bytes :
       {std::string(), std::string("birds\0walk", 10), std::string(300'000, '\xff')}) {
    write_file(name, bytes);
    CHECK(read_file(name) == bytes);
  }
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("a file that cannot be written leaves the old one, and nothing beside it") {
  const Folder folder;
  CHECK_THROWS_WITH(write_file(folder / "no/such/folder", "x"), StartsWith("cannot write '"));
  fs::create_directory(folder.path / "taken");
  CHECK_THROWS_AS(write_file(folder / "taken", "x"), FileError);
  CHECK(fs::is_directory(folder.path / "taken"));
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("what is no file is refused by what it is") {
  const Folder folder;
  CHECK_THROWS_WITH(read_file(folder / "nothing"), ContainsSubstring("No such file"));
  CHECK_THROWS_WITH(read_file(folder.path.string()), EndsWith("it is a folder"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(read_file(folder / "pipe"), EndsWith("it is no regular file"));
  CHECK_THROWS_WITH(read_file("/dev/null"), EndsWith("it is no regular file"));
  fs::create_symlink("nowhere", folder.path / "link");
  CHECK_THROWS_WITH(read_file(folder / "link"), ContainsSubstring("No such file"));
  write_file(folder / "long", std::string(11, 'x'));
  CHECK_THROWS_WITH(read_file(folder / "long", 10), ContainsSubstring("has 11 bytes, over 10"));
}

TEST_CASE("a folder has one lock, which goes with its process") {
  const Folder folder;
  {
    const FolderLock mine(folder.path.string());
    const pid_t child = fork();
    if (child == 0) {
      try {
        const FolderLock second(folder.path.string());
        _exit(0);
      } catch (const FileError&) {
        _exit(7);
      }
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 7);
  }
  const pid_t child = fork();
  if (child == 0) {
    new FolderLock(folder.path.string());  // and dies with it
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  const FolderLock again(folder.path.string());
  CHECK_THROWS_WITH(FolderLock(folder / "nothing"), StartsWith("cannot lock '"));
}

TEST_CASE("hashes are FNV-1a's") {
  CHECK(hash_of("") == 0xcbf29ce484222325u);
  CHECK(hash_of("a") == 0xaf63dc4c8601ec8cu);
  CHECK(hash_of("foobar") == 0x85944171f73967e8u);
}
