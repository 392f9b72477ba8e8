// Held parameters: what a variant holds keeps its bits through steps with weight decay, and the rest
// learns.
#include "nn/gpt/held_parameters.h"

#include <set>

#include "nn/optim/adamw.h"
#include "nn/text/batches.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

constexpr Dim held_width = 6;

LanguageModel varied_model(const Variant& variant, Bias bias = Bias::with) {
  Rng rng(3);
  return {{.vocabulary = 7,
           .context = 5,
           .layers = 2,
           .heads = 2,
           .width = held_width,
           .bias = bias,
           .variant = variant},
          rng};
}

/// A third of c_attn, q, k or v: its columns, and below them its part of the bias.
Array third(const Linear& c_attn, const Array& weight, const Array& bias, Dim t) {
  const Dim begin = t * held_width, end = begin + held_width;
  const Array columns = part(weight, 1, begin, end);
  if (!c_attn.bias.exists()) return columns.clone();
  return joined({columns, part(bias, 0, begin, end).with_shape({1, held_width})}, 0).clone();
}
Array third(const LanguageModel& model, std::size_t layer, Dim t) {
  const Linear& c_attn = model.h[layer].attn.c_attn;
  return third(c_attn, c_attn.weight.value(),
               c_attn.bias.exists() ? c_attn.bias.value() : Array(Shape{0}), t);
}

void pull_loss(const LanguageModel& model) {
  const Indices ids({2, 5}, {1, 2, 3, 4, 5, 6, 0, 2, 2, 1});
  const Indices targets({2, 5}, {2, 3, 4, 5, 6, 0, 2, 2, 1, 1});
  backward(cross_entropy(model(ids), targets, no_target));
}

// Steps as the trainer does them, with a large decay.
void take_steps(const LanguageModel& model, int count) {
  AdamW optimizer(parameters(model), {.rate = 0.05, .decay = 0.5});
  const HeldParameters held(model);
  for (int step = 0; step < count; ++step) {
    optimizer.zero_grad();
    pull_loss(model);
    held.change_gradients();
    held.keep_during([&] { optimizer.step(); });
  }
}

}  // namespace

TEST_CASE("held parameters: what is left out is 0, stays 0, and nothing else is held") {
  for (const Bias bias : {Bias::with, Bias::without})
    for (const auto& [without, part] : {std::pair<Without, std::string>{{}, "nothing"},
                                        {{.positions = true}, "wpe.weight"},
                                        {{.mlp = true}, ".mlp.c_proj."},
                                        {{.attention = true}, ".attn.c_proj."}}) {
      const LanguageModel model = varied_model({.without = without}, bias);
      std::vector<Array> before;
      for (const Tensor& p : parameters(model)) before.push_back(p.value().clone());
      take_steps(model, 3);
      std::size_t i = 0, held = 0;
      for (const auto& [name, p] : named_parameters(model)) {
        CAPTURE(name, part);
        const bool is_held = name.find(part) != name.npos;
        held += is_held;
        if (is_held) CHECK(all_zero(p.value()));
        // What only leads to a layer that adds nothing has the gradient 0, and weight decay.
        if (is_held || part == "nothing" || name.rfind("h.", 0) != 0)
          CHECK(bool{same_bits(p.value(), before[i])} == is_held);
        ++i;
      }
      CHECK(held == (part == "nothing"      ? 0u
                     : part == "wpe.weight" ? 1u
                                            : 2u * (bias == Bias::with ? 2 : 1)));
    }
}

TEST_CASE("held parameters: without W_V the values are the normalised vectors themselves") {
  const LanguageModel model = varied_model({.without = {.value = true}});
  take_steps(model, 3);
  const Tensor x = uniform({1, 4, held_width}, 5);
  for (const Block& block : model.h)
    CHECK(same_numbers(part(block.attn.qkv(x).value(), 2, 2 * held_width, 3 * held_width),
                       x.value()));
}

TEST_CASE("held parameters: frozen thirds keep the bits of the seed, tied ones stay equal") {
  struct Row {
    Frozen freeze;
    bool tie_qk;
    std::vector<bool> moves;  // q, k and v
  };
  for (const Row& row :
       {Row{{.q = true}, false, {false, true, true}}, Row{{.k = true}, false, {true, false, true}},
        Row{{.v = true}, false, {true, true, false}}, Row{{}, true, {true, true, true}},
        // Tied and one of both frozen, neither learns.
        Row{{.q = true}, true, {false, false, true}}, Row{{.k = true}, true, {false, false, true}}})
    for (const Bias bias : {Bias::with, Bias::without}) {
      CAPTURE(words_of(row.freeze), row.tie_qk);
      const LanguageModel model = varied_model({.freeze = row.freeze, .tie_qk = row.tie_qk}, bias),
                          free = varied_model({}, bias);
      take_steps(model, 5);
      for (std::size_t layer = 0; layer < 2; ++layer) {
        for (Dim t = 0; t < 3; ++t) {
          const Array start = third(free, layer, row.tie_qk && t == 1 ? 0 : t);
          CHECK(bool{same_bits(third(model, layer, t), start)} !=
                row.moves[static_cast<std::size_t>(t)]);
        }
        CHECK(bool{same_bits(third(model, layer, 0), third(model, layer, 1))} == row.tie_qk);
        const std::vector<Tensor> parts =
            split(model.h[layer].attn.qkv(uniform({1, 4, held_width}, 5)), 3, -1);
        CHECK(bool{same_bits(parts[0].value(), parts[1].value())} == row.tie_qk);
      }
    }
}

TEST_CASE("held parameters: the gradient of tied weights is the sum of both, as of one matrix") {
  const LanguageModel model = varied_model({.tie_qk = true}),
                      apart = varied_model({.tie_qk = true});
  pull_loss(model);
  pull_loss(apart);
  HeldParameters(model).change_gradients();
  const Linear &tied = model.h[0].attn.c_attn, &free = apart.h[0].attn.c_attn;
  const auto sum = [&](Dim t) { return third(tied, tied.weight.grad(), tied.bias.grad(), t); };
  const auto own = [&](Dim t) { return third(free, free.weight.grad(), free.bias.grad(), t); };
  CHECK(same_bits(sum(0), sum(1)));
  CHECK(close(sum(0), (Tensor(own(0)) + Tensor(own(1))).value()));
  CHECK(same_bits(sum(2), own(2)));
}
