// A run depends only on its seed and its step numbers, and what is not finite is named.
#include "nn/train/trainer.h"

#include <algorithm>
#include <cmath>

#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"
#include "tests/support/small_trainer.h"
#include "tests/support/threads.h"

using namespace tests;

namespace {

std::vector<double> weights_after(std::int64_t steps, const Corpus& c) {
  Trainer trainer(model_of(c), c.train, options(20));
  for (std::int64_t i = 0; i < steps; ++i) trainer.step();
  return numbers(trainer.model());
}

}  // namespace

TEST_CASE("trainer: learns, counts its steps, and reports what happened") {
  const Corpus c = corpus();
  Trainer trainer(model_of(c, 0), c.train, options(200));
  const double before = mean_loss(trainer.model(), c.train, 4);
  CHECK(before == Approx(std::log(static_cast<double>(c.tokenizer.size()))).epsilon(0.02));
  const Trainer::Step first = trainer.step();
  CHECK(first.number == 1);
  CHECK(first.rate == 0.01);  // half of the warm-up
  CHECK(first.gradient_norm > 0);
  CHECK(first.loss == Approx(before).epsilon(0.05));
  while (trainer.steps_done() < 200) trainer.step();
  CHECK(mean_loss(trainer.model(), c.train, 4) < 0.5 * before);
}

TEST_CASE("trainer: any threads, rehearsals, looks ahead and restores change no bit of a run") {
  const Corpus c = corpus();
  for (const Dim accumulate : {1, 3}) {
    TrainerOptions o = options(20);
    o.accumulate = accumulate;
    Trainer undisturbed(model_of(c), c.train, o);
    std::vector<Trainer::Step> steps;
    for (int i = 0; i < 6; ++i) steps.push_back(undisturbed.step());
    for (const int count : {1, 3}) {
      CAPTURE(accumulate, count);
      const Threads threads(count);
      auto trainer = std::make_unique<Trainer>(model_of(c), c.train, o);
      for (const Trainer::Step& step : steps) {
        const std::vector<double> before = numbers(trainer->model());
        trainer->dry_run();
        const double next = trainer->next_loss();
        CHECK(trainer->next_loss() == next);
        CHECK(numbers(trainer->model()) == before);
        CHECK(trainer->steps_done() == step.number - 1);
        auto restored = std::make_unique<Trainer>(trainer->model(), c.train, o);
        restored->restore(trainer->state(), weights_of(trainer->model()));
        trainer = std::move(restored);
        CHECK(trainer->steps_done() == step.number - 1);
        CHECK(trainer->step().loss == next);
        CHECK(step.loss == next);
      }
      CHECK(numbers(trainer->model()) == numbers(undisturbed.model()));
    }
  }
}

TEST_CASE(
    "trainer: the passes of a stream are weighed alike, to the bit; lines are one large batch") {
  const Corpus c = corpus();
  TrainerOptions three = options(20);
  three.accumulate = 3;
  // The passes are draws 0, 1 and 2 of the same stream as three steps of a run without accumulation.
  double sum = 0;
  for (std::int64_t draw = 0; draw < 3; ++draw) {
    const Batch batch =
        batch_of(c.train, sample_windows(c.train, 3, 8, draw, Rng(three.seed).stream(1)));
    const Tensor logits = model_of(c, 0)(batch.inputs);
    sum += (cross_entropy(logits, batch.targets, no_target) * (1.0 / 3)).item();
  }
  CHECK(Trainer(model_of(c, 0), c.train, three).step().loss == sum);

  const Corpus lines = read_corpus("ab\nabcabcab\na\nabcabc\nbc\nc\nabca\ncabcabca\n",
                                   {.reading = Reading::lines, .valid = 0});
  const auto trainer_of = [&](Dim accumulate) {
    TrainerOptions o = options(20);
    o.batch = 6 / accumulate;
    o.accumulate = accumulate;
    return Trainer(model_of(lines, 0), lines.train, o);
  };
  const Trainer::Step one = trainer_of(1).step();
  for (const Dim accumulate : {2, 6}) {
    CAPTURE(accumulate);
    Trainer split = trainer_of(accumulate);
    CHECK(split.next_loss() == Approx(one.loss).epsilon(1e-6));
    const Trainer::Step many = split.step();
    CHECK(many.loss == Approx(one.loss).epsilon(1e-6));
    CHECK(many.gradient_norm == Approx(one.gradient_norm).epsilon(1e-5));
  }
}

TEST_CASE("trainer: vectors do not decay, matrices do") {
  const Corpus c = corpus();
  TrainerOptions still = options(20);
  still.decay = 100;
  still.schedule = {.rate = 1e-3, .final_ratio = 1, .warmup = 0, .steps = 20};
  still.clip = 1e-30;  // gradients so small that only the decay moves anything
  LanguageModel model = model_of(c, 0);
  const double matrix = value_of(model.wte.weight.value()[0]);
  const double gain = value_of(model.ln_f.weight.value()[0]);
  Trainer trainer(model, c.train, still);
  trainer.step();
  CHECK(value_of(model.wte.weight.value()[0]) == Approx(0.9 * matrix).margin(1.1e-3));
  CHECK(std::fabs(value_of(model.wte.weight.value()[0])) < std::fabs(matrix));
  CHECK(value_of(model.ln_f.weight.value()[0]) == Approx(gain).margin(1.1e-3));
}

TEST_CASE("trainer: while one weight cannot be written, a step moves no weight") {
  const Corpus c = corpus();
  const std::vector<double> whole = weights_after(6, c);
  Trainer trainer(model_of(c), c.train, options(20));
  for (int i = 0; i < 3; ++i) trainer.step();
  const std::vector<double> before = numbers(trainer.model());
  for (const Tensor& held : parameters(trainer.model())) {
    const Array also = held.value();
    CHECK_THROWS_AS(trainer.step(), GraphError);
    CHECK(numbers(trainer.model()) == before);
    CHECK(trainer.steps_done() == 3);
  }
  for (int i = 0; i < 3; ++i) trainer.step();  // the moments have not moved either
  CHECK(numbers(trainer.model()) == whole);
}

TEST_CASE("trainer: what cannot be trained is refused") {
  const Corpus c = corpus();
  const auto made = [&](auto change) {
    return [&c, change] {
      TrainerOptions wrong = options(20);
      change(wrong);
      Trainer trainer(model_of(c), c.train, wrong);
    };
  };
  CHECK(refuses<ValueError>(made([](auto& o) { o.batch = 0; }), "Trainer: a step takes"));
  CHECK(refuses<ValueError>(made([](auto& o) { o.accumulate = 0; }), "Trainer: a step takes"));
  CHECK(refuses<ValueError>(made([](auto& o) { o.schedule.steps = 0; }), "Trainer", "one step"));
  CHECK(refuses<ValueError>(made([](auto& o) { o.clip = -1; }), "Trainer", "clip"));
  const Corpus tiny = read_corpus("abc", {.valid = 0});
  CHECK_THROWS_AS(Trainer(model_of(c), tiny.train, options(20)), ValueError);
  Trainer trainer(model_of(c), c.train, options(20));
  const std::vector<Array> weights = weights_of(trainer.model());
  CHECK_THROWS_AS(trainer.restore({-1, trainer.state().moments}, weights), ValueError);
  CHECK_THROWS_AS(trainer.restore({1, {}}, weights), ValueError);
  CHECK(refuses<ValueError>(
      [&] {
        mean_loss(model_of(c), {{0}, {}}, 1);
      },
      "mean_loss", "2 tokens", "got 1"));
  CHECK(refuses<ValueError>([&] { mean_loss(model_of(c), c.train, 0); }, "batch", "got 0"));
}

namespace {

/// The mean over the tokens of some windows, each read alone.
double mean_of_windows(const LanguageModel& model, const TokenText& text,
                       const std::vector<std::size_t>& chosen) {
  const std::vector<TextWindow> windows = evaluation_windows(text, model.sizes.context);
  double sum = 0, tokens = 0;
  for (const std::size_t w : chosen) {
    const Batch one = batch_of(text, std::span(&windows.at(w), 1));
    const auto length = static_cast<double>(windows[w].length);
    sum += length * cross_entropy(model(one.inputs), one.targets, no_target).item();
    tokens += length;
  }
  return sum / tokens;
}

}  // namespace

TEST_CASE("mean_loss: counts every token once, padding never, the same bits for any batch") {
  const std::string lines =
      "birds sometimes walk\nthey fly\nthe small birds often walk over the blue lake and fly\n"
      "at the lake birds walk\n";
  const Corpus by_line = read_corpus(lines, {.reading = Reading::lines, .tokens = Tokens::word});
  for (const Corpus& c : {corpus(), by_line})
    for (const bool has_mask : {true, false}) {
      LanguageModelSizes sizes = model_of(c, 0).sizes;
      sizes.context = 12;
      sizes.recipe.mask = has_mask ? Masking::causal : Masking::none;
      Rng rng(5);
      const LanguageModel model(sizes, rng);
      const double one = mean_loss(model, c.train, 1);
      for (const Dim batch : {2, 3, 5, 7, 12, 100}) CHECK(mean_loss(model, c.train, batch) == one);
      std::vector<std::size_t> all(evaluation_windows(c.train, 12).size());
      for (std::size_t w = 0; w < all.size(); ++w) all[w] = w;
      CHECK(one == Approx(mean_of_windows(model, c.train, all)).epsilon(1e-6));
    }
}

TEST_CASE("mean_loss: some of the windows are batches that are evenly spaced") {
  const Corpus c =
      read_corpus("aaaaaaaaaaaaaaaaabbbbbbbbcbcbcbcbdddddddddcdcdcdcabcabcabc", {.valid = 0});
  const LanguageModel model = model_of(c, 0);
  REQUIRE(evaluation_windows(c.train, 8).size() == 8);
  using Windows = std::vector<std::size_t>;
  for (const auto& [batch, most, chosen] : {std::tuple<Dim, Dim, Windows>{1, 1, {0}},
                                            {1, 3, {0, 2, 5}},
                                            {2, 4, {0, 1, 4, 5}},
                                            {3, 2, {0, 1, 2}},
                                            {3, 4, {0, 1, 2, 3, 4, 5}}})
    CHECK(mean_loss(model, c.train, batch, most) ==
          Approx(mean_of_windows(model, c.train, chosen)).epsilon(1e-6));
}

TEST_CASE(
    "trainer: a variant's held numbers keep their bits, also restored, with passes and drops") {
  const Corpus c = corpus();
  LanguageModelSizes sizes = model_of(c).sizes;
  sizes.recipe = {.position = Position::none, .learned = {.v = Learning::none}, .tie_qk = true};
  const auto new_model = [&] {
    Rng rng(5);
    return LanguageModel(sizes, rng);
  };
  TrainerOptions two_passes = options(20);
  two_passes.accumulate = 2;
  Trainer whole(new_model(), c.train, two_passes), first(new_model(), c.train, two_passes);
  for (int i = 0; i < 6; ++i) whole.step();
  for (int i = 0; i < 3; ++i) first.step();
  Trainer second(new_model(), c.train, two_passes);
  second.restore(first.state(), weights_of(first.model()));
  for (int i = 0; i < 3; ++i) second.step();
  CHECK(numbers(second.model()) == numbers(whole.model()));

  const Array end = whole.model().h[1].attn.c_attn.weight.value(),
              start = new_model().h[1].attn.c_attn.weight.value();
  const auto third = [](const Array& weight, Dim t) {
    return slice(Tensor(weight), 1, 8 * t, 8 * t + 8).value();
  };
  CHECK(same_bits(third(end, 0), third(end, 1)));
  CHECK_FALSE(same_bits(third(end, 0), third(start, 0)));
  CHECK(same_bits(third(end, 2), third(start, 2)));
  const Tensor& positions = whole.model().wpe.weight;
  CHECK(same_bits(positions.value(), Array::zeros(positions.shape())));
}

TEST_CASE("trainer: what is not finite is named, in a step and outside of one; nothing has moved") {
  const Corpus c = corpus();
  const LanguageModel model = model_of(c, 0);
  Trainer trainer(model, c.train, options(20));
  trainer.step();
  CHECK(trainer.loss_on(c.valid, 4) == mean_loss(model, c.valid, 4));
  CHECK(trainer.loss_on(c.train, 2, 2) == mean_loss(model, c.train, 2, 2));
  const auto check = [&](const std::string& where) {
    const std::string loss = "loss became not-a-number";
    CHECK(refuses<Diverged>([&] { trainer.step(); }, "the " + loss, "step 2", where));
    CHECK(refuses<Diverged>([&] { trainer.next_loss(); }, "the " + loss, "step 2", where));
    CHECK(refuses<Diverged>([&] { trainer.loss_on(c.valid, 4); }, "held-out " + loss,
                            "after step 1", where));
    CHECK(trainer.steps_done() == 1);
    for (const Tensor& tensor : parameters(model)) CHECK_FALSE(tensor.has_grad());
  };
  SECTION("a value too large for an op") {
    const Tensor& weight = model.h[1].mlp.c_fc.weight;
    std::fill_n(weight.write(), weight.size(), Real(3e38));
    const std::vector<double> before = numbers(model);
    const std::string where = ": first in the value of 'linear' with h.1.mlp.c_fc.weight and ";
    check(where);
    CHECK(refuses<Diverged>(
        [&] {
          trainer.throw_diverged("a sample has no next token", [&] {
            model(Indices({1, 2}, {0, 1}));
            throw NumericError("sample: logits must be numbers");
          });
        },
        "a sample has no next token" + where));
    CHECK(numbers(model) == before);
  }
  SECTION("a weight that is not finite") {
    model.h[0].ln_1.bias.write()[3] = Real(NAN);
    check("weights of h.0.ln_1.bias");
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
    CHECK(refuses<Diverged>([&] { trainer.step(); }, "gradient", "squared", "step 1",
                            "in h.0.attn.c_attn.weight"));
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
