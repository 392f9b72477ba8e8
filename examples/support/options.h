// The options of a program or subcommand: declared once, then read, checked and explained.
//
// Not here: prompts, configuration files, abbreviations. Key idea: what is refused is refused
// before any work begins, in two lines: what came, and what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// `--name value` and `--name=value`, in any order; `--` ends the options. Declarations throw
/// std::logic_error when they contradict each other, so do questions for what was not declared.
class Options {
 public:
  /// The program with its subcommand ("birds", "fledge gradcheck") and its purpose in one sentence.
  Options(std::string program, std::string purpose);

  /// The options that follow stand under this title. With titles, --help is a page of names and
  /// --help-all explains them.
  Options& group(std::string title);
  /// The last declared option may also be called by a letter, such as -o.
  Options& letter(char name);
  Options& flag(std::string name, std::string help);
  /// A whole number in lowest … highest.
  Options& integer(std::string name, std::string placeholder, std::int64_t fallback,
                   std::int64_t lowest, std::int64_t highest, std::string help);
  /// A finite number in lowest … highest, with a decimal point whatever the locale.
  Options& number(std::string name, std::string placeholder, double fallback, double lowest,
                  double highest, std::string help);
  /// One of these words, the first unless given.
  Options& choice(std::string name, std::vector<std::string> words, std::string help);
  /// `--seed N`, any 64-bit number from 0.
  Options& seed(std::uint64_t fallback, std::string help);
  /// `--threads N`, 1 … 256; unless given, FLEDGE_THREADS decides, which help must not ask.
  Options& threads();
  /// A text; an empty fallback means that the option may be left out and is not shown in brackets.
  Options& text(std::string name, std::string placeholder, std::string fallback, std::string help);
  /// Arguments that are not options, `least` to `most` of them. Without this, none is accepted.
  Options& arguments(std::string placeholder, std::size_t least, std::size_t most);
  /// The exit statuses, when there are more than done, failed and wrong usage.
  Options& exit_statuses(std::string text);
  /// A line of the help: a command and what it does.
  Options& example(std::string command, std::string meaning);

  /// Reads argv[1] … argv[argc − 1]. Throws HelpRequest for -h or --help anywhere before `--`, and
  /// UsageError for what was not declared, is given twice, misses its value or has a wrong one.
  void parse(int argc, const char* const* argv);

  /// Whether the option was given.
  bool has(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  std::uint64_t seed() const;
  /// Work is shared by as many threads as --threads says, if it was given.
  void use_threads() const;
  /// Of a text or a choice.
  const std::string& text(std::string_view name) const;
  const std::vector<std::string>& arguments() const { return arguments_; }

  std::string help() const;
  std::string help_all() const;

  /// Throws UsageError in this program's name. Users' words in it should be quoted().
  [[noreturn]] void refuse(std::string_view problem, std::string_view advice) const;

 private:
  enum class Kind { flag, integer, number, seed, text, choice };

  struct Option {
    Kind kind;
    std::string name, placeholder, fallback, help;
    std::int64_t lowest = 0, highest = 0;  // of an integer
    double least = 0, most = 0;            // of a number
    std::vector<std::string> words = {};   // of a choice
    std::string group = {};
    char letter = 0;
    std::string value = fallback;
    bool given = false;
  };

  static void require_declaration(bool ok, const std::string& name, const char* what);
  Options& declare(Option option);
  bool is_named(const Option& option, std::string_view name) const;
  const Option* find(std::string_view name) const;
  const Option& declared(std::string_view name, Kind kind) const;
  void take(Option& option, std::string_view value) const;
  void check_number(const Option& option, std::string_view value) const;
  [[noreturn]] void refuse_option(std::string_view argument) const;
  [[noreturn]] void refuse_argument(std::string_view argument) const;
  std::string suggestion(const std::string& name) const;
  std::string range(const Option& option) const;
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
