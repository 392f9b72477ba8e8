#include "examples/support/option_table.h"

#include <cstdio>
#include <optional>

#include "nn/io/hex.h"

namespace support {

namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

std::vector<std::string> words_of(const std::string& argument) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= argument.size();) {
    const std::size_t end = std::min(argument.find('|', begin), argument.size());
    words.push_back(argument.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

int index_of(const std::string& word, const std::vector<std::string>& words) {
  return static_cast<int>(std::find(words.begin(), words.end(), word) - words.begin());
}

std::int64_t whole(double limit) { return static_cast<std::int64_t>(limit); }

double number_of(const fledge::JsonValue& json, const OptionLimits& limits) {
  const double value = json.number();
  if (!(value >= limits.lowest && value <= limits.highest)) {
    char range[80];
    std::snprintf(range, sizeof range, "must be a number from %g to %g", limits.lowest,
                  limits.highest);
    json.fail(range);
  }
  return value;
}

}  // namespace

std::string OptionFacts::name() const { return flag.substr(flag.find("--")); }

void OptionFacts::declare(Options& options, const OptionMember& fallback) const {
  std::visit(
      Overloaded{[&](const bool*) { options.flag(name(), help); },
                 [&](const std::int64_t* value) {
                   options.integer(name(), argument, *value, whole(limits.lowest),
                                   whole(limits.highest), help);
                 },
                 [&](const double* value) {
                   options.number(name(), argument, *value, limits.lowest, limits.highest, help);
                 },
                 [&](const std::uint64_t* value) { options.seed(*value, help); },
                 [&](const std::string* value) { options.text(name(), argument, *value, help); },
                 [&](const EnumMember&) {
                   if (argument.empty())
                     options.flag(name(), help);
                   else
                     options.choice(name(), words_of(argument), help);
                 }},
      fallback);
  if (!flag.starts_with("--")) options.letter(flag[1]);
}

void OptionFacts::read(const Options& options, const OptionMember& member) const {
  std::visit(Overloaded{[](bool* value) { *value = true; },
                        [&](std::int64_t* value) { *value = options.integer(name()); },
                        [&](double* value) { *value = options.number(name()); },
                        [&](std::uint64_t* value) { *value = options.seed(); },
                        [&](std::string* value) { *value = options.text(name()); },
                        [&](const EnumMember& value) {
                          value.set(value.at, argument.empty() ? 1
                                                               : index_of(options.text(name()),
                                                                          words_of(argument)));
                        }},
             member);
}

void OptionFacts::save(fledge::JsonWriter& json, const OptionMember& member) const {
  json.key(saved.name);
  std::visit(Overloaded{[&](const std::uint64_t* value) { json.value(std::to_string(*value)); },
                        [&](const EnumMember& value) {
                          const int number = value.get(value.at);
                          if (argument.empty())
                            json.value(number != 0);
                          else
                            json.value(words_of(argument)[static_cast<std::size_t>(number)]);
                        },
                        [&](const auto* value) { json.value(*value); }},
             member);
}

void OptionFacts::load(const fledge::JsonValue& json, const OptionMember& member) const {
  std::visit(Overloaded{[&](bool* value) { *value = json.boolean(); },
                        [&](std::int64_t* value) {
                          *value = json.integer(whole(limits.lowest), whole(limits.highest));
                        },
                        [&](double* value) { *value = number_of(json, limits); },
                        [&](std::uint64_t* value) {
                          const std::optional<std::uint64_t> seed =
                              fledge::unsigned_number(json.string(), 10);
                          if (!seed) json.fail("must be a whole number from 0 in quotes");
                          *value = *seed;
                        },
                        [&](std::string* value) { *value = json.string(); },
                        [&](const EnumMember& value) {
                          if (argument.empty()) return value.set(value.at, json.boolean());
                          const std::vector<std::string> words = words_of(argument);
                          const int number = index_of(json.string(), words);
                          if (number == static_cast<int>(words.size()))
                            json.fail("must be one of " + argument);
                          value.set(value.at, number);
                        }},
             member);
}

void copy_member(const OptionMember& from, const OptionMember& to) {
  std::visit(Overloaded{[&](const EnumMember& value) {
                          const EnumMember& target = std::get<EnumMember>(to);
                          target.set(target.at, value.get(value.at));
                        },
                        [&](auto* value) { *std::get<decltype(value)>(to) = *value; }},
             from);
}

}  // namespace support
