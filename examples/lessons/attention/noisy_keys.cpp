// Noisy keys: one head that averages two values is unstable; two heads are not. An integral predicts
// the mean and the spread of 4,000 random draws.
#include <numbers>

#include "examples/lessons/vocabulary.h"
#include "examples/support/drawn.h"

namespace fledge::lessons::in_noisy_keys {

constexpr Dim n = 6;  // keys; their means are the axes
constexpr Dim draws = 4000;
constexpr double beta = 10;                  // the length of a query along each true key
constexpr double alpha = 1e-4, along = 0.5;  // variances: of all noise, and of the length of key a

/// The mean of key i.   (1, n)
Tensor axis(Dim i) { return row(identity(n), i); }

/// Keys around their means: noise of this variance in every direction. Key a, the first, also has
/// noise of this variance along its true key.   (draws, n, n)
Tensor drawn_keys(double variance, double of_length) {
  Rng rng(1);
  const Tensor noise = random_normal({draws, n, n}, 0, std::sqrt(variance), rng);
  const Tensor stretch = random_normal({draws, 1, 1}, 0, std::sqrt(of_length), rng);
  const Tensor first = transpose(axis(0)) * axis(0);  // m_a in the row of key a, else zeros
  return identity(n) + noise + stretch * first;
}

/// alpha_a, which is how much of v_a is in c, for each draw.   query (1, n)   keys (draws, n, n)
Tensor weight_of_a(const Tensor& query, const Tensor& keys) {
  const Tensor scores = reshape(matmul(keys, transpose(query)), {draws, n});
  return slice(softmax(scores), 1, 0, 1);
}

/// The same for one head that looks at both keys.
Tensor with_one_head(const Tensor& keys) { return weight_of_a((axis(0) + axis(1)) * beta, keys); }

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

/// The table, and the claim that mean and spread are as predicted; both have this name.
void show(LessonText& to, const std::string& name, const std::vector<Observed>& all) {
  constexpr int bins = 18;
  Table table = Table::of_numbers({"   keys", "mean", "spread", "0 ... weight ... 1"});
  double worst = 0;
  for (const auto& [keys, shares, measured, predicted] : all) {
    std::vector<double> counts(bins);
    for (const double share : numbers(shares))
      ++counts[static_cast<std::size_t>(std::min(share * bins, bins - 1.0))];
    table.row("   %s | %.3f | %.3f | %s", keys.c_str(), measured.mean, measured.deviation,
              support::sparkline(counts, {0}).c_str());
    worst = std::max({worst, std::abs(measured.mean - predicted.mean),
                      std::abs(measured.deviation - predicted.deviation)});
  }
  to.set(name, table.text());
  to.claim(name, worst < 0.01);
}

/// The share of draws of which it holds.
double rate(const Tensor& x, const std::function<bool(double)>& holds) {
  return static_cast<double>(count_of(numbers(x), holds)) / draws;
}

bool is_far(double weight) { return std::abs(weight - 0.5) > 0.25; }  // from one half
/// P(z > x), z standard normal
double tail(double x) { return std::erfc(x / std::numbers::sqrt2) / 2; }

void small_noise(LessonText& to) {
  std::vector<Observed> rows;
  for (const double variance : {1e-4, 1e-3, 1e-2})
    rows.push_back(observe(formatted("alpha = %g", variance),
                           with_one_head(drawn_keys(variance, 0)), 0,
                           2 * beta * std::sqrt(variance)));
  to.set("far at 0.01", 100 * rate(rows[2].shares, is_far));
  show(to, "three variances", rows);
  to.claim("never far", rate(rows[0].shares, is_far) == 0);
  const Tensor q = (axis(0) + axis(1)) * beta;
  const Tensor scores = reshape(matmul(drawn_keys(alpha, 0), transpose(q)), {draws, n});
  const Tensor difference = slice(scores, 1, 0, 1) - slice(scores, 1, 1, 2);
  const double measured = spread(difference, 1.0 / draws).deviation;
  to.set("spread", measured);
  to.claim("difference", std::abs(measured - 0.2) < 0.01);
}

void varying_length(LessonText& to) {
  const Tensor keys = drawn_keys(alpha, along);
  const double deviation = beta * std::sqrt(4 * alpha + along);
  const Observed one = observe("one head", with_one_head(keys), 0, deviation);
  to.set("backwards", 100 * tail(1 / std::sqrt(along)));
  show(to, "one head", {one});
  const double far = rate(one.shares, is_far);
  to.set("far", 100 * far);
  to.claim("jumps", std::abs(far - 2 * tail(std::log(3.0) / deviation)) < 0.02);

  // Two heads, each with one key: the mean of their weights.
  const Tensor a = weight_of_a(axis(0) * beta, keys), b = weight_of_a(axis(1) * beta, keys);
  const double ahead = beta - std::log(n - 1.0), length = beta * std::sqrt(alpha + along);
  const Observed two = observe("two heads", (a + b) / 2.0, ahead, length, 0.5);
  const double missed = rate(a, [](double weight) { return weight < 0.5; });
  to.set_all("largest", max(two.shares).item(), "mean", two.measured.mean, "missed", 100 * missed);
  show(to, "two heads", {one, two});
  to.set("divided by", one.measured.deviation / two.measured.deviation);
  to.claim("less spread", two.measured.deviation < 0.4 * one.measured.deviation);
  to.claim("missed", std::abs(missed - tail(ahead / length)) < 0.02);
  // With the true keys, the axes, the scores of a query are its coordinates.
  const double plain = number(softmax(axis(0)), 0);
  to.claim_near("short query", plain, std::exp(1.0) / (std::exp(1.0) + n - 1), 1e-15);
}

const LessonProgram program({small_noise, varying_length});

}  // namespace fledge::lessons::in_noisy_keys
