#include "nn/io/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/refusal.h"

using namespace fledge;
using testing::run_here;
using testing::write_file;
using tests::refusal;
using Desk = testing::Folder;
namespace fs = std::filesystem;

namespace {

std::string reading(const std::string& path, std::uint64_t most = 1000) {
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

TEST_CASE("files that a program with closed streams opens are not its streams") {
  const Desk folder;
  const std::string name = folder / "file";
  const auto result = run_here([&] {
    close(0), close(1), close(2);
    const bool clean = write(1, "x", 1) < 0 && write(2, "x", 1) < 0;
    Descriptor file(name, O_WRONLY | O_CREAT);
    const bool wrote = write_all(file.get(), "whole") && file.close();
    return clean && wrote && read_file(name) == "whole" ? 0 : 1;
  });
  CHECK(result.status == 0);
}

TEST_CASE("what is no file is refused by what it is, and nobody waits for a pipe") {
  const Desk folder;
  const auto with = [&](const std::string& name, const std::string& reason) {
    return "cannot read '" + (folder / name) + "': " + reason;
  };
  CHECK(reading(folder / "nothing") == with("nothing", "no such file or directory"));
  fs::create_directory(folder / "folder");
  CHECK(reading(folder / "folder") == with("folder", "it is a folder"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(reading(folder / "pipe") == with("pipe", "it is no regular file"));
  CHECK(reading(std::string("a\0b", 3)) == "cannot read 'a\\x00b': a path holds no zero byte");
  CHECK(reading("/dev/zero") == "cannot read '/dev/zero': it is no regular file");
  fs::create_symlink("nowhere", folder / "link");
  CHECK(reading(folder / "link") == with("link", "no such file or directory"));
  fs::create_symlink("round", folder / "round");
  CHECK(reading(folder / "round") == with("round", "too many levels of symbolic links"));
  write_file(folder / "long", std::string(11, 'x'));
  CHECK(reading(folder / "long", 10) == with("long", "it has 11 bytes, over 10"));
  CHECK(read_file(folder / "long", 11).size() == 11);
  CHECK(reading(folder / "long/x") == with("long/x", "not a directory"));
  CHECK(reading("/proc/self/status") ==
        "cannot read '/proc/self/status': its size changed meanwhile");  // it claims 0 bytes
}

TEST_CASE("- is standard input, to its end, however it comes") {
  CHECK(from_stdin([](int) {}).empty());
  const auto slowly = [](int to) {
    for (int i = 0; i < 3; ++i) {
      (void)!write(to, "birds ", 6);
      usleep(2000);
    }
  };
  CHECK(from_stdin(slowly) == "birds birds birds ");
  CHECK(from_stdin(slowly, 17) == "cannot read 'standard input': it has more than 17 bytes");
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

TEST_CASE("hashes are FNV-1a's") {
  CHECK(hash_of("") == 0xcbf29ce484222325u);
  CHECK(hash_of("a") == 0xaf63dc4c8601ec8cu);
  CHECK(hash_of("foobar") == 0x85944171f73967e8u);
  CHECK(hash_of("bar", hash_of("foo")) == hash_of("foobar"));
}
