// What attention alone cannot do, XOR of two bits of one token; and what the MLP adds, a bend.
#include "examples/lessons/vocabulary.h"
#include "nn/layers/attention.h"
#include "nn/layers/layers.h"
#include "nn/optim/adamw.h"

namespace fledge::lessons::in_attention_and_mlp {

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

const std::vector<Task> tasks = {
    {"XOR of 2 bits", thrice(Array({4, 1, 2}, {0, 0, 0, 1, 1, 0, 1, 1})),
     Array({4, 1, 1}, {0, 1, 1, 0})},
    {"XOR of 3 bits",
     thrice(Array({8, 1, 3},  //
                  {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1})),
     Array({8, 1, 1}, {0, 1, 1, 0, 1, 0, 0, 1})},
    {"|x| of -1, 0, 1", thrice(Array({3, 1, 1}, {-1, 0, 1})), Array({3, 1, 1}, {1, 0, 1})}};

/// Trains 400 steps. Returns the lowest mean squared error of them.
double train(const Net& net, const Task& task) {
  return minimise(AdamW(parameters(net), {.rate = 0.02, .decay = 0}), 400, [&] {
    const Tensor error = net(task.x) - task.t;
    return mean(error * error);
  });
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

int count_below(double limit, const std::vector<double>& sorted) {
  return static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), limit) - sorted.begin());
}

void alike_is_affine(LessonText& to) {
  Rng rng(1);
  const Array f = Net(2, 3, 0, rng)(tasks[0].x).value();  // of (0,0), (0,1), (1,0), (1,1)
  const double below = value_of(f[2]) - value_of(f[0]), above = value_of(f[3]) - value_of(f[1]);
  to.set_all("below", below, "above", above);
  to.claim("rows", std::abs(above - below) < 1e-12 && std::abs(below) > 1e-3);
}

void bent(LessonText& to) {
  const auto gelu = [](double x) { return gelu_tanh(Tensor(Array({1}, {x}))).item(); };
  std::string by_hand = "   a  b   4a-4b  4b-4a       h1       h2    answer\n";
  double worst = 0;
  for (const auto& [a, b] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
    const double h1 = gelu(4.0 * (a - b)), h2 = gelu(4.0 * (b - a)), answer = (h1 + h2) / 4;
    by_hand += formatted("   %d  %d  %6d %6d  %7.4f  %7.4f   %7.4f\n", a, b, 4 * (a - b),
                         4 * (b - a), h1, h2, answer);
    worst = std::max(worst, std::abs(answer - (a ^ b)));
  }
  to.set("by hand", by_hand);
  Table table = Table::of_numbers({"   task", "floor", "attention, best", "with MLP, worst"});
  int stopped = 0, fits = 0, below = 0;
  double covariances = 0;
  for (const Task& task : tasks) {
    const Tensor d = task.t - mean(task.t);
    const Tensor covariance = mean(slice(task.x, 1, 0, 1) * d, {0});  // (1, in)
    covariances += sum(covariance * covariance).item();
    const double floor = mean(d * d).item();
    const std::vector<double> alone = lowest_errors(task, 2, 0);
    const std::vector<double> both = lowest_errors(task, 1, 16);
    stopped += count_below(floor + 0.001, alone);
    below += alone.front() < floor - 1e-12 ? 1 : 0;
    fits += count_below(floor / 100, both);
    table.row("   %s | %.6f | %.6f | %.6f", task.name.c_str(), floor, alone.front(), both.back());
  }
  to.set("errors", table);
  to.claim("by hand", worst < 0.001);
  to.claim("covariances", covariances < 1e-30 && below == 0);
  to.claim_rate("floor", stopped, 3 * seeds, 57);
  to.claim_rate("with an MLP", fits, 3 * seeds, 57);
}

void two_tokens(LessonText& to) {
  // A token is (bit, 0) or (0, bit); its bit is written as -1 or 1.
  const Task task{"", Array({4, 2, 2}, {-1, 0, 0, -1, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1}),
                  Array({4, 1, 1}, {0, 1, 1, 0})};
  Rng rng(1);
  const Net net(2, 1, 0, rng);
  train(net, task);
  const Array w = net.attention[0].forward_with_weights(net.embed(task.x)).weights.value();
  const Array y = net(task.x).value();
  std::string answers = "   a  b   weight on the first   on the second   answer\n";
  for (Dim i = 0; i < 4; ++i)
    answers += formatted("   %d  %d   %19.2f   %13.2f   %6.2f\n", i > 1 ? 1 : 0, i % 2 == 1 ? 1 : 0,
                         value_of(w.at({i, 0, 1, 0})), value_of(w.at({i, 0, 1, 1})),
                         std::round(100 * value_of(y.at({i, 0, 0}))) / 100 + 0.0);
  to.set("answers", answers);
  to.claim_rate("two tokens", count_below(0.0025, lowest_errors(task, 1, 0)), seeds, 18);
}

const LessonProgram program({alike_is_affine, bent, two_tokens});

}  // namespace fledge::lessons::in_attention_and_mlp
