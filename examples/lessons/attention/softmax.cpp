// Softmax: from scores to weights, and why scores are divided by sqrt(d).
#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_softmax {

using Numbers = std::vector<double>;

double largest(const Numbers& numbers) { return *std::max_element(numbers.begin(), numbers.end()); }

/// a_j = exp(s_j) / (exp(s_1) + ... + exp(s_n)). The largest score is subtracted from all of them
/// first: that changes no weight, and exp stays finite.
Numbers softmax(const Numbers& scores) {
  Numbers weights;
  double sum = 0;
  for (const double s : scores) sum += weights.emplace_back(std::exp(s - largest(scores)));
  for (double& a : weights) a /= sum;
  return weights;
}

Numbers times(double factor, Numbers scores) {
  for (double& s : scores) s *= factor;
  return scores;
}

double derivative(double a) { return a * (1 - a); }  // of a weight by its own score

const char* const words[] = {"birds", "sometimes", "walk"};
const Numbers three{2, 1, 0};  // the scores of 'walk' with these words

void from_scores_to_weights(LessonText& to) {
  const double sum = std::exp(2) + std::exp(1) + std::exp(0);
  Numbers weights;
  Table table = Table::of_numbers({"word", "score", "exp", "exp / sum"});
  for (std::size_t j = 0; j < 3; ++j) {
    weights.push_back(std::exp(three[j]) / sum);
    table.row("%s | %.0f | %.3f | %.3f", words[j], three[j], std::exp(three[j]), weights[j]);
  }
  table.row("sum |  | %.3f | %.3f", sum, weights[0] + weights[1] + weights[2]);
  Table factors = Table::of_numbers({"factor", "scores", words[0], words[1], words[2]});
  for (const double factor : {1., 4., 8.}) {
    const Numbers s = times(factor, three), a = softmax(s);
    factors.row("%.0f | %.0f, %.0f, %.0f | %.4f | %.4f | %.4f", factor, s[0], s[1], s[2], a[0],
                a[1], a[2]);
  }
  to.set_all("three scores", table, "exp(5)", std::exp(5), "factors", factors);
  const Tensor expected = Array({3}, weights), by_the_engine = softmax(Tensor(Array({3}, three)));
  to.claim("same", farthest(Array({3}, softmax({7, 6, 5})), expected) < 1e-15 &&
                       farthest(by_the_engine, expected) < 1e-15);
}

void how_fast_a_weight_changes(LessonText& to) {
  const double h = 0.01, others = std::exp(1) + std::exp(0);
  const double e = std::exp(2), a = e / (e + others);
  const double e_h = std::exp(2 + h), a_h = e_h / (e_h + others), measured = (a_h - a) / h;
  to.set("weight at 2.00", "%.5f / %.5f = %.6f", e, e + others, a);
  to.set("weight at 2.01", "%.5f / %.5f = %.6f", e_h, e_h + others, a_h);
  to.set("change", "%.6f / 0.01 = %.4f", a_h - a, measured);
  to.set("a(1-a)", "%.4f * %.4f = %.4f", a, 1 - a, derivative(a));
  to.set_all("at 0.99", derivative(0.99), "at 0.9999", derivative(0.9999));
  const Tensor s = parameter(Array({3}, three));
  backward(sum(slice(softmax(s), 0, 0, 1)));
  to.claim("derivative", std::abs(measured - derivative(a)) < h / 10 &&
                             std::abs(number(s.grad(), 0) - derivative(a)) < 1e-15);
}

/// A random number with the mean 0 and the variance 1: evenly from -sqrt(3) to sqrt(3).
double random_number(Rng& rng) { return std::sqrt(3) * (2 * rng.uniform() - 1); }

/// q.k with each of ten keys, for q and k with d random numbers.
Numbers random_scores(Dim d, Rng& rng) {
  Numbers q(static_cast<std::size_t>(d)), scores(10);
  for (double& number : q) number = random_number(rng);
  for (double& score : scores)
    for (const double number : q) score += number * random_number(rng);
  return scores;
}

/// What 2000 random draws give.
struct Spread {
  double deviation = 0, weight = 0;  // of the scores; the mean of the largest weight
  double derivative = 0;             // the median of a(1-a), where a is the largest weight
};

Spread spread_of(Dim d, double factor) {
  constexpr int draws = 2000;
  Rng rng = Rng(1).stream(static_cast<std::uint64_t>(d));
  Spread found;
  Numbers derivatives;
  for (int draw = 0; draw < draws; ++draw) {
    const Numbers scores = times(factor, random_scores(d, rng));
    const double a = largest(softmax(scores));
    for (const double s : scores) found.deviation += s * s / (10 * draws);  // the mean is 0
    found.weight += a / draws;
    derivatives.push_back(derivative(a));
  }
  std::sort(derivatives.begin(), derivatives.end());
  found.deviation = std::sqrt(found.deviation);
  found.derivative = derivatives[draws / 2];
  return found;
}

struct Row {
  Dim d;
  Spread q_k, divided;  // of the scores q.k, and of q.k / sqrt(d)
};

void why_sqrt_d(LessonText& to) {
  std::vector<Row> rows;  // for six head sizes
  Table table = Table::of_numbers(
      {"d", "sqrt(d)", "spread", "weight", "weight, divided", "derivative", "deriv., divided"});
  for (const int d : {1, 4, 16, 64, 256, 1024}) {
    const Spread q_k = spread_of(d, 1), divided = spread_of(d, 1 / std::sqrt(d));
    rows.push_back({d, q_k, divided});
    table.row("%d | %.2f | %.2f | %.3f | %.3f | %.2g | %.3f", d, std::sqrt(d), q_k.deviation,
              q_k.weight, divided.weight, q_k.derivative, divided.derivative);
  }
  const auto& [d, q_k, divided] = rows.back();
  const double root = std::sqrt(d);
  double off = 0;
  for (const Row& row : rows)
    off = std::max(off, std::abs(row.q_k.deviation / std::sqrt(row.d) - 1));
  to.set_all("spreads", table, "largest weight", q_k.weight, "root", root, "digits",
             std::floor(root / std::log(10)) + 1, "divided weight", divided.weight, "derivative",
             q_k.derivative, "median weight", 1 - q_k.derivative, "divided derivative",
             divided.derivative, "by q.k", divided.derivative / root, "off", 100 * off);
  to.claim("spread", off < 0.03);
  to.claim("weights", q_k.weight > 0.9 && divided.weight < 0.4);
  to.claim("by q.k", divided.derivative / root > 100 * q_k.derivative);
}

const LessonProgram program({from_scores_to_weights, how_fast_a_weight_changes, why_sqrt_d});

}  // namespace fledge::lessons::in_softmax
