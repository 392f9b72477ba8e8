// Bugs as rows of a text, for what has no gradient: tests/planted/rows.txt. `operators` proposed
// them. A row is
//
//   NAME FILE OPERATOR
//     what stands in the file
//     what it becomes
//     = why no program can tell the two apart     (only in a row that is not planted)
#pragma once

#include <algorithm>
#include <list>
#include <string>
#include <vector>

#include "bug.h"

namespace planted {

struct Rows {
  std::vector<Bug> bugs, equivalents;
};

/// The rows of a text; lines that begin with # and empty ones are skipped.
inline Rows rows_of(const std::string& contents) {
  static std::list<std::string> kept;  // what the bugs point to
  std::string_view text = kept.emplace_back(contents);
  const auto take = [&](char end) {
    const std::size_t size = std::min(text.find(end), text.size());
    const std::string_view part = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    return part;
  };
  const auto take_indented = [&] {
    return text.starts_with("  ") ? take('\n').substr(2) : std::string_view();
  };
  Rows rows;
  while (!text.empty()) {
    if (text[0] == '#' || text[0] == '\n') {
      take('\n');
      continue;
    }
    Bug bug{.name = take(' '), .file = take(' '), .find = {}, .replace = {}, .seen = take('\n')};
    bug.find = take_indented();
    bug.replace = take_indented();
    bug.tests_alone = true;
    (take_indented().empty() ? rows.bugs : rows.equivalents).push_back(bug);
  }
  return rows;
}

}  // namespace planted
