// The text of --help: purpose, examples, options with their defaults in brackets, exit statuses.
// At most 80 columns wide, less on a narrow terminal; 24 lines hold about ten options.
#include "examples/support/help.h"

#include <algorithm>

#include "examples/support/options.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"

namespace support {

namespace {

constexpr int title_columns = 12;

int page() { return text_width(stdout); }

}  // namespace

std::string help_paragraph(const std::string& text, const std::string& lead) {
  return wrapped(lead + text, page(), display_width(lead)) + "\n";
}

std::string help_columns(const std::vector<HelpRow>& rows) {
  const int widest_name = 19 * page() / 40;  // of those that stand beside their meanings
  int left = 0;
  for (const auto& row : rows)
    if (const int width = display_width(row.first); width <= widest_name)
      left = std::max(left, width);
  std::string lines;
  for (const auto& [name, meaning] : rows) {
    const bool is_wide = display_width(name) > left;
    if (is_wide) lines += wrapped("  " + name, page(), 4) + "\n";
    lines += help_paragraph(meaning, "  " + pad_right(is_wide ? "" : name, left) + "  ");
  }
  return lines;
}

std::string Options::usage_of_arguments() const {
  if (most_ == 0) return "";
  const bool may_repeat = most_ > 1 && argument_placeholder_.find('[') == std::string::npos;
  const std::string many = argument_placeholder_ + (may_repeat ? " ..." : "");
  return least_ == 0 ? "[" + many + "]" : many;
}

std::string Options::beginning() const {
  const std::string arguments = usage_of_arguments();
  const std::string usage = "usage: " + program_ + (options_.empty() ? "" : " [options]") +
                            (arguments.empty() ? "" : " " + arguments);
  std::string lines = help_paragraph(purpose_) + "\n" + help_paragraph(usage) + "\n";
  if (!examples_.empty()) lines += help_columns(examples_) + "\n";
  return lines;
}

std::string Options::ending() const {
  return "\n" + help_paragraph("exit status: " + exit_statuses_);
}

std::string Options::help_all() const {
  std::vector<HelpRow> rows;
  for (const Option& option : options_) {
    const std::string letter = option.letter == 0 ? "" : std::string{'-', option.letter} + ", ";
    const std::string value = option.argument.empty() ? "" : " " + option.argument;
    const std::string fallback = option.fallback.empty() ? "" : " [" + option.fallback + "]";
    rows.emplace_back(letter + option.name + value, option.help + fallback);
  }
  rows.emplace_back("-h, --help", "this text; --version: the version");
  if (!group_.empty())
    rows.back().second = "one page; --help-all: this text; --version: the version";
  return beginning() + help_columns(rows) + ending();
}

namespace {

// Of a list its first word: "mask,..." for "mask|scale|norm,...". The other pages have all words.
std::string short_form(const std::string& argument) {
  const bool is_list = argument.ends_with(",...") && argument.find('|') != std::string::npos;
  return is_list ? argument.substr(0, argument.find('|')) + ",..." : argument;
}

}  // namespace

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
      if (!option.argument.empty()) name += "\x01" + short_form(option.argument);
      if (!option.fallback.empty()) name += "\x01[" + option.fallback + "]";
      if (display_width(name) > page() - title_columns)
        std::replace(name.begin(), name.end(), '\x01', ' ');
      names += (names.empty() ? "" : "  ") + name;
    }
    lines += help_paragraph(names, pad_right("  " + title, title_columns));
  }
  std::replace(lines.begin(), lines.end(), '\x01', ' ');
  for (std::size_t at = 0; (at = lines.find(" \n", at)) != std::string::npos;) lines.erase(at, 1);
  return lines +
         help_paragraph("-h, --help, --help-all: what each means; --version",
                        pad_right("  Help", title_columns)) +
         ending();
}

}  // namespace support
