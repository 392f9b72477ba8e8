// The minutes of README.md's reading path are those of its files, at twenty lines a minute. Two
// minutes more or fewer are allowed, so that not every change of a file changes README.md.
#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>

#include "tests/support/catch.h"

namespace {

const std::string source_path = FLEDGE_SOURCE_DIR;

int number_of_lines(const std::string& path) {
  std::ifstream file(source_path + "/" + path);
  REQUIRE(file.good());
  int lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  return lines;
}

// The lines of the files in a row such as `nn/text/tokenizer.h`, `batches.h`, `nn/train/trainer.h`.
// A name without a path is in the folder of the file before it.
int lines_of_row(const std::string& row) {
  const std::regex name("`([a-z_/]+\\.(h|cpp))`");
  std::string folder;
  int lines = 0;
  for (std::sregex_iterator each(row.begin(), row.end(), name), end; each != end; ++each) {
    std::string path = (*each)[1];
    if (std::regex_search(path, std::regex("^(engine|nn|examples)/")))
      folder = path.substr(0, path.rfind('/') + 1);
    else
      path.insert(0, folder);
    lines += number_of_lines(path);
  }
  return lines;
}

}  // namespace

TEST_CASE("README: the reading path's minutes are its lines, twenty a minute") {
  std::ifstream readme(source_path + "/README.md");
  int rows = 0, table = 0, announced = 0;
  std::smatch found;
  for (std::string line; std::getline(readme, line);) {
    if (std::regex_search(line, found, std::regex(" takes? ([0-9]+) minutes"))) {
      CHECK(table == announced);
      announced = std::stoi(found[1]), table = 0;
    }
    if (announced == 0 || !std::regex_search(line, found, std::regex("^\\| ([0-9]+) \\|")))
      continue;
    INFO(line);
    const int minutes = std::stoi(found[1]);
    CHECK(std::abs(minutes - (lines_of_row(line) + 19) / 20) <= 2);
    table += minutes;
    ++rows;
  }
  CHECK(table == announced);
  CHECK(rows == 15);
}
