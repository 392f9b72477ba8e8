// The verdicts of both oracles on all gradients, from a program of half the size of fledge: it is
// built 200 times. One line for each row, such as "dual ok softmax", and at the end the number of rows.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "examples/fledge/check_row.h"

namespace fledge_dual {
std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request);
}

int main() {
  const std::vector<report::CheckRow> rows = fledge_dual::check_gradients({{}, 1});
  for (const report::CheckRow& row : rows)
    std::printf("%s %s %s\n", row.oracle.c_str(), row.ok ? "ok" : "wrong", row.name.c_str());
  std::printf("%zu rows\n", rows.size());
  return std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.ok; }) ? 0 : 1;
}
