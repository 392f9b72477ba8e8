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
constexpr double beta = 10;                  // the length of a query along each true key
constexpr double alpha = 1e-4, along = 0.5;  // variances: of all noise, and of the length of key a

/// The mean of key i.   (1, n)
Tensor axis(Dim i) {
  std::vector<double> numbers(n);
  numbers[static_cast<std::size_t>(i)] = 1;
  return Array({1, n}, numbers);
}

/// Keys around their means: noise of this variance in every direction. Key a, the first, also has
/// noise of this variance along its true key.   (draws, n, n)
Tensor drawn_keys(double variance, double of_length) {
  Rng rng(1);
  std::vector<Tensor> means;
  for (Dim i = 0; i < n; ++i) means.push_back(axis(i));
  const Tensor noise = random_normal({draws, n, n}, 0, std::sqrt(variance), rng);
  const Tensor stretch = random_normal({draws, 1, 1}, 0, std::sqrt(of_length), rng);
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
  Table table = Table::of_numbers(
      {"   keys", "mean", "expected", "spread", "expected", "0 ... weight ... 1"});
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
  to.claim(worst < 0.01, "mean and spread are as expected, within 0.01");
}

/// The share of draws of which it holds.
double rate(const Tensor& x, const std::function<bool(double)>& holds) {
  const std::vector<double> all = to_vector(x.value());
  return static_cast<double>(std::count_if(all.begin(), all.end(), holds)) / draws;
}

bool is_far(double weight) { return std::abs(weight - 0.5) > 0.25; }  // from one half
/// P(z > x), z standard normal
double tail(double x) { return std::erfc(x / std::numbers::sqrt2) / 2; }

void small_noise(Lesson& to) {
  to.part("A little noise in every key");
  to.say(
      "The lesson before averaged two values with the query q = beta (k_a + k_b). A real key is "
      "never exactly known. So here each key is a true key plus random numbers. We call the true "
      "keys m_a, m_b and so on; they are orthonormal.\n");
  to.define("noise", "Random numbers that are added to a quantity.");
  to.define("normal distribution",
            "The bell curve: small deviations from the mean are likely, large ones are rare.");
  to.define("sigmoid",
            "The function 1/(1 + exp(-x)); a softmax over two scores is the sigmoid of their "
            "difference.");
  to.say(
      "\nThe noise has a normal distribution. To each number of a key we add a random number with "
      "the mean 0 and the variance alpha. Its usual size, the standard deviation, is sqrt(alpha). "
      "The query is q = beta (m_a + m_b) with beta = 10. Both scores should then be 10, and the "
      "weight of v_a one half.\nWe draw six keys 4,000 times. As before, scores are not divided. "
      "The table has the mean and the standard deviation (\"spread\") of the weight of v_a. "
      "\"expected\" needs no draws: it is an integral, the sum of all possible weights, each times "
      "its probability. The last column shows how often each weight from 0 to 1 came out.\n");
  const Tensor q = (axis(0) + axis(1)) * beta;
  std::vector<Observed> rows;
  for (const double variance : {1e-4, 1e-3, 1e-2})
    rows.push_back(observe(formatted("alpha = %g", variance),
                           weight_of_a(q, drawn_keys(variance, 0)), 0,
                           2 * beta * std::sqrt(variance)));
  show(to, rows,
       formatted(
           "For alpha = 0.0001 all weights are near one half. For 0.01, %.0f of 100 are below 1/4 "
           "or above 3/4. The reason is the difference of the two scores. The noise adds two "
           "random numbers to each score, one along m_a and one along m_b, each multiplied by 10. "
           "Variances add, for a difference too: alpha comes in four times. So the standard "
           "deviation of the difference is 10 sqrt(4 alpha): 0.2, 0.63 and 2. The weight of v_a is "
           "the sigmoid of this difference. The other four scores, near 0, hardly count: exp(10) "
           "is 22,000 times exp(0).",
           100 * rate(rows[2].shares, is_far)));
  to.claim(rate(rows[0].shares, is_far) == 0,
           "alpha = 0.0001: every weight is within 0.25 of one half");
  const Tensor scores = reshape(matmul(drawn_keys(1e-4, 0), transpose(q)), {draws, n});
  const Tensor difference = slice(scores, 1, 0, 1) - slice(scores, 1, 1, 2);
  const double measured = spread(difference, 1.0 / draws).deviation;
  to.claim(std::abs(measured - 0.2) < 0.01,
           formatted("alpha = 0.0001: the spread of the difference is %.3f, near 0.2", measured));
  to.slip("001", "k_a = (m_a + Sigma_a x) = m_a + alpha I x_a",
          formatted("k_a = m_a + sqrt(alpha) x_a: spread %.1f of the difference (by the note %.3f)",
                    2 * beta * std::sqrt(1e-4), 2 * beta * 1e-4),
          "alpha is the variance of the noise, sqrt(alpha) its standard deviation");
}

Observed one_head(const Tensor& keys) {
  return observe("one head", weight_of_a((axis(0) + axis(1)) * beta, keys), 0,
                 beta * std::sqrt(4 * alpha + along));
}

void varying_length(Lesson& to, const Tensor& keys) {
  to.part("One key whose length varies");
  to.say(formatted(
      "Now the length of key a varies as well. m_a is multiplied by a random number from a normal "
      "distribution with the mean 1 and the variance 0.5. The standard deviation is sqrt(0.5) = "
      "0.7, so lengths of 1.7 and of 0.3 are usual. The score of a is then 17 or 3, and the score "
      "of b is still near 10. The softmax gives nearly all the weight to the larger score. In %.0f "
      "of 100 draws the random number is below 0: key a points backwards, and its score is below "
      "0. (The other noise has alpha = 0.0001.)\n",
      100 * tail(1 / std::sqrt(along))));
  const Observed one = one_head(keys);
  show(to, {one},
       "The mean is still one half, but hardly any weight is near it. The result jumps between v_a "
       "and v_b. If you predicted that it stays near the mean, this is the surprise. For example, "
       "scores of 10 and 3 give the weights 1/(1 + exp(-7)) = 0.999 and 0.001.");
  const double far = rate(one.shares, is_far);
  to.claim(std::abs(far - 2 * tail(std::log(3.0) / (beta * std::sqrt(4 * alpha + along)))) < 0.02,
           formatted("in %.0f of 100 draws the result is nearer to v_a or v_b than to their mean",
                     100 * far));
  const double at_a = value_of(softmax(Array({2}, {2, -2})).value()[0]);
  to.claim_near(at_a, 1 / (1 + std::exp(-4.0)), 1e-15,
                "scores of 2 and -2, as in the note: the first weight is 1/(1 + exp(-4))");
}

void two_heads(Lesson& to, const Tensor& keys) {
  to.part("Two heads, one for each key");
  to.say(
      "Head 1 has the query 10 m_a, head 2 has 10 m_b. Each has its own softmax over the same "
      "keys. The result is the mean of both: the weight of v_a is half of that in head 1 plus half "
      "of that in head 2. Now the two scores need not be equal. In head 1 the score of a must only "
      "be larger than the five others, which are near 0. A score of 17 gives a the weight 1.00, "
      "and even a score of 3 gives 0.80.\n");
  const Tensor own = weight_of_a(axis(0) * beta, keys);
  const Tensor averaged = (own + weight_of_a(axis(1) * beta, keys)) / 2.0;
  const double ahead = beta - std::log(n - 1.0), length = beta * std::sqrt(alpha + along);
  const Observed one = one_head(keys), two = observe("two heads", averaged, ahead, length, 0.5);
  const double missed = rate(own, [](double w) { return w < 0.5; });
  show(to, {one, two},
       formatted(
           "Most weights are near one half again. Head 1 adds at most 1/2, and head 2 almost "
           "nothing: the largest weight is %.5f. The mean is %.3f. In %.0f of 100 draws head 1 "
           "gives key a less than half of its weight, because key a is too short. It then misses "
           "v_a.",
           max(averaged).item(), two.measured.mean, 100 * missed));
  to.claim(two.measured.deviation < 0.4 * one.measured.deviation,
           formatted("two heads divide the spread by %.1f",
                     one.measured.deviation / two.measured.deviation));
  to.claim(std::abs(missed - tail(ahead / length)) < 0.02,
           "the share of draws that head 1 misses is that of the integral, within 0.02");
  // With the true keys, the axes, the scores of a query are its coordinates.
  const double plain = value_of(softmax(axis(0)).value()[0]),
               long_one = value_of(softmax(axis(0) * beta).value()[0]);
  to.say(
      "\nThe query must be long. With q = m_a in place of 10 m_a the scores are 1 and 0, and a "
      "gets only exp(1) / (exp(1) + 5).\n");
  to.claim_near(plain, std::exp(1.0) / (std::exp(1.0) + n - 1), 1e-15,
                "q = m_a gives a the weight exp(1) / (exp(1) + 5)");
  to.slip("001", "k_b^T q_2 = 1, alpha_b = 1 / (1 + 0 ... + 0) = 1",
          formatted("exp(1) / (exp(1) + n - 1) = %.3f; with q_2 = beta m_b, %.4f", plain, long_one),
          "weights are exponentials of scores: a score of 0 adds a term of exp(0) = 1");
}

void lesson(Lesson& to) {
  const Tensor keys = drawn_keys(alpha, along);
  small_noise(to);
  varying_length(to, keys);
  two_heads(to, keys);
}

/// One head and two heads for another variance of the length of key a.
void with_variance(Lesson& to, double of_length) {
  const Tensor keys = drawn_keys(alpha, of_length), q_a = axis(0) * beta, q_b = axis(1) * beta;
  const Tensor one = weight_of_a(q_a + q_b, keys);
  const Tensor two = (weight_of_a(q_a, keys) + weight_of_a(q_b, keys)) / 2.0;
  const auto line = [&](const char* name, const Tensor& shares) {
    const Spread found = spread(shares, 1.0 / draws);
    to.say(
        formatted("%s weight of v_a: mean %.3f, spread %.3f", name, found.mean, found.deviation));
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
  svg.text(20, 24, "The weight of v_a in 4,000 draws; it should be one half",
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
           "The length of one key varies at random around 1. Does the result stay near the mean of "
           "the two values, or does it jump between them?",
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
