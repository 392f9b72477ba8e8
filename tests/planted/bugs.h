// The planted bugs as bugs.txt has them, which also says how a block is written.
#pragma once

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace planted {

struct Bug {
  std::string name, file, seen;
  std::string find, replace;
  std::string gradient;  // "none": the oracles and tests_dual are not asked
  std::string
      callers;       // the sources to compile again, between white space; "": all that include it
  std::string same;  // why no program can tell the two texts apart; such a bug is not planted
};

/// The blocks of a text, in order. Of a field that has several lines, "\n" separates them. Throws
/// std::runtime_error at a line that begins with no field's name or comes before the first block.
inline std::vector<Bug> read_bugs(const std::string& text) {
  static const std::map<std::string, std::string Bug::*> fields = {
      {"bug", &Bug::name},        {"in", &Bug::file},   {"seen", &Bug::seen},
      {"-", &Bug::find},          {"+", &Bug::replace}, {"gradient", &Bug::gradient},
      {"callers", &Bug::callers}, {"same", &Bug::same}};
  std::vector<Bug> bugs;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = std::min(line.find(' '), line.size());
    const auto field = fields.find(line.substr(0, space));
    if (field != fields.end() && field->first == "bug") bugs.emplace_back();
    if (field == fields.end() || bugs.empty())
      throw std::runtime_error("bugs.txt, line " + std::to_string(number) +
                               ": neither a field of a bug nor a comment: " + line);
    std::string& value = bugs.back().*(field->second);
    if (!value.empty()) value += '\n';
    value += line.substr(std::min(space + 1, line.size()));
  }
  return bugs;
}

}  // namespace planted
