// The pieces of work that are measured, each as a program of a user would call it.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/fledge/bench/bench.h"
#include "examples/fledge/step_cost.h"
#include "examples/support/peak_memory.h"
#include "nn/generate/sampler.h"
#include "nn/optim/adamw.h"
#include "nn/optim/optimizer.h"

namespace fledge::bench {

namespace {

constexpr double least_seconds = 3;  // of all that is measured of generation
constexpr Dim tokens_a_prompt = 32;  // then the prompt is read again, by a new decoder

/// "4x4x128"
std::string by(std::initializer_list<std::int64_t> sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string short_vocabulary_of(const StepSizes& sizes) {
  return " " + std::to_string(sizes.vocab) + (sizes.bias ? "" : " no bias");
}

std::string vocabulary_of(const StepSizes& sizes) { return " vocab" + short_vocabulary_of(sizes); }

LanguageModelSizes model_sizes(const StepSizes& sizes) {
  return {.vocabulary = sizes.vocab,
          .context = sizes.context,
          .layers = sizes.layers,
          .heads = sizes.heads,
          .width = sizes.width,
          .bias = sizes.bias ? Bias::with : Bias::without};
}

LanguageModel model_of(const StepSizes& sizes, Rng& rng) { return {model_sizes(sizes), rng}; }

std::vector<Dim> random_tokens(Dim count, Dim vocab, Rng& rng) {
  std::vector<Dim> tokens(static_cast<std::size_t>(count));
  for (Dim& token : tokens) token = rng.below(vocab);
  return tokens;
}

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

// A token needs each weight once, in one multiply-add: reading the weights from memory takes longer than
// computing with them. So a token is compared with a loop that reads the same weights.
std::vector<Row> generate(const StepSizes& sizes) {
  Rng rng(1);
  const LanguageModel model = model_of(sizes, rng);
  const Dim half = std::max<Dim>(1, sizes.context / 2);
  const Dim length = sizes.prompt > 0 ? sizes.prompt : std::min<Dim>(64, half);
  const Dim most_tokens = std::min(tokens_a_prompt, sizes.context - length);  // of one window
  const std::vector<Dim> words = random_tokens(length, sizes.vocab, rng);
  const double flops = operations_of_prompt(model.sizes, static_cast<double>(length));
  const Limit of_prompt = multiply_adds(flops), of_token = reading(model);

  std::optional<Decoder> decoder;
  Array logits;
  Timer prompt([&] { logits = decoder.emplace(model).read(words); });
  Timer token([&] { logits = decoder->read({sample(logits, {}, rng)}); });
  Timer computing(of_prompt.run), weights(of_token.run);
  const auto begin = Clock::now();
  const auto enough = [&] {
    return sizes.steps > 0
               ? token.runs() >= sizes.steps
               : prompt.timings() >= least_turns && seconds_since(begin) >= least_seconds;
  };
  while (!enough()) {
    computing.run(prompt.run(0) / 4);
    Dim left = sizes.steps > 0 ? std::min(most_tokens, sizes.steps - token.runs()) : most_tokens;
    for (const Dim end = token.runs() + left; token.runs() < end;)
      weights.run(token.run(work_turn, end - token.runs()) / 4);
  }

  const std::string shape = by({sizes.layers, sizes.heads, sizes.width});
  const std::string vocab = vocabulary_of(sizes);
  const std::string context = " context " + std::to_string(sizes.context);
  const std::string tokens = " " + std::to_string(length);
  return {with_times({.name = "prompt",
                      .sizes = shape + context + " tokens" + tokens + vocab,
                      .short_sizes = shape + tokens + short_vocabulary_of(sizes),
                      .flops = flops,
                      .tokens = static_cast<double>(length)},
                     of_prompt, {prompt.times(), computing.times()}),
          with_times({.name = "generate",
                      .sizes = shape + context + vocab,
                      .short_sizes = shape + short_vocabulary_of(sizes),
                      .bytes = bytes_of_token(model),
                      .tokens = 1},
                     of_token, {token.times(), weights.times()})};
}

}  // namespace fledge::bench
