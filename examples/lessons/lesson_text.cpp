#include "examples/lessons/lesson_text.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "engine/base/errors.h"

namespace support {

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

}  // namespace

LessonText::LessonText(std::string name, const std::string& markdown, const std::string& glossary,
                       Lesson& to)
    : name_(std::move(name)), glossary_(meanings_of(glossary)), to_(to) {
  for (const Lines& lines : blocks_of(markdown)) read_block(lines);
  if (title_.empty() || question_.empty() || prediction_.empty() || reading_.empty())
    refuse("a title, a question, a prediction and places to read in the code must be there");
}

void LessonText::refuse(const std::string& what) const {
  throw fledge::ValueError(name_ + ".md: " + what);
}

const Trial& LessonText::trial(const std::string& option) const {
  for (const Trial& trial : trials_)
    if (trial.option == option) return trial;
  refuse("nothing to try has the option " + option);
}

void LessonText::begin_trial(const std::string& option) {
  blocks_ = trial(option).blocks;
  printed_ = 0;
  values_.clear();
  checks_.clear();
}

void LessonText::read_block(const Lines& lines) {
  const std::string& first = lines[0];
  std::string text = joined(lines), before;
  const auto add = [&](Kind kind, std::string shown, std::string named = "") {
    (trials_.empty() ? blocks_ : trials_.back().blocks)
        .push_back({kind, std::move(shown), std::move(named)});
  };
  if (first == "## Read in the code") {
    reads_places_ = true;
  } else if (first == "## Try") {
    reads_trials_ = true;
  } else if (reads_trials_ && (trials_.empty() || begins(first, "- `"))) {
    Trial trial;
    if (!take_until(text, "- `", before) || !take_until(text, "`: ", trial.value))
      refuse("what to try is written - `--option value`: what. This is not: " + text);
    if (begins(trial.value, "--") && !take_until(trial.value, " ", trial.option))
      refuse("a value is missing in " + trial.value);
    trial.what = text;
    trials_.push_back(trial);
  } else if (reads_places_ && !reads_trials_) {
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
  } else if (begins(first, "    ")) {
    add(Kind::line, first.substr(4));
  } else if (begins(first, "- [")) {
    if (!take_until(text, "] ", before))
      refuse("a claim is written - [name] what. This is not: " + text);
    add(Kind::claim, text, before.substr(3));
  } else if (begins(first, "> ")) {
    add(Kind::slip, text.substr(2));
  } else if (begins(first, "**") && text.ends_with("**") && text.size() > 4) {
    const std::string term = text.substr(2, text.size() - 4);
    if (!glossary_.contains(term)) refuse("GLOSSARY.md has no row for the new word " + term);
    add(Kind::word, term, glossary_.at(term));
  } else if (begins(text, "{{") && text.find("}}") == text.size() - 2) {
    add(Kind::picture, text, text.substr(2, text.size() - 4));
  } else if (begins(first, "#") || begins(first, "|") || begins(first, "```")) {
    refuse("lesson_text.h lists what may begin a block. This may not: " + text);
  } else {
    add(Kind::paragraph, text);
  }
}

void LessonText::set(const std::string& name, TextValue value) {
  if (!values_.emplace(name, std::move(value)).second) refuse("{{" + name + "}} has two values");
  print_known();
}

void LessonText::keep_check(const std::string& name, Check check) {
  if (!checks_.emplace(name, std::move(check)).second) refuse("[" + name + "] is claimed twice");
  print_known();
}

void LessonText::claim(const std::string& name, bool holds) {
  keep_check(name, [this, holds](const std::string& what) { to_.claim(holds, what); });
}

void LessonText::claim_near(const std::string& name, double value, double expected,
                            double tolerance) {
  keep_check(name, [=, this](const std::string& what) {
    to_.claim_near(value, expected, tolerance, what);
  });
}

void LessonText::claim_rate(const std::string& name, int count, int runs, int least) {
  keep_check(name,
             [=, this](const std::string& what) { to_.claim_rate(count, runs, least, what); });
}

bool LessonText::is_known(const TextBlock& block) const {
  bool known = block.kind != Kind::claim || checks_.contains(block.name);
  with_names(block.text, [&](const std::string& name, const std::string&) {
    known = known && values_.contains(name);
    return "";
  });
  return known;
}

std::string LessonText::filled(const std::string& text) const {
  return with_names(text, [&](const std::string& name, const std::string& format) {
    return values_.at(name).as_text(format);
  });
}

void LessonText::print_known() {
  for (; printed_ < blocks_.size() && is_known(blocks_[printed_]); ++printed_)
    print(blocks_[printed_]);
}

void LessonText::print(const TextBlock& block) {
  const std::string text = filled(block.text);
  const bool goes_on =
      block.kind == last_ && block.kind != Kind::paragraph && block.kind != Kind::picture;
  if (block.kind != Kind::part && last_ != Kind::part && !goes_on) to_.say();
  last_ = block.kind;
  switch (block.kind) {
    case Kind::part:
      return to_.part(text);
    case Kind::paragraph:
      return to_.say(text);
    case Kind::line:
      return to_.say("   " + text);
    case Kind::picture:
      return to_.show(text.substr(0, text.find_last_not_of('\n') + 1));  // an empty line follows
    case Kind::word:
      return to_.define(text, block.name);
    case Kind::claim:
      return checks_.at(block.name)(text);
    case Kind::slip: {
      std::string rest = text, note, says, comes_out;
      if (!take_until(rest, ": ", note) || !take_until(rest, " > comes out: ", says) ||
          !take_until(rest, " > why: ", comes_out))
        refuse(
            "a slip has three lines, of which the second begins with > comes out: and the third "
            "with > why: This has not: " +
            text);
      return to_.slip(note, says, comes_out, rest);
    }
  }
}

void LessonText::finish() {
  print_known();
  std::string missing, needless;
  std::map<std::string, int> asked;
  for (const TextBlock& block : blocks_) {
    with_names(block.text, [&](const std::string& name, const std::string&) {
      ++asked[name];
      if (!values_.contains(name)) missing += " {{" + name + "}}";
      return "";
    });
    if (block.kind == Kind::claim && ++asked["[" + block.name] > 0 && !checks_.contains(block.name))
      missing += " [" + block.name + "]";
  }
  for (const auto& [name, value] : values_)
    if (!asked.contains(name)) needless += " {{" + name + "}}";
  for (const auto& [name, check] : checks_)
    if (!asked.contains("[" + name)) needless += " [" + name + "]";
  if (!missing.empty()) refuse("the program gives no value to" + missing);
  if (!needless.empty()) refuse("the text does not ask for" + needless);
}

}  // namespace support
