// A folder that is read, and one that is locked: a file of it is replaced whole or not at all,
// whatever stops the program, whatever fails, whatever else is there.
#include "nn/io/folder.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "nn/io/files.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/refusal.h"
#include "tests/support/stopped.h"

namespace fs = std::filesystem;
using namespace fledge;
using testing::run_here;
using testing::write_file;
using tests::refusal;
using Desk = testing::Folder;
using Opened = fledge::Folder;

namespace {

std::string locking(const std::string& path) {
  return refusal<FileError>([&] { LockedFolder{path}; });
}

/// A folder with the file "one" and a file of the user's.
struct Old : Desk {
  Old() {
    write_file(*this / "one", "old");
    write_file(*this / "mine", "foreign");
  }
  /// What a reader finds in "one" after a writer was stopped or failed: all of it, old or new.
  std::string found() const {
    const Opened folder(path());
    CHECK(folder.names() == std::vector<std::string>{"mine", "one"});
    CHECK(folder.read("mine") == "foreign");
    return folder.read("one").value_or("");
  }
};

bool locks_folders = true;

}  // namespace

// It stands in front of the C library's. Some network file systems do not lock folders. <fcntl.h>
// has a struct of the same name.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" int flock(int file, int operation) noexcept {
  struct stat status {};
  if (locks_folders || fstat(file, &status) != 0 || !S_ISDIR(status.st_mode))
    return static_cast<int>(syscall(SYS_flock, file, operation));
  errno = EBADF;
  return -1;
}
#pragma GCC diagnostic pop

TEST_CASE("folder: a file is read, missing or refused") {
  const Desk desk;
  const Opened folder(desk.path());
  CHECK(!folder.has("one"));
  CHECK(!folder.read("one"));
  CHECK(!folder.open("one"));
  CHECK(folder.names().empty());
  for (const char* name : {"one", ".lock", ".fledge-new", ".other"})
    write_file(desk / name, "birds");
  CHECK(folder.names() == std::vector<std::string>{".other", "one"});
  CHECK(folder.has("one"));
  CHECK(folder.read("one") == "birds");
  CHECK(folder.open("one")->read(1, 3) == "ird");
  CHECK(refusal<FileError>([&] { (void)folder.read("one", 4); }) ==
        "cannot read '" + (desk / "one") + "': it has 5 bytes; at most 4 are read");
  CHECK(folder.beginning("one", 4) == "bird");
  CHECK(folder.beginning("one", 9) == "birds");
  CHECK(!folder.beginning("two", 4));
  fs::create_directory(desk / "two");
  const std::string is_folder = "cannot read '" + (desk / "two") + "': it is a folder";
  CHECK(refusal<FileError>([&] { (void)folder.beginning("two", 4); }) == is_folder);
  CHECK(refusal<FileError>([&] { (void)folder.read("two"); }) == is_folder);
  CHECK(refusal<FileError>([&] { (void)folder.open("two"); }) == is_folder);
  fs::remove(desk / "two");
  fs::create_symlink("nowhere", desk / "two");
  CHECK(folder.has("two"));
  CHECK(!folder.read("two"));
  CHECK(refusal<FileError>([&] { Opened(desk / "none"); }) ==
        "cannot read '" + (desk / "none") + "': no such file or directory");
  CHECK(refusal<FileError>([&] { Opened(desk / "one"); }) ==
        "cannot read '" + (desk / "one") + "': not a directory");
  CHECK(refusal<FileError>([&] { Opened(std::string("a\0b", 3)); }) ==
        "cannot open 'a\\x00b': a path holds no zero byte");
  chmod(desk.path().c_str(), 0555);
  CHECK(Opened(desk.path()).read("one") == "birds");
  chmod(desk.path().c_str(), 0755);
}

TEST_CASE("folder: moved or removed, it stays the same folder") {
  const Desk desk;
  REQUIRE(make_folder(desk / "run"));
  CHECK(!make_folder(desk / "run"));
  write_file(desk / "run/one", "mine");
  LockedFolder folder(desk / "run");
  fs::rename(desk / "run", desk / "moved");
  fs::create_directory(desk / "run");
  write_file(desk / "run/one", "another's");
  CHECK(folder.read("one") == "mine");
  folder.replace("one", "new");
  CHECK(read_file(desk / "run/one") == "another's");
  CHECK(read_file(desk / "moved/one") == "new");
  CHECK(!folder.is_removed());
  fs::remove_all(desk / "moved");
  CHECK(folder.is_removed());
}

TEST_CASE("folder: what is in the way of a new one, and where none can be made") {
  const Desk desk;
  write_file(desk / "file", "x");
  CHECK(!make_folder(desk / "file"));
  CHECK(refusal<WriteError>([&] { make_folder(desk / "no/run"); }) ==
        "cannot make the folder '" + (desk / "no/run") + "': no such file or directory");
  const fs::path before = fs::current_path();
  fs::current_path(desk.path());
  CHECK(make_folder("bare"));
  CHECK(make_folder("slash/"));
  fs::current_path(before);
  CHECK(fs::is_directory(desk / "slash"));
}

TEST_CASE("locked folder: a file is replaced, and nothing else stays") {
  const Old desk;
  const LockedFolder folder(desk.path());
  for (const std::string& bytes :
       {std::string(300'000, '\xff'), std::string("new"), std::string()}) {
    folder.replace("one", bytes);
    CHECK(desk.found() == bytes);
  }
  CHECK(!fs::exists(desk / ".fledge-new"));
  CHECK(!fs::exists(desk / ".lock"));
  // A second name of the old file keeps the old bytes, be it a link or a hard link.
  write_file(desk / "kept", "kept");
  for (const bool is_hard : {false, true}) {
    fs::remove(desk / "one");
    is_hard ? fs::create_hard_link(desk / "kept", desk / "one")
            : fs::create_symlink(desk / "kept", desk / "one");
    folder.replace("one", "new");
    CHECK(!fs::is_symlink(desk / "one"));
    CHECK(read_file(desk / "one") == "new");
    CHECK(read_file(desk / "kept") == "kept");
  }
}

TEST_CASE("locked folder: killed in front of any change, a file is old or new, and whole") {
  bool finished = false;
  int stops = 0, old = 0;
  for (int stop = 0; !finished; ++stop) {
    const Old desk;
    CAPTURE(stop);
    finished = testing::ends_before(stop, [&] { LockedFolder(desk.path()).replace("one", "new"); });
    const std::string found = desk.found();
    CHECK((found == "old" || found == "new"));
    old += found == "old";
    stops += !finished;
    LockedFolder(desk.path()).replace("one", "newer");  // what was left is in nobody's way
    CHECK(desk.found() == "newer");
    CHECK(!fs::exists(desk / ".fledge-new"));
  }
  CHECK(stops == 5);  // unlink, fsync, rename, fsync
  CHECK(old == 4);
}

TEST_CASE("locked folder: a change that fails is said, and leaves the file old or new") {
  for (const int error : {ENOSPC, EIO, EACCES})
    for (int change = 0; change < 4; ++change) {
      const Old desk;
      CAPTURE(error, change);
      const LockedFolder folder(desk.path());
      const std::string said =
          testing::with_failure(change, error, [&] { folder.replace("one", "new"); });
      CHECK_THAT(said, StartsWith("cannot "));
      CHECK(desk.found() == (change < 3 ? "old" : "new"));
      folder.replace("one", "new");
      CHECK(desk.found() == "new");
    }
  for (const int change : {1, 3}) {  // an interrupted fsync is tried again
    const Old desk;
    const LockedFolder folder(desk.path());
    CHECK(testing::with_failure(change, EINTR, [&] { folder.replace("one", "new"); }).empty());
    CHECK(desk.found() == "new");
  }
}

TEST_CASE("locked folder: a disk that is full in the middle of a write") {
  const Old desk;
  const auto result = run_here([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit most{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &most);
    const LockedFolder folder(desk.path());
    const std::string said =
        refusal<WriteError>([&] { folder.replace("one", std::string(300'000, 'x')); });
    return said == "cannot write '" + (desk / "one") + "': file too large" ? 0 : 1;
  });
  CHECK(result.status == 0);
  CHECK(desk.found() == "old");
  CHECK(!fs::exists(desk / ".fledge-new"));
}

TEST_CASE("locked folder: what is in the way is not touched, and said") {
  const Old desk;
  const LockedFolder folder(desk.path());
  fs::create_directory(desk / "folder");
  CHECK(refusal<WriteError>([&] { folder.replace("folder", "new"); }) ==
        "cannot write '" + (desk / "folder") + "': is a directory");
  fs::remove(desk / "folder");
  fs::create_directories(desk / ".fledge-new/thesis");
  CHECK(refusal<WriteError>([&] { folder.replace("one", "new"); }) ==
        "cannot remove '" + (desk / ".fledge-new") + "': is a directory");
  CHECK(fs::exists(desk / ".fledge-new/thesis"));
  CHECK(desk.found() == "old");
  // A link in the place of the temporary file leads nowhere.
  fs::remove_all(desk / ".fledge-new");
  fs::create_symlink(desk / "mine", desk / ".fledge-new");
  folder.replace("one", "new");
  CHECK(desk.found() == "new");
}

TEST_CASE("locked folder: one process at a time, and the lock ends with it") {
  constexpr const char* nothing = "<nothing was thrown>";
  const Desk desk;
  const std::string path = desk.path();
  {
    const LockedFolder mine(path);
    const std::string said = locking(path);
    CHECK(said == "cannot use '" + path + "': another process is using it");
    CHECK(run_here([&] { return locking(path) == said ? 0 : 1; }).status == 0);
    // No file that could be removed holds it.
    CHECK(fs::is_empty(path));
  }
  const auto dies = run_here([&]() -> int {
    const LockedFolder its(path);
    std::raise(SIGKILL);
    return 0;
  });
  CHECK(dies.status == 128 + SIGKILL);
  CHECK(locking(path) == nothing);
  // Where folders cannot be locked, a file is.
  write_file(desk / ".lock", "notes of the user");
  locks_folders = false;
  {
    const LockedFolder mine(path);
    CHECK(locking(path) == "cannot use '" + path + "': another process is using it");
  }
  CHECK(locking(path) == nothing);
  CHECK(read_file(desk / ".lock") == "notes of the user");
  fs::remove(desk / ".lock");
  fs::create_directory(desk / ".lock");
  CHECK(locking(path) == "<derived: cannot lock '" + path + "': is a directory>");
  locks_folders = true;
}
