// What one query can fetch from a set of values: a copy, a mean, and a part of a sum.
//
// Works out note 001, 001.1 to 001.10: each effect stands beside the formula that predicts it. Key
// idea: weights are exponentials of scores, so the gap between two scores decides. Vectors are rows
// here and columns in the note: its M s is s·M here with M transposed. As in the note, scores are not
// divided by sqrt(d).
// Next: engine/ops/softmax.cpp, then 12_noisy_keys.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/array_math.h"
#include "engine/ops.h"
#include "examples/lessons/lesson_page.h"
#include "examples/lessons/tensors.h"
#include "examples/support/table.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

constexpr Dim n = 6, d = 6;  // the number of keys and values, and of the numbers of each

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

void copying(Lesson& to) {
  to.part("To copy: one score far above the others");
  to.define("orthogonal", "At right angles: the dot product is 0.");
  to.define("orthonormal", "At right angles to each other, and each of length 1.");
  to.say(
      "\nSix keys k_1 to k_6 are orthonormal, so k_1.k_1 = 1 and k_1.k_2 = 0. As in note 001, "
      "which this lesson follows, scores are not divided by sqrt(d). The query is q = g k_1, where "
      "g is a number. Then the score of the first key is q.k_1 = g, and the five others are 0. So "
      "g is the gap between the scores. The softmax makes\n   weight of v_1 = exp(g) / (exp(g) + "
      "5)\nbecause exp(0) = 1. The result of attention is c, the weighted sum of the six values. A "
      "perfect copy would be c = v_1. The third column is the distance between the two, |c - "
      "v_1|.\n");
  Rng rng(1);
  const Tensor keys = orthonormal(n, rng), values = normal({n, d}, rng), v = row(values, 0);
  const double apart = length((sum(values, {0}, true) - v) / (n - 1.0) - v);
  double worst = 0;
  Table table = Table::of_numbers({"   gap g", "weight of v_1", "|c - v_1|", "formula"});
  for (const double gap : {0., 1., 2., 5., 10., 20.}) {
    const Tensor weights = weights_of(row(keys, 0) * gap, keys);
    const double error = length(matmul(weights, values) - v);
    const double r = (n - 1) * std::exp(-gap), formula = r / (1 + r) * apart;
    worst = std::max(worst, std::abs(error - formula));
    table.row({formatted("   %.0f", gap), formatted("%.6f", number(weights, 0)),
               formatted("%.6f", error), formatted("%.6f", formula)});
  }
  to.show(table.text());
  to.say(
      "At a gap of 0 all weights are an even split, 1/6. At 10 the weight is 1.000 to three "
      "digits. If you predicted 10, you are right. A copy is never perfect, because exp of a score "
      "is never 0. Only a masked word has a weight of exactly 0.\nThe formula: the five other "
      "values together have the weight 5 / (exp(g) + 5). Divide both parts of the fraction by "
      "exp(g): it is r/(1 + r), with r = 5 exp(-g). So the distance is r/(1 + r) times the "
      "distance between v_1 and the mean of the others.\n");
  to.claim(worst < 1e-14, "the distance is that of the formula, for all six gaps");
  bool distribution = true, copied = true;
  for (int draw = 0; draw < 1000; ++draw) {
    const Tensor query = normal({1, d}, rng) * 2.0, drawn = normal({n, d}, rng);
    const Tensor weights = weights_of(query, drawn);
    distribution = distribution && -max(-weights).item() >= 0 && max(weights).item() <= 1 &&
                   std::abs(sum(weights).item() - 1) < 1e-14;
    std::vector<double> scores = to_vector(matmul(query, transpose(drawn)).value());
    const Dim top = std::max_element(scores.begin(), scores.end()) - scores.begin();
    std::sort(scores.rbegin(), scores.rend());
    copied = copied && 1 - number(weights, top) <= (n - 1) * std::exp(scores[1] - scores[0]);
  }
  to.claim(distribution,
           "1000 random queries and keys: all weights are from 0 to 1 and add up to 1");
  to.claim(
      copied,
      "for all 1000, the weights but the largest add up to at most 5 exp(-gap); the gap is the "
      "largest score minus the second");
}

void averaging(Lesson& to) {
  to.part("To average: a query between two keys");
  to.say(
      "Now the query is q = beta (k_a + k_b), where beta is a number. The score of key a is beta "
      "k_a.k_a + beta k_b.k_a = beta + 0. The score of key b is beta too, and the four others are "
      "0. So both weights are\n   exp(beta) / (4 + 2 exp(beta))\nand they come near 1/2. Then c "
      "comes near (v_a + v_b) / 2, the mean of the two values. The last column is its distance "
      "from this mean.\n");
  Rng rng(3);
  const Tensor keys = orthonormal(n, rng), values = normal({n, d}, rng);
  const Tensor middle = (row(values, 0) + row(values, 1)) / 2.0;
  const auto formula = [](double beta) { return std::exp(beta) / (n - 2 + 2 * std::exp(beta)); };
  double worst = 0, last = 0;
  Table table =
      Table::of_numbers({"   beta", "weight of v_a", "weight of v_b", "formula", "distance"});
  for (const double beta : {0., 1., 2., 5., 10., 20.}) {
    const Tensor weights = weights_of((row(keys, 0) + row(keys, 1)) * beta, keys);
    const double at_a = number(weights, 0), at_b = number(weights, 1), expected = formula(beta);
    worst = std::max({worst, std::abs(at_a - expected), std::abs(at_b - expected)});
    last = length(matmul(weights, values) - middle);
    table.row({formatted("   %.0f", beta), formatted("%.6f", at_a), formatted("%.6f", at_b),
               formatted("%.6f", expected), formatted("%.6f", last)});
  }
  to.show(table.text());
  to.say(
      "Other shares are possible too. If the score of a is larger than that of b by ln 3 = 1.0986, "
      "the weight of a is 3 times the weight of b, because exp(ln 3) = 3. The query for this is q "
      "= (beta + ln 3) k_a + beta k_b.\n");
  const double beta = 20;
  const Tensor shares =
      weights_of(row(keys, 0) * (beta + std::log(3.0)) + row(keys, 1) * beta, keys);
  to.claim(worst < 1e-14, "both weights are exp(beta) / (4 + 2 exp(beta)), for all six beta");
  to.claim(last < 1e-7, "at beta = 20 the distance from the mean is below 1e-7");
  to.claim_near(number(shares, 0) / number(shares, 1), 3, 1e-12,
                "with ln 3 the weight of a, divided by the weight of b");
  to.slip(
      "001", "exp(beta) / ((alpha-2) + exp(beta) 2)",
      formatted("exp(beta) / ((n - 2) + 2 exp(beta)): %.3f at beta = 1, n = 6", formula(1)),
      "n - 2 other keys have a score of 0: each adds exp(0) = 1; the note has alpha where n must "
      "stand");
}

void take_out(Lesson& to) {
  to.part("To take one part out of a sum");
  to.define(
      "subspace",
      "All vectors that can be made from some given vectors, by multiplying them by numbers and "
      "adding; two vectors give a plane through 0.");
  to.say(
      "\nAttention adds values up: s = v_a + v_b. Can v_a be found in the sum again? Yes, if v_a "
      "always lies in one subspace and v_b in another, and the two are at right angles. An "
      "example: v_a = (3, 4, 0, 0) and v_b = (0, 0, 1, 2). Then s = (3, 4, 1, 2). A matrix that "
      "keeps the first two numbers and sets the others to 0 finds v_a.\nIt works for any two "
      "subspaces at right angles, not only for these four places. Let a_1 and a_2 be orthonormal "
      "vectors of the first subspace. Then v_a = (s.a_1) a_1 + (s.a_2) a_2, because v_b has no "
      "share in a_1 and a_2. The note writes the same with matrices. Its vectors are columns, so a "
      "matrix stands in front of a vector (in lesson 9 it stood behind a row). A has the columns "
      "a_1 and a_2, its transpose A^T gives the two dot products, and M = A A^T gives v_a = M "
      "s.\nWhat if the subspaces are not at right angles? Let v_b = w_1 b_1 + w_2 b_2, with "
      "orthonormal b_1 and b_2. We turn b_1 toward a_1 by an angle. Then a part of v_b lies along "
      "a_1, and M keeps it by mistake. The length of this part is sin(angle) times |w_1|, the size "
      "of w_1 without its sign.\n");
  Rng rng(2);
  const Tensor basis = orthonormal(4, rng), A = slice(basis, 0, 0, 2), B = slice(basis, 0, 2, 4);
  const Tensor M = matmul(transpose(A), A), c = normal({1, 2}, rng), w = normal({1, 2}, rng);
  const Tensor v_a = matmul(c, A), s = v_a + matmul(w, B);
  double worst = 0;
  Table table = Table::of_numbers({"   turned by", "error |M s - v_a|", "formula"});
  for (const double degrees : {0., 10., 30., 60.}) {
    const double angle = degrees * std::numbers::pi / 180;
    const Tensor turned = row(B, 0) * std::cos(angle) + row(A, 0) * std::sin(angle);
    const Tensor v_b = matmul(w, concat({turned, row(B, 1)}, 0));
    const double error = length(matmul(v_a + v_b, M) - v_a);
    const double formula = std::sin(angle) * std::abs(number(w, 0));
    worst = std::max(worst, std::abs(error - formula));
    table.row({formatted("   %.0f degrees", degrees), formatted("%.4f", error),
               formatted("%.4f", formula)});
  }
  to.show(table.text());
  to.claim(length(matmul(s, M) - v_a) < 1e-14, "at right angles M s is v_a, to 14 digits");
  to.claim(worst < 1e-14, "the error is sin(angle) times |w_1|, for all four angles");
  const Tensor products = matmul(s, transpose(A));
  to.claim(products.size() == 2 && length(matmul(products, A) - v_a) < 1e-14,
           "A^T s has two numbers, and A times these is v_a");
}

void lesson(Lesson& to) {
  copying(to);
  averaging(to);
  take_out(to);
}

/// The weights of a query beta (k_a + k_b) + gap k_a, with six orthonormal keys.
void with_beta(Lesson& to, double beta) {
  Rng rng(3);
  const Tensor keys = orthonormal(n, rng);
  const Tensor one = weights_of(row(keys, 0) * beta, keys);
  const Tensor two = weights_of((row(keys, 0) + row(keys, 1)) * beta, keys);
  to.say(formatted("q = %g k_a:          weight of v_a %.6f, of each other value %.6f", beta,
                   number(one, 0), number(one, 1)));
  to.say(formatted("q = %g (k_a + k_b):  weights of v_a and v_b %.6f, of each other value %.6f",
                   beta, number(two, 0), number(two, 2)));
  to.claim(std::abs(sum(one).item() - 1) < 1e-12 && std::abs(sum(two).item() - 1) < 1e-12,
           "both rows of weights add up to 1");
}

/// The distance from a copy and from a mean, against the gap, as powers of ten.
support::Svg picture() {
  support::Svg svg(560, 340);
  svg.text(20, 24, "How near attention comes to a copy, and to a mean", support::Svg::Anchor::start,
           14);
  const auto x_of = [](double gap) { return 70 + 22 * gap; };
  const auto y_of = [](double weight) { return 290 - 240 * weight; };
  for (const double weight : {0., 0.25, 0.5, 0.75, 1.}) {
    svg.line(70, y_of(weight), 510, y_of(weight), "#dddddd");
    svg.text(62, y_of(weight) + 4, formatted("%.2f", weight), support::Svg::Anchor::end, 11);
  }
  std::vector<std::pair<double, double>> copy, mean;
  for (int i = 0; i <= 80; ++i) {
    const double gap = i / 4.0, e = std::exp(gap);
    copy.emplace_back(x_of(gap), y_of(e / (e + n - 1)));
    mean.emplace_back(x_of(gap), y_of(e / (2 * e + n - 2)));
  }
  svg.curve(copy, support::svg_colours()[0]);
  svg.curve(mean, support::svg_colours()[1]);
  svg.text(500, y_of(1) - 6, "to copy: the weight of v_1", support::Svg::Anchor::end, 12,
           support::svg_colours()[0]);
  svg.text(500, y_of(0.5) - 6, "to average: the weight of v_a, and of v_b",
           support::Svg::Anchor::end, 12, support::svg_colours()[1]);
  for (int gap = 0; gap <= 20; gap += 5)
    svg.text(x_of(gap), 308, formatted("%d", gap), support::Svg::Anchor::middle, 11);
  svg.text(290, 328, "gap between the scores", support::Svg::Anchor::middle, 12);
  return svg;
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/11_copy_and_average",
       .title = "To copy, to average, to take a part out: what one query can do",
       .question = "Which queries make attention copy one value, or average two values? And can a "
                   "value be found again in a sum?",
       .prediction =
           "Six keys are at right angles. One score is larger than the five others by a gap. How "
           "large must the gap be, so that its weight is 1.000 to three digits: 2, 10 or 100?",
       .body = fledge::lesson,
       .reading = {{"engine/ops/softmax.cpp", "softmax", "weights from scores"},
                   {"nn/layers/attention.cpp", "attend", "weights times values"}},
       .plays = {{.option = "--beta",
                  .value = "3",
                  .help = "the weights for another beta",
                  .limits = {0, 300},
                  .with_number = fledge::with_beta}},
       .picture = fledge::picture});
}
