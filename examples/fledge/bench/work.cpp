// The pieces of work that are measured, each as a program of a user would call it.
#include <functional>
#include <memory>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/fledge/bench/limits.h"
#include "examples/fledge/bench/model.h"
#include "examples/fledge/step_cost.h"
#include "nn/optim/adamw.h"
#include "nn/optim/optimizer.h"

namespace fledge::bench {

namespace {

Tensor drawn(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  return parameter(random_normal(shape, 0, 1, rng));
}

Indices random_ids(Dim batch, Dim time, Dim vocab, Rng& rng) {
  return {{batch, time}, random_tokens(batch * time, vocab, rng)};
}

// Forward and backward with a fixed cotangent.
std::function<void()> both_ways(const std::vector<Tensor>& inputs, const Array& dy,
                                const std::function<Tensor()>& f) {
  return [=] {
    for (const Tensor& input : inputs) input.zero_grad();
    backward(f(), dy);
  };
}

// Makes one training step of a model of these sizes: forward, backward, clipping, AdamW.
std::function<void()> training_of(const StepSizes& sizes) {
  Rng rng(1);
  const LanguageModel model = model_of(sizes, rng);
  const std::vector<Tensor> learned = parameters(model);
  const auto optimizer =
      std::make_shared<AdamW>(learned, AdamWOptions{.rate = 1e-3, .beta2 = 0.99, .decay = 0.1});
  return [=]() mutable {
    const Indices ids = random_ids(sizes.batch, sizes.context, sizes.vocab, rng);
    const Indices next = random_ids(sizes.batch, sizes.context, sizes.vocab, rng);
    optimizer->zero_grad();
    backward(cross_entropy(model(ids), next));
    clip_gradients(learned, 1);
    optimizer->step();
  };
}

}  // namespace

Row step(const StepSizes& sizes) {
  const std::string shape = by({sizes.layers, sizes.heads, sizes.width});
  const double flops = operations_of_step(model_sizes(sizes), static_cast<double>(sizes.batch));
  return measured(
      {.name = "step",
       .sizes = shape + " context " + std::to_string(sizes.context) + " batch " +
                std::to_string(sizes.batch) + vocabulary_of(sizes),
       .short_sizes = shape + " " + by({sizes.batch, sizes.context}) + short_vocabulary_of(sizes),
       .flops = flops},
      training_of(sizes), multiply_adds(flops), 1.2, sizes.steps);
}

Row gemm(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& kind) {
  const bool swap_a = kind[0] == 'T', swap_b = kind[1] == 'T';
  const Array a = drawn(swap_a ? Shape{k, m} : Shape{m, k}, 1).value(),
              b = drawn(swap_b ? Shape{n, k} : Shape{k, n}, 2).value();
  const double flops = 2.0 * static_cast<double>(m * n * k);
  return measured(
      {.name = "gemm", .sizes = by({m, n, k}) + (kind == "NN" ? "" : " " + kind), .flops = flops},
      [&] {
        product({a, swap_a}, {b, swap_b});
      },
      multiply_adds(flops));
}

Row attention(std::int64_t batch, std::int64_t heads, std::int64_t time, std::int64_t D) {
  const Tensor qkv = drawn({batch, time, 3 * heads * D}, 1);
  const Array dy = drawn({batch, time, heads * D}, 9).value();
  const double squares = static_cast<double>(batch * time) * static_cast<double>(time);
  const double flops = operations_of_attention(squares, static_cast<double>(heads * D));
  return measured({.name = "attention", .sizes = by({batch, heads, time, D}), .flops = flops},
                  both_ways({qkv}, dy, [&] { return fledge::attention(qkv, heads, causal()); }),
                  multiply_adds(flops));
}

Row cross_attention(std::int64_t batch, std::int64_t heads, std::int64_t queries, std::int64_t keys,
                    std::int64_t D) {
  const Tensor q = drawn({batch, queries, heads * D}, 1), k = drawn({batch, keys, heads * D}, 2),
               v = drawn({batch, keys, heads * D}, 3);
  const Array dy = drawn({batch, queries, heads * D}, 9).value();
  // Without a mask all pairs count: twice as many as under the causal mask.
  const double pairs = static_cast<double>(batch * queries) * static_cast<double>(keys);
  const double flops = operations_of_attention(2 * pairs, static_cast<double>(heads * D));
  return measured({.name = "cross", .sizes = by({batch, heads, queries, keys, D}), .flops = flops},
                  both_ways({q, k, v}, dy, [&] { return fledge::attention(q, k, v, heads, {}); }),
                  multiply_adds(flops));
}

Row op(const std::string& name, std::int64_t rows, std::int64_t columns) {
  const Tensor x = drawn({rows, columns}, 1), gain = drawn({columns}, 2),
               bias = drawn({columns}, 3);
  const Array dy = drawn({rows, columns}, 9).value();
  const auto f = [&]() -> Tensor {
    if (name == "softmax") return softmax(x);
    if (name == "layernorm") return layer_norm(x, gain, bias);
    if (name == "gelu") return gelu(x);
    return gelu_tanh(x);
  };
  // At least: x read and y written; dy and what was saved read, dx written.
  const double bytes = 5 * static_cast<double>(rows * columns) * sizeof(Real);
  return measured({.name = name, .sizes = by({rows, columns}), .bytes = bytes},
                  both_ways({x, gain, bias}, dy, f), memory(x.value(), dy));
}

std::vector<Row> overhead() {
  constexpr int ops = 1000, runs = 200;
  const Tensor x = drawn({3, 3}, 1), one = drawn({3, 3}, 2);
  const Array dy = Array::ones({3, 3});
  Tensor y;
  Timer forward([&] {
    y = x;
    for (int i = 0; i < ops; ++i) y = y + one;
  });
  Timer back([&] {
    backward(y, dy);
    y = Tensor();
  });
  for (int run = 0; run < runs; ++run) {
    forward.run(0);
    back.run(0);
  }
  const auto row = [](const char* name, Times of_all) -> Row {
    return {.name = name,
            .sizes = "3x3",
            .time = {of_all.best / ops, of_all.median / ops},
            .peak_mb = support::peak_megabytes()};
  };
  return {row("overhead forward", forward.times()), row("overhead backward", back.times())};
}

}  // namespace fledge::bench
