// examples/microgpt.cpp repeats the published run. planted/bugs.txt has wrong gradients, which its
// own check must notice.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "tests/examples/fledge/command.h"

using namespace testing;

TEST_CASE("microgpt: the 1,000 losses of the published run to 1e-9, and its 20 names") {
  std::vector<double> losses;
  std::vector<std::string> invented, names(32033, "unread");
  std::istringstream text(text_of(FLEDGE_SOURCE_DIR "/tests/examples/one_file/microgpt_run.txt"));
  for (std::string line, name; std::getline(text, line);) {
    std::istringstream words(line);
    double loss = 0;
    std::size_t place = 0;
    if (line.starts_with('#')) continue;
    if (words >> loss >> place >> name)
      losses.push_back(loss), names.at(place - 1) = name;
    else
      invented.push_back(line);
  }
  REQUIRE((losses.size() == 1000 && invented.size() == 20));
  std::string file;
  for (const std::string& name : names) file += name + "\n";
  const testing::Folder folder;
  write_file(folder / "names.txt", file);
  const Result result = run({FLEDGE_BINARY_DIR "/microgpt", folder / "names.txt"});
  CHECK(result.status == 0);
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 1020);
  for (std::size_t i = 0; i < 1000; ++i) {
    char* end = nullptr;
    REQUIRE(std::strtoul(lines[i].c_str(), &end, 10) == i + 1);
    REQUIRE(std::abs(std::strtod(end, nullptr) - losses[i]) <= 1e-9);
  }
  CHECK(std::vector<std::string>(lines.begin() + 1000, lines.end()) == invented);
}
