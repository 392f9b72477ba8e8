// Short names for what lessons do with small tensors.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/ops.h"
#include "examples/support/text.h"

namespace fledge {

/// Row i of a matrix, (1, n).
inline Tensor row(const Tensor& matrix, Dim i) { return slice(matrix, 0, i, i + 1); }
/// All numbers, row by row.
inline std::vector<double> numbers(const Tensor& x) { return to_vector(x.value()); }
/// The numbers in this format, one behind the other; -0 as 0.
inline std::string text_of(const Tensor& x, const char* format = "%6.2f") {
  std::string text;
  for (const double number : numbers(x)) text += support::formatted(format, number + 0.0);
  return text;
}
/// a.b, of two vectors of one shape.
inline double dot(const Tensor& a, const Tensor& b) { return sum(a * b).item(); }
/// The largest number, without its sign.
inline double largest(const Tensor& x) { return std::max(max(x).item(), max(-x).item()); }
/// The largest difference between two numbers at the same place.
inline double farthest(const Tensor& a, const Tensor& b) { return largest(a - b); }

}  // namespace fledge
