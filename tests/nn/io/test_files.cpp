#include "nn/io/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/refusal.h"

using namespace fledge;
using testing::write_file;
using tests::refusal;
using Desk = testing::Folder;
namespace fs = std::filesystem;

namespace {

std::string reading_file(const std::string& path, std::uint64_t most = 1000) {
  return refusal<FileError>([&] { read_file(path, most); });
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

}  // namespace

TEST_CASE("a file is read whole, any bytes") {
  const Desk folder;
  const std::string name = folder / "a file";
  for (const std::string& bytes :
       {std::string(), std::string("birds\0walk", 10), std::string(300'000, '\xff')}) {
    write_file(name, bytes);
    CHECK(read_file(name) == bytes);
  }
}

TEST_CASE("a descriptor has one owner, and a reason when there is none") {
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
  CHECK(!none.exists());
  CHECK(errno == ENOENT);
  const Descriptor folder(AT_FDCWD, desk.path(), O_RDONLY | O_DIRECTORY);
  CHECK(sync_folder(folder));
  CHECK(read_whole(Descriptor(folder.get(), "file", O_RDONLY), "file", 5) == "birds");
  CHECK_THAT(refusal<FileError>(
                 [&] { read_whole(Descriptor(folder.get(), "file", O_RDONLY), "a file", 4); }),
             StartsWith("cannot read 'a file': ") && EndsWith("5 bytes; at most 4 are read"));
}

TEST_CASE("what cannot be written or synced says why") {
  const Descriptor none(AT_FDCWD, "/none", O_RDONLY), device(AT_FDCWD, "/dev/null", O_WRONLY);
  CHECK(!write_all(none, "x"));
  CHECK(errno == EBADF);
  CHECK(!sync_file(none));
  CHECK(!sync_folder(none));
  CHECK(sync_folder(device));  // EINVAL: a device cannot be synced
  CHECK((write_all(device, "x") && !sync_file(device)));
  const Descriptor full(AT_FDCWD, "/dev/full", O_WRONLY);
  if (full.exists()) CHECK((!write_all(full, "x") && errno == ENOSPC));
  CHECK(WriteError("write", "a\nb", ENOSPC).what() ==
        std::string("cannot write 'a\\x0ab': no space left on device"));
  CHECK(FileError("read", "file", EIO).error_number == EIO);
}

TEST_CASE("what is not a file is refused by its kind, and opening a pipe does not wait") {
  const Desk folder;
  const auto check = [&](const std::string& name, const char* reason) {
    CHECK_THAT(reading_file(folder / name, 10),
               StartsWith("cannot ") && ContainsSubstring(name) && EndsWith(reason));
  };
  fs::create_directory(folder / "folder");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("nowhere", folder / "link");
  fs::create_symlink("round", folder / "round");
  write_file(folder / "long", std::string(11, 'x'));
  check("nothing", "no such file or directory");
  check("folder", "a folder");
  check("pipe", "not a regular file");
  check("link", "no such file or directory");
  check("round", "too many levels of symbolic links");
  check("long", "11 bytes; at most 10 are read");
  check("long/x", "not a directory");
  CHECK(read_file(folder / "long", 11).size() == 11);
  CHECK_THAT(reading_file(std::string("a\0b", 3)), StartsWith("cannot open 'a\\x00b': "));
  CHECK_THAT(reading_file("/dev/zero"), EndsWith("not a regular file"));
  if (fs::exists("/proc/self/status")) {  // it claims 0 bytes
    CHECK(read_file("/proc/self/status").size() > 100);
    CHECK_THAT(reading_file("/proc/self/status", 100), EndsWith("more than 100 bytes"));
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
