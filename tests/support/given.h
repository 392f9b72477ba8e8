// What functions are given and what they say, as a text file:
//
//   == FUNCTION          the lines that follow are of this function
//   GIVEN -> RESULT      in GIVEN \x0a is a byte; (nothing) is no text; a RESULT may end with ...
//
// A line that begins with # is a comment.
#pragma once

#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace testing {

inline std::string bytes_of_line(const std::string& line) {
  std::string bytes;
  for (std::size_t at = 0; at < line.size() && line != "(nothing)"; ++at) {
    const bool is_byte = line.compare(at, 2, "\\x") == 0;
    bytes += is_byte ? static_cast<char>(std::stoi(line.substr(at + 2, 2), nullptr, 16)) : line[at];
    at += is_byte ? 3 : 0;
  }
  return bytes;
}

struct Given {
  std::string function, given, result;
};

inline std::vector<Given> given_in(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::vector<Given> all;
  std::string function;
  for (std::string line; std::getline(file, line);) {
    const std::size_t arrow = line.find(" -> ");
    if (line.starts_with("== ")) function = line.substr(3);
    if (line.empty() || line[0] == '#' || line.starts_with("== ")) continue;
    INFO(line);
    REQUIRE(arrow != line.npos);
    const std::string result = line.substr(arrow + 4);
    all.push_back(
        {function, bytes_of_line(line.substr(0, arrow)), result == "(nothing)" ? "" : result});
  }
  return all;
}

/// Checks all lines of the file, in which each function has one.
inline void check_given(
    const std::string& path,
    const std::map<std::string, std::function<std::string(const std::string&)>>& functions) {
  std::map<std::string, int> seen;
  for (const Given& one : given_in(path)) {
    INFO(one.function << " of " << one.given);
    ++seen[one.function];
    const std::string said = functions.at(one.function)(one.given);
    if (one.result.ends_with("..."))
      CHECK_THAT(said, StartsWith(one.result.substr(0, one.result.size() - 3)));
    else
      CHECK(said == one.result);
  }
  CHECK(seen.size() == functions.size());
}

}  // namespace testing
