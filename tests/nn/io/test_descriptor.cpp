#include "nn/io/descriptor.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/refusal.h"

using namespace fledge;
using testing::run_here;
using tests::refusal;
// nn/io/folder.h has a Folder too.
using Desk = testing::Folder;

TEST_CASE("descriptor: an owner at a time, and a reason when there is none") {
  const Desk desk;
  Descriptor file(desk / "file", O_RDWR | O_CREAT | O_EXCL);
  REQUIRE(file.exists());
  CHECK(file.get() > 2);
  const int number = file.get();
  Descriptor other = std::move(file);
  CHECK(!file.exists());  // NOLINT(bugprone-use-after-move): that is the question
  CHECK(other.get() == number);
  CHECK(write_all(other.get(), "birds"));
  CHECK(sync_file(other.get()));
  CHECK(other.close());
  CHECK(fcntl(number, F_GETFD) < 0);
  const Descriptor none(desk / "none/file", O_RDONLY);
  CHECK(!none.exists());
  CHECK(errno == ENOENT);
  const Descriptor folder(desk.path(), O_RDONLY | O_DIRECTORY);
  CHECK(sync_folder(folder.get()));
  CHECK(read_whole(Descriptor(folder.get(), "file", O_RDONLY), "file", 5) == "birds");
  CHECK(refusal<FileError>([&] {
          read_whole(Descriptor(folder.get(), "file", O_RDONLY), "a file", 4);
        }) == "cannot read 'a file': it has 5 bytes, over 4");
}

TEST_CASE("descriptor: what cannot be written or synced says why") {
  CHECK(!write_all(-1, "x"));
  CHECK(errno == EBADF);
  CHECK(!sync_file(-1));
  CHECK(!sync_folder(-1));
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  CHECK(sync_folder(ends[1]));  // EINVAL: such a thing cannot be synced
  CHECK(!sync_file(ends[1]));
  close(ends[0]);
  close(ends[1]);
  CHECK(refusal<WriteError>([] { fail_writing("write", "a\nb", ENOSPC); }) ==
        "cannot write 'a\\x0ab': no space left on device");
  CHECK(refusal<FileError>([] { fail_reading("file", EIO); }) ==
        "cannot read 'file': input/output error");
}

TEST_CASE("descriptor: a write that takes nothing ends, and fails") {
  // /dev/full takes no byte; a write of 0 bytes is the case of a broken driver, which no device
  // here has: planted in write() itself.
  const Descriptor full("/dev/full", O_WRONLY);
  if (!full.exists()) return;
  CHECK(!write_all(full.get(), "x"));
  CHECK(errno == ENOSPC);
}
