// What fledge gradcheck --json says, from a program of half the size: bugs are built 200 times.
#include <algorithm>
#include <cstdio>

#include "examples/fledge/check_rows_json.h"

namespace fledge64 {
std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request);
}
namespace fledge_dual {
std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request);
}

int main() {
  using namespace fledge;
  std::vector<report::CheckRow> rows = fledge_dual::check_gradients({"", 1});
  const std::vector<report::CheckRow> differences = fledge64::check_gradients({"", 1});
  rows.insert(rows.end(), differences.begin(), differences.end());
  std::printf("%s\n", fledge::as_json(rows).c_str());
  return std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.ok; }) ? 0 : 1;
}
