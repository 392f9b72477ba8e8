// What a run says about a bug, as one word of the table: "-" when it does not see the bug, "spared"
// when it was not asked.
#pragma once

#include <cstdio>
#include <string>

namespace planted {

/// How a program ended.
struct Ending {
  int status = -1;         // of its exit; -1 when a signal ended it
  bool timed_out = false;  // its time was over
};

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
