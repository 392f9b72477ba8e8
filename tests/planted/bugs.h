// The planted bugs as bugs.txt has them, which also says how a block is written; how one is planted
// in a text; and what a run says about it. All that only reads texts: programs/planted_table tests
// it.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace planted {

struct Bug {
  std::string name, file, seen;
  std::string find, replace;
  std::string gradient;  // "none": the oracles and tests_dual are not asked
  std::string
      callers;       // the sources to compile again, between white space; "": all that include it
  std::string same;  // why no program can tell the two texts apart; such a bug is not planted
};

/// The blocks of a text, in order. Of a field that has several lines, "\n" separates them. Throws
/// std::runtime_error at a line that begins with no field's name or comes before the first block.
inline std::vector<Bug> read_bugs(const std::string& text) {
  static const std::map<std::string, std::string Bug::*> fields = {
      {"bug", &Bug::name},        {"in", &Bug::file},   {"seen", &Bug::seen},
      {"-", &Bug::find},          {"+", &Bug::replace}, {"gradient", &Bug::gradient},
      {"callers", &Bug::callers}, {"same", &Bug::same}};
  std::vector<Bug> bugs;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = std::min(line.find(' '), line.size());
    const auto field = fields.find(line.substr(0, space));
    if (field != fields.end() && field->first == "bug") bugs.emplace_back();
    if (field == fields.end() || bugs.empty())
      throw std::runtime_error("bugs.txt, line " + std::to_string(number) +
                               ": neither a field of a bug nor a comment: " + line);
    std::string& value = bugs.back().*(field->second);
    if (!value.empty()) value += '\n';
    value += line.substr(std::min(space + 1, line.size()));
  }
  return bugs;
}

/// A text without its white space, which does not count, so that a new layout of a source leaves
/// the table as it is; and where each letter stood.
struct Dense {
  std::string letters;
  std::vector<std::size_t> places;

  explicit Dense(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (std::isspace(static_cast<unsigned char>(text[i])) != 0) continue;
      letters += text[i];
      places.push_back(i);
    }
  }
};

/// How often `find` stands in `text`; they may not overlap.
inline std::size_t occurrences(std::string_view text, std::string_view find) {
  const std::string source = Dense(text).letters, wanted = Dense(find).letters;
  if (wanted.empty()) return 0;
  std::size_t count = 0, at = source.find(wanted);
  for (; at != std::string::npos; at = source.find(wanted, at + wanted.size())) ++count;
  return count;
}

/// `text` with the first `find` replaced; the text itself when there is none.
inline std::string patched(std::string_view text, std::string_view find, std::string_view replace) {
  const Dense source(text), wanted(find);
  const std::size_t at = source.letters.find(wanted.letters);
  if (wanted.letters.empty() || at == std::string::npos) return std::string(text);
  const std::size_t begin = source.places[at];
  const std::size_t last = source.places[at + wanted.letters.size() - 1];
  return std::string(text.substr(0, begin)).append(replace).append(text.substr(last + 1));
}

/// How a program ended.
struct Ending {
  int status = -1;         // of its exit; -1 when a signal ended it
  bool timed_out = false;  // its time was over
};

/// A verdict is one word of the table: "-" when the bug is not seen, "spared" when nobody was
/// asked.
inline bool is_seen(const std::string& verdict) { return verdict != "-" && verdict != "spared"; }

struct OracleVerdicts {
  std::string dual, differences;
};

/// Of the program planted_oracles, whose last line counts the wrong gradients of each oracle.
inline OracleVerdicts oracle_verdicts(const Ending& ending, const std::string& output) {
  if (ending.timed_out) return {"time", "time"};
  const std::size_t last = output.rfind("wrong: dual ");
  int dual = 0, differences = 0;
  const bool is_whole = last != output.npos && output.ends_with('\n') &&
                        std::sscanf(output.c_str() + last, "wrong: dual %d, differences %d", &dual,
                                    &differences) == 2;
  if (!is_whole || ending.status != (dual + differences > 0 ? 1 : 0)) return {"crash", "crash"};
  const auto word = [](int wrong) { return wrong > 0 ? std::to_string(wrong) : "-"; };
  return {word(dual), word(differences)};
}

inline std::string run_verdict(const Ending& ending) {
  if (ending.timed_out) return "time";
  if (ending.status < 0) return "crash";
  return ending.status == 0 ? "-" : "fails";
}

}  // namespace planted
