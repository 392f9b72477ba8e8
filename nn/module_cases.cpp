#include "nn/module_cases.h"

#include "nn/gpt/language_model.h"
#include "nn/gradcheck.h"

namespace fledge {

namespace {

/// Draws all parameters again, of size about ½. With GPT-2's small initial weights a wrong gradient
/// could be too small to be seen.
template <Module M>
void redraw(const M& module, Rng& rng) {
  for (const Tensor& p : parameters(module)) {
    Real* values = p.write();
    for (Dim i = 0; i < p.size(); ++i) values[i] = Real(0.5 * rng.normal());
  }
}

/// A module made by `make`, checked with respect to its parameters and its input.
template <class Make>
ModuleCase with_input(std::string name, const std::vector<Shape>& shapes, Make make) {
  return {std::move(name), to_string(shapes[0]), shapes,
          [=](std::uint64_t seed, const Shape& input) {
            Rng rng(seed);
            const auto module = make(rng);
            redraw(module, rng);
            const Tensor x = parameter(random_normal(input, 0, 1, rng));
            std::vector<NamedTensor> inputs = named_parameters(module);
            inputs.insert(inputs.begin(), {"input", x});
            return Subject{[=] { return module(x); }, inputs};
          }};
}

/// An attention with its mask, as a module of one input.
struct Masked {
  Attention attention;
  Mask mask;
  Tensor operator()(const Tensor& x) const { return attention(x, mask); }
  void visit(auto&& f) const { f("attention", attention); }
};

ModuleCase attention(std::string name, const std::vector<Shape>& inputs, HeadCount heads,
                     const Mask& mask, Sink sink = Sink::none) {
  return with_input(std::move(name), inputs, [=, width = inputs[0].dim(-1)](Rng& rng) {
    Masked masked{Attention(width, heads, rng), mask};
    if (sink == Sink::learned) masked.attention.sink = parameter(Array::zeros({heads.queries}));
    return masked;
  });
}

struct Biased {
  Attention attention;
  Tensor bias;  // (H, T, T)
  Tensor operator()(const Tensor& x) const {
    Rng rng(5);
    const AttendOptions options{.bias = bias, .dropout = Dropout(0.3), .mode = Mode::training(rng)};
    return attention.forward_with_weights(x, causal(), options).output;
  }
  void visit(auto&& f) const { f("attention", attention), f("bias", bias); }
};

/// An attention with the parts of today: rotary positions, QK-norm, exclusive values.
ModuleCase attention_of_today(std::string name, const std::vector<Shape>& inputs, HeadCount heads,
                              const Mask& mask) {
  return with_input(std::move(name), inputs, [=, width = inputs[0].dim(-1)](Rng& rng) {
    Attention attention(width, heads, rng, Bias::without);
    attention.qk_norm = QueryKeyNorm::rms;
    attention.exclusive = Exclusive::own_value;
    attention.rotary_base = 100;
    return Masked{attention, mask};
  });
}

struct TwoSources {
  CrossAttention attention;
  Tensor source;
  Tensor operator()(const Tensor& x) const { return attention(x, source, padding({3, 5})); }
  void visit(auto&& f) const { f("attention", attention), f("source", source); }
};

struct Dropping {
  Block block;
  Tensor operator()(const Tensor& x) const {
    Rng rng(5);
    return block(x, causal(), Mode::training(rng));
  }
  void visit(auto&& f) const { f("block", block); }
};

const Indices words({2, 5}, {1, 2, 3, 4, 5, 10, 9, 2, 2, 0});
const Indices next_words({2, 5}, {2, 3, 4, 5, 6, 9, 2, 2, -1, -1});

/// A model of two layers: its logits, or its loss where it has dropout.
ModuleCase two_layers(std::string name, double dropout, const Recipe& recipe = {}) {
  return {std::move(name), "2 layers, (2, 5) ids", {{}}, [=](std::uint64_t seed, const Shape&) {
            Rng rng(seed);
            const LanguageModel model({.vocabulary = 11,
                                       .context = 6,
                                       .layers = 2,
                                       .heads = 2,
                                       .width = 8,
                                       .hidden = 12,
                                       .dropout = dropout,
                                       .bias = recipe == today() ? Bias::without : Bias::with,
                                       .recipe = recipe},
                                      rng);
            redraw(model, rng);
            const auto f = [=] {
              if (dropout == 0) return model(words);
              Rng drops(3);
              return cross_entropy(model(words, Mode::training(drops)), next_words, -1);
            };
            return Subject{f, named_parameters(model)};
          }};
}

}  // namespace

const std::vector<ModuleCase>& module_cases() {
  static const std::vector<ModuleCase> cases = {
      with_input("Linear", {{2, 3, 4}, {1, 1, 4}, {3, 17, 4}},
                 [](Rng& rng) { return Linear(4, 3, rng); }),
      with_input("Linear without bias", {{3, 4}, {1, 17, 4}},
                 [](Rng& rng) { return Linear(4, 3, rng, Bias::without); }),
      {"Embedding",
       "(2, 5) ids",
       {{}},
       [](std::uint64_t seed, const Shape&) {
         Rng rng(seed);
         const Embedding table(11, 3, rng);
         return Subject{[=] { return table(words); }, named_parameters(table)};
       }},
      with_input("LayerNorm", {{2, 3, 5}, {1, 1, 5}, {3, 17, 5}},
                 [](Rng&) { return LayerNorm(5); }),
      with_input("RMS norm", {{2, 3, 5}, {1, 1, 5}, {3, 17, 5}},
                 [](Rng&) { return LayerNorm(5, 1e-5, Norm::rms); }),
      with_input("MLP", {{2, 2, 3}, {1, 1, 3}, {3, 17, 3}},
                 [](Rng& rng) { return MLP(3, 7, rng); }),
      with_input("MLP SwiGLU", {{2, 2, 3}, {1, 1, 3}, {3, 17, 3}},
                 [](Rng& rng) { return MLP(3, 7, rng, Bias::with, FeedForward::swiglu); }),
      with_input("MLP ReLU squared", {{2, 2, 3}, {1, 1, 3}, {3, 17, 3}},
                 [](Rng& rng) { return MLP(3, 7, rng, Bias::with, FeedForward::relu_squared); }),
      attention("Attention one head", {{1, 3, 4}, {1, 1, 4}, {3, 2, 4}, {1, 17, 4}}, 1, Mask()),
      attention("Attention causal", {{2, 5, 6}, {1, 1, 6}, {3, 2, 6}, {3, 17, 6}}, 2, causal()),
      attention("Attention odd head size", {{2, 3, 9}}, 3, causal()),
      attention("Attention window", {{1, 5, 4}, {3, 17, 4}}, 2, causal() & window(2)),
      attention("Attention padding", {{2, 4, 4}}, 2, padding({2, 4})),
      attention("Attention padding and causal", {{3, 4, 6}}, 3, padding({4, 0, 2}) & causal()),
      attention("Attention both sides", {{2, 6, 4}}, 1, window(2)),
      attention("Attention nowhere to look", {{1, 3, 4}, {3, 3, 4}}, 2,
                custom(3, 3, {true, false, true, false, false, false, false, true, true})),
      with_input("Attention with bias and dropout", {{2, 4, 6}},
                 [](Rng& rng) {
                   return Biased{Attention(6, 2, rng), parameter(Array::ones({2, 4, 4}))};
                 }),
      attention("Attention shared keys", {{2, 5, 8}, {3, 17, 8}}, {4, 2}, causal()),
      attention("Attention sink", {{2, 5, 6}, {3, 17, 6}}, 2, causal(), Sink::learned),
      attention("Attention shared keys and sink, nowhere to look", {{1, 3, 6}, {2, 3, 6}}, {3, 1},
                custom(3, 3, {true, false, true, false, false, false, false, true, true}),
                Sink::learned),
      attention_of_today("Attention of today", {{2, 5, 8}, {3, 2, 8}, {3, 17, 8}}, 2, causal()),
      attention_of_today("Attention of today, wide heads", {{1, 3, 20}}, 1, causal() & window(2)),
      attention_of_today("Attention of today, shared keys", {{2, 5, 8}}, {4, 2}, causal()),
      attention_of_today("Attention of today, documents", {{2, 6, 8}, {6, 8}}, 2,
                         documents({2, 3, 1}) & causal()),
      with_input("CrossAttention", {{2, 4, 6}, {2, 1, 6}, {2, 17, 6}},
                 [](Rng& rng) {
                   return TwoSources{CrossAttention(6, 3, 2, rng),
                                     parameter(random_normal({2, 5, 3}, 0, 1, rng))};
                 }),
      with_input("Block", {{2, 3, 4}, {1, 1, 4}, {3, 17, 4}},
                 [](Rng& rng) { return Block(4, 2, 6, rng); }),
      with_input("Dropout in a block", {{2, 3, 4}, {3, 4, 4}},
                 [](Rng& rng) { return Dropping{Block(4, 2, 6, rng, 0.3)}; }),
      two_layers("LanguageModel logits", 0),
      two_layers("LanguageModel of today", 0, today()),
      two_layers("LanguageModel loss", 0.1),
  };
  return cases;
}

}  // namespace fledge
