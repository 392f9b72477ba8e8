#include "examples/support/version.h"

#include <fstream>
#include <iterator>

#include "tests/support/catch.h"

TEST_CASE("version: the program's first word and the version of the project in CMakeLists.txt") {
  std::ifstream file(FLEDGE_SOURCE_DIR "/CMakeLists.txt", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string before = "project(fledge VERSION ";
  REQUIRE_THAT(text, ContainsSubstring(before));
  const std::size_t begin = text.find(before) + before.size();
  const std::string version = text.substr(begin, text.find(' ', begin) - begin);
  CHECK(support::version_of("fledge train") == "fledge " + version);
  CHECK(support::version_of("birds") == "birds " + version);
}
