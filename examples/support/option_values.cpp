// What stands behind an option: checked when it is given, read when it is asked for.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "engine/base/thread_pool.h"
#include "examples/support/options.h"
#include "examples/support/text.h"

namespace support {

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

}  // namespace

void Options::take(Option& option, std::string_view value) const {
  if (value.empty())
    refuse(option.name + " has an empty value", "write " + option.name + " " + option.placeholder);
  if (option.kind == Kind::choice) {
    if (std::find(option.words.begin(), option.words.end(), value) == option.words.end()) {
      const std::string meant = closest(value, option.words);
      refuse(option.name + " " + quoted(value) + " is none of " + option.placeholder,
             meant.empty() ? "use one of them" : "did you mean '" + meant + "'?");
    }
  } else if (option.kind != Kind::text) {
    check_number(option, value);
  }
  option.value = value;
}

void Options::check_number(const Option& option, std::string_view value) const {
  std::errc error{};
  if (option.kind == Kind::seed) {
    error = whole_number<std::uint64_t>(value).second;
    if (whole_number<std::int64_t>(value).second != std::errc::invalid_argument &&
        error != std::errc())
      error = std::errc::result_out_of_range;
  } else if (option.kind == Kind::number) {
    const auto [number, failure] = whole_number<double>(value);
    const bool inside = option.least <= number && number <= option.most;
    error = failure;
    if (failure == std::errc() && !inside)
      error = std::isnan(number) ? std::errc::invalid_argument : std::errc::result_out_of_range;
  } else {
    const auto [number, failure] = whole_number<std::int64_t>(value);
    const bool inside = option.lowest <= number && number <= option.highest;
    error = failure == std::errc() && !inside ? std::errc::result_out_of_range : failure;
  }
  if (error == std::errc()) return;
  const char* problem = error == std::errc::result_out_of_range ? " is out of range"
                        : option.kind == Kind::number           ? " is not a number"
                                                                : " is not a whole number";
  refuse(option.name + " " + quoted(value) + problem, "use a number from " + range(option));
}

std::string Options::range(const Option& option) const {
  if (option.kind == Kind::seed)
    return "0 to " + std::to_string(std::numeric_limits<std::uint64_t>::max());
  if (option.kind == Kind::number) {
    char text[80];
    std::snprintf(text, sizeof text, "%g to %g", option.least, option.most);
    return text;
  }
  return std::to_string(option.lowest) + " to " + std::to_string(option.highest);
}

bool Options::is_named(const Option& option, std::string_view name) const {
  return option.name == name ||
         (option.letter != 0 && name.size() == 2 && name[0] == '-' && name[1] == option.letter);
}

const Options::Option* Options::find(std::string_view name) const {
  const auto option = std::find_if(options_.begin(), options_.end(),
                                   [&](const Option& known) { return is_named(known, name); });
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

double Options::number(std::string_view name) const {
  return whole_number<double>(declared(name, Kind::number).value).first;
}

std::uint64_t Options::seed() const {
  return whole_number<std::uint64_t>(declared("--seed", Kind::seed).value).first;
}

void Options::use_threads() const {
  if (has("--threads")) fledge::set_threads(static_cast<int>(integer("--threads")));
}

const std::string& Options::text(std::string_view name) const {
  const Option* option = find(name);
  require_declaration(option && (option->kind == Kind::text || option->kind == Kind::choice),
                      std::string(name), "not declared as such");
  return option->value;
}

}  // namespace support
