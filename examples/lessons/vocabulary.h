// The words of a lesson's source: its text and tables, ops and gradients, and short names for what
// lessons do with small tensors, with training and with seeds.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <sstream>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/run_main.h"

namespace fledge {

/// Row i of a matrix, (1, n).
inline Tensor row(const Tensor& matrix, Dim i) { return slice(matrix, 0, i, i + 1); }
/// All numbers, row by row.
inline std::vector<double> numbers(const Tensor& x) { return to_vector(x.value()); }
/// Number i, row by row.
inline double number(const Tensor& x, Dim i) { return value_of(x.value()[i]); }
/// The numbers in this format, one behind the other; -0 as 0.
inline std::string text_of(const Tensor& x, const char* format = "%6.2f") {
  std::string text;
  for (const double number : numbers(x)) text += support::formatted(format, number + 0.0);
  return text;
}

/// a.b, of two vectors of one shape.
inline double dot(const Tensor& a, const Tensor& b) { return sum(a * b).item(); }
inline double length(const Tensor& x) { return std::sqrt(dot(x, x)); }
/// a.b over both lengths.
inline double cosine(const Tensor& a, const Tensor& b) {
  return sum(cosine_similarity(a, b)).item();
}
/// The largest number, without its sign.
inline double largest(const Tensor& x) { return std::max(max(x).item(), max(-x).item()); }
/// The largest difference between two numbers at the same place; NaN if one of them is.
inline double farthest(const Tensor& a, const Tensor& b) { return largest(a - b); }

/// The words of a text, which blanks separate.
inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// The identity matrix (n, n).
inline Tensor identity(Dim n) {
  Array ones = Array::zeros({n, n});
  for (Dim i = 0; i < n; ++i) ones.write()[i * n + i] = 1;
  return ones;
}
/// Random numbers with the mean 0 and the standard deviation 1.
inline Array normal(const Shape& shape, Rng& rng) { return random_normal(shape, 0, 1, rng); }

/// v1, v2 and v3 of note 000: 'birds', 'sometimes' and 'walk', a vector in each row.
inline Tensor vectors_of_note_000() {
  return Array({3, 3}, {0.1, 0.2, 0.3, -0.8, 0.3, -0.1, 0.5, -0.1, -0.4});
}

/// Steps of an optimiser that make a loss smaller. Returns the lowest loss of those before a step.
template <class Optimiser, class Loss>
double minimise(Optimiser optimiser, int steps, Loss loss) {
  double lowest = infinity;
  for (int step = 0; step < steps; ++step) {
    optimiser.zero_grad();
    const Tensor now = loss();
    backward(now);
    optimiser.step();
    lowest = std::min(lowest, now.item());
  }
  return lowest;
}

inline double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
/// The number in the middle; of two, their mean.
inline double median_of(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}
/// For how many of these it holds.
template <class Range, class Holds>
int count_of(const Range& all, Holds holds) {
  return static_cast<int>(std::count_if(all.begin(), all.end(), holds));
}
/// For how many of the seeds 1 … seeds it holds.
template <class Holds>
int count_seeds(int seeds, Holds holds) {
  int count = 0;
  for (int seed = 1; seed <= seeds; ++seed)
    count += holds(static_cast<std::uint64_t>(seed)) ? 1 : 0;
  return count;
}

}  // namespace fledge

namespace fledge::lessons {

using support::formatted, support::LessonProgram, support::LessonText, support::pad_right,
    support::percent, support::refuse_usage, support::Table, support::thousands,
    support::with_advice, support::wrapped;

}  // namespace fledge::lessons
