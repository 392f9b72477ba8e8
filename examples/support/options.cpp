#include "examples/support/options.h"

#include <algorithm>
#include <cstdio>

#include "engine/base/errors.h"
#include "engine/base/thread_pool.h"
#include "examples/support/text.h"

namespace support {

CommandError::CommandError(Exit with, std::string_view program, std::string_view problem,
                           std::string_view advice)
    : std::runtime_error(std::string(program) + ": " + message_text(problem) + "\n" +
                         std::string(program.size() + 2, ' ') + message_text(advice)),
      status(with) {}

Options::Options(std::string program, std::string purpose)
    : program_(std::move(program)), purpose_(std::move(purpose)) {}

void Options::require_declaration(bool ok, const std::string& name, const char* what) {
  if (!ok) throw std::logic_error("options: " + name + ": " + what);
}

Options& Options::declare(Option option) {
  const std::string& name = option.name;
  require_declaration(
      name.size() > 2 && name.starts_with("--") && name != "--help" && name != "--help-all", name,
      "an option is named --word");
  require_declaration(!find(name), name, "declared twice");
  option.group = group_;
  options_.push_back(std::move(option));
  return *this;
}

Options& Options::group(std::string title) {
  group_ = std::move(title);
  return *this;
}

Options& Options::letter(char name) {
  require_declaration(!options_.empty() && !find(std::string{'-', name}), std::string(1, name),
                      "no option to name, or named twice");
  options_.back().letter = name;
  return *this;
}

Options& Options::flag(std::string name, std::string help) {
  return declare({Kind::flag, std::move(name), "", "", std::move(help)});
}

Options& Options::integer(std::string name, std::string placeholder, std::int64_t fallback,
                          std::int64_t lowest, std::int64_t highest, std::string help) {
  require_declaration(lowest <= fallback && fallback <= highest, name, "default out of range");
  Option option{Kind::integer, std::move(name), std::move(placeholder), std::to_string(fallback),
                std::move(help)};
  option.lowest = lowest;
  option.highest = highest;
  return declare(std::move(option));
}

Options& Options::number(std::string name, std::string placeholder, double fallback, double lowest,
                         double highest, std::string help) {
  require_declaration(lowest <= fallback && fallback <= highest, name, "default out of range");
  char text[32];
  std::snprintf(text, sizeof text, "%g", fallback);
  Option option{Kind::number, std::move(name), std::move(placeholder), text, std::move(help)};
  option.least = lowest;
  option.most = highest;
  return declare(std::move(option));
}

Options& Options::choice(std::string name, std::vector<std::string> words, std::string help) {
  require_declaration(!words.empty(), name, "a choice of nothing");
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : "|") + word;
  Option option{Kind::choice, std::move(name), all, words.front(), std::move(help)};
  option.words = std::move(words);
  return declare(std::move(option));
}

Options& Options::exit_statuses(std::string text) {
  exit_statuses_ = std::move(text);
  return *this;
}

Options& Options::seed(std::uint64_t fallback, std::string help) {
  return declare({Kind::seed, "--seed", "N", std::to_string(fallback), std::move(help)});
}

Options& Options::threads() {
  Option option{Kind::integer, "--threads", "N", "FLEDGE_THREADS, or one a processor",
                "that share the work"};
  option.lowest = 1;
  option.highest = 256;
  return declare(std::move(option));
}

Options& Options::text(std::string name, std::string placeholder, std::string fallback,
                       std::string help) {
  return declare(
      {Kind::text, std::move(name), std::move(placeholder), std::move(fallback), std::move(help)});
}

Options& Options::arguments(std::string placeholder, std::size_t least, std::size_t most) {
  require_declaration(least <= most && most > 0, placeholder, "arguments that cannot be given");
  argument_placeholder_ = std::move(placeholder);
  least_ = least;
  most_ = most;
  return *this;
}

Options& Options::example(std::string command, std::string meaning) {
  examples_.emplace_back(std::move(command), std::move(meaning));
  return *this;
}

void Options::parse(int argc, const char* const* argv) {
  const std::vector<std::string_view> given(argv + std::min(argc, 1), argv + std::max(argc, 0));
  const auto options_end = std::find(given.begin(), given.end(), "--");
  for (auto word = given.begin(); word != options_end; ++word)
    if (*word == "-h" || *word == "--help" || *word == "--help-all")
      throw HelpRequest(*word == "--help-all" ? help_all() : help());

  for (auto word = given.begin(); word != given.end(); ++word) {
    const std::string_view name = word->substr(0, word->find('='));
    if (word == options_end) continue;
    const bool numeral = word->size() > 1 && (*word)[1] >= '0' && (*word)[1] <= '9';
    if (word > options_end || *word == "-" || !word->starts_with("-") || (numeral && most_ > 0)) {
      if (arguments_.size() == most_) refuse_argument(*word);
      arguments_.emplace_back(*word);
      continue;
    }
    const auto option = std::find_if(options_.begin(), options_.end(),
                                     [&](const Option& known) { return is_named(known, name); });
    if (option == options_.end()) refuse_option(*word);
    if (option->given) refuse(option->name + " was given twice", "give it once");
    option->given = true;
    const bool has_value = name.size() < word->size();
    const std::string form = option->name + " " + option->placeholder;
    if (option->kind == Kind::flag) {
      if (has_value) refuse(option->name + " takes no value", "write " + option->name + " alone");
    } else if (has_value) {
      take(*option, word->substr(name.size() + 1));
    } else if (word + 1 == given.end() || (word + 1)->starts_with("--") || find(*(word + 1))) {
      refuse(option->name + " needs a value", "write " + form);
    } else {
      take(*option, *++word);
    }
  }
  if (arguments_.size() < least_) refuse(argument_placeholder_ + " is missing", suggestion(""));
  try {  // what is wrong in the environment is refused like an option, before work begins
    fledge::threads();
  } catch (const fledge::ValueError& error) {
    refuse(error.what(), "set it to a number, or unset it");
  }
}

void Options::refuse(std::string_view problem, std::string_view advice) const {
  throw UsageError(program_, problem, advice);
}

void Options::refuse_option(std::string_view argument) const {
  const std::string name(argument.substr(0, argument.find('=')));
  refuse("unknown option " + quoted(name), suggestion(name));
}

void Options::refuse_argument(std::string_view argument) const {
  refuse("unexpected argument " + quoted(argument),
         suggestion(argument.empty() ? "" : "--" + std::string(argument)));
}

std::string Options::suggestion(const std::string& name) const {
  std::vector<std::string> names{"--help"};
  for (const Option& option : options_) names.push_back(option.name);
  const std::string near = closest(name, names);
  if (near.empty()) return "see '" + program_ + " --help'";
  return "did you mean '" + near + "'? all options: " + program_ + " --help";
}

}  // namespace support
