// Answers from outside, for the program exercises_given. Each is the solution, unless a variable of
// the environment has its name: forgetting_row='0 0.5 0.5' gives a row, and ; ends a row of a matrix.
// What is not a number, such as a formula, is chosen from those below: gradient_of_score=1.
#include <array>
#include <cstdlib>
#include <sstream>
#include <string>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/exercises/exercise.h"

namespace exercises {

namespace {

Matrix given(const char* name, const Matrix& solution) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return solution;
  Matrix rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line, ';');) {
    std::istringstream words(line);
    rows.emplace_back();
    for (std::string word; words >> word;)
      rows.back().push_back(std::strtod(word.c_str(), nullptr));
  }
  return rows;
}

Row row(const char* name, const Row& solution) { return given(name, Matrix{solution})[0]; }
double number(const char* name, double solution) { return row(name, {solution})[0]; }

/// The solution, which is the first, or the one with the number that the variable has.
double chosen(const char* name, const Row& answers) {
  return answers.at(static_cast<std::size_t>(number(name, 0)));
}

}  // namespace

Row forgetting_row() { return row("forgetting_row", {0.09 / 0.23, 0, 0.14 / 0.23}); }

Row nearest_row() { return row("nearest_row", {1, 0, 0}); }
double largest_product() { return number("largest_product", 0.14); }

double product_with_sometimes() { return number("product_with_sometimes", -0.112); }
Row control_row() { return row("control_row", {0, 1, 0}); }

double gradient_of_score(const ScoredWord& word) {
  const double a = word.weight, apart = word.product - word.mixture;
  return chosen("gradient_of_score", {a * apart, a * word.product, apart, -a * apart,
                                      a * (1 - a) * word.product, a * apart * apart});
}

Row copying_query() { return row("copying_query", {10, -10, 10, -10}); }
Row averaging_query() { return row("averaging_query", {10, 0, 0, 10}); }
Row three_to_one_query() {
  return along_keys(row("three_to_one_query", {10 + std::log(3.0), 10, 0, 0}));
}

double deviation_of_key(double alpha) {
  const double d = std::sqrt(alpha);
  return chosen("deviation_of_key", {d, alpha, alpha / 2, -d});
}

Matrix bird_query_matrix() { return given("bird_query_matrix", {{5}, {0}, {0}, {0}}); }
Matrix bird_key_matrix() { return given("bird_key_matrix", {{0}, {0}, {0}, {1}}); }

double is_hidden(int row, int column) {
  const double later = row > column ? 1 : 0;
  return chosen("is_hidden", {later, row < column ? 1. : 0., row >= column ? 1. : 0., 2 * later,
                              row > column ? -INFINITY : 0, row > column ? NAN : 0, 0});
}

Row same_vector_of_bites() { return row("same_vector_of_bites", {1, 1, 0, 0, 1}); }

Matrix plumbing_query_matrix() {
  return given("plumbing_query_matrix", {{0, 0, 0, 0}, {0, 0, 0, 0}, {2, 0, 0, 0}});
}
Matrix plumbing_key_matrix() {
  return given("plumbing_key_matrix",
               {{std::log(11.0), 0, 0, 0}, {std::log(8.0), 0, 0, 0}, {0, 0, 0, 0}});
}
Matrix plumbing_value_matrix() {
  return given("plumbing_value_matrix", {{2, 0, 0}, {0, 1, 0}, {0, 0, 0}});
}

Matrix game_query_matrix() { return given("game_query_matrix", {{5, 0, 0}, {0, 5, 0}, {0, 0, 5}}); }
Matrix game_key_matrix() { return given("game_key_matrix", {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}); }

double smallest_head_size() { return number("smallest_head_size", 2); }
Matrix table_queries() { return given("table_queries", {{1, 0}, {0, 1}, {1, 1}, {2, -1}}); }
Matrix table_keys() { return given("table_keys", {{1, 2}, {0, 1}, {3, 0}, {1, 1}}); }

double wrong_line() { return number("wrong_line", 2); }

/// sharpened_weights=1 leaves the rule as it is, 2 adds along the wrong axis, 3 changes the value of
/// the op, and 4 gives a gradient of another shape.
fledge::Tensor sharpened_weights(const fledge::Tensor& s, double beta) {
  using fledge::Array, fledge::Real;
  const double variant = number("sharpened_weights", 0);
  const Real factor(variant == 3 ? 1 : beta);
  const Array y = softmax(s.value() * factor).value();
  return record("sharpened_weights", y, wrt(s, [=](const Array& dy) {
                  const Array mean = variant == 1   ? sum_over(dy * y, std::array{0, 1})
                                     : variant == 2 ? sum_over(dy * y, std::array{0})
                                                    : sum_over(dy * y, std::array{1});
                  return variant == 4 ? mean : y * (dy - mean) * factor;
                }));
}

Row card_answers() { return row("card_answers", {SLIP, RIGHT, SLIP, RIGHT, SLIP, RIGHT}); }
Row card_numbers() { return row("card_numbers", {0.075, 1 / (1 + std::exp(-4.0))}); }

}  // namespace exercises
