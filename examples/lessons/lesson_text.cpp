#include "examples/lessons/lesson_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "nn/io/json.h"

namespace support {

void Lesson::print(const std::string& line) const {
  if (output_) return output_(line);
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);  // a lesson takes seconds, and the reader sees how far it is
}

void Lesson::print_labelled(const std::string& label, std::string_view text) const {
  constexpr int columns = 80;
  print(wrapped(label + std::string(text), columns, display_width(label)));
}

void Lesson::say(std::string_view text) {
  constexpr int indent = 3;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view paragraph = text.substr(begin, end - begin);
    const std::size_t blanks = std::min(paragraph.find_first_not_of(' '), paragraph.size());
    print_labelled(std::string(indent + blanks, ' '), paragraph.substr(blanks));
    begin = end + 1;
  }
}

void Lesson::claim(bool holds, std::string_view what) {
  ++claims_;
  false_claims_ += holds ? 0 : 1;
  print_labelled("   " + (holds ? paint_.good("ok   ") : paint_.bad("FALSE")) + "  ", what);
}

namespace {

using Lines = std::vector<std::string>;

bool begins(const std::string& line, std::string_view with) { return line.starts_with(with); }

/// The blocks: lines between empty lines. A line that begins an item, a quotation or a line of its
/// own begins a block too, and so does what follows a heading.
std::vector<Lines> blocks_of(const std::string& markdown) {
  std::vector<Lines> blocks;
  std::istringstream stream(markdown);
  bool between = true, after_line = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) {
      between = true;
      continue;
    }
    const bool alone = begins(line, "    ") || begins(line, "#");
    if (between || alone || after_line || begins(line, "- ")) blocks.emplace_back();
    blocks.back().push_back(line);
    between = false;
    after_line = alone;
  }
  return blocks;
}

/// The lines from `from` on, joined by blanks, without the blanks or quotation marks before them.
std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) {
    const std::size_t first = line.find_first_not_of(' ');
    text += (text.empty() ? "" : " ") + line.substr(std::min(first, line.size()));
  }
  return text;
}

/// Takes what stands before `mark` from the text, and the mark. False when it is not there.
bool take_until(std::string& text, std::string_view mark, std::string& before) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return false;
  before = text.substr(0, at);
  text.erase(0, at + mark.size());
  return true;
}

/// The meanings of the terms: a row "| term | meaning | lesson |" each.
std::map<std::string, std::string> meanings_of(const std::string& glossary) {
  std::map<std::string, std::string> meanings;
  std::istringstream stream(glossary);
  for (std::string line, term, meaning; std::getline(stream, line);)
    if (begins(line, "| ") && (line.erase(0, 2), take_until(line, " | ", term)) &&
        take_until(line, " | ", meaning))
      meanings[term] = meaning;
  return meanings;
}

/// "the sum = {{sum}}" or "Which rises? a | b = b".
Guess guess_of(const std::string& text) {
  const std::size_t equals = text.rfind(" = ");
  if (equals == std::string::npos) return {};
  std::string question = text.substr(0, equals), before;
  Guess guess{question, text.substr(equals + 3)};
  if (question.find(" | ") == std::string::npos || !take_until(question, "? ", before))
    return guess;
  guess.question = before + "?";
  for (std::string choice; take_until(question, " | ", choice);) guess.choices.push_back(choice);
  guess.choices.push_back(question);
  return guess;
}

/// The number of a text such as "1,024", "-0.5", "0,18", "30 %" or "3/10"; not a number for others.
double number_of(std::string text) {
  if (const std::size_t slash = text.find('/'); slash != std::string::npos)
    return number_of(text.substr(0, slash)) / number_of(text.substr(slash + 1));
  if (text.ends_with('%')) return number_of(text.substr(0, text.find_last_not_of(" %") + 1)) / 100;
  const std::size_t comma = text.find(',');
  if (comma != std::string::npos && text[text[0] == '-'] != '0' && (text.size() - comma) % 4 == 0)
    std::erase(text, ',');
  else
    std::replace(text.begin(), text.end(), ',', '.');
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? std::nan("") : number;
}

/// A small count is met exactly; other numbers within 2 %, as in the page.
bool is_guessed(const Guess& guess, const std::string& given, const std::string& answer) {
  if (!guess.choices.empty()) return given == answer;
  const double a = number_of(answer);
  const bool is_count = a == std::round(a) && std::abs(a) < 1000;
  return std::abs(number_of(given) - a) <= (is_count ? 0 : 0.02 * std::abs(a));
}

/// The text without the targets of its links, each of which f(target) is told: "mask.md".
template <class F>
std::string told_links(std::string text, F f) {
  for (std::size_t end = 0; (end = text.find(".md)", end)) != std::string::npos; ++end) {
    const std::size_t middle = text.rfind("](", end), begin = text.rfind('[', middle);
    if (middle == std::string::npos || begin == std::string::npos || text.find(' ', middle) < end)
      continue;
    f(text.substr(middle + 2, end + 1 - middle));
    text.erase(middle, end + 4 - middle);
    text.erase(begin, 1);
    end = begin;
  }
  return text;
}

}  // namespace

std::string without_links(const std::string& text) {
  return told_links(text, [](const std::string&) {});
}

LessonText::LessonText(std::string name, const std::string& markdown, const std::string& glossary,
                       Lesson& to)
    : name_(std::move(name)), glossary_(meanings_of(glossary)), to_(to) {
  for (const Lines& lines : blocks_of(markdown)) read_block(lines);
  if (title_.empty() || question_.empty() || prediction_.empty() || reading_.empty())
    refuse("a title, a question, a prediction and places to read in the code must be there");
  for (const std::string& text : {title_, question_, prediction_, figure_.what, exercise_.what})
    if (text.find("{{") != std::string::npos) refuse("no {{name}} has a value here: " + text);
}

void LessonText::require_targets(const std::string& folder) const {
  namespace fs = std::filesystem;
  for (const std::string& link : links_)
    if (!fs::exists(fs::path(folder + "/" + name_).parent_path() / link))
      refuse("there is no lesson " + link);
  if (exercise_.name.empty()) return;
  const std::string begin = (exercise_.name.size() < 2 ? "0" : "") + exercise_.name + "_";
  for (const auto& entry : fs::directory_iterator(folder + "/../exercises"))
    if (begins(entry.path().filename().string(), begin)) return;
  refuse("there is no exercise " + exercise_.name);
}

void LessonText::refuse(const std::string& what) const {
  throw fledge::ValueError(name_ + ".md: " + what);
}

void LessonText::begin_trial() {
  blocks_ = trial_.blocks;
  guesses_.clear();
  printed_ = 0;
  values_.clear();
  claims_.clear();
}

void LessonText::read_block(const Lines& lines) {
  const std::string& first = lines[0];
  std::string text = joined(lines), before;
  told_links(text, [this](const std::string& target) { links_.push_back(target); });
  const auto add = [&](Kind kind, std::string shown, std::string named = "") {
    (trial_.arguments.empty() ? blocks_ : trial_.blocks)
        .push_back({kind, std::move(shown), std::move(named)});
  };
  if (first == "## Read in the code") {
    reads_places_ = true;
  } else if (first == "## Try") {
    reads_trial_ = true;
  } else if (reads_trial_ && trial_.arguments.empty()) {
    if (!take_until(text, "- `", before) || !take_until(text, "`: ", trial_.arguments))
      refuse("what to try is written - `arguments`: what. This is not: " + text);
    trial_.what = text;
  } else if (reads_places_ && !reads_trial_) {
    SourcePlace place;
    if (!take_until(text, "- `", before) || !take_until(text, "`, `", place.file) ||
        !take_until(text, "`: ", place.name))
      refuse("a place in the code is written - `file`, `name`: what. This is not: " + text);
    place.what = text;
    reading_.push_back(place);
  } else if (begins(first, "# ")) {
    title_ = text.substr(2);
  } else if (begins(first, "## ")) {
    add(Kind::part, text.substr(3));
  } else if (take_until(text, "**Question.** ", before)) {
    question_ = text;
  } else if (take_until(text, "**Predict.** ", before)) {
    prediction_ = text;
  } else if (take_until(text, "**Guess.** ", before)) {
    guesses_.push_back(guess_of(text));
    if (guesses_.back().answer.empty())
      refuse("a guess is written **Guess.** question = answer. This is not: " + text);
  } else if (!guesses_.empty() && blocks_.empty() && begins(first, "- `")) {
    take_until(text, "- `", before);
    if (!take_until(text, "`: ", before))
      refuse("what a guess means is written - `guess`: what. This is not: " + text);
    guesses_.back().others[before] = text;
  } else if (take_until(text, "**Figure.** ", before)) {
    if (!take_until(text, ": ", figure_.name)) refuse("a figure needs a name: " + text);
    figure_.what = text;
  } else if (take_until(text, "**Exercise.** ", before)) {
    if (!take_until(text, ": ", exercise_.name)) refuse("an exercise needs a number: " + text);
    exercise_.what = text;
  } else if (begins(first, "    ")) {
    add(Kind::line, first.substr(4));
  } else if (begins(first, "- [")) {
    if (!take_until(text, "] ", before))
      refuse("a claim is written - [name] what. This is not: " + text);
    add(Kind::claim, text, before.substr(3));
  } else if (begins(first, "**") && text.ends_with("**") && text.size() > 4) {
    const std::string term = text.substr(2, text.size() - 4);
    if (!glossary_.contains(term)) refuse("GLOSSARY.md has no row for the new word " + term);
    add(Kind::word, term, glossary_.at(term));
  } else if (begins(text, "{{") && text.find("}}") == text.size() - 2) {
    add(Kind::picture, text, text.substr(2, text.size() - 4));
  } else if (begins(first, "#") || begins(first, "|") || begins(first, "```") ||
             begins(first, "- ") || begins(first, "> ")) {
    refuse("lesson_text.h lists what may begin a block. This may not: " + text);
  } else {
    add(Kind::paragraph, text);
  }
}

void LessonText::set(const std::string& name, TextValue value) {
  if (!values_.emplace(name, std::move(value)).second) refuse("{{" + name + "}} has two values");
  print_known();
}

void LessonText::claim(const std::string& name, bool holds, const std::string& before,
                       const std::string& after) {
  if (!claims_.emplace(name, Claim{holds, before, after}).second)
    refuse("[" + name + "] is claimed twice");
  print_known();
}

void LessonText::claim_near(const std::string& name, double value, double expected,
                            double tolerance) {
  const bool holds = std::abs(value - expected) <= tolerance;
  const std::string otherwise = formatted(", not %.6g within %.3g", expected, tolerance);
  claim(name, holds, "", formatted(": %.6g", value) + (holds ? "" : otherwise));
}

void LessonText::claim_rate(const std::string& name, int count, int runs, int least) {
  claim(name, count >= least && count <= runs,
        formatted("%d of %d seeds", count, runs) +
            (least < runs ? formatted(" (%d needed): ", least) : ": "));
}

bool LessonText::is_known(const TextBlock& block) const {
  bool known = block.kind != Kind::claim || claims_.contains(block.name);
  with_names(block.text, [&](const std::string& name, const std::string&) {
    known = known && values_.contains(name);
    return "";
  });
  return known;
}

/// The text of a block with its values.
std::string LessonText::shown(const TextBlock& block) const {
  std::string text = filled(block.text, values_);
  if (block.kind != Kind::claim) return text;
  const Claim& claim = claims_.at(block.name);
  return claim.before + text + claim.after;
}

void LessonText::print_known() {
  for (; printed_ < blocks_.size() && is_known(blocks_[printed_]); ++printed_)
    print(blocks_[printed_]);
}

void LessonText::print(const TextBlock& block) {
  const std::string text = without_links(shown(block));
  const bool goes_on =
      block.kind == last_ && block.kind != Kind::paragraph && block.kind != Kind::picture;
  if (block.kind != Kind::part && last_ != Kind::part && !goes_on) to_.say();
  if (block.kind == Kind::part && printed_ > 0) before_part();
  last_ = block.kind;
  switch (block.kind) {
    case Kind::part:
      ++parts_;
      return to_.print((parts_ == 1 ? "" : "\n") + std::to_string(parts_) + ". " +
                       to_.paint().bold(text) + "\n");
    case Kind::paragraph:
      return to_.say(text);
    case Kind::line:
      return to_.say("   " + text);
    case Kind::picture:
      return to_.print(text.substr(0, text.find_last_not_of('\n') + 1));  // an empty line follows
    case Kind::word:
      return to_.print_labelled("   new word: ", to_.paint().accent(text) + ". " + block.name);
    case Kind::claim:
      return to_.claim(claims_.at(block.name).holds, text);
  }
}

void LessonText::finish() {
  print_known();
  std::string missing, needless;
  std::map<std::string, int> asked;
  const auto ask_names_of = [&](const std::string& text) {
    with_names(text, [&](const std::string& name, const std::string&) {
      ++asked[name];
      if (!values_.contains(name)) missing += " {{" + name + "}}";
      return "";
    });
  };
  for (const Guess& guess : guesses_) {
    ask_names_of(guess.answer);
    for (const auto& [other, what] : guess.others) ask_names_of(what);
  }
  for (const TextBlock& block : blocks_) {
    ask_names_of(block.text);
    if (block.kind == Kind::claim && ++asked["[" + block.name] > 0 && !claims_.contains(block.name))
      missing += " [" + block.name + "]";
  }
  for (const auto& [name, value] : values_)
    if (!asked.contains(name)) needless += " {{" + name + "}}";
  for (const auto& [name, claim] : claims_)
    if (!asked.contains("[" + name)) needless += " [" + name + "]";
  if (!missing.empty()) refuse("the program gives no value to" + missing);
  if (!needless.empty()) refuse("the text does not ask for" + needless);
  for (const Guess& guess : guesses_) {
    const Lines& choices = guess.choices;
    const auto fits = [&](const std::string& text) {
      return choices.empty() ? !std::isnan(number_of(text))
                             : std::find(choices.begin(), choices.end(), text) != choices.end();
    };
    if (!fits(filled(guess.answer, values_)))
      refuse("the answer of a guess is a number or one of the choices: " +
             filled(guess.answer, values_));
    for (const auto& [other, what] : guess.others)
      if (other != "other" && !fits(other))
        refuse("another guess is a number, one of the choices or `other`: " + other);
  }
}

std::string LessonText::verdict(const Guess& guess, const std::string& given) const {
  std::string answer = filled(guess.answer, values_);
  if (given.empty()) return answer;
  if (is_guessed(guess, given, answer))
    return "You guessed " + given + ", and it is " + answer + ".";
  std::string meant;
  for (const auto& [other, what] : guess.others)
    if (is_guessed(guess, given, other) || (other == "other" && meant.empty()))
      meant = ": " + without_links(filled(what, values_));
  return "You guessed " + given + "; it is " + answer + (meant.empty() ? "." : meant);
}

std::string LessonText::json() const {
  using fledge::Json;
  const char* const kinds[] = {"part", "paragraph", "line", "picture", "word", "claim"};
  std::vector<Json> guesses, blocks, reading, trials;
  for (const Guess& guess : guesses_) {
    Json::Members others;
    for (const auto& [name, what] : guess.others) others.emplace_back(name, filled(what, values_));
    guesses.push_back(Json::object({{"label", guess.question},
                                    {"choices", guess.choices},
                                    {"answer", filled(guess.answer, values_)},
                                    {"others", Json::object(others)}}));
  }
  for (const TextBlock& block : blocks_) {
    const bool is_claim = block.kind == Kind::claim;
    const std::string text = is_claim ? without_links(shown(block)) : filled(block.text, values_);
    Json::Members members{{"kind", kinds[static_cast<int>(block.kind)]}, {"text", text}};
    if (is_claim) members.emplace_back("holds", claims_.at(block.name).holds);
    if (block.kind == Kind::word) members.emplace_back("meaning", block.name);
    blocks.push_back(Json::object(members));
  }
  for (const SourcePlace& place : reading_)
    reading.push_back(
        Json::object({{"file", place.file}, {"name", place.name}, {"what", place.what}}));
  if (!trial_.arguments.empty())
    trials.push_back(Json::object({{"command", command()}, {"what", trial_.what}}));
  const auto pointer = [](const Pointer& to, const char* name) {
    return to.name.empty() ? Json() : Json::object({{name, to.name}, {"what", to.what}});
  };
  return Json::object({{"name", name_},
                       {"title", title_},
                       {"question", question_},
                       {"prediction", prediction_},
                       {"guesses", guesses},
                       {"figure", pointer(figure_, "name")},
                       {"blocks", blocks},
                       {"exercise", pointer(exercise_, "number")},
                       {"reading", reading},
                       {"trials", trials}})
      .text();
}

}  // namespace support
