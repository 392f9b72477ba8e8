// Noisy keys: one head that averages two values is unstable; two heads are not.
//
// Works out note 001, 001.11 to 001.22: keys with noise, one key whose length varies, one head
// against two. 4,000 random draws stand beside the integral that predicts them. Key idea: to average
// in one softmax, two scores must be equal, and exp makes a small difference large. With two heads,
// each score must only be much larger than the others.
// Next: nn/layers/attention.h, then 13_residual_and_block.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "engine/array_math.h"
#include "engine/ops.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/plots.h"
#include "examples/support/table.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::sparkline, support::Table;

constexpr Dim n = 6;  // keys; their means are the axes
constexpr Dim draws = 4000;
constexpr double beta = 10;  // the length of a query along each mean

/// The mean of key i.   (1, n)
Tensor axis(Dim i) {
  std::vector<double> numbers(n);
  numbers[static_cast<std::size_t>(i)] = 1;
  return Array({1, n}, numbers);
}

/// Keys around their means: noise of variance alpha in every direction. Key a, the first, also has
/// noise of variance `along` in the direction of its mean.   (draws, n, n)
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

/// Prints the table, then the explanation, then the claim.
void show(Lesson& to, const std::vector<Observed>& all, const std::string& explanation) {
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
  to.say(explanation + "\n");
  to.claim(worst < 0.01, "mean and spread agree with the formula, within 0.01");
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

  to.part("A little noise in every direction");
  to.say(
      "The lesson before averaged two values with the query q = beta (k_a + k_b). A real key is never "
      "exactly known. So here each key is its mean m plus random numbers.\n");
  to.define("noise", "Random numbers that are added to a quantity.");
  to.define("normal distribution",
            "The bell curve: small deviations from the mean are likely, large ones are rare.");
  to.define("sigmoid",
            "The function 1/(1 + exp(-x)); a softmax over two scores is the sigmoid of their "
            "difference.");
  to.say(
      "\nThe query is q = 10 (m_a + m_b), so both scores should be 10. The noise has a normal "
      "distribution with the variance alpha in every direction. We draw 4,000 times six keys, and "
      "measure the share of v_a in the result c: its weight. An exact mean is 0.5.\n"
      "The last column is a histogram: which shares came out how often, from 0 on the left to 1 on the "
      "right. \"spread\" is the standard deviation.\n");
  std::vector<Observed> round;
  for (const double variance : {1e-4, 1e-3, 1e-2})
    round.push_back(observe(formatted("alpha = %g, one head", variance),
                            weight_of_a(between, drawn_keys(variance, 0)), 0,
                            2 * beta * std::sqrt(variance)));
  show(
      to, round,
      "For alpha = 0.0001 all shares are near the middle. The other rows are less stable. The score "
      "of a minus the score of b has the standard deviation 2 beta sqrt(alpha), which is 0.2, 0.63 "
      "and 2. The weight of v_a is the sigmoid of this difference. The formula is the mean over all "
      "differences, computed as an integral.");
  const auto far = [](double share) { return std::abs(share - 0.5) > 0.25; };
  to.claim(rate(round[0].shares, far) == 0,
           "alpha = 0.0001: every share is within 0.25 of the mean");
  const Tensor scores = reshape(matmul(drawn_keys(1e-4, 0), transpose(between)), {draws, n});
  const Tensor difference = slice(scores, 1, 0, 1) - slice(scores, 1, 1, 2);
  const double measured = spread(difference, 1.0 / draws).deviation;
  to.claim_near(measured, 2 * beta * std::sqrt(1e-4), 0.01,
                "alpha = 0.0001: the standard deviation of the difference is 0.2");
  to.slip("001", "k_a = (m_a + Sigma_a x) = m_a + alpha I x_a",
          formatted("k_a = m_a + sqrt(alpha) x_a: a difference of %.1f; by the note %.3f",
                    2 * beta * std::sqrt(1e-4), 2 * beta * 1e-4),
          "alpha is the variance of the noise, sqrt(alpha) its standard deviation");

  to.part("One key whose length varies");
  to.say(
      "Now key a also varies in length: noise with the variance 0.5 along its mean. The key is then "
      "sometimes 1.7 m_a and sometimes 0.3 m_a. Its score is 17 or 3, and the score of b is still "
      "10. The softmax gives nearly all the weight to the larger one.\n");
  const Tensor keys = drawn_keys(alpha, along);
  const double swing = beta * std::sqrt(4 * alpha + along);
  const Observed one = observe("k_a varies, one head", weight_of_a(between, keys), 0, swing);
  show(
      to, {one},
      "The mean is still 0.5, but hardly any single draw is near it. The result c jumps between v_a "
      "and v_b. If you predicted that noise of the mean 0 does no harm, this is the surprise.\n"
      "An example: if the scores differ by 4, such as 2 and -2, a has the weight 1/(1 + exp(-4)) = "
      "0.982, and b has 0.018.");
  to.claim_near(rate(one.shares, far), 2 * tail(std::log(3.0) / swing), 0.02,
                "share of the draws that are nearer to one value than to the mean");
  const double at_a = value_of(softmax(Array({2}, {2, -2})).value()[0]);
  to.claim_near(at_a, 1 / (1 + std::exp(-4.0)), 1e-15,
                "the scores 2 and -2 give the first a weight of");

  to.part("Two heads, one for each key");
  const Tensor own = weight_of_a(q_a, keys), averaged = (own + weight_of_a(q_b, keys)) / 2.0;
  const double ahead = beta - std::log(n - 1.0), length = beta * std::sqrt(alpha + along);
  const Observed two = observe("k_a varies, two heads", averaged, ahead, length, 0.5);
  to.say(
      "Head 1 has the query 10 m_a, head 2 has 10 m_b. Each has its own softmax over the same keys, "
      "and c is the mean of both results. Now no two scores must be equal. In head 1 the score of a "
      "must only be far above the five others, which are near 0. Both 17 and 3 are.\n");
  show(
      to, {one, two},
      "The shares are near 0.5 again. Some draws are near 0: there the length of key a is so small "
      "that head 1 does not find it.");
  to.claim(two.measured.deviation < 0.4 * one.measured.deviation,
           formatted("two heads divide the spread by %.1f",
                     one.measured.deviation / two.measured.deviation));
  to.claim_near(rate(own, [](double share) { return share < 0.5; }), tail(ahead / length), 0.02,
                "share of the draws in which head 1 gives a less than half");
  // With the means as keys, the axes, the scores of a query are its coordinates.
  const double plain = value_of(softmax(axis(0)).value()[0]),
               long_one = value_of(softmax(q_a).value()[0]);
  to.claim_near(plain, std::exp(1.0) / (std::exp(1.0) + n - 1), 1e-15,
                "with q = m_a instead of 10 m_a, the weight of v_a is only");
  to.slip("001", "k_b^T q_2 = 1, alpha_b = 1 / (1 + 0 ... + 0) = 1",
          formatted("exp(1) / (exp(1) + n - 1) = %.3f; with q_2 = beta m_b, %.4f", plain, long_one),
          "weights are exponentials of scores: a score of 0 adds a term of exp(0) = 1");
}

/// One head and two heads for another variance of the length of key a.
void with_variance(Lesson& to, double along) {
  const Tensor keys = drawn_keys(1e-4, along), q_a = axis(0) * beta, q_b = axis(1) * beta;
  const Tensor one = weight_of_a(q_a + q_b, keys);
  const Tensor two = (weight_of_a(q_a, keys) + weight_of_a(q_b, keys)) / 2.0;
  const auto line = [&](const char* name, const Tensor& shares) {
    const Spread found = spread(shares, 1.0 / draws);
    to.say(formatted("%s share of v_a: mean %.3f, spread %.3f", name, found.mean, found.deviation));
  };
  line("one head,  ", one);
  line("two heads, ", two);
}

/// Both histograms of the last part.
support::Svg picture() {
  const Tensor keys = drawn_keys(1e-4, 0.5), q_a = axis(0) * beta, q_b = axis(1) * beta;
  const Tensor shares[] = {weight_of_a(q_a + q_b, keys),
                           (weight_of_a(q_a, keys) + weight_of_a(q_b, keys)) / 2.0};
  support::Svg svg(620, 300);
  svg.text(20, 24, "The share of v_a in 4,000 draws; an exact mean is 0.5",
           support::Svg::Anchor::start, 14);
  constexpr int bins = 20;
  for (int side = 0; side < 2; ++side) {
    const double left = 40 + 300 * side;
    for (int bin = 0; bin < bins; ++bin) {
      const double share = rate(shares[side], [&](double x) {
        return std::min(static_cast<int>(x * bins), bins - 1) == bin;
      });
      svg.box(left + 12 * bin, 250 - 400 * share, 11, 400 * share,
              support::svg_colours()[static_cast<std::size_t>(side)]);
    }
    svg.text(left, 268, "0: only v_b");
    svg.text(left + 240, 268, "1: only v_a", support::Svg::Anchor::end);
    svg.text(left + 120, 290, side == 0 ? "one head" : "two heads", support::Svg::Anchor::middle,
             13);
  }
  return svg;
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/12_noisy_keys",
       .title = "Noisy keys: why two heads average better than one",
       .question =
           "A query between two keys averages their values. What happens if the keys are not "
           "exactly where they should be?",
       .prediction =
           "The length of one key varies at random around 1. Does the result stay near the "
           "mean of the two values, or does it jump between them?",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.cpp", "attend",
                    "several heads, each with its own softmax"},
                   {"engine/ops/softmax.cpp", "softmax", "exp makes differences large"}},
       .plays = {{.option = "--variance",
                  .value = "0.1",
                  .help = "one head and two heads, for another variance of the length",
                  .limits = {0, 10},
                  .with_number = fledge::with_variance}},
       .picture = fledge::picture});
}
