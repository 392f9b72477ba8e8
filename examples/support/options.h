// The options of a program or subcommand, one row each. Parsing, help, saving, loading and resuming
// all use these rows.
//
// Not here: prompts, configuration files, abbreviations. Key idea: a row names the variable that
// holds the option's value. Its value before parsing is the default. So a new option is a variable
// and one row:
//
//   options.add("--layers", "N", config.layers, "blocks", {1, 100}, Lifetime::lasting, {"layers"});
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "nn/io/json.h"
#include "nn/io/json_reader.h"

namespace support {

/// How a program ends: its exit status.
enum class Exit { done = 0, failed = 1, usage = 2, unusable_input = 3, diverged = 4 };

/// Why a program ends before it is done. what() has exactly two lines, whatever was typed or read:
///
///     birds: unknown option '--sede'
///            did you mean '--seed'? all options: birds --help
struct CommandError : std::runtime_error {
  CommandError(Exit with, std::string_view program, std::string_view problem,
               std::string_view advice);
  Exit status;
};

/// A wrong use of a program.
struct UsageError : CommandError {
  UsageError(std::string_view program, std::string_view problem, std::string_view advice)
      : CommandError(Exit::usage, program, problem, advice) {}
};

/// The user asked for help; what() is the text for stdout.
struct HelpRequest : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A variable that is an enumeration: the number of its enumerator.
struct EnumVariable {
  void* at;
  int (*get)(const void* at);
  void (*set)(void* at, int number);
};

/// The variable of an option: a flag, a whole number, a finite number, a seed (any number of 64
/// bits), a text, or a choice. An enumeration of two without words is a flag.
using OptionVariable =
    std::variant<bool*, std::int64_t*, double*, std::uint64_t*, std::string*, EnumVariable>;

template <class T>
OptionVariable option_variable(T& value) {
  if constexpr (std::is_enum_v<T>)
    return EnumVariable{
        &value, [](const void* at) { return static_cast<int>(*static_cast<const T*>(at)); },
        [](void* at, int number) { *static_cast<T*>(at) = static_cast<T>(number); }};
  else
    return &value;
}

/// What becomes of an option when a run is resumed.
enum class Lifetime {
  lasting,     // it belongs to the run: saved, and not to be given again
  may_change,  // saved; a value given with --resume replaces it
  per_call     // not saved: each call gives it, or has the default
};

/// The smallest and the largest value of a number.
struct OptionLimits {
  double lowest = 0, highest = 0;
};

/// The key of a value in the saved object. Keys with a place (1, 2, ...) are written first, in this
/// order, and must be present in a file. Keys without a place were added later: if a file does not
/// have such a key, the value is the default.
struct SavedKey {
  std::string name;  // "": not saved here
  int place = 0;
};

struct Option {
  std::string name;      // "--out"
  std::string argument;  // "N"; of a choice its words, "char|word"; of a flag ""
  OptionVariable variable;
  std::string help;
  OptionLimits limits;
  Lifetime lifetime;
  SavedKey saved;
  std::string group, fallback;  // the default as help shows it
  char letter = 0;              // of "-o, --out"
  bool given = false;

  bool is_flag() const { return argument.empty(); }
};

/// `--name value` and `--name=value`, in any order; `--` ends the options. Throws std::logic_error
/// for declarations that contradict each other, and for the name of an option that was not
/// declared.
class Options {
 public:
  /// The program with its subcommand ("birds", "fledge gradcheck") and its purpose in one sentence.
  Options(std::string program, std::string purpose);

  /// The options that follow stand under this title. With titles, --help is a page of names and
  /// --help-all explains them.
  void group(std::string title) { group_ = std::move(title); }
  /// A row. The flag is "--out", or "-o, --out" with a letter. The variable must outlive the
  /// options. A flag inverts its variable. Decimal numbers have a point in every locale.
  template <class T>
  void add(const std::string& flag, std::string argument, T& variable, std::string help,
           OptionLimits limits = {}, Lifetime lifetime = Lifetime::per_call, SavedKey saved = {}) {
    declare({flag.substr(flag.find("--")), std::move(argument), option_variable(variable),
             std::move(help), limits, lifetime, std::move(saved), group_, "",
             flag.starts_with("--") ? '\0' : flag[1]});
  }
  /// `--threads N`, 1 … 256, for the whole process, but at most one for each processor. Without it,
  /// FLEDGE_THREADS decides; help does not read that variable.
  void threads();
  /// Arguments that are not options, `least` to `most` of them. Without this, none is accepted.
  void arguments(std::string placeholder, std::size_t least, std::size_t most);
  /// The exit statuses, when there are more than done, failed and wrong usage.
  void exit_statuses(std::string text) { exit_statuses_ = std::move(text); }
  /// A line of the help: a command and what it does.
  void example(std::string command, std::string meaning);

  /// Reads argv[1] … argv[argc − 1] and sets the variables. Throws HelpRequest for -h or --help
  /// anywhere before `--`, and UsageError for an option that was not declared, is given twice,
  /// misses its value or has a wrong one.
  void parse(int argc, const char* const* argv);

  /// Whether the option was given.
  bool has(std::string_view name) const;
  /// The names of the options that were given.
  std::set<std::string> given() const;
  const std::vector<std::string>& arguments() const { return arguments_; }

  std::string help() const;
  std::string help_all() const;

  /// Writes the keys and values that are saved into an object.
  void save(fledge::JsonWriter& json) const;
  /// Sets the variables from such an object, which may have these `other_keys` besides. Throws
  /// FormatError for a value that the option would not accept.
  void load(const fledge::JsonValue& json, std::vector<std::string_view> other_keys = {}) const;
  /// Takes over the values of a call that resumes the run: those that are not saved, and those that
  /// may change and were given. Both have the same rows.
  void resume(const Options& call, const std::set<std::string>& given) const;
  /// The first given option of this lifetime; "" if there is none.
  std::string first_given(Lifetime lifetime) const;

  /// Throws UsageError in this program's name. Users' words in it should be quoted().
  [[noreturn]] void refuse(std::string_view problem, std::string_view advice) const;

 private:
  void declare(Option option);
  static std::string shown_value(const Option& option);
  const Option* find(std::string_view name) const;
  std::vector<const Option*> saved_options() const;
  void set(const Option& option, std::string_view text) const;
  static void invert(const Option& flag);
  template <class Number>
  Number number_in(const Option& option, std::string_view text, Number lowest,
                   Number highest) const;
  [[noreturn]] void refuse_option(std::string_view argument) const;
  [[noreturn]] void refuse_argument(std::string_view argument) const;
  std::string suggestion(const std::string& name) const;
  std::string beginning() const;
  std::string ending() const;

  std::string program_, purpose_;
  std::vector<Option> options_;
  std::vector<std::pair<std::string, std::string>> examples_;
  std::string argument_placeholder_, group_;
  std::string exit_statuses_ = "0 done, 1 failed, 2 wrong usage";
  std::size_t least_ = 0, most_ = 0;
  std::vector<std::string> arguments_;
};

}  // namespace support
