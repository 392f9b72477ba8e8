// The program build/fledge, run as a user would run it, and its output taken apart.
#pragma once

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/json_reader.h"
#include "tests/support/process.h"

namespace testing {

using Words = std::vector<std::string>;

inline Words operator+(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The words of a line, with blanks between them.
inline Words words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

inline const std::string fledge_program = FLEDGE_BINARY_DIR "/fledge";

inline Words with_program(const Words& arguments) { return Words{fledge_program} + arguments; }

inline Result fledge_says(const Words& arguments, const Environment& extra = {}) {
  return run(with_program(arguments), extra);
}

/// A command line of the shell in which "$0" is the program.
inline Result in_shell(const std::string& line) { return run({"sh", "-c", line, fledge_program}); }

/// A value a line.
inline std::vector<StrictJson> json_lines(const std::string& text) {
  std::vector<StrictJson> values;
  for (const std::string& line : lines_of(text)) values.push_back(strict_json(line));
  return values;
}

inline std::string all_replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The text without its colours: without the parts from ESC [ to m.
inline std::string without_colours(std::string text) {
  for (std::size_t at = 0; (at = text.find("\x1b[", at)) != text.npos;)
    text.erase(at, text.find('m', at) + 1 - at);
  return text;
}

/// "STATUS: what came | what to do" of a refused call, with "~" for this folder. A sentence about
/// the text that is read may come first. For anything but two lines that are aligned and free of
/// control characters, "not two lines: " and the text.
inline std::string refusal_of(const Result& result, const std::string& folder = "?") {
  std::string errors = result.err;
  if (errors.starts_with("Reading ")) errors.erase(0, errors.find("\nfledge ") + 1);
  const auto controls = [](unsigned char c) { return c != '\n' && std::iscntrl(c) != 0; };
  const Words lines = lines_of(errors);
  const std::size_t indent = lines.size() == 2 ? lines[1].find_first_not_of(' ') : 0;
  if (std::any_of(errors.begin(), errors.end(), controls) || !errors.ends_with('\n') ||
      indent < 2 || indent > lines[0].size() || lines[0].substr(indent - 2, 2) != ": ")
    return "not two lines: " + errors;
  return all_replaced(std::to_string(result.status) + lines[0].substr(lines[0].find(": ")) + " | " +
                          lines[1].substr(indent),
                      folder, "~");
}

inline std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

/// An option as the help of its command has it: "--out" and "DIR"; of a flag "".
struct OptionRow {
  std::string name, argument;
};

/// All options of a command but --help.
inline std::vector<OptionRow> options_of(const std::string& command) {
  std::vector<OptionRow> rows;
  for (const std::string& line : lines_of(fledge_says({command, "--help-all"}).out)) {
    if (!line.starts_with("  -")) continue;
    const std::string row = line.substr(line.find("--"));
    const std::string name = first_word(row);
    // Two blanks or the end follow the name of a flag.
    if (name != "--help") rows.push_back({name, first_word(row.substr(name.size()).erase(0, 1))});
  }
  return rows;
}

}  // namespace testing
