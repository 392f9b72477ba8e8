// Several files are replaced, or none: whatever stops the program, whatever fails, whatever else is
// there.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "nn/io/files.h"
#include "nn/io/folder.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/refusal.h"
#include "tests/support/stopped.h"

namespace fs = std::filesystem;
using namespace fledge;
using testing::ends_before;
using testing::run_here;
using testing::with_failure;
using testing::write_file;
using tests::refusal;
using Desk = testing::Folder;

namespace {

const std::vector<std::string> lock_names{"one", "two", "three"};

using Files = std::map<std::string, std::string>;
/// Every file below a folder, by its path.
Files files_in(const std::string& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[fs::relative(entry.path(), folder).string()] = read_file(entry.path().string());
  return files;
}
std::string locking(const std::string& path) {
  return refusal<FileError>([&] { LockedFolder(path, lock_names); });
}
constexpr const char* nothing = "<nothing was thrown>";

const Files files_before{{"one", "1"}, {"two", "2"}, {"mine", "foreign"}};
const Files files_after{{"one", "1"}, {"two", "22"}, {"three", "33"}, {"mine", "foreign"}};

struct Old : Desk {
  Old() {
    for (const auto& [name, bytes] : files_before) write_file(*this / name, bytes);
  }
  void replace() const {
    LockedFolder(path(), lock_names).replace({{"two", "22"}, {"three", "33"}});
  }
  /// The files as a reader sees them, which changes nothing.
  Files seen() const {
    const fledge::Folder folder(path(), lock_names);
    Files files{{"mine", *folder.read("mine")}};
    for (const std::string& name : lock_names)
      if (const auto bytes = folder.read(name)) files[name] = *bytes;
    return files;
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

TEST_CASE("locked folder: the new files replace the old, and nothing else stays") {
  const Old desk;
  desk.replace();
  CHECK(files_in(desk.path()) == files_after);
  CHECK(!fs::exists(desk / ".fledge-committed"));
  CHECK(!fs::exists(desk / ".lock"));
  LockedFolder folder(desk.path(), lock_names);
  folder.replace({{"one", std::string(300'000, '\xff')}});
  folder.replace({{"one", ""}});
  CHECK(folder.read("one") == "");
}

TEST_CASE("locked folder: killed in front of any change, it has all new files or none") {
  bool finished = false;
  int stops = 0, old = 0;
  for (int stop = 0; !finished; ++stop) {
    const Old desk;
    CAPTURE(stop);
    finished = ends_before(stop, [&] { desk.replace(); });
    const Files seen = desk.seen();
    const bool is_old = seen == files_before;
    CHECK((is_old || seen == files_after));
    old += is_old;
    stops += !finished;
    // The next writer, killed in front of its first, second, ... change too.
    for (int again = 0; !ends_before(again, [&] { LockedFolder(desk.path(), lock_names); });
         ++again)
      CHECK(desk.seen() == seen);
    CHECK(files_in(desk.path()) == seen);
    CHECK(!fs::exists(desk / ".fledge-uncommitted"));
    CHECK(!fs::exists(desk / ".fledge-committed"));
    desk.replace();
    CHECK(files_in(desk.path()) == files_after);
  }
  CHECK(stops >= 10);
  CHECK(old >= 5);
  CHECK(old < stops);
}

TEST_CASE("locked folder: a change that fails is said, and leaves all new files or none") {
  for (const int error : {ENOSPC, EIO, EACCES}) {
    bool failed = true;
    for (int change = 0; failed; ++change) {
      const Old desk;
      CAPTURE(error, change);
      LockedFolder folder(desk.path(), lock_names);
      const std::string said = with_failure(change, error, [&] {
        folder.replace({{"two", "22"}, {"three", "33"}});
      });
      failed = !said.empty();
      const bool counts = said.empty() || said.find("the new files are saved, but ") != said.npos;
      CHECK(desk.seen() == (counts ? files_after : files_before));
      folder.replace({{"two", "22"}, {"three", "33"}});
      CHECK(files_in(desk.path()) == files_after);
    }
  }
}

TEST_CASE("locked folder: an interrupted fsync is tried again") {
  for (int change = 0; change < 8; ++change) {
    const Old desk;
    LockedFolder folder(desk.path(), lock_names);
    const std::string said = with_failure(change, EINTR, [&] {
      folder.replace({{"two", "22"}, {"three", "33"}});
    });
    // mkdir, rename and unlink are not interrupted by signals.
    const bool is_sync = change == 1 || change == 2 || change == 3 || change == 5;
    CAPTURE(change, said);
    CHECK((!is_sync || said.empty()));
  }
}

TEST_CASE("locked folder: one process at a time, and the lock ends with it") {
  const Desk desk;
  const std::string path = desk.path();
  {
    const LockedFolder mine(path, lock_names);
    const std::string said = locking(path);
    CHECK(said == "cannot use '" + path + "': another process is using it");
    CHECK(run_here([&] { return locking(path) == said ? 0 : 1; }).status == 0);
    // No file that could be removed holds it.
    for (const auto& entry : fs::directory_iterator(path)) fs::remove_all(entry);
    CHECK(locking(path) == said);
  }
  const auto dies = run_here([&]() -> int {
    const LockedFolder its(path, lock_names);
    std::raise(SIGKILL);
    return 0;
  });
  CHECK(dies.status == 128 + SIGKILL);
  CHECK(locking(path) == nothing);
}

TEST_CASE("locked folder: where folders cannot be locked, a file is") {
  const Desk desk;
  write_file(desk / ".lock", "notes of the user");
  locks_folders = false;
  {
    const LockedFolder mine(desk.path(), lock_names);
    CHECK(locking(desk.path()) == "cannot use '" + desk.path() + "': another process is using it");
  }
  CHECK(locking(desk.path()) == nothing);
  fs::remove(desk / ".lock");
  fs::create_directory(desk / ".lock");
  CHECK(locking(desk.path()) == "<derived: cannot lock '" + desk.path() + "': is a directory>");
  locks_folders = true;
}

TEST_CASE("locked folder: what is foreign is not touched, and said") {
  const Desk desk;
  fs::create_directory(desk / ".fledge-uncommitted");
  write_file(desk / ".fledge-uncommitted/thesis", "text");
  write_file(desk / "x.tmp-999999-1", "text");
  const Files all = files_in(desk.path());
  CHECK(locking(desk.path()) ==
        "<derived: cannot tidy '" + (desk / ".fledge-uncommitted") +
            "': it holds the file 'thesis', which fledge did not write: move it to another "
            "folder>");
  fs::rename(desk / ".fledge-uncommitted", desk / ".fledge-committed");
  CHECK_THAT(locking(desk.path()),
             ContainsSubstring("it holds the file 'thesis', which fledge did"));
  CHECK(files_in(desk.path()).size() == all.size());
  fs::remove_all(desk / ".fledge-committed");
  LockedFolder folder(desk.path(), lock_names);
  fs::create_directory(desk / "one");
  CHECK(refusal<WriteError>([&] {
          folder.replace({{"two", "2"}, {"one", "new"}});
        }) == "cannot write '" + (desk / "one") + "': it is not a regular file");
  CHECK(!fs::exists(desk / "two"));
  fs::remove(desk / "one");
  fs::create_symlink(desk / "x.tmp-999999-1", desk / "one");
  folder.replace({{"one", "new"}});
  CHECK(!fs::is_symlink(desk / "one"));
  CHECK(read_file(desk / "one") == "new");
  CHECK(read_file(desk / "x.tmp-999999-1") == "text");
  // A link in place of its own folder leads nowhere.
  fs::create_directory(desk / "other");
  write_file(desk / "other/one", "text");
  fs::create_directory_symlink(desk / "other", desk / ".fledge-uncommitted");
  CHECK_THROWS_AS(folder.replace({{"two", "2"}}), WriteError);
  CHECK(read_file(desk / "other/one") == "text");
}

TEST_CASE("locked folder: moved while it is written to, it writes into no other folder") {
  const Desk desk;
  REQUIRE(make_folder(desk / "run"));
  LockedFolder first(desk / "run", lock_names);
  fs::rename(desk / "run", desk / "moved");
  REQUIRE(make_folder(desk / "run"));
  LockedFolder second(desk / "run", lock_names);
  second.replace({{"one", "second"}});
  first.replace({{"one", "first"}});
  CHECK(read_file(desk / "run/one") == "second");
  CHECK(read_file(desk / "moved/one") == "first");
}

TEST_CASE("locked folder: a disk that is full in the middle of a write") {
  const Old desk;
  const auto result = run_here([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit most{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &most);
    LockedFolder folder(desk.path(), lock_names);
    const std::string text = refusal<WriteError>([&] {
      folder.replace({{"one", "new"}, {"two", std::string(300'000, 'x')}});
    });
    return text == "cannot write '" + (desk / "two") + "': file too large" ? 0 : 1;
  });
  CHECK(result.status == 0);
  CHECK(files_in(desk.path()) == files_before);
}
