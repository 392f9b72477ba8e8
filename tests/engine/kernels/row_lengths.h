// Rows for the kernels that work row by row: lengths around those of vectors, and exact numbers.
#pragma once

#include <vector>

#include "tests/support/arrays.h"

namespace tests {

inline const std::vector<Dim> row_lengths = {1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 32, 64, 65, 300};

inline Array rounded(const std::vector<long double>& exact) {
  return Array({static_cast<Dim>(exact.size())}, std::vector<double>(exact.begin(), exact.end()));
}

}  // namespace tests
