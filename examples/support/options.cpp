#include "examples/support/options.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "engine/errors.h"
#include "engine/kernels/parallel.h"
#include "examples/support/text.h"

namespace fledge::support {

namespace {

/// The whole text as a number; `error` is std::errc() when it is one.
template <class Number>
std::pair<Number, std::errc> whole_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (stopped != end) return {number, std::errc::invalid_argument};
  return {number, error};
}

void require_declaration(bool ok, const std::string& name, const char* what) {
  if (!ok) throw std::logic_error("options: " + name + ": " + what);
}

}  // namespace

UsageError::UsageError(std::string_view program, std::string_view problem, std::string_view advice)
    : std::runtime_error(std::string(program) + ": " + printable(problem) + "\n" +
                         std::string(program.size() + 2, ' ') + printable(advice)) {}

Options::Options(std::string program, std::string purpose)
    : program_(std::move(program)), purpose_(std::move(purpose)) {}

Options& Options::declare(Option option) {
  const std::string& name = option.name;
  require_declaration(name.size() > 2 && name.starts_with("--") && name != "--help", name,
                      "an option is named --word");
  require_declaration(!find(name), name, "declared twice");
  options_.push_back(std::move(option));
  return *this;
}

Options& Options::flag(std::string name, std::string help) {
  return declare({Kind::flag, std::move(name), "", "", std::move(help)});
}

Options& Options::integer(std::string name, std::string placeholder, std::int64_t fallback,
                          std::int64_t lowest, std::int64_t highest, std::string help) {
  require_declaration(lowest <= fallback && fallback <= highest, name, "default out of range");
  return declare({Kind::integer, std::move(name), std::move(placeholder), std::to_string(fallback),
                  std::move(help), lowest, highest});
}

Options& Options::seed(std::uint64_t fallback, std::string help) {
  return declare({Kind::seed, "--seed", "N", std::to_string(fallback), std::move(help)});
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
    if (*word == "-h" || *word == "--help") throw HelpRequest(help());

  for (auto word = given.begin(); word != given.end(); ++word) {
    const std::string_view name = word->substr(0, word->find('='));
    if (word == options_end) continue;
    const bool number = word->size() > 1 && (*word)[1] >= '0' && (*word)[1] <= '9';
    if (word > options_end || *word == "-" || !word->starts_with("-") || (number && most_ > 0)) {
      if (arguments_.size() == most_) refuse_argument(*word);
      arguments_.emplace_back(*word);
      continue;
    }
    const auto option = std::find_if(options_.begin(), options_.end(),
                                     [name](const Option& known) { return known.name == name; });
    if (option == options_.end()) refuse_option(*word);
    if (option->given) refuse(option->name + " was given twice", "give it once");
    option->given = true;
    const bool has_value = name.size() < word->size();
    const std::string form = option->name + " " + option->placeholder;
    if (option->kind == Kind::flag) {
      if (has_value) refuse(option->name + " takes no value", "write " + option->name + " alone");
    } else if (has_value) {
      take(*option, word->substr(name.size() + 1));
    } else if (word + 1 == given.end() || (word + 1)->starts_with("--")) {
      refuse(option->name + " needs a value", "write " + form);
    } else {
      take(*option, *++word);
    }
  }
  if (arguments_.size() < least_) refuse(argument_placeholder_ + " is missing", suggestion(""));
  try {
    threads();  // what is wrong in the environment is refused like an option, before work begins
  } catch (const ValueError& error) {
    refuse(error.what(), "set it to a number, or unset it");
  }
}

void Options::take(Option& option, std::string_view value) const {
  if (value.empty())
    refuse(option.name + " has an empty value", "write " + option.name + " " + option.placeholder);
  if (option.kind != Kind::text) check_number(option, value);
  option.value = value;
}

void Options::check_number(const Option& option, std::string_view value) const {
  std::errc error{};
  if (option.kind == Kind::seed) {
    error = whole_number<std::uint64_t>(value).second;
    if (whole_number<std::int64_t>(value).second != std::errc::invalid_argument &&
        error != std::errc())
      error = std::errc::result_out_of_range;
  } else {
    const auto [number, failure] = whole_number<std::int64_t>(value);
    const bool inside = option.lowest <= number && number <= option.highest;
    error = failure == std::errc() && !inside ? std::errc::result_out_of_range : failure;
  }
  if (error == std::errc()) return;
  const char* problem =
      error == std::errc::result_out_of_range ? " is out of range" : " is not a whole number";
  refuse(option.name + " " + quoted(value) + problem, "use a number from " + range(option));
}

std::string Options::range(const Option& option) const {
  if (option.kind == Kind::seed)
    return "0 to " + std::to_string(std::numeric_limits<std::uint64_t>::max());
  return std::to_string(option.lowest) + " to " + std::to_string(option.highest);
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

const Options::Option* Options::find(std::string_view name) const {
  const auto option = std::find_if(options_.begin(), options_.end(),
                                   [name](const Option& known) { return known.name == name; });
  return option == options_.end() ? nullptr : &*option;
}

const Options::Option& Options::declared(std::string_view name, Kind kind) const {
  const Option* option = find(name);
  require_declaration(option && option->kind == kind, std::string(name), "not declared as such");
  return *option;
}

bool Options::has(std::string_view name) const {
  const Option* option = find(name);
  require_declaration(option, std::string(name), "not declared");
  return option->given;
}

std::int64_t Options::integer(std::string_view name) const {
  return whole_number<std::int64_t>(declared(name, Kind::integer).value).first;
}

std::uint64_t Options::seed() const {
  return whole_number<std::uint64_t>(declared("--seed", Kind::seed).value).first;
}

const std::string& Options::text(std::string_view name) const {
  return declared(name, Kind::text).value;
}

}  // namespace fledge::support
