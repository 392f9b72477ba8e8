// The options of a program or subcommand, one row each. Parsing, help, saving, loading and resuming
// all use these rows.
//
// A row names the variable that holds the option's value, which is read and written as text. Its
// value before parsing is the default. So a new option is a variable and one row:
//
//   options.add("--layers", "N", config.layers, "blocks", {1, 100}, Lifetime::lasting);
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "examples/support/run_main.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace support {

/// What becomes of an option when a run is resumed.
enum class Lifetime {
  of_model,    // it belongs to the run, and is saved with its model: not to be given again
  lasting,     // it belongs to the run: saved, and not to be given again
  may_change,  // saved; a value given with --resume replaces it
  per_call     // not saved: each call gives it, or has the default
};

/// The smallest and the largest value of a number; equal: any number.
struct OptionLimits {
  double lowest = 0, highest = 0;
};

/// A value as text, and set from text. set() returns "" when the text is such a value; otherwise it
/// changes nothing and returns what the text must be: "a whole number from 1 to 64".
struct OptionVariable {
  std::function<std::string()> get;
  std::function<std::string(std::string_view text)> set;
};
/// Number: std::int64_t, std::uint64_t or double.
template <class Number>
OptionVariable number_variable(Number& value, OptionLimits limits);
/// The values that an option accepts: of the argument "char|word" these two words, of "q|k,..." one
/// or both, with commas between them. A flag has the argument "" and accepts "false" and "true".
std::vector<std::string> words_of_choice(const std::string& argument);

/// The enumerator of the first word of a choice: 0. A choice that does not name the `none` of its
/// enumeration begins with the enumerator after it.
template <class T>
constexpr std::size_t first_enumerator(const std::string& argument) {
  if constexpr (requires { T::none; })
    return argument.empty() || argument.starts_with("none|") ? 0 : 1;
  else
    return 0;
}

/// Of a text, a number, a whole number that may be absent (std::optional, "" in help), one of
/// several words (an enumeration or a bool), or some of several words: a type whose each(f) calls
/// f(word, part&) for them. A word is listed if its part, a bool, is true, or, an enumeration, has
/// its first value.
template <class T>
OptionVariable option_variable(T& value, const std::string& argument, OptionLimits limits) {
  if constexpr (std::is_same_v<T, std::string>) {
    return {[&value] { return value; },
            [&value](std::string_view text) { return value = text, std::string(); }};
  } else if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
    return {[&value, argument] {
              const std::size_t first = first_enumerator<T>(argument), at = std::size_t(value);
              return at < first ? "none" : words_of_choice(argument).at(at - first);
            },
            [&value, argument](std::string_view text) {
              const std::vector<std::string> words = words_of_choice(argument);
              for (std::size_t i = 0; i < words.size(); ++i)
                if (words[i] == text)
                  return value = static_cast<T>(i + first_enumerator<T>(argument)), std::string();
              return "one of " + (argument.empty() ? "false|true" : argument);
            }};
  } else if constexpr (requires { value.each([](const char*, auto&) {}); }) {
    const auto is_listed = []<class Part>(const Part& part) {
      return part == Part(std::is_same_v<Part, bool> ? 1 : 0);
    };
    return {[&value, is_listed] {
              std::string text;
              value.each([&](const char* word, const auto& part) {
                if (is_listed(part)) text += (text.empty() ? "" : ",") + std::string(word);
              });
              return text;
            },
            [&value, argument, is_listed](std::string_view text) {
              const std::vector<std::string> words = words_of_choice(argument);
              const std::vector<std::string> given = split(text, ',');
              for (const std::string& word : given)
                if (!is_one_of(word, words))
                  return "one or more of " + argument.substr(0, argument.find(",...")) +
                         ", with commas between them";
              value.each([&]<class Part>(const char* word, Part& part) {
                // The first two values of a part are for listed and not listed.
                if (is_one_of(word, given) != is_listed(part)) part = Part(part == Part(0) ? 1 : 0);
              });
              return std::string();
            }};
  } else if constexpr (requires { value.has_value(); }) {
    return {[&value] { return value ? std::to_string(*value) : std::string(); },
            [&value, limits](std::string_view text) {
              typename T::value_type number{};
              std::string rule = number_variable(number, limits).set(text);
              if (rule.empty()) value = number;
              return rule;
            }};
  } else {
    return number_variable(value, limits);
  }
}

struct Option {
  std::string name;      // "--out"
  std::string argument;  // "N"; of a choice its words, "char|word"; of a flag ""
  OptionVariable variable;
  std::string help;
  Lifetime lifetime;
  std::string group, fallback;  // the default as help shows it
  char letter = 0;              // of "-o, --out"
  bool given = false;
  bool is_text = false;
  std::vector<std::string> also_known_as{};  // other tools' names for it
};

/// A name and what it means.
using HelpRow = std::pair<std::string, std::string>;

/// Rows in two columns; meanings are wrapped in theirs. A name that is wider than half of
/// the page (38 columns of 80) stands on a line of its own, unbroken.
std::string help_columns(const std::vector<HelpRow>& rows);

/// `--name value` and `--name=value`, in any order; `--` ends the options.
class Options {
 public:
  /// The program with its subcommand ("birds", "fledge gradcheck") and its purpose in one sentence.
  Options(std::string program, std::string purpose)
      : program_(std::move(program)), purpose_(std::move(purpose)) {}

  /// The options that follow stand under this title in --help-all, and have this lifetime unless
  /// their row says another.
  void group(std::string title, Lifetime lifetime = Lifetime::per_call) {
    group_ = std::move(title);
    lifetime_ = lifetime;
  }
  /// --help shows these options alone, each with its meaning up to the first semicolon. --help-all
  /// shows all.
  void help_shows(std::set<std::string> names) { shown_ = std::move(names); }
  /// A row. The flag is "--out", or "-o, --out" with a letter. Behind it may stand the names that
  /// other tools have for the option, with blanks between: a user who gives one is told the name of
  /// the option. "-" and "_" are the same in them. The variable must outlive the options. A flag
  /// inverts its variable. Decimal numbers have a point in every locale.
  template <class T>
  void add(const std::string& flag, const std::string& argument, T& variable, std::string help,
           OptionLimits limits = {}, std::optional<Lifetime> lifetime = {}) {
    OptionVariable text = option_variable(variable, argument, limits);
    std::string fallback = argument.empty() ? "" : text.get();
    const std::vector<std::string> names = split(flag.substr(flag.find("--")), ' ');
    options_.push_back({names[0], argument, std::move(text), std::move(help),
                        lifetime.value_or(lifetime_), group_, std::move(fallback),
                        flag.starts_with("--") ? '\0' : flag[1]});
    options_.back().also_known_as.assign(names.begin() + 1, names.end());
  }
  /// These options have no fixed default: help shows none.
  void without_default(const std::set<std::string>& names) {
    for (Option& option : options_)
      if (names.contains(option.name)) option.fallback.clear();
  }
  /// `--threads N`, 1 … 256, for the whole process, but at most one for each processor. Without it,
  /// FLEDGE_THREADS decides; help does not read that variable.
  void threads();
  /// The value of the last row is a text. If a word too many follows it, the advice is to put quotes
  /// around the text.
  void is_text() { options_.back().is_text = true; }
  /// Arguments that are not options, `least` to `most` of them. Without this, none is accepted.
  /// `last_is_text`: the one of number `most` is a text, as of is_text(). If the placeholder
  /// begins with DIR, help names one exit status more: 3, unusable input.
  void arguments(std::string placeholder, std::size_t least, std::size_t most,
                 bool last_is_text = false);
  /// All exit statuses, when there are others.
  void exit_statuses(std::string text) { exit_statuses_ = std::move(text); }
  /// A line of the help: a command and what it does.
  void example(const std::string& command, const std::string& meaning) {
    examples_.emplace_back(command, meaning);
  }

  /// Reads argv[1] … argv[argc − 1] and sets the variables. Throws HelpRequest for -h, --help or
  /// --version anywhere before `--`, and UsageError for an option that was not declared, is given
  /// twice, misses its value or has a wrong one. Messages are in this program's name from here on.
  void parse(int argc, const char* const* argv);

  /// The names of the options that were given, such as "--out".
  std::set<std::string> given() const;
  const std::vector<std::string>& arguments() const { return arguments_; }

  std::string help() const;
  std::string help_all() const;

  /// An object of the values that are saved, as texts under the names of their options.
  fledge::Json saved() const;
  /// Sets the variables from such an object. Throws FormatError for a value that the option would
  /// not accept, and for a key that is unknown. A missing key leaves the default.
  void load(const fledge::JsonValue& json);
  /// Throws UsageError if an option was given that belongs to the run since it began.
  void require_resumable() const;
  /// Takes over the values of a call that resumes the run: those that are not saved, and those that
  /// may change and were given. Both have the same rows.
  void resume(const Options& call, const std::set<std::string>& given) const;

 private:
  Option* find(std::string_view name);
  void set(const Option& option, std::string_view text) const;
  std::string suggestion(const std::string& name) const;
  std::string page_of_all() const;
  std::string beginning() const;

  std::string program_, purpose_;
  std::vector<Option> options_;
  std::set<std::string> shown_;  // in --help; none: all
  std::vector<HelpRow> examples_;
  std::string argument_placeholder_, group_;
  Lifetime lifetime_ = Lifetime::per_call;
  std::string exit_statuses_ = "0 done, 1 failed, 2 wrong usage";
  std::size_t least_ = 0, most_ = 0;
  bool last_is_text_ = false;
  std::vector<std::string> arguments_;
};

}  // namespace support
