// The ops that a catalogue such as engine/ops.h declares, so that a table of them can be held
// complete.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace testing {

/// The text of a file. Throws std::runtime_error if it is empty or cannot be read.
inline std::string source_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) throw std::runtime_error("cannot read " + path.string());
  return text;
}

/// The name in a table of an op declared so; operators have words there.
inline std::string row_name(const std::string& declared, const std::string& arguments) {
  static const std::map<std::string, std::string> words{
      {"operator+", "add"}, {"operator*", "mul"}, {"operator/", "div"}};
  if (declared == "operator-") return arguments.find(',') == arguments.npos ? "neg" : "sub";
  const auto word = words.find(declared);
  return word == words.end() ? declared : word->second;
}

/// How many declarations of each op a catalogue has. A line that is neither one nor empty, a
/// comment, an inner line or one of the frame goes to `unread`, so that no op escapes by its form.
inline std::map<std::string, std::size_t> declared_ops(const std::string& catalogue,
                                                       std::vector<std::string>* unread) {
  std::map<std::string, std::size_t> ops;
  std::istringstream lines(catalogue);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t open = line.find('(');
    std::string name;
    for (const std::string type : {"Tensor ", "std::vector<Tensor> "})
      if (line.starts_with(type) && open != line.npos)
        name = line.substr(type.size(), open - type.size());
    if (!name.empty()) {
      ++ops[row_name(name, line.substr(open))];
      continue;
    }
    bool frame = line.empty() || line[0] == ' ';
    for (const char* begin : {"//", "#", "namespace ", "using ", "}"})
      frame = frame || line.starts_with(begin);
    if (!frame) unread->push_back(line);
  }
  return ops;
}

/// Ops with fewer rows, by the first word of their names, than declarations.
inline std::vector<std::string> without_rows(const std::map<std::string, std::size_t>& ops,
                                             const std::set<std::string>& names) {
  std::map<std::string, std::size_t> rows;
  for (const std::string& name : names) ++rows[name.substr(0, name.find(' '))];
  std::vector<std::string> missing;
  for (const auto& [op, declarations] : ops)
    if (rows[op] < declarations) missing.push_back(op);
  return missing;
}

}  // namespace testing
