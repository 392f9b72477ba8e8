#include "examples/support/options.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <limits>

#include "engine/base/errors.h"
#include "engine/base/thread_pool.h"

namespace support {

namespace {

// Whether a letter stands behind one or two hyphens.
bool is_like_option(std::string_view word) {
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  return !word.empty() && is_letter(word[0]);
}

bool is_saved(const Option& option) {
  return option.lifetime == Lifetime::lasting || option.lifetime == Lifetime::may_change;
}

std::string shown(double number) { return fledge::json_number(number); }
std::string shown(std::integral auto number) { return std::to_string(number); }

HelpRow row_of(const Option& option, const std::string& meaning) {
  return {(option.letter == 0 ? "" : std::string{'-', option.letter} + ", ") + option.name +
              (option.argument.empty() ? "" : " " + option.argument),
          meaning + (option.fallback.empty() ? "" : " [" + option.fallback + "]")};
}

}  // namespace

template <class Number>
OptionVariable number_variable(Number& value, OptionLimits limits) {
  Number lowest = std::numeric_limits<Number>::lowest();
  Number highest = std::numeric_limits<Number>::max();
  if (limits.lowest < limits.highest) {
    lowest = static_cast<Number>(limits.lowest);
    highest = static_cast<Number>(limits.highest);
  }
  const auto set = [&value, lowest, highest](std::string_view text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    const bool is_number = error == std::errc() && stopped == end;
    if (!is_number || !(number >= lowest && number <= highest))
      return (std::integral<Number> ? "a whole number from " : "a number from ") + shown(lowest) +
             " to " + shown(highest);
    value = number;
    return std::string();
  };
  return {[&value] { return shown(value); }, set};
}
template OptionVariable number_variable(std::int64_t& value, OptionLimits limits);
template OptionVariable number_variable(std::uint64_t& value, OptionLimits limits);
template OptionVariable number_variable(double& value, OptionLimits limits);

std::vector<std::string> words_of_choice(const std::string& argument) {
  if (argument.empty()) return {"false", "true"};
  return split(std::string_view(argument).substr(0, argument.find(",...")), '|');
}

void Options::threads() {
  static std::int64_t count = 1;
  add("--threads", "N", count, "how many threads share the work, at most one per processor",
      {1, 256}, Lifetime::per_call);
  options_.back().fallback = "FLEDGE_THREADS, or one per processor";
}

void Options::arguments(std::string placeholder, std::size_t least, std::size_t most,
                        bool last_is_text) {
  if (placeholder.starts_with("DIR")) exit_statuses_ += ", 3 unusable input";
  argument_placeholder_ = std::move(placeholder);
  last_is_text_ = last_is_text;
  least_ = least;
  most_ = most;
}

void Options::parse(int argc, const char* const* argv) {
  set_command_name(program_);
  const std::vector<std::string_view> given(argv + std::min(argc, 1), argv + std::max(argc, 0));
  const auto options_end = std::find(given.begin(), given.end(), "--");
  for (auto word = given.begin(); word != options_end; ++word) {
    if (*word == "--version") throw HelpRequest(version_of(program_) + "\n");
    if (*word == "-h" || *word == "--help" || *word == "--help-all")
      throw HelpRequest(*word == "--help-all" ? help_all() : help());
  }

  std::string text;  // the last word that was taken as a text
  for (auto word = given.begin(); word != given.end(); ++word) {
    const std::string_view name = word->substr(0, word->find('='));
    if (word == options_end) continue;
    const bool numeral =  // such as -5; but -0 may be an option
        word->size() > 1 && (*word)[1] >= '0' && (*word)[1] <= '9' && !find(name);
    if (word > options_end || *word == "-" || !word->starts_with("-") || (numeral && most_ > 0)) {
      if (arguments_.size() == most_)
        refuse_usage("unexpected argument " + quoted(*word),
                     text.empty() ? suggestion(word->empty() ? "" : "--" + std::string(*word))
                                  : "a text of several words needs quotes around it: " +
                                        quoted(text + " " + std::string(*word)));
      arguments_.emplace_back(*word);
      if (last_is_text_ && arguments_.size() == most_) text = *word;
      continue;
    }
    Option* const option = find(name);
    if (!option && most_ > 0 && !is_like_option(*word))
      refuse_usage("unknown option " + quoted(*word),
                   "write -- in front of an argument that begins with -");
    if (!option) refuse_usage("unknown option " + quoted(name), suggestion(std::string(name)));
    if (option->given) refuse_usage(option->name + " was given twice", "give it once");
    option->given = true;
    const bool has_value = name.size() < word->size();
    if (option->argument.empty()) {
      if (has_value)
        refuse_usage(option->name + " takes no value", "write " + option->name + " alone");
      option->variable.set(option->variable.get() == "true" ? "false" : "true");
    } else if (has_value) {
      set(*option, word->substr(name.size() + 1));
    } else if (word + 1 == given.end() || (word + 1)->starts_with("--") || find(*(word + 1))) {
      const std::string next(word + 1 == given.end() ? "" : *(word + 1));
      std::string form = "write " + option->name + " " + option->argument;
      if (!next.empty() && !find(next))
        form +=
            ", or " + shell_word(option->name + "=" + next) + " for a value that begins with --";
      refuse_usage(option->name + " needs a value", form);
    } else {
      set(*option, *++word);
      if (option->is_text) text = *word;
    }
  }
  if (arguments_.size() < least_)
    refuse_usage(argument_placeholder_ + " is missing", suggestion(""));
  try {  // what is wrong in the environment is refused like an option, before work begins
    fledge::threads();
  } catch (const fledge::ValueError& error) {
    refuse_usage(error.what(), "set it to a number, or unset it");
  }
  if (const Option* option = find("--threads"); option && option->given) {
    const auto wanted = std::stoi(option->variable.get());
    fledge::set_threads(std::min(wanted, fledge::available_processors()));
  }
}

Option* Options::find(std::string_view name) {
  for (Option& option : options_)
    if (option.name == name || (option.letter != 0 && name == std::string{'-', option.letter}))
      return &option;
  return nullptr;
}

void Options::set(const Option& option, std::string_view text) const {
  const std::string form = "write " + option.name + " " + option.argument;
  if (text.empty()) refuse_usage(option.name + " has an empty value", form);
  if (text == "-" && (option.argument == "DIR" || option.argument == "FILE"))
    refuse_usage(option.name + " must be a name: got '-'", form + ", or ./- if this is the name");
  const std::string rule = option.variable.set(text);
  if (rule.empty()) return;
  const std::vector<std::string> words = words_of_choice(option.argument);
  std::string meant;  // for the first word that is not known
  for (const std::string& word : split(text, ','))
    if (meant.empty() && !is_one_of(word, words)) meant = closest(word, words);
  refuse_usage(option.name + " must be " + rule + ": got " + quoted(text),
               (meant.empty() ? form + ";" : "did you mean '" + meant + "'?") +
                   " all options: " + page_of_all());
}

std::set<std::string> Options::given() const {
  std::set<std::string> names;
  for (const Option& option : options_)
    if (option.given) names.insert(option.name);
  return names;
}

std::string Options::suggestion(const std::string& name) const {
  std::string hyphened = name;
  std::replace(hyphened.begin(), hyphened.end(), '_', '-');
  std::vector<std::string> names{"--help", "--version"};
  for (const Option& option : options_) {
    // A word of a choice may be an option elsewhere: --swiglu, --no-bias.
    const std::string of_word = option.name == "--without" ? "--no-" : "--";
    for (const std::string& word : words_of_choice(option.argument))
      if (hyphened == of_word + word) return "use " + option.name + " " + word;
    if (is_one_of(hyphened, option.also_known_as))
      return "use " + option.name + (option.argument.empty() ? "" : " " + option.argument);
    names.push_back(option.name);
  }
  const std::string near = closest(name, names);
  if (near.empty()) return "see '" + page_of_all() + "'";
  return "did you mean '" + near + "'? all options: " + page_of_all();
}

fledge::Json Options::saved() const {
  fledge::Json::Members values;
  for (const Option& option : options_)
    if (is_saved(option) && !option.variable.get().empty())
      values.emplace_back(std::string_view(option.name).substr(2), option.variable.get());
  return fledge::Json::object(values);
}

void Options::load(const fledge::JsonValue& json) {
  json.each_member([&](const std::string& key, const fledge::JsonValue& value) {
    const Option* const option = find("--" + key);
    if (!option || !is_saved(*option)) value.fail("is not known");
    const std::string text = value.string(), rule = option->variable.set(text);
    if (!rule.empty()) value.fail("must be " + rule + ": got " + quoted(text));
  });
}

void Options::require_resumable() const {
  for (const Option& option : options_)
    if (option.given &&
        (option.lifetime == Lifetime::lasting || option.lifetime == Lifetime::of_model))
      refuse_usage(option.name + " belongs to the run since it began",
                   "leave it out, or begin a new run in another folder with -o");
}

void Options::resume(const Options& call, const std::set<std::string>& given) const {
  for (std::size_t i = 0; i < options_.size(); ++i) {
    const Option& option = options_[i];
    const bool may_change = option.lifetime == Lifetime::may_change;
    if (option.lifetime == Lifetime::per_call || (may_change && given.contains(option.name)))
      option.variable.set(call.options_[i].variable.get());
  }
}

// The text of --help: purpose, examples, options with their defaults in brackets, exit statuses. At most
// 80 columns wide, less on a narrow terminal; 24 lines hold about ten options.

std::string help_columns(const std::vector<HelpRow>& rows) {
  const int widest_name =
      19 * text_width(stdout) / 40;  // of those that stand beside their meanings
  int left = 0;
  for (const auto& row : rows)
    if (const int width = display_width(row.first); width <= widest_name)
      left = std::max(left, width);
  std::string lines;
  for (const auto& [name, meaning] : rows) {
    const bool is_wide = display_width(name) > left;
    if (is_wide) lines += wrapped("  " + name, text_width(stdout), 4) + "\n";
    lines += paragraph(meaning, "  " + pad_right(is_wide ? "" : name, left) + "  ");
  }
  return lines;
}

std::string Options::beginning() const {
  std::string usage = "usage: " + program_ + (options_.empty() ? "" : " [options]");
  const bool may_repeat = most_ > 1 && argument_placeholder_.find('[') == std::string::npos;
  const std::string many = argument_placeholder_ + (may_repeat ? " ..." : "");
  if (most_ > 0) usage += least_ == 0 ? " [" + many + "]" : " " + many;
  std::string lines = paragraph(purpose_) + "\n" + paragraph(usage) + "\n";
  if (!examples_.empty()) lines += help_columns(examples_) + "\n";
  return lines;
}

std::string Options::page_of_all() const {
  return program_ + (shown_.empty() ? " --help" : " --help-all");
}

std::string Options::help_all() const {
  std::string lines = beginning(), title;
  std::vector<HelpRow> rows;
  for (const Option& option : options_) {
    if (option.group != title) {
      lines += help_columns(rows) + (rows.empty() ? "" : "\n") + option.group + "\n";
      title = option.group;
      rows.clear();
    }
    rows.push_back(row_of(option, option.help));
  }
  rows.emplace_back("-h, --help", shown_.empty()
                                      ? "this text; --version: the version"
                                      : "in short; --help-all: this text; --version: the version");
  return lines + help_columns(rows) + "\n" + paragraph("exit status: " + exit_statuses_);
}

std::string Options::help() const {
  if (shown_.empty()) return help_all();
  std::vector<HelpRow> rows;
  for (const Option& option : options_)
    if (shown_.contains(option.name))
      rows.push_back(row_of(option, option.help.substr(0, option.help.find(';'))));
  return beginning() + help_columns(rows) + "\n" +
         paragraph("All " + std::to_string(options_.size()) + " options: " + page_of_all());
}

}  // namespace support
