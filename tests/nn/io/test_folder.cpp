// Reading a folder of files that belong together, at its path or not.
#include "nn/io/folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "nn/io/files.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/refusal.h"

namespace fs = std::filesystem;
using fledge::FileError;
using fledge::make_folder;
using testing::write_file;
using tests::refusal;
using Desk = testing::Folder;
using Opened = fledge::Folder;

namespace {

const std::vector<std::string> odd_names{"one", "two"};

}  // namespace

TEST_CASE("folder: a file is read, missing or refused") {
  const Desk desk;
  const Opened folder(desk.path(), odd_names);
  CHECK(!folder.has("one"));
  CHECK(!folder.read("one"));
  write_file(desk / "one", "birds");
  CHECK(folder.has("one"));
  CHECK(folder.read("one") == "birds");
  CHECK(refusal<FileError>([&] { (void)folder.read("one", 4); }) ==
        "cannot read '" + (desk / "one") + "': it has 5 bytes; at most 4 are read");
  CHECK(folder.beginning("one", 4) == "bird");
  CHECK(folder.beginning("one", 9) == "birds");
  CHECK(!folder.beginning("two", 4));
  fs::create_directory(desk / "two");
  CHECK(refusal<FileError>([&] { (void)folder.beginning("two", 4); }) ==
        "cannot read '" + (desk / "two") + "': it is a folder");
  CHECK(refusal<FileError>([&] { (void)folder.read("two"); }) ==
        "cannot read '" + (desk / "two") + "': it is a folder");
  fs::remove(desk / "two");
  fs::create_symlink("nowhere", desk / "two");
  CHECK(folder.has("two"));
  CHECK(!folder.read("two"));
  CHECK(refusal<FileError>([&] { Opened(desk / "none", odd_names); }) ==
        "cannot read '" + (desk / "none") + "': no such file or directory");
  CHECK(refusal<FileError>([&] { Opened(desk / "one", odd_names); }) ==
        "cannot read '" + (desk / "one") + "': not a directory");
  CHECK(refusal<FileError>([&] { Opened(std::string("a\0b", 3), odd_names); }) ==
        "cannot open 'a\\x00b': a path holds no zero byte");
}

TEST_CASE("folder: what is committed is read before it is moved; what is not is not") {
  const Desk desk;
  write_file(desk / "one", "old 1");
  write_file(desk / "two", "old 2");
  for (const char* name : {"/.fledge-uncommitted", "/.fledge-committed"})
    fs::create_directory(desk.path() + name);
  write_file(desk / ".fledge-uncommitted/one", "newer 1");
  const Opened folder(desk.path(), odd_names);
  CHECK(folder.read("one") == "old 1");
  write_file(desk / ".fledge-committed/two", "new 2");
  CHECK(folder.read("two") == "new 2");
  CHECK(folder.read("one") == "old 1");
  fs::remove(desk / "two");
  CHECK(folder.has("two"));
  // Reading has changed nothing.
  CHECK(fs::exists(desk / ".fledge-committed/two"));
  CHECK(fs::exists(desk / ".fledge-uncommitted/one"));
}

TEST_CASE("folder: what an interrupted writer left is told from other files") {
  const Desk desk;
  const auto is_left = [&](const std::vector<std::string>& names) {
    return fledge::has_only_leftovers(desk.path(), names);
  };
  CHECK(is_left({}));
  fs::create_directory(desk / ".fledge-uncommitted");
  write_file(desk / ".lock", "");
  CHECK(is_left({}));
  fs::rename(desk / ".fledge-uncommitted", desk / ".fledge-committed");
  CHECK_FALSE(is_left({}));  // its files are valid
  CHECK(is_left({"one"}));
  write_file(desk / "one", "moved to its place");
  CHECK(is_left({"one"}));
  CHECK_FALSE(is_left({"two"}));
  fs::remove(desk / ".fledge-committed");
  CHECK_FALSE(is_left({"one"}));
  CHECK_THROWS_AS(fledge::has_only_leftovers(desk / "none"), FileError);
}

TEST_CASE("folder: it may be read where nothing may be written") {
  const Desk desk;
  write_file(desk / "one", "birds");
  chmod(desk.path().c_str(), 0555);
  CHECK(Opened(desk.path(), odd_names).read("one") == "birds");
  chmod(desk.path().c_str(), 0755);
}

TEST_CASE("folder: moved, replaced or removed, it stays the same folder and knows it") {
  const Desk desk;
  REQUIRE(make_folder(desk / "run"));
  CHECK(!make_folder(desk / "run"));
  write_file(desk / "run/one", "mine");
  const Opened folder(desk / "run", odd_names);
  CHECK(folder.is_at_its_path());
  CHECK(folder.path_now() == fs::canonical(desk / "run").string());
  fs::rename(desk / "run", desk / "moved");
  CHECK(!folder.is_at_its_path());
  fs::create_directory(desk / "run");
  write_file(desk / "run/one", "another's");
  CHECK(!folder.is_at_its_path());
  CHECK(folder.read("one") == "mine");
  if (fs::exists("/proc/self/fd"))
    CHECK(folder.path_now() == fs::canonical(desk / "moved").string());
  CHECK(!folder.is_removed());
  fs::remove_all(desk / "moved");
  CHECK(folder.is_removed());
  CHECK(!folder.is_at_its_path());
}

TEST_CASE("folder: what is in the way of a new one, and where none can be made") {
  const Desk desk;
  write_file(desk / "file", "x");
  CHECK(!make_folder(desk / "file"));
  CHECK(refusal<fledge::WriteError>([&] { make_folder(desk / "no/run"); }) ==
        "cannot make the folder '" + (desk / "no/run") + "': no such file or directory");
  const fs::path before = fs::current_path();
  fs::current_path(desk.path());
  CHECK(make_folder("bare"));
  CHECK(make_folder("slash/"));
  fs::current_path(before);
  CHECK(fs::is_directory(desk / "slash"));
}
