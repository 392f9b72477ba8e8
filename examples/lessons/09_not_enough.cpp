// Attention is not enough: what it cannot fit, proved and measured, and what the MLP behind it adds.
//
// Works out note 000 (Birds sometimes walk), its first thought on the mathematics: a weighted sum is
// linear, so something that is not should follow it. Adds to lesson 08 the other half of a block.
// Key idea: attention bends only by its weights. Where all tokens are alike the weights make no
// difference, and what it computes is an affine map. Next: nn/layers/mlp.h, nn/layers/block.h.
#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "examples/support/lesson.h"
#include "examples/support/table.h"
#include "nn/layers/attention.h"
#include "nn/layers/mlp.h"
#include "nn/optim/adamw.h"

using namespace fledge;
using namespace fledge::support;

namespace {

constexpr int seeds = 20;

/// h <- h + attention(h), and with an MLP h <- h + mlp(h), layer after layer; read at the last token.
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

struct Trained {
  double lowest = infinity, last = infinity;  // mean squared error: ever while it learned, at the end
};

Trained train(const Net& net, const Tensor& x, const Tensor& t) {
  AdamW adamw(parameters(net), {.rate = 0.02, .decay = 0});
  Trained found;
  for (int step = 0; step < 400; ++step) {
    adamw.zero_grad();
    const Tensor error = net(x) - t;
    const Tensor loss = mean(error * error);
    backward(loss);
    adamw.step();
    found.last = loss.item();
    found.lowest = std::min(found.lowest, found.last);
  }
  return found;
}

/// The same token three times.   x (B, 1, in)   y (B, 3, in)
Tensor thrice(const Tensor& x) { return concat({x, x, x}, 1); }

/// |f(p) + f(q) - f(r) - f(p + q - r)|
double bend(const Net& f, const Tensor& p, const Tensor& q, const Tensor& r) {
  return std::abs((f(p) + f(q) - f(r) - f(p + q - r)).item());
}

void alike_is_affine(Lesson& to) {
  to.part("Of tokens that are all alike, attention computes an affine map");
  to.say("   A token gets a mean of the values x_j W_V + b, with weights that sum to 1. If every x_j is");
  to.say("   the same x, that mean is x W_V + b, whatever the weights. A residual adds x; heads and");
  to.say("   layers compose: still an affine map f of x. And an affine f bends nowhere:");
  to.say("   f(p) + f(q) - f(r) - f(p + q - r) = 0 for any p, q, r. Here, random ones and weights:\n");
  double alike = 0, different = infinity, with_mlp = infinity;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed);
    const Net attention(2, 3, false, rng), both(2, 3, true, rng);
    const auto draw = [&](Dim tokens) { return Tensor(random_normal({1, tokens, 2}, 0, 1, rng)); };
    const Tensor p = draw(1), q = draw(1), r = draw(1), u = draw(3), v = draw(3), w = draw(3);
    const double thrice_alike = bend(attention, thrice(p), thrice(q), thrice(r));
    alike = std::max({alike, bend(attention, p, q, r), thrice_alike});
    different = std::min(different, bend(attention, u, v, w));
    with_mlp = std::min(with_mlp, bend(both, thrice(p), thrice(q), thrice(r)));
  }
  to.claim(alike < 1e-12, formatted("3 layers, 1 token or 3 alike:  at most %.0e", alike));
  to.claim(different > 1e-4, formatted("3 layers, 3 different tokens:  at least %.4f", different));
  to.claim(with_mlp > 1e-4, formatted("an MLP in each, 3 alike:       at least %.4f", with_mlp));
}

/// A function of a token: points x (B, 1, in), values t (B, 1, 1).
struct Task {
  std::string name;
  Tensor x, t;
};

/// The variance of t, after a claim: t has no covariance with any coordinate of x.
double floor_of(Lesson& to, const Task& task) {
  const Tensor x = task.x - mean(task.x, {0}, true), t = task.t - mean(task.t);
  const Tensor covariances = mean(x * t, {0});
  to.claim(sum(covariances * covariances).item() < 1e-30, task.name + ": no covariance");
  return mean(t * t).item();
}

void floors(Lesson& to) {
  to.part("So it cannot fit XOR of a token's two bits, nor parity, nor |x|");
  to.say("   mean (f - t)^2  =  mean (f - m)^2  -  2 mean (f - m)(t - m)  +  mean (t - m)^2,  m = mean t.");
  to.say("   For affine f the middle term is a sum of covariances of t and the coordinates of x. Where");
  to.say("   these are 0, no affine map has an error below the last term: the variance of t.\n");
  const std::vector<Task> tasks = {
      {"XOR of 2 bits", Array({4, 1, 2}, {0, 0, 0, 1, 1, 0, 1, 1}), Array({4, 1, 1}, {0, 1, 1, 0})},
      {"parity of 3 bits",
       Array({8, 1, 3}, {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1}),
       Array({8, 1, 1}, {0, 1, 1, 0, 1, 0, 0, 1})},
      {"|x| of -1, 0 and 1", Array({3, 1, 1}, {-1, 0, 1}), Array({3, 1, 1}, {1, 0, 1})},
  };
  constexpr auto right = Table::Align::right;
  Table table({{"a token's"}, {"floor", right}, {"attention, lowest ever", right},
               {"at the end, worst", right}, {"with MLP, best", right}, {"worst", right}});
  int above = 0, near = 0, fits = 0;
  for (const Task& task : tasks) {
    const double floor = floor_of(to, task);
    double lowest = infinity, highest = 0, best = infinity, worst = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Rng rng(seed);
      const Trained alone = train(Net(task.x.dim(2), 2, false, rng), thrice(task.x), task.t);
      const Trained both = train(Net(task.x.dim(2), 1, true, rng), thrice(task.x), task.t);
      lowest = std::min(lowest, alone.lowest);
      highest = std::max(highest, alone.last);
      best = std::min(best, both.last);
      worst = std::max(worst, both.last);
      above += alone.lowest > floor - 1e-12 ? 1 : 0;
      near += alone.last < floor + 0.001 ? 1 : 0;
      fits += both.last < floor / 100 ? 1 : 0;
    }
    table.row({task.name, formatted("%.6f", floor), formatted("%.6f", lowest),
               formatted("%.6f", highest), formatted("%.0e", best), formatted("%.0e", worst)});
  }
  to.say("\n" + table.text());
  const int runs = static_cast<int>(tasks.size()) * seeds;
  to.claim_rate(above, runs, runs, "two layers of attention never got below the floor");
  to.claim_rate(near, runs, runs, "they end within 0.001 of it");
  to.claim_rate(fits, runs, 57, "one layer and an MLP end below a hundredth of it");
}

void two_tokens(Lesson& to) {
  to.part("What the proof does not say");
  to.say("   It is about tokens that are alike. With one bit of XOR in each of two tokens, attention alone");
  to.say("   can fit it: the second looks at the first or at itself, and which depends on both.\n");
  const Tensor x = Array({4, 2, 2}, {-1, 0, 0, -1, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1});
  const Tensor t = Array({4, 1, 1}, {0, 1, 1, 0});
  int fits = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed);
    fits += train(Net(2, 1, false, rng), x, t).last < 0.0025 ? 1 : 0;
  }
  to.claim_rate(fits, seeds, 18, "one layer of attention fits the XOR of two tokens");
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(argc, argv, "09_not_enough",
                    "What attention alone cannot fit, and what an MLP adds.", [](Lesson& to) {
                      alike_is_affine(to);
                      floors(to);
                      two_tokens(to);
                    });
}
