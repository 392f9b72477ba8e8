// What is not finite is named, in a step and outside of one, and nothing has moved.
#include <algorithm>
#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/small_trainer.h"

using namespace tests;

TEST_CASE("trainer: what is not finite is named, and nothing has moved") {
  const Corpus c = corpus();
  const LanguageModel model = model_of(c, 0);
  Trainer trainer(model, c.train, options(20));
  trainer.step();
  const auto message = [&] {
    try {
      trainer.step();
    } catch (const Diverged& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  SECTION("a value too large for an op") {
    Real* w = model.h[1].mlp.c_fc.weight.write();
    for (Dim i = 0; i < model.h[1].mlp.c_fc.weight.size(); ++i) w[i] = Real(3e38);
    const std::vector<double> before = numbers(model);
    CHECK_THAT(message(), StartsWith("the loss became not-a-number at step 2: first in the value "
                                     "of 'linear' with h.1.mlp.c_fc.weight and "));
    CHECK(numbers(model) == before);
    CHECK(trainer.steps_done() == 1);
  }
  SECTION("a weight that is not finite") {
    model.h[0].ln_1.bias.write()[3] = Real(NAN);
    CHECK_THAT(message(),
               ContainsSubstring("the weights of h.0.ln_1.bias are not finite any more"));
  }
}

TEST_CASE("trainer: a gradient whose square overflows is a divergence, and nothing has moved") {
  const Corpus c = corpus();
  const LanguageModel model = model_of(c, 0);
  const Tensor &gain = model.h[0].ln_1.weight, &next = model.h[0].attn.c_attn.weight;
  std::fill_n(gain.write(), gain.size(), Real(1e25));
  std::fill_n(next.write(), next.size(), Real(0));
  TrainerOptions o = options(20);
  const std::vector<double> before = numbers(model);
  SECTION("not clipped") {
    o.clip = 0;
    Trainer trainer(model, c.train, o);
    CHECK_THROWS_WITH(
        trainer.step(),
        StartsWith("a gradient became infinite, not-a-number, or too large to be squared at "
                   "step 1: the largest is ") &&
            EndsWith(" in h.0.attn.c_attn.weight"));
    CHECK(numbers(model) == before);
    CHECK(trainer.steps_done() == 0);
  }
  SECTION("clipped, it is no divergence") {
    Trainer trainer(model, c.train, o);
    CHECK(trainer.step().gradient_norm > 1e20);
    for (const double number : numbers(model)) CHECK(std::isfinite(number));
    CHECK(numbers(model) != before);
  }
}

TEST_CASE("trainer: what is not finite is named outside a step, too") {
  const Corpus c = corpus();
  const LanguageModel model = model_of(c, 0);
  Trainer trainer(model, c.train, options(20));
  trainer.step();
  const auto message = [&](auto compute) {
    try {
      compute();
    } catch (const Diverged& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(trainer.loss_on(c.valid, 4) == mean_loss(model, c.valid, 4));
  CHECK(trainer.loss_on(c.train, 2, 2) == mean_loss(model, c.train, 2, 2));
  SECTION("a weight too large for an op") {
    Real* w = model.h[1].mlp.c_fc.weight.write();
    for (Dim i = 0; i < model.h[1].mlp.c_fc.weight.size(); ++i) w[i] = Real(3e38);
    const std::vector<double> before = numbers(model);
    const std::string where = ": first in the value of 'linear' with h.1.mlp.c_fc.weight and ";
    CHECK_THAT(message([&] { trainer.next_loss(); }),
               StartsWith("the loss became not-a-number at step 2" + where));
    CHECK_THAT(message([&] { trainer.loss_on(c.valid, 4); }),
               StartsWith("the held-out loss became not-a-number after step 1" + where));
    CHECK_THAT(message([&] {
                 trainer.throw_diverged("a sample has no next token", [&] {
                   model(Indices({1, 2}, {0, 1}));
                   throw NumericError("sample: logits must be numbers");
                 });
               }),
               StartsWith("a sample has no next token" + where));
    CHECK(numbers(model) == before);
    CHECK(trainer.steps_done() == 1);
    for (const Tensor& tensor : parameters(model)) CHECK_FALSE(tensor.has_grad());
  }
  SECTION("a weight that is not finite") {
    model.h[0].ln_1.bias.write()[3] = Real(NAN);
    const std::string where = "the weights of h.0.ln_1.bias are not finite any more";
    CHECK_THAT(message([&] { trainer.next_loss(); }), ContainsSubstring(where));
    CHECK_THAT(message([&] { trainer.loss_on(c.valid, 4); }), ContainsSubstring(where));
  }
}
