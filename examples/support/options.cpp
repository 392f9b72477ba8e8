#include "examples/support/options.h"

#include <algorithm>

#include "engine/base/errors.h"
#include "engine/base/processors.h"
#include "engine/base/thread_pool.h"
#include "examples/support/text.h"

namespace support {

namespace {

void require_declaration(bool ok, const std::string& name, const char* what) {
  if (!ok) throw std::logic_error("options: " + name + ": " + what);
}

bool is_named(const Option& option, std::string_view name) {
  return option.name == name ||
         (option.letter != 0 && name.size() == 2 && name[0] == '-' && name[1] == option.letter);
}

}  // namespace

CommandError::CommandError(Exit with, std::string_view program, std::string_view problem,
                           std::string_view advice)
    : std::runtime_error(std::string(program) + ": " + printable(problem) + "\n" +
                         std::string(program.size() + 2, ' ') + printable(advice)),
      status(with) {}

Options::Options(std::string program, std::string purpose)
    : program_(std::move(program)), purpose_(std::move(purpose)) {}

void Options::declare(Option option) {
  const std::string& name = option.name;
  require_declaration(name.size() > 2 && name != "--help" && name != "--help-all", name,
                      "an option is named --word");
  require_declaration(!find(name), name, "declared twice");
  require_declaration(option.letter == 0 || !find(std::string{'-', option.letter}), name,
                      "its letter is declared twice");
  option.fallback = shown_value(option);
  options_.push_back(std::move(option));
}

void Options::threads() {
  static std::int64_t count = 1;
  add("--threads", "N", count, "that share the work", {1, 256});
  options_.back().fallback = "FLEDGE_THREADS, or one a processor";
}

void Options::arguments(std::string placeholder, std::size_t least, std::size_t most) {
  argument_placeholder_ = std::move(placeholder);
  least_ = least;
  most_ = most;
}

void Options::example(std::string command, std::string meaning) {
  examples_.emplace_back(std::move(command), std::move(meaning));
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
    const std::string form = option->name + " " + option->argument;
    if (option->is_flag()) {
      if (has_value) refuse(option->name + " takes no value", "write " + option->name + " alone");
      invert(*option);
    } else if (has_value) {
      set(*option, word->substr(name.size() + 1));
    } else if (word + 1 == given.end() || (word + 1)->starts_with("--") || find(*(word + 1))) {
      refuse(option->name + " needs a value", "write " + form);
    } else {
      set(*option, *++word);
    }
  }
  if (arguments_.size() < least_) refuse(argument_placeholder_ + " is missing", suggestion(""));
  try {  // what is wrong in the environment is refused like an option, before work begins
    fledge::threads();
  } catch (const fledge::ValueError& error) {
    refuse(error.what(), "set it to a number, or unset it");
  }
  if (const Option* option = find("--threads"); option && option->given) {
    const auto wanted = static_cast<int>(*std::get<std::int64_t*>(option->variable));
    fledge::set_threads(std::min(wanted, fledge::available_processors()));
  }
}

const Option* Options::find(std::string_view name) const {
  const auto option = std::find_if(options_.begin(), options_.end(),
                                   [&](const Option& known) { return is_named(known, name); });
  return option == options_.end() ? nullptr : &*option;
}

bool Options::has(std::string_view name) const {
  const Option* option = find(name);
  require_declaration(option, std::string(name), "not declared");
  return option->given;
}

std::set<std::string> Options::given() const {
  std::set<std::string> names;
  for (const Option& option : options_)
    if (option.given) names.insert(option.name);
  return names;
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
