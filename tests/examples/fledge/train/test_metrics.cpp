// Rows of a run's metrics, and files of lines that can be cut back.
#include "examples/fledge/train/metrics.h"

#include <cmath>

#include "nn/io/files.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"

using namespace fledge;
using namespace fledge::train;
using fledge::testing::Folder;

TEST_CASE("metrics: rows in CSV and JSON") {
  const Metrics plain{12, 1.5, 0.001, 0.25, {}};
  const Metrics held_out{100, 0.1, 1e-9, 12345, 0.30000001192092896};
  CHECK(csv_header() == "step,loss,val_loss,lr,grad_norm\n");
  CHECK(as_csv(plain) == "12,1.5,,0.001,0.25\n");
  CHECK(as_csv(held_out) == "100,0.1,0.3,1e-09,12345\n");
  CHECK(as_csv({1, NAN, 0, INFINITY, {}}) == "1,nan,,0,inf\n");
  CHECK(as_json(plain) == R"({"type":"step","step":12,"loss":1.5,"lr":0.001,"grad_norm":0.25})");
  CHECK(as_json(held_out) ==
        R"({"type":"step","step":100,"loss":0.1,"val_loss":0.3,"lr":1e-09,"grad_norm":12345})");
}

TEST_CASE("metrics: a file grows, is brought to the disk, and is cut back") {
  const Folder folder;
  const std::string path = folder / "metrics.csv";
  {
    LineFile file(path, 0);
    file.append("one\n");
    CHECK(file.sync() == 4);
    file.append("two\n");  // written when the file is closed
  }
  CHECK(read_file(path) == "one\ntwo\n");
  {
    LineFile file(path, 4);
    CHECK(read_file(path) == "one\n");
    file.append(std::string(10000, 'x'));
    CHECK(file.sync() == 10004);
  }
  CHECK(read_file(path).size() == 10004);
  LineFile again(path, 0);
  CHECK(read_file(path).empty());
}

TEST_CASE("metrics: files that are not what they were") {
  const Folder folder;
  write_file(folder / "short", "abc");
  CHECK_THROWS_WITH(LineFile(folder / "short", 4), ContainsSubstring("is shorter than when the"));
  CHECK(read_file(folder / "short") == "abc");
  CHECK_THROWS_AS(LineFile(folder / "none" + "/metrics.csv", 0), FileError);
  CHECK_THROWS_AS(LineFile(folder.path(), 0), FileError);
}
