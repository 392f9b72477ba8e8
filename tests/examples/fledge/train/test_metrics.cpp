// Rows of a run's metrics, and the files that they are appended to.
#include "examples/fledge/train/metrics.h"

#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>

#include "nn/io/files.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/refusal.h"

using namespace fledge;
using namespace fledge::train;
using testing::write_file;
using tests::refusal;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> row_files{"metrics.csv"};

}  // namespace

TEST_CASE("metrics: rows in CSV and JSON") {
  const Metrics plain{12, 1.5, 0.001, 0.25, {}};
  const Metrics held_out{100, 0.1, 1e-9, 12345, 0.30000001192092896};
  CHECK(csv_header() == "step,loss,held_out_loss,lr,grad_norm\n");
  CHECK(as_csv(plain) == "12,1.5,,0.001,0.25\n");
  CHECK(as_csv(held_out) == "100,0.1,0.3,1e-09,12345\n");
  CHECK(as_csv({1, NAN, 0, INFINITY, {}}) == "1,nan,,0,inf\n");
  CHECK(as_json(plain) == R"({"type":"step","step":12,"loss":1.5,"lr":0.001,"grad_norm":0.25})");
  CHECK(
      as_json(held_out) ==
      R"({"type":"step","step":100,"loss":0.1,"held_out_loss":0.3,"lr":1e-09,"grad_norm":12345})");
}

TEST_CASE("metrics: a file grows, and is brought to the disk") {
  const testing::Folder desk;
  const std::string path = desk / "metrics.csv";
  write_file(path, "one\n");
  LockedFolder folder(desk.path(), row_files);
  {
    LineFile file(folder, "metrics.csv");
    file.append("two\n");
    CHECK(file.sync() == 8);
    CHECK(read_file(path) == "one\ntwo\n");
    file.append("three\n");  // written when the file is closed
  }
  CHECK(read_file(path) == "one\ntwo\nthree\n");
  LineFile file(folder, "metrics.csv");
  file.append(std::string(10000, 'x'));
  CHECK(file.sync() == 10014);
}

TEST_CASE("metrics: what has another name is copied apart, so that a backup stays") {
  const testing::Folder desk;
  write_file(desk / "metrics.csv", "one\n");
  LockedFolder folder(desk.path(), row_files);
  LineFile file(folder, "metrics.csv");
  fs::create_hard_link(desk / "metrics.csv", desk / "backup");
  file.append("two\n");
  CHECK(file.sync() == 8);
  CHECK(read_file(desk / "backup") == "one\n");
  CHECK(read_file(desk / "metrics.csv") == "one\ntwo\n");
  // Where the name leads to another file, or to none, the rows come back to it.
  fs::rename(desk / "metrics.csv", desk / "moved");
  file.append("three\n");
  CHECK(file.sync() == 14);
  CHECK(read_file(desk / "moved") == "one\ntwo\n");
  CHECK(read_file(desk / "metrics.csv") == "one\ntwo\nthree\n");
  fs::remove(desk / "metrics.csv");
  file.append("four\n");
  CHECK(file.sync() == 19);
  CHECK(read_file(desk / "metrics.csv") == "one\ntwo\nthree\nfour\n");
}

TEST_CASE("metrics: files that cannot be gone on with") {
  const testing::Folder desk;
  LockedFolder folder(desk.path(), row_files);
  const auto said = [&] { return refusal<WriteError>([&] { LineFile(folder, "metrics.csv"); }); };
  CHECK(said() == "cannot write '" + (desk / "metrics.csv") + "': no such file or directory");
  fs::create_directory(desk / "metrics.csv");
  CHECK(said() == "cannot write '" + (desk / "metrics.csv") + "': is a directory");
  fs::remove(desk / "metrics.csv");
  write_file(desk / "text", "x");
  fs::create_symlink(desk / "text", desk / "metrics.csv");
  CHECK(said() ==
        "cannot write '" + (desk / "metrics.csv") + "': too many levels of symbolic links");
}

TEST_CASE("metrics: a full disk is said, and half a row is not left") {
  const testing::Folder desk;
  write_file(desk / "metrics.csv", "one\n");
  const auto result = testing::run_here([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    LockedFolder folder(desk.path(), row_files);
    LineFile file(folder, "metrics.csv");
    const rlimit most{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &most);
    const std::string said = refusal<WriteError>([&] { file.append(std::string(5000, 'x')); });
    return said == "cannot write '" + (desk / "metrics.csv") + "': file too large" ? 0 : 1;
  });
  CHECK(result.status == 0);
  CHECK(read_file(desk / "metrics.csv") == "one\n");
}
