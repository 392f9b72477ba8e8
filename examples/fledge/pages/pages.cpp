#include "examples/fledge/pages/pages.h"

#include "examples/support/options.h"

namespace fledge::pages {

std::vector<support::OptionTable> command_tables() {
  std::vector<support::OptionTable> tables;
  for (const Command& command : commands())
    tables.push_back(support::table_of([&] {
      std::string name = command.name;
      char* words[] = {name.data(), nullptr};
      command.run(1, words);
    }));
  return tables;
}

Expected expected(const std::string& argument) {
  if (argument.empty()) return Expected::nothing;
  if (argument.find('|') != std::string::npos) return Expected::words;
  if (argument.find("FILE") != std::string::npos) return Expected::file;
  return argument.find("DIR") != std::string::npos ? Expected::folder : Expected::text;
}

std::vector<std::string> names_of(const support::OptionRow& row) {
  if (row.letter == 0) return {row.name};
  return {std::string{'-', row.letter}, row.name};
}

std::vector<std::string> option_names(const support::OptionTable& table) {
  std::vector<std::string> names;
  for (const support::OptionRow& row : table.rows)
    for (const std::string& name : names_of(row)) names.push_back(name);
  names.insert(names.end(), {"--help", "--version"});
  return names;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string escaped(const std::string& text, const std::string& special,
                    const std::string& escape) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += escape;
    result += c;
  }
  return result;
}

}  // namespace fledge::pages
