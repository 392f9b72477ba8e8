// Attention exploration: what one query can fetch from a set of values, exactly.
//
// Works out note 001 (answers to a course assignment), its parts without chance: copying one value,
// taking a part out of a sum, averaging two values. Adds to lesson 8 the sizes: each effect stands
// beside the formula that predicts it. Key idea: weights are exponentials of scores, so what counts
// is the gap between two scores. Vectors are rows here and columns in the note, whose M s is s·M
// here with M transposed; and scores are not divided by sqrt(d), as in the note.
// Next: engine/ops/softmax.cpp, then lesson 10_noisy_keys.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/array_math.h"
#include "engine/ops.h"
#include "examples/lessons/lesson.h"
#include "examples/support/table.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

constexpr Dim n = 6, d = 6;  // how many keys and values there are, and their size

Tensor row(const Tensor& x, Dim i) { return slice(x, 0, i, i + 1); }
double length(const Tensor& x) { return std::sqrt(sum(x * x).item()); }
double number(const Tensor& x, Dim i) { return value_of(x.value()[i]); }
Tensor normal(const Shape& shape, Rng& rng) { return random_normal(shape, 0, 1, rng); }

/// Random rows of length 1, each at right angles to the others (Gram-Schmidt).
Tensor orthonormal(Dim rows, Rng& rng) {
  std::vector<Tensor> found;
  for (Dim i = 0; i < rows; ++i) {
    Tensor fresh = normal({1, d}, rng);
    for (const Tensor& other : found) fresh = fresh - sum(fresh * other) * other;
    found.push_back(fresh / length(fresh));
  }
  return concat(found, 0);
}

/// alpha = softmax(K q)   query (1, d)   keys (n, d)   alpha (1, n)
Tensor weights_of(const Tensor& query, const Tensor& keys) {
  return softmax(matmul(query, transpose(keys)));
}

/// Cells of a row, with four digits each.
std::vector<std::string> digits(const std::vector<double>& values) {
  std::vector<std::string> cells;
  for (const double value : values) cells.push_back(formatted("%.4g", value));
  cells[0] = "   " + cells[0];
  return cells;
}

void copying(Lesson& to) {
  to.part("A score far above the others copies one value");
  Rng rng(1);
  const Tensor keys = orthonormal(n, rng), values = normal({n, d}, rng), v = row(values, 0);
  const double apart = length((sum(values, {0}, true) - v) / (n - 1.0) - v);
  const double longest = std::sqrt(max(sum(values * values, {1})).item());
  const auto bound = [&](double gap) { return 2 * (n - 1) * std::exp(-gap) * longest; };
  double worst = 0;
  Table table({{"   gap"}, {"weight of v"}, {"|c - v|"}, {"formula"}, {"bound"}});
  for (const double gap : {0., 1., 2., 5., 10., 20.}) {
    const Tensor weights = weights_of(row(keys, 0) * gap, keys);
    const double error = length(matmul(weights, values) - v);
    const double r = (n - 1) * std::exp(-gap), formula = r / (1 + r) * apart;
    worst = std::max(worst, std::abs(error - formula));
    table.row(digits({gap, number(weights, 0), error, formula, bound(gap)}));
  }
  to.say("Six keys at right angles, q = gap k; c is the sum of weights times values.\n");
  to.show(table.text());
  to.claim(worst < 1e-14, "|c - v| = r/(1 + r) |mean of the others - v|, r = (n - 1) exp(-gap)");

  bool distribution = true;
  double nearest = 0;
  for (int draw = 0; draw < 1000; ++draw) {
    const Tensor query = normal({1, d}, rng) * 2.0, drawn = normal({n, d}, rng);
    const Tensor weights = weights_of(query, drawn);
    distribution = distribution && -max(-weights).item() >= 0 && max(weights).item() <= 1 &&
                   std::abs(sum(weights).item() - 1) < 1e-14;
    std::vector<double> scores = to_vector(matmul(query, transpose(drawn)).value());
    const Dim top = std::max_element(scores.begin(), scores.end()) - scores.begin();
    std::sort(scores.rbegin(), scores.rend());
    const double error = length(matmul(weights, values) - row(values, top));
    nearest = std::max(nearest, error / bound(scores[0] - scores[1]));
  }
  to.claim(distribution, "of 1000 random queries and keys: weights within 0 and 1 that sum to 1");
  to.claim(nearest <= 1, formatted("for all of them |c - v| <= 2 (n - 1) exp(-gap) max|v|; the "
                                   "largest share of this bound is %.2f",
                                   nearest));
}

void subspaces(Lesson& to) {
  to.part("A matrix takes v_a out of s = v_a + v_b");
  Rng rng(2);
  const Tensor basis = orthonormal(4, rng), A = slice(basis, 0, 0, 2), B = slice(basis, 0, 2, 4);
  const Tensor M = matmul(transpose(A), A), c = normal({1, 2}, rng), w = normal({1, 2}, rng);
  const Tensor v_a = matmul(c, A), s = v_a + matmul(w, B);
  double worst = 0;
  Table table({{"   b_1 leans to a_1 by"}, {"|M s - v_a|"}, {"formula"}});
  for (const double degrees : {0., 10., 30., 60.}) {
    const double angle = degrees * std::numbers::pi / 180;
    const Tensor leaning = row(B, 0) * std::cos(angle) + row(A, 0) * std::sin(angle);
    const Tensor v_b = matmul(w, concat({leaning, row(B, 1)}, 0));
    const double error = length(matmul(v_a + v_b, M) - v_a);
    const double formula = std::sin(angle) * std::abs(number(w, 0));
    worst = std::max(worst, std::abs(error - formula));
    table.row({formatted("   %.0f degrees", degrees), formatted("%.1e", error),
               formatted("%.1e", formula)});
  }
  to.say(
      "v_a = A c and v_b = B w lie in two planes. The columns of A and of B are orthonormal, and "
      "M = A A^T.\n");
  to.show(table.text());
  to.claim(length(matmul(s, M) - v_a) < 1e-14,
           "if the planes are at right angles, M s is v_a, to rounding");
  to.claim(worst < 1e-14, "else M also keeps the part of v_b in the plane of A: sin(angle) |w_1|");
  const Tensor by_half = matmul(s, transpose(A));
  to.claim(by_half.size() == 2 && length(by_half - c) < 1e-14,
           "A^T s is c, to rounding: the coordinates of v_a, 2 numbers");
  to.claim(length(matmul(by_half, A) - v_a) < 1e-14,
           "A c is v_a, to rounding: so M = A A^T, as the note finds");
}

void averaging(Lesson& to) {
  to.part("A query between two keys averages their values");
  Rng rng(3);
  const Tensor keys = orthonormal(n, rng), values = normal({n, d}, rng);
  const Tensor middle = (row(values, 0) + row(values, 1)) / 2.0;
  const auto formula = [](double beta) { return std::exp(beta) / (n - 2 + 2 * std::exp(beta)); };
  double worst = 0, last = 0;
  Table table({{"   beta"}, {"alpha_a"}, {"alpha_b"}, {"formula"}, {"|c - mean|"}});
  for (const double beta : {0., 1., 2., 5., 10., 20.}) {
    const Tensor weights = weights_of((row(keys, 0) + row(keys, 1)) * beta, keys);
    const double at_a = number(weights, 0), at_b = number(weights, 1), expected = formula(beta);
    worst = std::max({worst, std::abs(at_a - expected), std::abs(at_b - expected)});
    last = length(matmul(weights, values) - middle);
    table.row(digits({beta, at_a, at_b, expected, last}));
  }
  to.say("q = beta (k_a + k_b); the mean is that of v_a and v_b.\n");
  to.show(table.text());
  to.claim(worst < 1e-14, "both weights are exp(beta) / ((n - 2) + 2 exp(beta))");
  to.claim(last < 1e-7, "at beta = 20 c is (v_a + v_b) / 2, to seven places");
  to.slip("001", "exp(beta) / ((alpha-2) + exp(beta) 2)",
          formatted("exp(beta) / ((n - 2) + 2 exp(beta)): %.3f at beta = 1, n = 6", formula(1)),
          "n - 2 other keys have a score of 0: each adds exp(0) = 1; alpha may be a misread n");
}

void lesson(Lesson& to) {
  copying(to);
  subspaces(to);
  averaging(to);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv, "09_attention_exploration",
      "What one query can fetch from a set of values, each effect beside its formula.",
      fledge::lesson);
}
