// The lessons of the course in the order in which they are read, and what they printed. The outputs
// are those that the tests lessons/* have kept.
#pragma once

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "examples/support/text.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"

namespace testing {

using Lines = std::vector<std::string>;

inline const std::filesystem::path source_root = FLEDGE_SOURCE_DIR;
inline const std::filesystem::path lesson_programs =
    std::filesystem::path(FLEDGE_BINARY_DIR) / "lessons";

inline Lines lines_in(const std::filesystem::path& path) { return lines_of(text_of(path)); }

/// The words of these lines with one blank between two of them.
inline std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

/// At most 80 columns, of ASCII if that is asked for.
inline void check_layout(const Lines& lines, bool is_ascii = false) {
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(support::display_width(line) <= 80);
    if (is_ascii)
      CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }));
  }
}

/// In the order of the course, which is that of the tables in examples/README.md.
inline Lines lessons_of_the_course() {
  Lines names;
  const std::string begin = "(lessons/", end = ".cpp)";
  for (const std::string& line : lines_in(source_root / "examples/README.md")) {
    const std::size_t at = line.find(begin), to = line.find(end);
    if (line.starts_with("| [`") && at < to && to != line.npos)
      names.push_back(line.substr(at + begin.size(), to - at - begin.size()));
  }
  return names;
}

inline Lines output_of(const std::string& lesson) {
  return lines_in(lesson_programs / (lesson + ".txt"));
}

/// The texts behind a label such as "   new word: ", each with its wrapped lines in one. Lines that
/// belong to a label begin at least as far to the right as the text behind it.
inline Lines texts_behind(const std::string& label, const Lines& output) {
  const std::string indent(label.size(), ' ');
  Lines texts;
  for (auto line = output.begin(); line != output.end(); ++line) {
    if (line->rfind(label, 0) != 0) continue;
    const auto end = std::find_if(line + 1, output.end(), [&](const std::string& next) {
      return next.rfind(indent, 0) != 0;
    });
    texts.push_back(joined({line, end}).substr(label.size() - label.find_first_not_of(' ')));
  }
  return texts;
}

/// The cells of a row of a Markdown table.
inline Lines cells_of(const std::string& row) {
  Lines cells;
  std::istringstream stream(row.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    cell.erase(0, std::min(cell.find_first_not_of(' '), cell.size()));
    cell.erase(cell.find_last_not_of(' ') + 1);
    cells.push_back(cell);
  }
  return cells;
}

}  // namespace testing
