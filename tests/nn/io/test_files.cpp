// Files, bytes that are read in parts, and folders. That a file of a locked folder is replaced
// whole or not at all, whatever stops the program and whatever fails, is what tests/faults shows.
#include "nn/io/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "nn/io/folder.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/refuses.h"

namespace fs = std::filesystem;
using namespace fledge;
using testing::run_here;
using testing::write_file;
using tests::refusal;
using Desk = testing::Folder;
using Opened = fledge::Folder;

namespace {

ByteSource opened(const std::string& path) {
  return {Descriptor(AT_FDCWD, path, O_RDONLY | O_NONBLOCK), path};
}

// The bytes that `feed` writes to it, as this process's standard input.
template <class Feed>
std::string from_stdin(Feed feed, std::uint64_t most = 1 << 20) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int old = dup(0);
  dup2(ends[0], 0);
  close(ends[0]);
  const pid_t child = fork();
  if (child == 0) {
    feed(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  try {
    text = read_file("-", most);
  } catch (const FileError& error) {
    text = error.what();
  }
  dup2(old, 0);
  close(old);
  return text;
}

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

bool locks_folders = true, reads_short = false;

}  // namespace

// These stand in front of the C library's. A system may give fewer bytes than were asked for, and
// some network file systems do not lock folders. <fcntl.h> has a struct of the name flock.
extern "C" ssize_t pread(int file, void* to, size_t count, off_t at) {
  return syscall(SYS_pread64, file, to, reads_short ? std::min<size_t>(count, 3) : count, at);
}
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

TEST_CASE("a file is read whole or in any parts, as a string is") {
  const Desk folder;
  const std::string path = folder / "a file";
  for (const std::string& bytes :
       {std::string(), std::string("birds\0sometimes walk", 20), std::string(300'000, '\xff')}) {
    write_file(path, bytes);
    CHECK(read_file(path, bytes.size()) == bytes);
    for (const ByteSource& source : {ByteSource(bytes), opened(path)}) {
      CHECK(source.size() == bytes.size());
      CHECK(source.read(0, bytes.size()) == bytes);
      CHECK(source.beginning(4) == bytes.substr(0, 4));
      reads_short = bytes.size() == 20;
      for (std::size_t at = 0; at <= 20 && reads_short; ++at)
        for (std::size_t count = 0; at + count <= 20; ++count) {
          std::string got(40, '.');  // nothing is written behind what was asked for
          source.read(at, count, got.data());
          CHECK(got == bytes.substr(at, count) + std::string(40 - count, '.'));
          CHECK(source.read(at, count) == bytes.substr(at, count));
        }
      reads_short = false;
      const std::string size = std::to_string(bytes.size());
      CHECK(refusal<ValueError>([&] { source.read(bytes.size(), 2); }) ==
            "ByteSource: has " + size + " bytes: asked for 2 from " + size + " on");
      CHECK_THROWS_AS(source.read(~std::uint64_t{0}, 2), ValueError);
    }
  }
  const ByteSource source = opened(path);
  fs::resize_file(path, 10);
  CHECK(refusal<FileError>([&] { source.read(0, 100); }) ==
        "cannot read '" + path + "': it has become shorter while it was read");
}

TEST_CASE("a descriptor has one owner; what cannot be written or synced says why") {
  const Desk desk;
  Descriptor file(AT_FDCWD, desk / "file", O_RDWR | O_CREAT | O_EXCL);
  REQUIRE(file.exists());
  const int number = file.get();
  {
    const Descriptor other = std::move(file);
    CHECK(!file.exists());  // NOLINT(bugprone-use-after-move): that is the question
    CHECK(other.get() == number);
    CHECK((write_all(other, "birds") && sync_file(other)));
  }
  CHECK(fcntl(number, F_GETFD) < 0);
  const Descriptor none(AT_FDCWD, desk / "none/file", O_RDONLY);
  CHECK((!none.exists() && errno == ENOENT));
  CHECK((!write_all(none, "x") && errno == EBADF));
  CHECK((!sync_file(none) && !sync_folder(none)));
  CHECK(sync_folder(Descriptor(AT_FDCWD, desk.path(), O_RDONLY | O_DIRECTORY)));
  const Descriptor device(AT_FDCWD, "/dev/null", O_WRONLY);
  CHECK(sync_folder(device));  // EINVAL: a device cannot be synced
  CHECK((write_all(device, "x") && !sync_file(device)));
  const Descriptor full(AT_FDCWD, "/dev/full", O_WRONLY);
  if (full.exists()) CHECK((!write_all(full, "x") && errno == ENOSPC));
  CHECK(WriteError("write", "a\nb", ENOSPC).what() ==
        std::string("cannot write 'a\\x0ab': no space left on device"));
  CHECK(FileError("read", "file", EIO).error_number == EIO);
}

TEST_CASE("what is not a file is refused by its kind, and opening a pipe does not wait") {
  const Desk desk;
  const Opened folder(desk.path());
  fs::create_directory(desk / "folder");
  REQUIRE(mkfifo((desk / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("nowhere", desk / "link");
  fs::create_symlink("round", desk / "round");
  write_file(desk / "long", std::string(11, 'x'));
  for (const auto& [name, reason] : {std::pair{"nothing", "no such file or directory"},
                                     {"folder", "it is a folder"},
                                     {"pipe", "it is not a regular file"},
                                     {"link", "no such file or directory"},
                                     {"round", "too many levels of symbolic links"},
                                     {"long/x", "not a directory"}}) {
    const std::string path = desk / name, message = "cannot read '" + path + "': " + reason;
    CHECK(refusal<FileError>([&] { read_file(path); }) == message);
    CHECK(refusal<FileError>([&] { opened(path); }) == message);
    const bool is_missing = std::string(reason).starts_with("no such");
    CHECK(folder.has(name) == (name != std::string("nothing") && name != std::string("long/x")));
    if (is_missing) {
      CHECK((!folder.read(name) && !folder.open(name) && !folder.beginning(name, 4)));
      continue;
    }
    CHECK(refusal<FileError>([&, of = std::string(name)] { (void)folder.read(of); }) == message);
    CHECK(refusal<FileError>([&, of = std::string(name)] { (void)folder.open(of); }) == message);
    CHECK(refusal<FileError>([&, of = std::string(name)] { (void)folder.beginning(of, 4); }) ==
          message);
  }
  for (const auto& read : std::vector<std::function<void()>>{
           [&] { read_file(desk / "long", 10); }, [&] { (void)folder.read("long", 10); }})
    CHECK(refusal<FileError>(read) ==
          "cannot read '" + (desk / "long") + "': it has 11 bytes; at most 10 are read");
  const std::string path = desk / "long";
  CHECK(refusal<FileError>([&] {
          ByteSource(Descriptor(AT_FDCWD, path, O_WRONLY), path).read(0, 1);
        }) == "cannot read '" + path + "': bad file descriptor");
  CHECK_THAT(refusal<FileError>([] { read_file(std::string("a\0b", 3)); }),
             StartsWith("cannot open 'a\\x00b': "));
  if (fs::exists("/proc/self/status")) {  // it claims 0 bytes
    CHECK(read_file("/proc/self/status").size() > 100);
    CHECK_THAT(refusal<FileError>([] { read_file("/proc/self/status", 100); }),
               EndsWith("more than 100 bytes"));
  }
}

TEST_CASE("- is standard input, to its end, however it comes") {
  CHECK(from_stdin([](int) {}).empty());
  const auto slowly = [](int to) {
    for (int i = 0; i < 3; ++i) {
      (void)!write(to, "birds ", 6);
      usleep(2000);
    }
  };
  CHECK_THAT(from_stdin(slowly, 17), EndsWith("more than 17 bytes"));
  const auto much = [](int to) {
    const std::string bytes(200'000, 'x');
    for (std::size_t at = 0; at < bytes.size();)
      at += static_cast<std::size_t>(write(to, bytes.data() + at, bytes.size() - at));
  };
  // Signals while it waits.
  struct sigaction act {
  }, old{};
  act.sa_handler = [](int) {};
  sigaction(SIGALRM, &act, &old);
  const itimerval often{{0, 500}, {0, 500}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  CHECK(from_stdin(slowly) == "birds birds birds ");
  CHECK(from_stdin(much).size() == 200'000);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &old, nullptr);
}

TEST_CASE("folder: its files, and what is in the way of a new one") {
  const Desk desk;
  const Opened folder(desk.path());
  CHECK(folder.names().empty());
  for (const char* name : {"one", ".lock", ".fledge-new", ".other"})
    write_file(desk / name, "birds");
  CHECK(folder.names() == std::vector<std::string>{".other", "one"});
  CHECK(folder.read("one") == "birds");
  CHECK(folder.open("one")->read(1, 3) == "ird");
  CHECK(folder.beginning("one", 9) == "birds");
  CHECK(refusal<FileError>([&] { Opened(desk / "none"); }) ==
        "cannot read '" + (desk / "none") + "': no such file or directory");
  CHECK(refusal<FileError>([&] { Opened(desk / "one"); }) ==
        "cannot read '" + (desk / "one") + "': not a directory");
  CHECK(!make_folder(desk / "one"));
  CHECK(refusal<WriteError>([&] { make_folder(desk / "no/run"); }) ==
        "cannot make the folder '" + (desk / "no/run") + "': no such file or directory");
  const fs::path before = fs::current_path();
  fs::current_path(desk.path());
  CHECK((make_folder("bare") && !make_folder("bare") && make_folder("slash/")));
  fs::current_path(before);
  CHECK(fs::is_directory(desk / "slash"));
}

TEST_CASE("folder: moved or removed, it stays the same folder") {
  const Desk desk;
  REQUIRE(make_folder(desk / "run"));
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

TEST_CASE("locked folder: a file is replaced, and nothing else stays, of a killed writer neither") {
  const Old desk;
  write_file(desk / ".fledge-new", "half a r");  // of a writer that was killed
  const LockedFolder folder(desk.path());
  CHECK(!fs::exists(desk / ".fledge-new"));
  for (const std::string& bytes :
       {std::string(300'000, '\xff'), std::string("new"), std::string()}) {
    folder.replace("one", bytes);
    CHECK(desk.found() == bytes);
  }
  CHECK((!fs::exists(desk / ".fledge-new") && !fs::exists(desk / ".lock")));
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
  const std::string path = desk.path(),
                    said = "cannot use '" + path + "': another process is using it";
  {
    const LockedFolder mine(path);
    CHECK(locking(path) == said);
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
    CHECK(locking(path) == said);
  }
  CHECK(locking(path) == nothing);
  CHECK(read_file(desk / ".lock") == "notes of the user");
  fs::remove(desk / ".lock");
  fs::create_directory(desk / ".lock");
  CHECK(locking(path) == "<derived: cannot lock '" + path + "': is a directory>");
  locks_folders = true;
}
