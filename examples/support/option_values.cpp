// The value of an option: set from the command line, shown by help, saved, loaded and resumed.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

#include "examples/support/options.h"
#include "examples/support/text.h"
#include "nn/io/files.h"

namespace support {

namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

/// "char|word" as words.
std::vector<std::string> words_of(const std::string& argument) {
  std::vector<std::string> words;
  std::istringstream parts(argument);
  for (std::string word; std::getline(parts, word, '|');) words.push_back(word);
  return words;
}

/// The place of the word; words.size() if it is none of them.
int index_of(std::string_view word, const std::vector<std::string>& words) {
  return static_cast<int>(std::find(words.begin(), words.end(), word) - words.begin());
}

std::int64_t whole(double limit) { return static_cast<std::int64_t>(limit); }

/// The whole text as a number; the error is std::errc() when it is one.
template <class Number>
std::pair<Number, std::errc> parsed(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return {number, stopped == end ? error : std::errc::invalid_argument};
}

std::string shown(double number) { return formatted("%g", number); }
std::string shown(std::int64_t number) { return std::to_string(number); }
std::string shown(std::uint64_t number) { return std::to_string(number); }

double number_in(const fledge::JsonValue& json, const OptionLimits& limits) {
  const double value = json.number();
  if (!(value >= limits.lowest && value <= limits.highest))
    json.fail("must be a number from " + shown(limits.lowest) + " to " + shown(limits.highest));
  return value;
}

void save_value(fledge::JsonWriter& json, const Option& option) {
  json.key(option.saved.name);
  std::visit(Overloaded{[&](const std::uint64_t* value) { json.value(std::to_string(*value)); },
                        [&](const EnumVariable& value) {
                          const int number = value.get(value.at);
                          if (option.is_flag())
                            json.value(number != 0);
                          else
                            json.value(words_of(option.argument)[static_cast<std::size_t>(number)]);
                        },
                        [&](const auto* value) { json.value(*value); }},
             option.variable);
}

void load_value(const fledge::JsonValue& json, const Option& option) {
  const OptionLimits& limits = option.limits;
  std::visit(Overloaded{[&](bool* value) { *value = json.boolean(); },
                        [&](std::int64_t* value) {
                          *value = json.integer(whole(limits.lowest), whole(limits.highest));
                        },
                        [&](double* value) { *value = number_in(json, limits); },
                        [&](std::uint64_t* value) {
                          const auto seed = fledge::unsigned_number(json.string(), 10);
                          if (!seed) json.fail("must be a whole number from 0 in quotes");
                          *value = *seed;
                        },
                        [&](std::string* value) { *value = json.string(); },
                        [&](const EnumVariable& value) {
                          if (option.is_flag()) return value.set(value.at, json.boolean());
                          const std::vector<std::string> words = words_of(option.argument);
                          const int number = index_of(json.string(), words);
                          if (number == static_cast<int>(words.size()))
                            json.fail("must be one of " + option.argument);
                          value.set(value.at, number);
                        }},
             option.variable);
}

void copy_value(const OptionVariable& from, const OptionVariable& to) {
  std::visit(Overloaded{[&](const EnumVariable& value) {
                          const EnumVariable& target = std::get<EnumVariable>(to);
                          target.set(target.at, value.get(value.at));
                        },
                        [&](auto* value) { *std::get<decltype(value)>(to) = *value; }},
             from);
}

}  // namespace

std::string Options::shown_value(const Option& option) {
  return std::visit(Overloaded{[](const bool*) { return std::string(); },
                               [](const std::string* value) { return *value; },
                               [&](const EnumVariable& value) {
                                 const auto number = static_cast<std::size_t>(value.get(value.at));
                                 return option.is_flag() ? "" : words_of(option.argument)[number];
                               },
                               [](const auto* value) { return shown(*value); }},
                    option.variable);
}

template <class Number>
Number Options::number_in(const Option& option, std::string_view text, Number lowest,
                          Number highest) const {
  auto [number, error] = parsed<Number>(text);
  const bool inside = lowest <= number && number <= highest;
  if (error == std::errc() && !inside)
    error = std::isnan(static_cast<double>(number)) ? std::errc::invalid_argument
                                                    : std::errc::result_out_of_range;
  constexpr bool is_whole = std::numeric_limits<Number>::is_integer;
  const bool is_negative_whole = is_whole && text[0] == '-' &&
                                 parsed<std::int64_t>(text).second != std::errc::invalid_argument;
  if (error == std::errc()) return number;
  const char* problem = error == std::errc::result_out_of_range || is_negative_whole
                            ? " is out of range"
                        : is_whole ? " is not a whole number"
                                   : " is not a number";
  refuse(option.name + " " + quoted(text) + problem,
         "use a number from " + shown(lowest) + " to " + shown(highest));
}

void Options::set(const Option& option, std::string_view text) const {
  if (text.empty())
    refuse(option.name + " has an empty value", "write " + option.name + " " + option.argument);
  const double lowest = option.limits.lowest, highest = option.limits.highest;
  std::visit(Overloaded{[](bool*) {},  // a flag: it has no text
                        [&](std::int64_t* value) {
                          *value = number_in(option, text, whole(lowest), whole(highest));
                        },
                        [&](double* value) { *value = number_in(option, text, lowest, highest); },
                        [&](std::uint64_t* value) {
                          using Limits = std::numeric_limits<std::uint64_t>;
                          *value = number_in(option, text, Limits::min(), Limits::max());
                        },
                        [&](std::string* value) { *value = text; },
                        [&](const EnumVariable& value) {
                          const std::vector<std::string> words = words_of(option.argument);
                          const int number = index_of(text, words);
                          if (number < static_cast<int>(words.size()))
                            return value.set(value.at, number);
                          const std::string meant = closest(text, words);
                          refuse(
                              option.name + " " + quoted(text) + " is none of " + option.argument,
                              meant.empty() ? "use one of them" : "did you mean '" + meant + "'?");
                        }},
             option.variable);
}

void Options::invert(const Option& flag) {
  if (bool* const* value = std::get_if<bool*>(&flag.variable)) **value = !**value;
  if (const auto* value = std::get_if<EnumVariable>(&flag.variable))
    value->set(value->at, 1 - value->get(value->at));
}

std::vector<const Option*> Options::saved_options() const {
  std::vector<const Option*> saved;
  for (const Option& option : options_)
    if (!option.saved.name.empty()) saved.push_back(&option);
  const auto rank = [](const Option* option) {
    return option->saved.place > 0 ? option->saved.place : std::numeric_limits<int>::max();
  };
  std::stable_sort(saved.begin(), saved.end(),
                   [&](const Option* a, const Option* b) { return rank(a) < rank(b); });
  return saved;
}

void Options::save(fledge::JsonWriter& json) const {
  for (const Option* option : saved_options()) save_value(json, *option);
}

void Options::load(const fledge::JsonValue& json, std::vector<std::string_view> other_keys) const {
  const std::vector<const Option*> saved = saved_options();
  for (const Option* option : saved) other_keys.push_back(option->saved.name);
  json.allow_only(other_keys);
  for (const Option* option : saved)
    if (option->saved.place > 0 || json.has(option->saved.name))
      load_value(json[option->saved.name], *option);
}

void Options::resume(const Options& call, const std::set<std::string>& given) const {
  for (std::size_t i = 0; i < options_.size(); ++i) {
    const Option& option = options_[i];
    const bool is_of_call =
        option.lifetime == Lifetime::per_call ||
        (option.lifetime == Lifetime::may_change && given.contains(option.name));
    if (is_of_call) copy_value(call.options_[i].variable, option.variable);
  }
}

std::string Options::first_given(Lifetime lifetime) const {
  for (const Option& option : options_)
    if (option.given && option.lifetime == lifetime) return option.name;
  return "";
}

}  // namespace support
