// What a run says about a bug.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace planted {

/// How a program ended.
struct Ending {
  int status = -1;         // of its exit; -1 when a signal ended it
  bool timed_out = false;  // that signal said that its time was over
};

/// How many rows of `fledge gradcheck --json` say that a gradient is wrong, by oracle.
struct WrongRows {
  bool understood = false;
  int dual = 0, differences = 0;
};

namespace detail {

inline bool take(std::string_view& line, std::string_view word) {
  if (line.substr(0, word.size()) != word) return false;
  line.remove_prefix(word.size());
  return true;
}

}  // namespace detail

/// Reads one field a line. Understood is a list of objects that each name an oracle and then say
/// whether they are ok, as many for one oracle as for the other.
inline WrongRows read_rows(std::string_view json) {
  WrongRows rows;
  int balance = 0, count = 0, depth = 0;
  bool dual = false, named = false;
  while (!json.empty()) {
    std::string_view line = json.substr(0, json.find('\n'));
    json.remove_prefix(std::min(line.size() + 1, json.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line == "[" || line == "{") ++depth;
    if (line == "]" || line == "}" || line == "},") --depth;
    if (detail::take(line, "\"oracle\": ")) {
      if (named || (line != "\"dual\"," && line != "\"differences\",")) return rows;
      dual = line == "\"dual\",";
      named = true;
    } else if (detail::take(line, "\"ok\": ")) {
      const bool ok = detail::take(line, "true"), wrong = !ok && detail::take(line, "false");
      if (!named || (!ok && !wrong) || (line != "" && line != ",")) return rows;
      balance += dual ? 1 : -1;
      (dual ? rows.dual : rows.differences) += wrong ? 1 : 0;
      ++count;
      named = false;
    }
  }
  rows.understood = count > 0 && balance == 0 && depth == 0 && !named;
  return rows;
}

/// What an oracle says, as one word of the matrix: "-" when the bug lives.
struct Verdict {
  std::string word = "-";
  bool asked = true;
  bool killed() const { return asked && word != "-"; }
};

inline Verdict rows_verdict(const Ending& ending, const WrongRows& rows, int wrong) {
  if (ending.timed_out) return {"time"};
  const bool told = rows.understood && ending.status == (rows.dual + rows.differences > 0 ? 1 : 0);
  if (!told) return {"crash"};
  return {wrong > 0 ? std::to_string(wrong) : "-"};
}

inline Verdict run_verdict(const Ending& ending) {
  if (ending.timed_out) return {"time"};
  if (ending.status < 0) return {"crash"};
  return {ending.status == 0 ? "-" : "fails"};
}

}  // namespace planted
