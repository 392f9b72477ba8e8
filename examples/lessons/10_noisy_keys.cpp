// Noisy keys: what chance does to a query that stands between two keys, and how two heads help.
//
// Works out note 001 (answers to a course assignment), its parts with chance: keys drawn around
// their means, one key whose length varies, one head against two. Adds to 09_attention_exploration
// what a formula for one draw cannot show: thousands of draws at once, and their spread beside the
// integral that predicts it. Key idea: to average in one softmax, two scores must be equal, and the
// softmax blows up every difference; of two heads each needs only that its own score is high.
// Next: nn/layers/attention.h, then lesson 11_adjectives_and_nouns.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "engine/array_math.h"
#include "engine/ops.h"
#include "examples/lessons/lesson.h"
#include "examples/support/plots.h"
#include "examples/support/table.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::sparkline, support::Table;

constexpr Dim n = 6;  // keys; their means are the axes
constexpr Dim draws = 4000;
constexpr double beta = 10;  // how long a query is, for each key that it asks for

/// The mean of key i.   (1, n)
Tensor axis(Dim i) {
  std::vector<double> numbers(n);
  numbers[static_cast<std::size_t>(i)] = 1;
  return Array({1, n}, numbers);
}

/// Keys around their means: noise of variance alpha in every direction, and for key a (the first)
/// of variance `along` in the direction of its mean besides.   (draws, n, n)
Tensor drawn_keys(double alpha, double along) {
  Rng rng(1);
  std::vector<Tensor> means;
  for (Dim i = 0; i < n; ++i) means.push_back(axis(i));
  const Tensor noise = random_normal({draws, n, n}, 0, std::sqrt(alpha), rng);
  const Tensor stretch = random_normal({draws, 1, 1}, 0, std::sqrt(along), rng);
  const Tensor first = transpose(axis(0)) * axis(0);  // m_a in the row of key a, else zeros
  return concat(means, 0) + noise + stretch * first;
}

/// alpha_a, which is how much of v_a is in c, for each draw.   query (1, n)   keys (draws, n, n)
Tensor weight_of_a(const Tensor& query, const Tensor& keys) {
  const Tensor scores = reshape(matmul(keys, transpose(query)), {draws, n});
  return slice(softmax(scores), 1, 0, 1);
}

/// Mean and standard deviation of numbers x that have probabilities p.
struct Spread {
  double mean, deviation;
};
Spread spread(const Tensor& x, const Tensor& p) {
  const Tensor mean = sum(x * p);
  return {mean.item(), std::sqrt(sum((x - mean) * (x - mean) * p).item())};
}

/// What the draws gave, and what they should give.
struct Observed {
  std::string name;
  Tensor shares;  // of v_a in c, (draws, 1)
  Spread measured, predicted;
};

/// The formula: part·sigmoid(score + deviation·z), z standard normal; an integral over z.
Observed observe(const std::string& name, const Tensor& shares, double score, double deviation,
                 double part = 1) {
  std::vector<double> grid;
  for (int i = -800; i <= 800; ++i) grid.push_back(i / 100.0);
  const Tensor z = Array({1601}, grid), density = softmax(z * z * -0.5);
  return {name, shares, spread(shares, 1.0 / draws),
          spread(sigmoid(z * deviation + score) * part, density)};
}

void show(Lesson& to, const std::vector<Observed>& all) {
  constexpr int bins = 18;
  Table table({{"   keys"}, {"mean"}, {"formula"}, {"spread"}, {"formula"}, {"v_a in c, 0 to 1"}});
  double worst = 0;
  for (const auto& [name, shares, measured, predicted] : all) {
    std::vector<double> counts(bins);
    for (const double share : to_vector(shares.value()))
      ++counts[static_cast<std::size_t>(std::min(share * bins, bins - 1.0))];
    std::vector<std::string> cells{"   " + name};
    for (const double x : {measured.mean, predicted.mean, measured.deviation, predicted.deviation})
      cells.push_back(formatted("%.3f", x));
    cells.push_back(sparkline(counts));
    table.row(cells);
    worst = std::max({worst, std::abs(measured.mean - predicted.mean),
                      std::abs(measured.deviation - predicted.deviation)});
  }
  to.show(table.text());
  to.claim(worst < 0.01, "mean and spread are those of the formula, within 0.01");
}

/// The share of draws of which it holds.
double rate(const Tensor& x, const std::function<bool(double)>& holds) {
  const std::vector<double> all = to_vector(x.value());
  return static_cast<double>(std::count_if(all.begin(), all.end(), holds)) / draws;
}

/// P(z > x), z standard normal
double tail(double x) { return std::erfc(x / std::numbers::sqrt2) / 2; }

void lesson(Lesson& to) {
  constexpr double alpha = 1e-4, along = 0.5;
  const Tensor q_a = axis(0) * beta, q_b = axis(1) * beta, between = q_a + q_b;

  to.part("A little noise in every direction: c stays near the mean");
  to.say(
      "Six keys are random numbers around their means m. The query is q = beta (m_a + m_b), beta = "
      "10. The difference of the scores of a and b is normally distributed, with the variance 4 "
      "alpha beta^2. The weight of v_a is the sigmoid of this difference.\n");
  std::vector<Observed> round;
  for (const double variance : {1e-4, 1e-3, 1e-2})
    round.push_back(observe(formatted("alpha = %g, one head", variance),
                            weight_of_a(between, drawn_keys(variance, 0)), 0,
                            2 * beta * std::sqrt(variance)));
  show(to, round);
  const auto far = [](double share) { return std::abs(share - 0.5) > 0.25; };
  to.claim(rate(round[0].shares, far) == 0, "at alpha = 0.0001 c is near the mean in every draw");
  const Tensor scores = reshape(matmul(drawn_keys(1e-4, 0), transpose(between)), {draws, n});
  const Tensor difference = slice(scores, 1, 0, 1) - slice(scores, 1, 1, 2);
  const double measured = spread(difference, 1.0 / draws).deviation;
  to.claim_near(measured, 2 * beta * std::sqrt(1e-4), 0.01,
                "alpha = 0.0001: the scores of a and b differ by 2 beta sqrt(alpha) = 0.2");
  to.slip("001", "k_a = (m_a + Sigma_a x) = m_a + alpha I x_a",
          formatted("k_a = m_a + sqrt(alpha) x_a: a difference of %.1f; by the note %.3f",
                    2 * beta * std::sqrt(1e-4), 2 * beta * 1e-4),
          "alpha is the variance of the noise, sqrt(alpha) its standard deviation");

  to.part("One key whose length varies: c swings between v_a and v_b");
  to.say(
      "Key a now also varies along its mean, with a variance of 0.5. The mean of c does not "
      "change.\n");
  const Tensor keys = drawn_keys(alpha, along);
  const double swing = beta * std::sqrt(4 * alpha + along);
  const Observed one = observe("k_a varies, one head", weight_of_a(between, keys), 0, swing);
  show(to, {one});
  to.claim_near(rate(one.shares, far), 2 * tail(std::log(3.0) / swing), 0.02,
                "share of draws nearer to one value than to the mean of both");
  const double at_a = value_of(softmax(Array({2}, {2, -2})).value()[0]),
               written = 1 / (1 + std::exp(2.0));
  to.claim_near(at_a, 1 / (1 + std::exp(-4.0)), 1e-15, "the scores 2 and -2 give a the weight");
  to.slip("001",
          formatted("alpha_a = 1/(1 + exp(beta)), alpha_b = 1/(1 + exp(-beta)): %.3f, %.3f at "
                    "beta = 2",
                    written, 1 - written),
          formatted("1/(1 + exp(-2 beta)), 1/(1 + exp(2 beta)): %.3f, %.3f", at_a, 1 - at_a),
          "divided by exp(beta), the denominator is 1 + exp(-2 beta); and a has the larger score");

  to.part("Two heads, one for each key: c stays near the mean again");
  const Tensor own = weight_of_a(q_a, keys), averaged = (own + weight_of_a(q_b, keys)) / 2.0;
  const double ahead = beta - std::log(n - 1.0), length = beta * std::sqrt(alpha + along);
  const Observed two = observe("k_a varies, two heads", averaged, ahead, length, 0.5);
  to.say(
      "q_1 = beta m_a and q_2 = beta m_b, each with its own softmax over the same keys; c is the mean "
      "of both results. Head 1 only needs a score of k_a that is far above the five others, which "
      "are near 0.\n");
  show(to, {one, two});
  to.claim(two.measured.deviation < 0.4 * one.measured.deviation,
           formatted("two heads divide the spread by %.1f",
                     one.measured.deviation / two.measured.deviation));
  to.claim_near(rate(own, [](double share) { return share < 0.5; }), tail(ahead / length), 0.02,
                "share of draws in which head 1 gives its own key less than half");
  // With the means as keys, the axes, the scores of a query are its coordinates.
  const double plain = value_of(softmax(axis(0)).value()[0]),
               long_one = value_of(softmax(q_a).value()[0]);
  to.claim_near(plain, std::exp(1.0) / (std::exp(1.0) + n - 1), 1e-15,
                "weight of the own key for q = m");
  to.slip("001", "k_b^T q_2 = 1, alpha_b = 1 / (1 + 0 ... + 0) = 1",
          formatted("exp(1) / (exp(1) + n - 1) = %.3f; with q_2 = beta m_b, %.4f", plain, long_one),
          "weights are exponentials of scores: a score of 0 adds a term of exp(0) = 1");
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "10_noisy_keys",
                             "What chance does to one head, and how two heads help.",
                             fledge::lesson);
}
