// The verdicts of both oracles on all gradients, from a program of half the size of fledge: it is
// built 200 times. Prints the wrong ones, and at the end how many they are by each oracle.
#include <cstdio>

#include "examples/fledge/gradients/gradients.h"

int main() {
  int dual = 0, differences = 0, checked = 0;  // wrong rows
  for (const report::CheckRow& row : fledge_dual::check_gradients({}, 1)) {
    ++checked;
    dual += !row.dual.ok;
    differences += !row.differences.ok;
    for (const auto& [oracle, error, ok] : {row.dual, row.differences})
      if (!ok) std::printf("%s: %s\n", oracle, row.name.c_str());
  }
  if (checked == 0) return 2;
  std::printf("wrong: dual %d, differences %d\n", dual, differences);
  return dual + differences > 0 ? 1 : 0;
}
