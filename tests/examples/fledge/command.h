// The program build/fledge, run as a user would run it, and its output taken apart.
#pragma once

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/json_reader.h"
#include "tests/support/process.h"

namespace testing {

inline const std::string fledge_program = FLEDGE_BINARY_DIR "/fledge";

inline std::vector<std::string> with_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), fledge_program);
  return arguments;
}

inline Result fledge_says(const std::vector<std::string>& arguments,
                          const Environment& extra = {}) {
  return run(with_program(arguments), extra);
}

/// A command line of the shell in which "$0" is the program.
inline Result in_shell(const std::string& line) { return run({"sh", "-c", line, fledge_program}); }

/// The lines without their ends. Text after the last "\n" is a line too.
inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// The text without its colours: without the parts from ESC [ to m.
inline std::string without_colours(std::string text) {
  for (std::size_t at = 0; (at = text.find("\x1b[", at)) != text.npos;)
    text.erase(at, text.find('m', at) + 1 - at);
  return text;
}

/// "PROGRAM: what came | what to do" of an error message. For anything but two lines that are
/// aligned and free of control characters, "not two lines: " and the text.
inline std::string two_lines(const std::string& errors) {
  const std::string wrong = "not two lines: " + errors;
  const auto controls = [](unsigned char c) { return c != '\n' && std::iscntrl(c) != 0; };
  if (std::any_of(errors.begin(), errors.end(), controls) || !errors.ends_with('\n')) return wrong;
  const std::vector<std::string> lines = lines_of(errors);
  if (lines.size() != 2) return wrong;
  const std::size_t indent = lines[1].find_first_not_of(' ');
  if (indent < 2 || indent > lines[0].size() || lines[0].substr(indent - 2, 2) != ": ")
    return wrong;
  return lines[0] + " | " + lines[1].substr(indent);
}

/// "STATUS: what came | what to do" of a refused call, with "~" for this folder. A sentence about
/// the text that is read may come first.
inline std::string refusal_of(const Result& result, const std::string& folder) {
  std::string errors = result.err;
  if (errors.starts_with("Reading ")) errors.erase(0, errors.find("\nfledge ") + 1);
  std::string message = two_lines(errors);
  if (message.starts_with("not two lines: ")) return message;
  message = std::to_string(result.status) + message.substr(message.find(": "));
  for (std::size_t at = 0; (at = message.find(folder)) != message.npos;)
    message.replace(at, folder.size(), "~");
  return message;
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

/// One object of --json.
struct GradientRow {
  std::string name, shapes, oracle;
  double elements, max_error;
  bool ok;
};

/// Throws JsonError unless the text is one array of such objects.
inline std::vector<GradientRow> rows_of(const std::string& json) {
  const StrictJson whole = strict_json(json);
  std::vector<GradientRow> rows;
  for (const StrictJson& row : whole.array())
    rows.push_back({row["name"].string(), row["shapes"].string(), row["oracle"].string(),
                    row["elements"].number(), row["max_error"].number(), row["ok"].boolean()});
  return rows;
}

/// All rows with the seed 1, computed once.
inline const std::vector<GradientRow>& all_rows() {
  static const std::vector<GradientRow> rows = rows_of(fledge_says({"gradcheck", "--json"}).out);
  return rows;
}

/// The table with "?" for the seconds of its summary, the one thing that differs between runs.
inline std::string without_seconds(const std::string& text) {
  constexpr std::string_view before = " compared twice, in ", after = " s\nlargest error";
  const std::size_t begin = text.find(before) + before.size(), end = text.find(after);
  if (text.find(before) == text.npos || end == text.npos || end <= begin)
    throw std::invalid_argument("no seconds in: " + text);
  return text.substr(0, begin) + "?" + text.substr(end);
}

}  // namespace testing
