// The pieces of work that are measured, each as a program of a user would call it.
#include <functional>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/fledge/bench/model.h"
#include "examples/fledge/bench/timing.h"
#include "examples/fledge/step_cost.h"
#include "nn/optim/adamw.h"
#include "nn/optim/clip.h"

namespace fledge::bench {

namespace {

Tensor drawn(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  return parameter(random_normal(shape, 0, 1, rng));
}

Indices random_ids(Dim batch, Dim time, Dim vocab, Rng& rng) {
  return {{batch, time}, random_tokens(batch * time, vocab, rng)};
}

// Counts the ops that are recorded while it lives.
class OpCount : public GraphObserver {
 public:
  OpCount() : before_(graph_observer) { graph_observer = this; }
  ~OpCount() override { graph_observer = before_; }
  OpCount(const OpCount&) = delete;
  OpCount& operator=(const OpCount&) = delete;

  double count() const { return count_; }

 private:
  void inspect(const Node&, const Array&, const Node* input) override {
    if (input == nullptr) ++count_;
  }

  GraphObserver* before_;
  double count_ = 0;
};

// Forward and backward with a fixed cotangent.
double both_ways(const std::vector<Tensor>& inputs, const std::function<Tensor()>& f) {
  Rng rng(9);
  const Array dy = random_normal(f().shape(), 0, 1, rng);
  return median_seconds([&] {
    for (const Tensor& input : inputs) input.zero_grad();
    backward(f(), dy);
  });
}

}  // namespace

Row step(const StepSizes& sizes) {
  Rng rng(1);
  const LanguageModel model = model_of(sizes, rng);
  const std::vector<Tensor> learned = parameters(model);
  AdamW optimizer(learned, {.rate = 1e-3, .beta2 = 0.99, .decay = 0.1});
  const auto train = [&] {
    const Indices ids = random_ids(sizes.batch, sizes.context, sizes.vocab, rng);
    const Indices next = random_ids(sizes.batch, sizes.context, sizes.vocab, rng);
    optimizer.zero_grad();
    backward(cross_entropy(model(ids), next));
    clip_gradients(learned, 1);
    optimizer.step();
  };
  double calls = 0;
  {
    const OpCount ops;
    train();
    calls = ops.count();
  }
  const double seconds = median_seconds(train, 1, sizes.steps);

  const std::string shape = by({sizes.layers, sizes.heads, sizes.width});
  const std::string vocab = vocabulary_of(sizes);
  return {.name = "step",
          .sizes = shape + " context " + std::to_string(sizes.context) + " batch " +
                   std::to_string(sizes.batch) + vocab,
          .short_sizes = shape + " " + by({sizes.batch, sizes.context}) + vocab,
          .seconds = seconds,
          .flops = operations_of_step(model.sizes, static_cast<double>(sizes.batch)),
          .calls = calls};
}

Row gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  const Array a = drawn({m, k}, 1).value(), b = drawn({k, n}, 2).value();
  const double seconds = median_seconds([&] { product(a, b); });
  return {.name = "gemm",
          .sizes = by({m, n, k}),
          .seconds = seconds,
          .flops = 2.0 * static_cast<double>(m * n * k)};
}

Row attention(std::int64_t batch, std::int64_t heads, std::int64_t time, std::int64_t D) {
  const Tensor qkv = drawn({batch, time, 3 * heads * D}, 1);
  const double seconds = both_ways({qkv}, [&] { return fledge::attention(qkv, heads, causal()); });
  const double squares = static_cast<double>(batch * time) * static_cast<double>(time);
  return {.name = "attention",
          .sizes = by({batch, heads, time, D}),
          .seconds = seconds,
          .flops = operations_of_attention(squares, static_cast<double>(heads * D)),
          .calls = 1};
}

Row op(const std::string& name, std::int64_t rows, std::int64_t columns) {
  const Tensor x = drawn({rows, columns}, 1), gain = drawn({columns}, 2),
               bias = drawn({columns}, 3);
  const auto f = [&]() -> Tensor {
    if (name == "softmax") return softmax(x);
    if (name == "layernorm") return layer_norm(x, gain, bias);
    if (name == "gelu") return gelu(x);
    return gelu_tanh(x);
  };
  const double seconds = both_ways({x, gain, bias}, f);
  // At least: x read and y written; dy and what was saved read, dx written.
  const double array = static_cast<double>(rows * columns) * sizeof(Real);
  return {.name = name,
          .sizes = by({rows, columns}),
          .seconds = seconds,
          .bytes = 5 * array,
          .calls = 1,
          .array_bytes = 4 * array};
}

std::vector<Row> overhead() {
  constexpr int ops = 1000, runs = 200;
  const Tensor x = drawn({3, 3}, 1), one = drawn({3, 3}, 2);
  const Array dy = Array::ones({3, 3});
  std::vector<double> forward, backward_pass;
  for (int run = 0; run < runs; ++run) {
    auto begin = Clock::now();
    Tensor y = x;
    for (int i = 0; i < ops; ++i) y = y + one;
    forward.push_back(seconds_since(begin));
    begin = Clock::now();
    backward(y, dy);
    y = Tensor();
    backward_pass.push_back(seconds_since(begin));
  }
  return {{.name = "overhead forward", .sizes = "3x3", .seconds = median(forward) / ops},
          {.name = "overhead backward", .sizes = "3x3", .seconds = median(backward_pass) / ops}};
}

}  // namespace fledge::bench
