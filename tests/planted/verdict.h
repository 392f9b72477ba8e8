// What a run says about a bug.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>

namespace planted {

/// How a program ended.
struct Ending {
  int status = -1;         // of its exit; -1 when a signal ended it
  bool timed_out = false;  // that signal said that its time was over
};

/// How many rows of the program planted_oracles call a gradient wrong, by oracle.
struct WrongRows {
  bool understood = false;
  int dual = 0, differences = 0;
};

/// Reads lines such as "dual ok softmax" and "differences wrong softmax"; the last line, "240 rows",
/// counts them. Understood if the count is right and both oracles have as many rows. Other lines are
/// skipped.
inline WrongRows read_rows(const std::string& text) {
  WrongRows rows;
  int dual = 0, differences = 0, announced = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    const bool wrong = second == "wrong";
    if (second == "rows") announced = std::atoi(first.c_str());
    if (!wrong && second != "ok") continue;
    if (first == "dual") ++dual, rows.dual += wrong;
    if (first == "differences") ++differences, rows.differences += wrong;
  }
  rows.understood = dual > 0 && dual == differences && announced == dual + differences;
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
