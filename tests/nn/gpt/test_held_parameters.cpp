// Held parameters: what a variant holds keeps its bits through steps with weight decay, and the rest
// learns.
#include "nn/gpt/held_parameters.h"

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

// The columns of a third of c_attn: of its weight, and below it of its bias.
Array third(const LanguageModel& model, std::size_t layer, Dim third) {
  const Linear& c_attn = model.h[layer].attn.c_attn;
  return part(c_attn.weight.value(), 1, third * held_width, (third + 1) * held_width).clone();
}
Array third_of_bias(const LanguageModel& model, std::size_t layer, Dim third) {
  const Linear& c_attn = model.h[layer].attn.c_attn;
  return part(c_attn.bias.value(), 0, third * held_width, (third + 1) * held_width).clone();
}

// A step as the trainer does it, with a large decay.
void take_steps(const LanguageModel& model, int count) {
  const std::vector<Tensor> learned = parameters(model);
  AdamW optimizer(learned, {.rate = 0.05, .decay = 0.5});
  const HeldParameters held(model);
  const Indices ids({2, 5}, {1, 2, 3, 4, 5, 6, 0, 2, 2, 1});
  const Indices targets({2, 5}, {2, 3, 4, 5, 6, 0, 2, 2, 1, 1});
  for (int step = 0; step < count; ++step) {
    optimizer.zero_grad();
    backward(cross_entropy(model(ids), targets, no_target));
    held.change_gradients();
    held.keep_during([&] { optimizer.step(); });
  }
}

std::vector<std::string> moved_parameters(const LanguageModel& model) {
  std::vector<Array> before;
  for (const Tensor& p : parameters(model)) before.push_back(p.value().clone());
  take_steps(model, 3);
  std::vector<std::string> moved;
  std::size_t i = 0;
  for (const auto& [name, p] : named_parameters(model))
    if (!same_bits(p.value(), before[i++])) moved.push_back(name);
  return moved;
}

std::vector<std::string> names_but(const LanguageModel& model,
                                   const std::vector<std::string>& left_out) {
  std::vector<std::string> names;
  for (const auto& [name, p] : named_parameters(model))
    if (std::find(left_out.begin(), left_out.end(), name) == left_out.end()) names.push_back(name);
  return names;
}

}  // namespace

TEST_CASE("held parameters: without a switch every parameter moves") {
  const LanguageModel model = varied_model({});
  CHECK(moved_parameters(model) == names_but(model, {}));
}

TEST_CASE("held parameters: what is left out is 0, stays 0, and nothing else is held") {
  for (const Bias bias : {Bias::with, Bias::without}) {
    const auto held_names = [&](const char* layer) {
      std::vector<std::string> names;
      for (const char* h : {"h.0.", "h.1."})
        for (const char* part : {".c_proj.weight", ".c_proj.bias"})
          if (bias == Bias::with || std::string(part) != ".c_proj.bias")
            names.push_back(std::string(h) + layer + part);
      return names;
    };
    for (const auto& [without, names] :
         {std::pair<Without, std::vector<std::string>>{{.positions = true}, {"wpe.weight"}},
          {{.mlp = true}, held_names("mlp")},
          {{.attention = true}, held_names("attn")}}) {
      const LanguageModel model = varied_model({.without = without}, bias);
      const std::vector<std::string> moved = moved_parameters(model);
      for (const auto& [name, p] : named_parameters(model)) {
        CAPTURE(name);
        const bool is_held = std::find(names.begin(), names.end(), name) != names.end();
        if (is_held) CHECK(all_zero(p.value()));
        // What only leads to a layer that adds nothing has the gradient 0, and weight decay.
        if (!is_held && name.rfind("h.", 0) != 0)
          CHECK(std::find(moved.begin(), moved.end(), name) != moved.end());
        if (is_held) CHECK(std::find(moved.begin(), moved.end(), name) == moved.end());
      }
    }
  }
}

TEST_CASE("held parameters: without W_V the values are the normalised vectors themselves") {
  const LanguageModel model = varied_model({.without = {.value = true}});
  take_steps(model, 3);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const Tensor x = uniform({1, 4, held_width}, 5);
    const Tensor qkv = model.h[layer].attn.qkv(x);
    CHECK(same_numbers(part(qkv.value(), 2, 2 * held_width, 3 * held_width), x.value()));
  }
}

TEST_CASE("held parameters: a frozen third keeps its bits, the other thirds learn") {
  for (const Bias bias : {Bias::with, Bias::without})
    for (Dim frozen = 0; frozen < 3; ++frozen) {
      CAPTURE(frozen);
      const LanguageModel model =
          varied_model({.freeze = {.q = frozen == 0, .k = frozen == 1, .v = frozen == 2}}, bias);
      std::vector<Array> before, before_bias;
      for (Dim t = 0; t < 3; ++t) before.push_back(third(model, 1, t));
      for (Dim t = 0; t < 3 && bias == Bias::with; ++t)
        before_bias.push_back(third_of_bias(model, 1, t));
      take_steps(model, 3);
      for (Dim t = 0; t < 3; ++t) {
        const auto at = static_cast<std::size_t>(t);
        CHECK(bool{same_bits(third(model, 1, t), before[at])} == (t == frozen));
        if (bias == Bias::with)
          CHECK(bool{same_bits(third_of_bias(model, 1, t), before_bias[at])} == (t == frozen));
      }
    }
}

TEST_CASE("held parameters: frozen weights are those that the seed draws") {
  const LanguageModel frozen = varied_model({.freeze = {.q = true}}), free = varied_model({});
  for (std::size_t i = 0; i < parameters(free).size(); ++i)
    CHECK(same_bits(parameters(frozen)[i].value(), parameters(free)[i].value()));
}

TEST_CASE("held parameters: tied queries and keys stay equal to the bit, so scores are symmetric") {
  for (const Bias bias : {Bias::with, Bias::without}) {
    const LanguageModel model = varied_model({.tie_qk = true}, bias);
    const Array first = third(model, 0, 0);
    CHECK(same_bits(first, third(varied_model({}, bias), 0, 0)));
    for (int round = 0; round < 2; ++round) {
      for (std::size_t layer = 0; layer < 2; ++layer) {
        CHECK(same_bits(third(model, layer, 0), third(model, layer, 1)));
        if (bias == Bias::with)
          CHECK(same_bits(third_of_bias(model, layer, 0), third_of_bias(model, layer, 1)));
        const std::vector<Tensor> parts =
            split(model.h[layer].attn.qkv(uniform({1, 4, held_width}, 5)), 3, -1);
        CHECK(same_bits(parts[0].value(), parts[1].value()));
        CHECK_FALSE(same_bits(parts[0].value(), parts[2].value()));
      }
      take_steps(model, 5);
    }
    CHECK_FALSE(same_bits(first, third(model, 0, 0)));
  }
}

TEST_CASE("held parameters: the gradient of tied weights is the sum of both, as of one matrix") {
  const LanguageModel model = varied_model({.tie_qk = true}),
                      apart = varied_model({.tie_qk = true});
  const Indices ids({1, 5}, {1, 2, 3, 4, 5}), targets({1, 5}, {2, 3, 4, 5, 6});
  for (const LanguageModel& each : {model, apart})
    backward(cross_entropy(each(ids), targets, no_target));
  HeldParameters(model).change_gradients();
  const Array sum = model.h[0].attn.c_attn.weight.grad(),
              parts = apart.h[0].attn.c_attn.weight.grad();
  const auto columns = [](const Array& gradient, Dim t) {
    return part(gradient, 1, t * held_width, (t + 1) * held_width);
  };
  CHECK(same_bits(columns(sum, 0), columns(sum, 1)));
  CHECK(close(columns(sum, 0), (Tensor(columns(parts, 0)) + Tensor(columns(parts, 1))).value()));
  CHECK(same_bits(columns(sum, 2), columns(parts, 2)));
}

TEST_CASE("held parameters: tied and one of both frozen, neither learns") {
  for (const bool is_q : {true, false}) {
    const LanguageModel model = varied_model({.freeze = {.q = is_q, .k = !is_q}, .tie_qk = true});
    const Array q = third(model, 0, 0), v = third(model, 0, 2);
    take_steps(model, 3);
    CHECK(same_bits(third(model, 0, 0), q));
    CHECK(same_bits(third(model, 0, 1), q));
    CHECK_FALSE(same_bits(third(model, 0, 2), v));
  }
}
