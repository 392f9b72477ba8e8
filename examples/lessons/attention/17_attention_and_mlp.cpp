// Attention is not enough: what it cannot fit, proved and measured, and what the MLP adds.
//
// Works out note 000 (Birds sometimes walk), its first thought on the mathematics: a weighted sum
// is linear, so something that is not should follow it. Adds to lesson 12 the block's other half.
// Key idea: attention bends only by its weights. Where all tokens are alike these make no
// difference, and it computes an affine map. Next: nn/layers/mlp.h, nn/layers/block.h.
#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "examples/lessons/lesson.h"
#include "examples/support/table.h"
#include "nn/layers/attention.h"
#include "nn/layers/mlp.h"
#include "nn/optim/adamw.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

constexpr int seeds = 20;

/// h <- h + attention(h), with an MLP then h <- h + mlp(h), in each layer; read at the last token.
/// x (B, T, in)   y (B, 1, 1)
struct Net {
  Linear embed, read;
  std::vector<Attention> attention;
  std::vector<MLP> mlp;

  Net(Dim in, int layers, bool with_mlp, Rng& rng) : embed(in, 8, rng), read(8, 1, rng) {
    for (int layer = 0; layer < layers; ++layer) {
      attention.emplace_back(8, 2, rng);
      if (with_mlp) mlp.emplace_back(8, 16, rng);
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

/// The lowest mean squared error that training ever meets.
double lowest_error(const Net& net, const Tensor& x, const Tensor& t) {
  AdamW adamw(parameters(net), {.rate = 0.02, .decay = 0});
  double lowest = infinity;
  for (int step = 0; step < 400; ++step) {
    adamw.zero_grad();
    const Tensor error = net(x) - t, loss = mean(error * error);
    backward(loss);
    adamw.step();
    lowest = std::min(lowest, loss.item());
  }
  return lowest;
}

/// The same token three times.   x (B, 1, in)   y (B, 3, in)
Tensor thrice(const Tensor& x) { return concat({x, x, x}, 1); }

double bend(const Net& f, const Tensor& p, const Tensor& q, const Tensor& r) {
  return std::abs((f(p) + f(q) - f(r) - f(p + q - r)).item());
}

void alike_is_affine(Lesson& to) {
  to.part("Of tokens that are all alike, attention computes an affine map");
  to.say(
      "Attention gives a token a mean of the values x_j W_V + b, with weights that sum to 1. If every "
      "x_j is the same x, this mean is x W_V + b, whatever the weights. The residual adds x. Heads "
      "and layers compose, and a composition of affine maps is affine. For every affine f:\n");
  to.show("   f(p) + f(q) - f(r) - f(p + q - r) = 0\n");
  to.say("The size of this sum, for random p, q, r and random weights:\n");
  double alike = 0, different = infinity, with_mlp = infinity;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed);
    const Net attention(2, 3, false, rng), both(2, 3, true, rng);
    const auto draw = [&](Dim tokens) { return Tensor(random_normal({1, tokens, 2}, 0, 1, rng)); };
    const Tensor p = thrice(draw(1)), q = thrice(draw(1)), r = thrice(draw(1));
    alike = std::max(alike, bend(attention, p, q, r));
    different = std::min(different, bend(attention, draw(3), draw(3), draw(3)));
    with_mlp = std::min(with_mlp, bend(both, p, q, r));
  }
  to.claim(alike < 1e-12, formatted("3 layers, 3 tokens alike:      at most %.0e", alike));
  to.claim(different > 1e-4, formatted("3 layers, 3 different tokens:  at least %.4f", different));
  to.claim(with_mlp > 1e-4, formatted("an MLP in each, 3 alike:       at least %.4f", with_mlp));
}

struct Task {
  std::string name;
  Tensor x, t;  // a function of a token: points (B, 1, in), values (B, 1, 1)
};

void floors(Lesson& to) {
  to.part("So it cannot fit XOR of a token's two bits, nor parity, nor |x|");
  to.say("Let f be a model, t the targets and m the mean of t. Then\n");
  to.show("   mean (f-t)^2 = mean (f-m)^2 - 2 mean (f-m)(t-m) + mean (t-m)^2\n");
  to.say(
      "If f is affine, the middle term is a sum of covariances of t and the coordinates of x. If these "
      "are 0, the squared error of an affine map is at least the last term, the variance of t.\n");
  const std::vector<Task> tasks = {
      {"XOR of 2 bits", Array({4, 1, 2}, {0, 0, 0, 1, 1, 0, 1, 1}), Array({4, 1, 1}, {0, 1, 1, 0})},
      {"parity of 3 bits",
       Array({8, 1, 3}, {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1}),
       Array({8, 1, 1}, {0, 1, 1, 0, 1, 0, 0, 1})},
      {"|x| of -1, 0 and 1", Array({3, 1, 1}, {-1, 0, 1}), Array({3, 1, 1}, {1, 0, 1})},
  };
  const auto right = [](const char* title) { return Table::Column{title, Table::Align::right}; };
  Table table({Table::Column{"lowest squared error"}, right("floor"),
               right("attention, best of 20"), right("and MLP, worst of 20")});
  int above = 0, near = 0, fits = 0;
  for (const Task& task : tasks) {
    const Tensor d = task.t - mean(task.t), along = mean(task.x * d, {0});  // the covariances
    to.claim(sum(along * along).item() < 1e-30, task.name + ": covariances of 0");
    const double floor = mean(d * d).item();
    const Tensor x = thrice(task.x);
    double best = infinity, worst = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Rng rng(seed);
      const double attention = lowest_error(Net(x.dim(2), 2, false, rng), x, task.t);
      const double with_mlp = lowest_error(Net(x.dim(2), 1, true, rng), x, task.t);
      above += attention > floor - 1e-12 ? 1 : 0;
      near += attention < floor + 0.001 ? 1 : 0;
      fits += with_mlp < floor / 100 ? 1 : 0;
      best = std::min(best, attention);
      worst = std::max(worst, with_mlp);
    }
    table.row(
        {task.name, formatted("%.6f", floor), formatted("%.6f", best), formatted("%.6f", worst)});
  }
  to.show("\n" + table.text());
  to.claim_rate(above, 3 * seeds, 3 * seeds, "two layers of attention never get below the floor");
  to.claim_rate(near, 3 * seeds, 3 * seeds, "they come within 0.001 of it");
  to.claim_rate(fits, 3 * seeds, 57, "one layer and an MLP get below a hundredth of it");
}

void two_tokens(Lesson& to) {
  to.part("What the proof does not say");
  to.say(
      "The proof holds for tokens that are all alike. If each of two tokens has one bit, attention "
      "alone can fit their XOR: which of the two the second token looks at depends on both bits.\n");
  const Tensor x = Array({4, 2, 2}, {-1, 0, 0, -1, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1});
  const Tensor t = Array({4, 1, 1}, {0, 1, 1, 0});
  int fits = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed);
    fits += lowest_error(Net(2, 1, false, rng), x, t) < 0.0025 ? 1 : 0;
  }
  to.claim_rate(fits, seeds, 18, "one layer of attention fits the XOR of two tokens");
}

void tell(Lesson& to) {
  alike_is_affine(to);
  floors(to);
  two_tokens(to);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "13_not_enough", "What attention cannot fit.",
                             fledge::tell);
}
