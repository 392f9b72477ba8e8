// Softmax: from scores to weights, and why scores are divided by sqrt(d).
//
// The notes use the softmax and do not explain it: items 000.36, 001.2 and 001.4 need this lesson.
// Key idea: a sum of d random products has the standard deviation sqrt(d), and a softmax of large
// scores hardly changes when they change.
// Next: 05_mask.cpp.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/line_plot.h"
#include "examples/support/table.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;
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

bool are_equal(const Numbers& a, const Numbers& b) {  // to rounding
  double apart = 0;
  for (std::size_t j = 0; j < a.size(); ++j) apart = std::max(apart, std::abs(a[j] - b[j]));
  return apart < 1e-15;
}

double derivative(double a) { return a * (1 - a); }  // of a weight by its own score

const char* const words[] = {"birds", "sometimes", "walk"};
const Numbers three{2, 1, 0};  // the scores of 'walk' with these words

void from_scores_to_weights(Lesson& to) {
  to.part("From scores to weights");
  to.say(
      "A softmax divides exp of each score by the sum of all exp, as in lesson 3. Let 'walk' have "
      "the scores 2, 1 and 0 with three words:\n");
  const double sum = std::exp(2) + std::exp(1) + std::exp(0);
  Numbers weights;
  Table table = Table::of_numbers({"word", "score", "exp", "exp / sum"});
  for (std::size_t j = 0; j < 3; ++j) {
    weights.push_back(std::exp(three[j]) / sum);
    table.row({words[j], formatted("%.0f", three[j]), formatted("%.3f", std::exp(three[j])),
               formatted("%.3f", weights[j])});
  }
  table.row(
      {"sum", "", formatted("%.3f", sum), formatted("%.3f", weights[0] + weights[1] + weights[2])});
  to.show(table.text());
  to.define("distribution",
            "Numbers between 0 and 1 that add up to 1, such as weights or probabilities.");
  to.say(formatted("If all scores are larger by 5, each exp is exp(5) = %.3f times larger. ",
                   std::exp(5)) +
         "So is the sum. The factor cancels, and the weights stay the same. Only differences of "
         "scores matter.\nIf the scores are multiplied by 8, one word gets nearly everything:\n");
  Table factors = Table::of_numbers({"factor", "scores", words[0], words[1], words[2]});
  for (const double factor : {1., 4., 8.}) {
    const Numbers s = times(factor, three), a = softmax(s);
    factors.row({formatted("%.0f", factor), formatted("%.0f, %.0f, %.0f", s[0], s[1], s[2]),
                 formatted("%.4f", a[0]), formatted("%.4f", a[1]), formatted("%.4f", a[2])});
  }
  to.show(factors.text());
  const Numbers of_fledge = to_vector(fledge::softmax(Tensor(Array({3}, three))).value());
  to.claim(are_equal(softmax({7, 6, 5}), weights) && are_equal(of_fledge, weights),
           "7, 6, 5 and 2, 1, 0 give these weights, in fledge as well");
}

void how_fast_a_weight_changes(Lesson& to) {
  to.part("How fast a weight changes with its score");
  to.define(
      "derivative",
      "How fast a result changes with one input: the change of the result per small change of the "
      "input.");
  to.define("gradient",
            "All derivatives of one number: one for each number from which it is computed.");
  to.say(
      "Training follows a gradient: it changes the numbers from which the scores are computed. So "
      "scores and weights change a little. We raise the score of 'birds' by 0.01 and keep the "
      "other two scores.\n");
  const double h = 0.01, others = std::exp(1) + std::exp(0);
  const double e = std::exp(2), a = e / (e + others);
  const double e_h = std::exp(2 + h), a_h = e_h / (e_h + others), measured = (a_h - a) / h;
  to.say(formatted("   score 2.00:  %.5f / %.5f = %.6f", e, e + others, a));
  to.say(formatted("   score 2.01:  %.5f / %.5f = %.6f", e_h, e_h + others, a_h));
  to.say(formatted("   change of the weight per change of the score:  %.6f / 0.01 = %.4f\n",
                   a_h - a, measured));
  to.say("The derivative of a weight a with respect to its own score is a(1-a). " +
         formatted("Here it is %.4f * %.4f = %.4f; a change smaller than 0.01 comes nearer. It is "
                   "largest, 0.25, for a = 0.5. For a = 0.99 it is %.4f, and for a = 0.9999 it is "
                   "%.4f. So training hardly changes a weight that is nearly 1.",
                   a, 1 - a, derivative(a), derivative(0.99), derivative(0.9999)));
  const Tensor s = parameter(Array({3}, three));
  backward(sum(slice(fledge::softmax(s), 0, 0, 1)));
  to.claim(std::abs(measured - derivative(a)) < h / 10 &&
               std::abs(to_vector(s.grad())[0] - derivative(a)) < 1e-15,
           "the measured change is near a(1-a); fledge's derivative is a(1-a)");
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

Spread spread_of(Dim d, double factor, std::uint64_t seed) {
  constexpr int draws = 2000;
  Rng rng = Rng(seed).stream(static_cast<std::uint64_t>(d));
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

std::vector<Row> rows_of(std::uint64_t seed) {
  std::vector<Row> rows;
  for (const Dim d : {1, 4, 16, 64, 256, 1024})
    rows.push_back({d, spread_of(d, 1, seed), spread_of(d, 1 / std::sqrt(d), seed)});
  return rows;
}

std::string table_of(const std::vector<Row>& rows) {
  Table table = Table::of_numbers(
      {"d", "sqrt(d)", "spread", "weight", "weight, divided", "derivative", "deriv., divided"});
  for (const auto& [d, q_k, divided] : rows)
    table.row({std::to_string(d), formatted("%.2f", std::sqrt(d)), formatted("%.2f", q_k.deviation),
               formatted("%.3f", q_k.weight), formatted("%.3f", divided.weight),
               formatted("%.2g", q_k.derivative), formatted("%.3f", divided.derivative)});
  return table.text();
}

void why_sqrt_d(Lesson& to) {
  to.part("Why scores are divided by sqrt(d)");
  to.define("random draw", "A number that is picked at random by given probabilities.");
  to.define("variance", "The mean of the squared distance from the mean.");
  to.define("standard deviation", "The root of the variance: the usual distance from the mean.");
  to.say(
      "A query and a key have d numbers each; d is the head size. Their dot product q.k is a sum "
      "of d products. How large is it if the numbers are random?\nLet each number be +1 or -1, by "
      "the toss of a coin. Then each product is +1 or -1, too. Its mean is 0. All equally likely "
      "sums of one product and of two:\n\n   d = 1:  -1, 1         variance (1 + 1) / 2 = 1\n   d "
      "= 2:  -2, 0, 0, 2   variance (4 + 0 + 0 + 4) / 4 = 2\n\nVariances of independent numbers "
      "add, so q.k has the variance d. Its standard deviation is sqrt(d). Divided by sqrt(d), the "
      "scores have the standard deviation 1 for every d. This is the scale of lesson 3.\nThe table "
      "has 2000 draws. Each draw makes a query and ten keys. Each number is drawn evenly between "
      "-1.732 and 1.732. Its variance is 1, and so is that of a product of two.");
  to.define("seed",
            "The whole number from which a program derives all its random numbers; another seed "
            "gives other numbers.");
  to.say(
      "The seed is 1. 'spread' is the standard deviation of q.k. The next two columns have the "
      "mean of the largest of the ten weights: of q.k, and of q.k / sqrt(d). The last two have its "
      "derivative a(1-a). Here we take the median, not the mean: half of the 2000 derivatives are "
      "smaller. (3e-06 is 0.000003.)\n");
  const std::vector<Row> rows = rows_of(1);
  to.show(table_of(rows));
  const Row& last = rows.back();
  const double root = std::sqrt(last.d), divided = last.divided.derivative;
  to.say(
      formatted("You predicted the largest weight for d = %d. It is %.3f. ",
                static_cast<int>(last.d), last.q_k.weight) +
      formatted(
          "The standard deviation of q.k is %.0f, so differences of %.0f are usual. Then one exp "
          "is exp(%.0f) times another: a factor with %.0f digits. So one of the ten words gets "
          "nearly everything. ",
          root, root, root, std::floor(root / std::log(10)) + 1) +
      formatted("After the division by %.0f its weight is %.3f.", root, last.divided.weight));
  to.say(
      formatted(
          "Without the division, the derivative falls to %.2g: in half of the draws the largest "
          "weight is above %.6f, and training can hardly change it. In other draws the two largest "
          "scores are near each other; they lower the mean weight to %.3f. With the division, the "
          "derivative stays near %.1f. ",
          last.q_k.derivative, 1 - last.q_k.derivative, last.q_k.weight, divided) +
      formatted("(If q.k changes by 1, the divided score changes by 1/%.0f only. So the derivative "
                "with respect to q.k is %.4f, still far more than %.2g.)",
                root, divided / root, last.q_k.derivative));
  double off = 0;
  for (const Row& row : rows)
    off = std::max(off, std::abs(row.q_k.deviation / std::sqrt(row.d) - 1));
  to.claim(off < 0.03,
           formatted("the spread is sqrt(d) within 3 %%: at most %.1f %% off", 100 * off));
  to.claim(last.q_k.weight > 0.9 && last.divided.weight < 0.4,
           "d = 1024: the largest weight is above 0.9, and divided below 0.4");
  to.claim(divided / root > 100 * last.q_k.derivative,
           "d = 1024: with respect to q.k, too, the derivative is over 100 times larger");
}

void lesson(Lesson& to) {
  from_scores_to_weights(to);
  how_fast_a_weight_changes(to);
  why_sqrt_d(to);
}

void another_seed(Lesson& to, std::int64_t seed) {
  to.say("The table of part 3 with other random numbers: last digits change, the rule stays.\n");
  to.show(table_of(rows_of(static_cast<std::uint64_t>(seed))));
}

support::Svg picture() {
  support::LinePlot plot;
  plot.x_name = "d: numbers in a query";
  plot.has_log_axis = true;
  plot.levels = {{"ten equal weights", 0.1}};
  plot.curves = {{"largest of ten weights, scores not divided", "x", "x", {}},
                 {"largest of ten weights, scores divided by sqrt(d)", "o", "o", {}}};
  for (const auto& [d, q_k, divided] : rows_of(1)) {
    plot.curves[0].points.emplace_back(d, q_k.weight);
    plot.curves[1].points.emplace_back(d, divided.weight);
  }
  return plot_picture(plot);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/04_softmax",
       .title = "Softmax: from scores to weights, and why scores are divided by sqrt(d)",
       .question = "How do scores become weights, and why are the scores divided by sqrt(d)?",
       .prediction =
           "A query and ten keys have d = 1024 random numbers each, drawn evenly between -1.732 "
           "and 1.732. Their dot products are the scores, and are not divided. Ten equal weights "
           "would be 0.1 each. How large is the largest of the ten weights on average?",
       .body = fledge::lesson,
       .reading = {{"engine/ops/softmax.cpp", "softmax", "the formula and its derivatives"},
                   {"nn/layers/attention.cpp", "scale", "where scores are divided by sqrt(d)"},
                   {"engine/base/random.h", "uniform", "random numbers from a seed"}},
       .plays = {{.option = "--seed",
                  .value = "7",
                  .help = "the table of part 3 with other random numbers",
                  .limits = {0, 1e9},
                  .with_whole_number = fledge::another_seed}},
       .picture = fledge::picture});
}
