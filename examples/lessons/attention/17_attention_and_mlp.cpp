// What attention alone cannot do: XOR of two bits of one token. What the MLP adds: a bend.
//
// Works out note 000's conjecture (000.17): attention is a weighted sum, so something that is not
// linear should follow it. Key idea: the weights of attention add up to 1. On tokens that are all
// alike they cancel, and attention computes an affine map. Next: lesson 18; nn/layers/mlp.h.
#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/table.h"
#include "nn/layers/attention.h"
#include "nn/layers/mlp.h"
#include "nn/optim/adamw.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

constexpr int seeds = 20;

/// h <- h + attention(h), and with an MLP h <- h + mlp(h), in each layer; read at the last token.
/// hidden: numbers in the MLP, 0 for no MLP.
/// x (B, T, in)   y (B, 1, 1)
struct Net {
  Linear embed, read;
  std::vector<Attention> attention;
  std::vector<MLP> mlp;

  Net(Dim in, int layers, Dim hidden, Rng& rng) : embed(in, 8, rng), read(8, 1, rng) {
    for (int layer = 0; layer < layers; ++layer) {
      attention.emplace_back(8, 1, rng);
      if (hidden > 0) mlp.emplace_back(8, hidden, rng);
    }
  }

  Tensor operator()(const Tensor& x) const {
    Tensor h = embed(x);
    for (std::size_t layer = 0; layer < attention.size(); ++layer) {
      h = h + attention[layer](h);
      if (!mlp.empty()) h = h + mlp[layer](h);
    }
    return read(slice(h, 1, h.dim(1) - 1, h.dim(1)));
  }

  void visit(auto&& f) const {
    f("embed", embed);
    f("attention", attention);
    f("mlp", mlp);
    f("read", read);
  }
};

struct Task {
  std::string name;
  Tensor x, t;  // inputs (B, T, in) and right answers (B, 1, 1)
};

/// The same token three times.   x (B, 1, in)   y (B, 3, in)
Tensor thrice(const Tensor& x) { return concat({x, x, x}, 1); }

const std::vector<Task>& tasks() {
  static const std::vector<Task> all = {
      {"XOR of 2 bits", thrice(Array({4, 1, 2}, {0, 0, 0, 1, 1, 0, 1, 1})),
       Array({4, 1, 1}, {0, 1, 1, 0})},
      {"XOR of 3 bits",
       thrice(Array({8, 1, 3},  //
                    {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1})),
       Array({8, 1, 1}, {0, 1, 1, 0, 1, 0, 0, 1})},
      {"|x| of -1, 0, 1", thrice(Array({3, 1, 1}, {-1, 0, 1})), Array({3, 1, 1}, {1, 0, 1})}};
  return all;
}

/// Trains 400 steps. Returns the lowest mean squared error of them.
double train(const Net& net, const Task& task) {
  AdamW adamw(parameters(net), {.rate = 0.02, .decay = 0});
  double lowest = infinity;
  for (int step = 0; step < 400; ++step) {
    adamw.zero_grad();
    const Tensor error = net(task.x) - task.t, loss = mean(error * error);
    backward(loss);
    adamw.step();
    lowest = std::min(lowest, loss.item());
  }
  return lowest;
}

/// The lowest errors of models with the seeds 1 … 20, smallest first.
std::vector<double> lowest_errors(const Task& task, int layers, Dim hidden) {
  std::vector<double> errors;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed);
    errors.push_back(train(Net(task.x.dim(2), layers, hidden, rng), task));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

void no_weighted_sum(Lesson& to) {
  to.part("A task for which no weighted sum is enough");
  to.define("affine map",
            "A weighted sum of the inputs plus a constant, such as 2a - 3b + 1: equal steps of the "
            "inputs always give equal changes of the result.");
  to.define(
      "XOR",
      "The function of two bits that is 1 if exactly one of them is 1; of more bits, if an odd "
      "number of them is 1.");
  to.define("floor",
            "The lowest loss that any model of one kind can reach, for example any affine map, or "
            "on a text any model that sees only earlier words.");
  to.say("Each corner of this square is one case of the bits a and b, with its XOR:\n");
  to.show(
      "   b = 1    1 -------- 0\n            |          |\n   b = 0    0 -------- 1\n          a = "
      "0      a = 1\n");
  to.say(
      "From left to right XOR changes by 1 in the lower row, and by -1 in the upper row. An affine "
      "map changes by c1 in both. An error is the answer minus the right answer; e10 is the error "
      "for a = 1 and b = 0. Then e10 - e00 = c1 - 1 and e11 - e01 = c1 + 1. The difference of "
      "these two is e11 - e01 - e10 + e00 = 2. So the sizes of the four errors, their values "
      "without the signs, add up to 2 or more. If the sum of the sizes is fixed, the sum of their "
      "squares is least when all sizes are equal. So the mean square is smallest if each size is "
      "1/2: then it is 0.25, the floor. The numbers c1 = c2 = 0 and c0 = 1/2 reach it. If you "
      "predicted 0, look again: three cases can be right, but then the fourth is wrong by 2.");
}

void alike_is_affine(Lesson& to) {
  to.part("On one token, attention is an affine map");
  to.define("linear layer", "A product with a matrix of parameters, plus a bias: y = x W + bias.");
  to.define("bias", "A vector of parameters that a linear layer adds to its result.");
  to.say(
      "Now a model reads one token that has both bits, x = (a, b). Its value comes from a linear "
      "layer, v = x W_V + bias. The token can only look at itself, so its weight is 1. If the same "
      "token comes three times, the weights add up to 1: 0.2 v + 0.3 v + 0.5 v = v. So attention "
      "gives x W_V + bias, an affine map, and W_Q and W_K do not matter. Several heads are joined "
      "by a matrix: that is affine too.\nThe models here have no layer norm, because it is not "
      "affine. The residual connection adds x, and x plus an affine map of x is affine too. An "
      "affine map of an affine map is affine as well. So the floor is 0.25 for any number of heads "
      "and layers. A test: from a = 0 to a = 1 the answer must change equally in both rows of the "
      "square.\n");
  Rng rng(1);
  const Array f = Net(2, 3, 0, rng)(tasks()[0].x).value();  // of (0,0), (0,1), (1,0), (1,1)
  const double below = value_of(f[2]) - value_of(f[0]), above = value_of(f[3]) - value_of(f[1]);
  to.claim(
      std::abs(above - below) < 1e-12 && std::abs(below) > 1e-3,
      formatted("3 layers, random parameters: %.4f in the lower row, %.4f above", below, above));
}

void bent(Lesson& to) {
  to.part("The MLP bends");
  to.define(
      "MLP",
      "Two linear layers with the function GELU between them, applied to each word by itself; "
      "short for multilayer perceptron.");
  to.define("GELU",
            "A function whose curve is bent: large positive numbers stay nearly the same, large "
            "negative numbers become nearly 0.");
  to.say(
      "Two numbers between the linear layers are enough for XOR. By hand: h1 = GELU(4a - 4b), h2 = "
      "GELU(4b - 4a), and the answer is h1/4 + h2/4.\n");
  const auto gelu = [](double x) { return gelu_tanh(Tensor(Array({1}, {x}))).item(); };
  to.show("   a  b   4a-4b  4b-4a       h1       h2    answer");
  double worst = 0;
  for (const auto& [a, b] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
    const double h1 = gelu(4.0 * (a - b)), h2 = gelu(4.0 * (b - a)), answer = (h1 + h2) / 4;
    to.show(formatted("   %d  %d  %6d %6d  %7.4f  %7.4f   %7.4f", a, b, 4 * (a - b), 4 * (b - a),
                      h1, h2, answer));
    worst = std::max(worst, std::abs(answer - (a ^ b)));
  }
  to.show("");
  to.define("covariance",
            "The mean product of two quantities, each measured from its own mean; 0 means that "
            "neither predicts the other by an affine map.");
  to.say(
      "Now we train on three tasks: XOR of 2 bits, XOR of 3 bits, and |x| of the numbers -1, 0 and "
      "1. In each task each input has the covariance 0 with the answer t. For XOR of 2 bits, a and "
      "t both have the mean 1/2. The products of a - 1/2 and t - 1/2 are 1/4, -1/4, -1/4 and 1/4 "
      "in the four cases, and their mean is 0. So no input helps an affine map. The best answer is "
      "a constant, the mean m of t, and the floor is the mean of (t - m)^2. We train two layers of "
      "attention without an MLP, and one layer with an MLP of 16 numbers between its two linear "
      "layers. The token comes three times, because a single token could get only the weight 1. "
      "For each of 20 seeds we take the lowest mean squared error of 400 steps. The table shows "
      "the best seed without an MLP, and the worst with one.\n");
  Table table = Table::of_numbers({"   task", "floor", "attention, best", "with MLP, worst"});
  int stopped = 0, fits = 0, below = 0;
  double covariances = 0;
  for (const Task& task : tasks()) {
    const Tensor d = task.t - mean(task.t);
    const Tensor covariance = mean(slice(task.x, 1, 0, 1) * d, {0});  // (1, in)
    covariances += sum(covariance * covariance).item();
    const double floor = mean(d * d).item();
    const std::vector<double> alone = lowest_errors(task, 2, 0);
    const std::vector<double> both = lowest_errors(task, 1, 16);
    for (const double e : alone) stopped += e < floor + 0.001 ? 1 : 0;
    below += alone.front() < floor - 1e-12 ? 1 : 0;
    for (const double e : both) fits += e < floor / 100 ? 1 : 0;
    table.row({"   " + task.name, formatted("%.6f", floor), formatted("%.6f", alone.front()),
               formatted("%.6f", both.back())});
  }
  to.show(table.text());
  to.say("Attention alone stops at the floor. An MLP reaches 0.\n");
  to.claim(worst < 0.001, "by hand: all four answers right within 0.001");
  to.claim(covariances < 1e-30 && below == 0, "all covariances are 0; no error below the floor");
  to.claim_rate(stopped, 3 * seeds, 57, "attention: at most 0.001 above the floor");
  to.claim_rate(fits, 3 * seeds, 57, "with an MLP: less than floor / 100");
}

void two_tokens(Lesson& to) {
  to.part("What the proof does not say");
  to.say(
      "The proof needs equal tokens. Now the first token has bit a, and the second has bit b. The "
      "answer is read at the second token, which can look at both. Then attention alone, with one "
      "head, learns XOR. The model of seed 1:\n");
  // A token is (bit, 0) or (0, bit); its bit is written as -1 or 1.
  const Task task{"", Array({4, 2, 2}, {-1, 0, 0, -1, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1}),
                  Array({4, 1, 1}, {0, 1, 1, 0})};
  Rng rng(1);
  const Net net(2, 1, 0, rng);
  train(net, task);
  const Array w = net.attention[0].forward_with_weights(net.embed(task.x)).weights.value();
  const Array y = net(task.x).value();
  to.show("   a  b   weight on the first   on the second   answer");
  for (Dim i = 0; i < 4; ++i)
    to.show(formatted("   %d  %d   %19.2f   %13.2f   %6.2f", i > 1 ? 1 : 0, i % 2 == 1 ? 1 : 0,
                      value_of(w.at({i, 0, 1, 0})), value_of(w.at({i, 0, 1, 1})),
                      std::round(100 * value_of(y.at({i, 0, 0}))) / 100 + 0.0));
  to.say(
      "\nHere mainly bit a decides the weights. The value of the second token depends on b. "
      "Attention multiplies weight and value, so it multiplies a number that depends on a by a "
      "number that depends on b. No affine map multiplies two inputs. Note 000 guesses that "
      "attention alone is not enough to learn functions that are not linear. That is right within "
      "one token: in our models only the MLP bends. Across tokens attention is not affine, because "
      "its weights depend on the tokens.\n");
  int fits = 0;
  for (const double error : lowest_errors(task, 1, 0)) fits += error < 0.0025 ? 1 : 0;
  to.claim_rate(fits, seeds, 18, "attention learns the XOR of two tokens");
}

void lesson(Lesson& to) {
  for (const auto part : {no_weighted_sum, alike_is_affine, bent, two_tokens}) part(to);
}

void with_hidden(Lesson& to, std::int64_t numbers) {
  const std::vector<double> errors = lowest_errors(tasks()[0], 1, numbers);
  to.say(
      formatted("XOR of two bits of one token, lowest mean squared error: %.6f with the best of 20 "
                "seeds, %.6f with the worst. ",
                errors.front(), errors.back()) +
      "See that 0 numbers leave the floor of 0.25, and how few numbers are enough.");
}

/// The answers of a trained model with an MLP for all a and b from -0.25 to 1.25.
support::Svg picture() {
  Rng rng(1);
  const Net net(2, 1, 16, rng);
  train(net, tasks()[0]);
  support::Svg svg(420, 390);
  constexpr auto middle = support::Svg::Anchor::middle;
  svg.text(210, 28, "XOR by an MLP: darker means nearer to 1", middle, 14);
  const auto x = [](double a) { return 110 + 200 * a; };
  const auto y = [](double b) { return 300 - 200 * b; };
  for (int i = 0; i < 900; ++i) {  // 30 by 30 squares
    const int column = i / 30, row = i % 30;
    const double a = -0.225 + 0.05 * column, b = -0.225 + 0.05 * row;
    svg.box(x(a) - 5, y(b) - 5, 10, 10, support::svg_colours()[0],
            std::clamp(double(net(thrice(Array({1, 1, 2}, {a, b}))).item()), 0.0, 1.0));
  }
  for (const auto& [a, b] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
    svg.circle(x(a), y(b), 20, "white");
    svg.text(x(a), y(b) + 4, formatted("%d XOR %d", a, b), middle, 8);
  }
  svg.text(210, 375, "a grows from left to right, b from below to above", middle);
  return svg;
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/17_attention_and_mlp",
       .title = "What attention alone cannot do",
       .question =
           "Attention only makes weighted sums. Is there a simple task that attention alone cannot "
           "learn?",
       .prediction = "a and b are 0 or 1. The right answer is 1 if exactly one of them is 1, and "
                     "else 0. You may answer only c1 a + c2 b + c0, with three fixed numbers of "
                     "your choice. How small can the mean of the four squared errors be?",
       .body = fledge::lesson,
       .reading = {{"nn/layers/mlp.h", "MLP", "the formula, with GELU between two linear layers"},
                   {"nn/layers/block.h", "Block", "attention, then MLP, each with its residual"}},
       .plays = {{.option = "--hidden",
                  .value = "2",
                  .help = "XOR of two bits with so many numbers in the MLP, 20 seeds",
                  .limits = {0, 64},
                  .with_whole_number = fledge::with_hidden}},
       .picture = fledge::picture});
}
