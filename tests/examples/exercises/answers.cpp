// Answers from outside, for the program exercises_given. Each is the solution, unless a variable of
// the environment has its name: forgetting_row='0 0.5 0.5' gives a row, and ; ends a row of a matrix.
// What is not a number, such as a formula, is chosen from those below: gradient_of_score=1.
#include <array>
#include <cstdlib>
#include <functional>
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
Tensor chosen(const char* name, const std::vector<std::function<Tensor()>>& answers) {
  return answers.at(static_cast<std::size_t>(number(name, 0)))();
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

Row smallest_model() { return row("smallest_model", {7, 4, 0, 0.08}); }

// 19 to 24: 0 is the solution, and each other number a known mistake.
Node product(const Tape& tape, std::size_t a, std::size_t b) {
  const double x = tape[a].value, y = tape[b].value;
  return {x * y, {{a, chosen("product", {y, x, 1})}, {b, chosen("product", {x, y, 1})}}};
}

void pull_back(Tape& tape) {
  const double variant = number("pull_back", 0);
  tape.back().gradient = variant == 7 ? 2 : 1;
  for (std::size_t n = 0; n < tape.size() && variant != 1; ++n) {
    const std::size_t i = variant == 2 ? n : tape.size() - 1 - n;
    double passed = 0;
    for (const Edge& edge : tape[i].edges) {
      double& sum = tape[edge.input].gradient;
      const double gradient = variant == 6 && i == 1 ? 3 * tape[i].gradient / 2 : tape[i].gradient,
                   part = variant == 4   ? gradient
                          : variant == 5 ? edge.slope
                          : variant == 8 ? passed
                                         : gradient * edge.slope;
      sum = variant == 3 ? part : sum + part;
      passed = gradient * edge.slope;
    }
  }
}

Tensor gradient_of_a(const Tensor& A, const Tensor& B, const Tensor& dC) {
  const double variant = number("gradient_of_a", 0);
  if (variant == 1) return matmul(dC, B);
  if (variant == 2) return matmul(transpose(B), dC);
  if (variant == 3) return matmul(B, transpose(dC));
  return variant == 4 ? A : matmul(dC, transpose(B));
}

Tensor gradient_of_b(const Tensor& A, const Tensor&, const Tensor& dC) {
  const double variant = number("gradient_of_b", 0);
  if (variant == 1) return matmul(A, dC);
  if (variant == 2) return slice(A, 0, 1, 2);
  return variant == 3 ? matmul(slice(A, 0, 0, 1), slice(dC, 1, 0, 3)) : matmul(transpose(A), dC);
}

Tensor softmax_rule(const Tensor& y, const Tensor& dy) {
  const Tensor part = dy * y, mean = sum(part, {1}, true);
  return chosen("softmax_rule", {[&] { return y * (dy - mean); },       // 0: the solution
                                 [&] { return part; },                  // 1
                                 [&] { return part * (1 - y); },        // 2
                                 [&] { return y * (dy - sum(part)); },  // 3
                                 [&] { return y * (dy - sum(part, {0}, true)); },  // 4
                                 [&] { return y * (dy - sum(dy, {1}, true)); },    // 5
                                 [&] { return dy - mean; },                        // 6
                                 [&] { return y * (mean - dy); },                  // 7
                                 [&] { return 2 * y * (dy - mean); },              // 8
                                 [&] { return y * (dy - sum(part, {1})); }});      // 9
}

Attention attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  const double of_scores = number("scores", 0), of_weights = number("weights", 0),
               of_output = number("output", 0);
  const Tensor products = of_scores == 5 ? matmul(q, k) : matmul(q, transpose(k));
  const Tensor scores = of_scores == 1   ? products
                        : of_scores == 2 ? products / 4.0
                        : of_scores == 3 ? transpose(products) / 2.0
                        : of_scores == 4 ? products - products
                                         : products / 2.0;
  const Tensor weights = of_weights == 1   ? scores
                         : of_weights == 2 ? transpose(softmax(transpose(scores)))
                         : of_weights == 3 ? exp(scores)
                         : of_weights == 4 ? softmax(scores * 2.0)
                                           : softmax(scores);
  const Tensor output = of_output == 1   ? matmul(transpose(weights), v)
                        : of_output == 2 ? matmul(weights, k)
                        : of_output == 3 ? v
                                         : matmul(weights, v);
  return {scores, weights, output};
}

double is_seen(const std::vector<int>& sentence, std::size_t query, std::size_t key) {
  const bool same = sentence[query] == sentence[key];
  return chosen("is_seen", {key <= query && same ? 1. : 0., same ? 1. : 0., key <= query ? 1. : 0.,
                            key < query && same ? 1. : 0., key == query ? 1. : 0.,
                            key > query ? -INFINITY : 0, 2});
}

Tensor masked_weights(const Tensor& scores, const Tensor& seen) {
  const Tensor visible = where(seen.value(), scores, -INFINITY);
  const Tensor hidden_later = softmax(scores) * seen;
  return chosen("masked_weights",
                {[&] { return softmax(visible); },                            // 0: the solution
                 [&] { return hidden_later; },                                // 1
                 [&] { return softmax(scores * seen); },                      // 2
                 [&] { return softmax(where(seen.value(), scores, -8.0)); },  // 3
                 [&] { return softmax(scores); },                             // 4
                 [&] { return softmax(2 * visible); },                        // 5
                 [&] { return exp(visible); },                                // 6
                 [&] { return softmax(scores * seen + (1 - seen) * -INFINITY); },  // 7
                 [&] { return hidden_later / sum(hidden_later, {1}, true); }});    // 8
}

double training_step(const Tensor& W, const Tensor& x, const fledge::Indices& next, double rate) {
  const double variant = number("training_step", 0);
  const Tensor mean = cross_entropy(variant == 3 ? softmax(matmul(x, W)) : matmul(x, W), next);
  const Tensor loss = variant == 1 ? 3 * mean : variant == 2 ? -mean : mean;
  if (variant == 4) return loss.item();
  backward(loss);
  const double factor = variant == 5   ? -rate
                        : variant == 6 ? 1
                        : variant == 7 ? 2 * rate
                        : variant == 8 ? 20 * rate
                                       : rate;
  for (fledge::Dim i = 0; i < W.size(); ++i) W.write()[i] -= factor * W.grad()[i];
  if (variant != 9) W.zero_grad();
  if (variant == 10) backward(loss);
  return loss.item();
}

}  // namespace exercises
