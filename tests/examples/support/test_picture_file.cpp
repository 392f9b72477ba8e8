#include "examples/support/picture_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "examples/support/errors.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"

using namespace support;
namespace fs = std::filesystem;

namespace {

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a picture is written whole, and replaces a picture of fledge") {
  const testing::Folder folder;
  const fs::path path = folder / "picture.svg";
  const Svg small(10, 10), large(20, 20);
  write_picture(path.string(), small);
  CHECK(contents(path) == small.file());
  write_picture(path.string(), large);
  CHECK(contents(path) == large.file());
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file of somebody else's is not replaced, a folder neither") {
  const testing::Folder folder;
  const fs::path path = folder / "notes.svg";
  testing::write_file(path.string(), "<svg>mine</svg>");
  CHECK_THROWS_AS(write_picture(path.string(), Svg(10, 10)), CommandError);
  CHECK(contents(path) == "<svg>mine</svg>");
  CHECK_THROWS_AS(require_picture_place(folder.path()), CommandError);
  CHECK_THROWS_AS(require_picture_place(folder / "none/a.svg"), CommandError);
}
