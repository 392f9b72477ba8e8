// The text of --help: purpose, examples, options with their defaults in brackets, exit statuses.
// At most 80 columns wide; 24 lines hold about ten options.
#include <algorithm>
#include <sstream>

#include "examples/support/options.h"
#include "examples/support/text.h"

namespace support {

namespace {

constexpr int page = 80;

/// `text` after `lead`, broken between words so that no line is wider than the page.
std::string paragraph(const std::string& lead, const std::string& text) {
  return wrapped(lead + text, page, display_width(lead)) + "\n";
}

/// Pairs in two columns.
std::string columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  int left = 0;
  for (const auto& row : rows) left = std::max(left, display_width(row.first));
  std::string lines;
  for (const auto& [name, meaning] : rows)
    lines += paragraph("  " + pad_right(name, left) + "  ", meaning);
  return lines;
}

}  // namespace

std::string Options::beginning() const {
  std::string usage = "usage: " + program_ + (options_.empty() ? "" : " [options]");
  if (most_ > 0) {
    const std::string many = argument_placeholder_ + (most_ > 1 ? " ..." : "");
    usage += least_ == 0 ? " [" + many + "]" : " " + many;
  }
  std::string lines = paragraph("", purpose_) + "\n" + paragraph("", usage) + "\n";
  if (!examples_.empty()) lines += columns(examples_) + "\n";
  return lines;
}

std::string Options::ending() const {
  return "\n" + paragraph("", "exit status: " + exit_statuses_);
}

std::string Options::help_all() const {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Option& option : options_) {
    const std::string letter = option.letter == 0 ? "" : std::string{'-', option.letter} + ", ";
    const std::string value = option.argument.empty() ? "" : " " + option.argument;
    const std::string fallback = option.fallback.empty() ? "" : " [" + option.fallback + "]";
    rows.emplace_back(letter + option.name + value, option.help + fallback);
  }
  rows.emplace_back("-h, --help", "this text");
  if (!group_.empty()) rows.back().second = "one page; --help-all: this text";
  return beginning() + columns(rows) + ending();
}

std::string Options::help() const {
  if (group_.empty()) return help_all();
  std::string lines = beginning();
  std::vector<std::string> titles;
  for (const Option& option : options_)
    if (std::find(titles.begin(), titles.end(), option.group) == titles.end())
      titles.push_back(option.group);
  for (const std::string& title : titles) {
    std::string names;
    for (const Option& option : options_) {
      if (option.group != title) continue;
      std::string name = option.letter == 0 ? option.name : std::string{'-', option.letter};
      if (!option.argument.empty()) name += "\x01" + option.argument;
      if (!option.fallback.empty()) name += "\x01[" + option.fallback + "]";
      names += (names.empty() ? "" : "  ") + name;
    }
    lines += paragraph("  " + pad_right(title, 10), names);
  }
  std::replace(lines.begin(), lines.end(), '\x01', ' ');
  for (std::size_t at = 0; (at = lines.find(" \n", at)) != std::string::npos;) lines.erase(at, 1);
  return lines +
         paragraph("  " + pad_right("Help", 10), "-h, --help, --help-all: what each means") +
         ending();
}

}  // namespace support
