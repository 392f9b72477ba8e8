// What one query can fetch from a set of values: a copy, a mean, and a part of a sum, each checked
// by the formula of note 001 that predicts it. Vectors are rows here and columns in the note: its M s
// is s·M here with M transposed. As in the note, scores are not divided by sqrt(d).
#include <numbers>

#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_copy_and_average {

constexpr Dim n = 6, d = 6;  // the number of keys and values, and of the numbers of each

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

void copying(LessonText& to) {
  Rng rng(1);
  const Tensor keys = orthonormal(n, rng), values = normal({n, d}, rng), v = row(values, 0);
  const double apart = length((sum(values, {0}, true) - v) / (n - 1.0) - v);
  double worst = 0;
  Table table = Table::of_numbers({"   gap g", "weight of v_1", "distance from v_1"});
  for (const double gap : {0., 1., 2., 5., 10., 20.}) {
    const Tensor weights = weights_of(row(keys, 0) * gap, keys);
    const double error = length(matmul(weights, values) - v);
    worst = std::max(worst, std::abs(error - (n - 1) / (std::exp(gap) + n - 1) * apart));
    table.row("   %.0f | %.6f | %.6f", gap, number(weights, 0), error);
  }
  to.set("gaps", table);
  to.claim("distance", worst < 1e-14);
  bool distribution = true, copied = true;
  for (int draw = 0; draw < 1000; ++draw) {
    const Tensor query = normal({1, d}, rng) * 2.0, drawn = normal({n, d}, rng);
    const Tensor weights = weights_of(query, drawn);
    distribution = distribution && -max(-weights).item() >= 0 && max(weights).item() <= 1 &&
                   std::abs(sum(weights).item() - 1) < 1e-14;
    std::vector<double> scores = numbers(matmul(query, transpose(drawn)));
    const Dim top = std::max_element(scores.begin(), scores.end()) - scores.begin();
    std::sort(scores.rbegin(), scores.rend());
    copied = copied && 1 - number(weights, top) <= (n - 1) * std::exp(scores[1] - scores[0]);
  }
  to.claim("weights", distribution);
  to.claim("others", copied);
}

void averaging(LessonText& to) {
  Rng rng(3);
  const Tensor keys = orthonormal(n, rng), values = normal({n, d}, rng);
  const Tensor a = row(keys, 0), b = row(keys, 1);
  const Tensor middle = (row(values, 0) + row(values, 1)) / 2.0;
  double worst = 0, last = 0;
  Table table =
      Table::of_numbers({"   beta", "weight of v_a", "weight of v_b", "distance from the mean"});
  for (const double beta : {0., 1., 2., 5., 10., 20.}) {
    const Tensor weights = weights_of((a + b) * beta, keys);
    const double at_a = number(weights, 0), at_b = number(weights, 1),
                 expected = std::exp(beta) / (n - 2 + 2 * std::exp(beta));
    worst = std::max({worst, std::abs(at_a - expected), std::abs(at_b - expected)});
    last = length(matmul(weights, values) - middle);
    table.row("   %.0f | %.6f | %.6f | %.6f", beta, at_a, at_b, last);
  }
  const Tensor shares = weights_of(a * (20 + std::log(3.0)) + b * 20.0, keys);  // beta = 20
  to.set("betas", table);
  to.claim("both weights", worst < 1e-14);
  to.claim("mean", last < 1e-7);
  to.claim_near("with ln 3", number(shares, 0) / number(shares, 1), 3, 1e-12);
}

void take_out(LessonText& to) {
  Rng rng(2);
  const Tensor basis = orthonormal(4, rng), A = slice(basis, 0, 0, 2), B = slice(basis, 0, 2, 4);
  const Tensor M = matmul(transpose(A), A), c = normal({1, 2}, rng), w = normal({1, 2}, rng);
  const Tensor v_a = matmul(c, A), s = v_a + matmul(w, B);
  double worst = 0;
  for (const double degrees : {10., 30., 60.}) {
    const double angle = degrees * std::numbers::pi / 180;
    const Tensor turned = row(B, 0) * std::cos(angle) + row(A, 0) * std::sin(angle);
    const Tensor v_b = matmul(w, concat({turned, row(B, 1)}, 0));
    const double error = length(matmul(v_a + v_b, M) - v_a);
    worst = std::max(worst, std::abs(error - std::sin(angle) * std::abs(number(w, 0))));
  }
  to.claim("right angles", length(matmul(s, M) - v_a) < 1e-14);
  to.claim("error", worst < 1e-14);
  const Tensor products = matmul(s, transpose(A));
  to.claim("two numbers", products.size() == 2 && length(matmul(products, A) - v_a) < 1e-14);
}

const LessonProgram program({copying, averaging, take_out});

}  // namespace fledge::lessons::in_copy_and_average
