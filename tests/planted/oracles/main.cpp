// The verdicts of both oracles on all gradients, from a program of half the size of fledge: it is
// built 200 times. Prints the wrong ones, and at the end how many they are by each oracle.
#include <cstdio>
#include <map>
#include <vector>

#include "examples/fledge/check_row.h"

namespace fledge_dual {
std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request);
}

int main() {
  std::map<std::string, int> right, wrong;
  for (const report::CheckRow& row : fledge_dual::check_gradients({{}, 1})) {
    ++(row.ok ? right : wrong)[row.oracle];
    if (!row.ok) std::printf("%s: %s\n", row.oracle.c_str(), row.name.c_str());
  }
  const int dual = right["dual"] + wrong["dual"];
  if (dual == 0 || dual != right["differences"] + wrong["differences"]) return 2;
  std::printf("wrong: dual %d, differences %d\n", wrong["dual"], wrong["differences"]);
  return wrong["dual"] + wrong["differences"] > 0 ? 1 : 0;
}
