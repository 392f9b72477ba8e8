// A run depends on its seed and step numbers alone; what diverges is named.
#include "nn/train/trainer.h"

#include <algorithm>
#include <cmath>

#include "engine/base/thread_pool.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

const std::string_view text = "birds sometimes walk and birds often fly over the small blue lake\n";

Corpus corpus() { return read_corpus(text, {}); }

LanguageModel model_of(const Corpus& c, double dropout = 0.1) {
  Rng rng(5);
  return {{.vocabulary = c.tokenizer.size(),
           .context = 8,
           .layers = 2,
           .heads = 2,
           .width = 8,
           .dropout = dropout},
          rng};
}

TrainerOptions options(std::int64_t steps) {
  TrainerOptions result;
  result.batch = 3;
  result.schedule = {.rate = 0.02, .warmup = 2, .steps = steps};
  return result;
}

std::vector<double> numbers(const LanguageModel& model) {
  std::vector<double> all;
  for (const Tensor& tensor : parameters(model))
    for (Dim i = 0; i < tensor.size(); ++i) all.push_back(value_of(tensor.value()[i]));
  return all;
}

std::vector<double> after(std::int64_t steps, const Corpus& c) {
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

TEST_CASE("trainer: the same bits again, with any number of threads, and after rehearsals") {
  const Corpus c = corpus();
  const std::vector<double> once = after(6, c);
  CHECK(after(6, c) == once);
  set_threads(3);
  const std::vector<double> threaded = after(6, c);
  set_threads(1);
  CHECK(threaded == once);
  Trainer trainer(model_of(c), c.train, options(20));
  for (int i = 0; i < 6; ++i) {
    trainer.dry_run();
    trainer.step();
  }
  CHECK(numbers(trainer.model()) == once);
}

TEST_CASE("trainer: restored from its state it goes on as if nothing had been") {
  const Corpus c = corpus();
  const std::vector<double> whole = after(9, c);
  for (const std::int64_t at : {0, 1, 4, 8}) {
    CAPTURE(at);
    Trainer first(model_of(c), c.train, options(20));
    for (std::int64_t i = 0; i < at; ++i) first.step();
    Trainer second(first.model(), c.train, options(20));
    second.restore(first.state(), weights_of(first.model()));
    CHECK(second.steps_done() == at);
    while (second.steps_done() < 9) second.step();
    CHECK(numbers(second.model()) == whole);
  }
}

TEST_CASE("trainer: accumulated passes are one large batch, but for rounding") {
  const Corpus c = corpus();
  TrainerOptions split = options(20);
  split.accumulate = 2;
  Trainer trainer(model_of(c, 0), c.train, split);
  const Trainer::Step step = trainer.step();
  // The passes are draws 0 and 1 of the same stream as two steps of a run without accumulation.
  double sum = 0;
  for (std::int64_t draw = 0; draw < 2; ++draw) {
    const Batch batch =
        batch_of(c.train, sample_windows(c.train, 3, 8, draw, Rng(split.seed).stream(1)));
    sum += cross_entropy(model_of(c, 0)(batch.inputs), batch.targets, no_target).item();
  }
  CHECK(step.loss == Approx(sum / 2).epsilon(1e-6));
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
  const std::vector<double> whole = after(6, c);
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
  o.clip = 0;
  Trainer trainer(model, c.train, o);
  const std::vector<double> before = numbers(model);
  CHECK_THROWS_WITH(
      trainer.step(),
      StartsWith("a gradient became infinite, not-a-number, or too large to be squared at "
                 "step 1: the largest is ") &&
          EndsWith(" in h.0.attn.c_attn.weight"));
  CHECK(numbers(model) == before);
  CHECK(trainer.steps_done() == 0);
}

TEST_CASE("trainer: the next loss is what the next step reports, and nothing has moved") {
  const Corpus c = corpus();
  for (const Dim accumulate : {1, 3}) {
    CAPTURE(accumulate);
    TrainerOptions o = options(20);
    o.accumulate = accumulate;
    Trainer trainer(model_of(c), c.train, o), undisturbed(model_of(c), c.train, o);
    for (int i = 0; i < 4; ++i) {
      const std::vector<double> before = numbers(trainer.model());
      const double next = trainer.next_loss();
      CHECK(trainer.next_loss() == next);
      CHECK(numbers(trainer.model()) == before);
      CHECK(trainer.steps_done() == i);
      CHECK(trainer.step().loss == next);
      undisturbed.step();
    }
    CHECK(numbers(trainer.model()) == numbers(undisturbed.model()));
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

TEST_CASE("mean_loss: the same to the bit however many windows are read at a time") {
  CorpusOptions by_line;
  by_line.reading = Reading::lines;
  by_line.tokens = Tokens::word;
  const std::string lines =
      "birds sometimes walk\nthey fly\nthe small birds often walk over the blue lake and fly\n"
      "at the lake birds walk\n";
  for (const Corpus& c : {corpus(), read_corpus(lines, by_line)}) {
    const LanguageModel model = model_of(c, 0);
    const double one = mean_loss(model, c.train, 1);
    for (const Dim batch : {2, 3, 5, 7, 12, 100}) CHECK(mean_loss(model, c.train, batch) == one);
  }
}

TEST_CASE("trainer: what cannot be trained is refused") {
  const Corpus c = corpus();
  const auto refusal = [&](auto change) {
    TrainerOptions wrong = options(20);
    change(wrong);
    try {
      Trainer trainer(model_of(c), c.train, wrong);
    } catch (const ValueError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(refusal([](auto& o) { o.batch = 0; }), StartsWith("Trainer: a step takes at least"));
  CHECK_THAT(refusal([](auto& o) { o.accumulate = 0; }), StartsWith("Trainer: a step takes"));
  CHECK_THAT(refusal([](auto& o) { o.schedule.steps = 0; }),
             StartsWith("Trainer: needs at least one step"));
  CHECK_THAT(refusal([](auto& o) { o.clip = -1; }),
             StartsWith("Trainer: clip must not be negative"));
  const Corpus tiny = read_corpus("abc", {.valid = 0});
  CHECK_THROWS_AS(Trainer(model_of(c), tiny.train, options(20)), ValueError);
  Trainer trainer(model_of(c), c.train, options(20));
  const std::vector<Array> weights = weights_of(trainer.model());
  CHECK_THROWS_AS(trainer.restore({-1, trainer.state().moments}, weights), ValueError);
  CHECK_THROWS_AS(trainer.restore({1, {}}, weights), ValueError);
}

TEST_CASE("trainer: mean loss counts every token once, padding never") {
  const Corpus c =
      read_corpus("ab\nabc\na\nabcabcabcabc\n", {.reading = Reading::lines, .valid = 0});
  const LanguageModel model = model_of(c, 0);
  double sum = 0, tokens = 0;
  for (const TextWindow& window : evaluation_windows(c.train, 8)) {
    const Batch one = batch_of(c.train, std::span(&window, 1));
    const auto length = static_cast<double>(window.length);
    sum += length * cross_entropy(model(one.inputs), one.targets, no_target).item();
    tokens += length;
  }
  CHECK(tokens == 3 + 4 + 2 + 13);
  for (const Dim batch : {1, 2, 100})
    CHECK(mean_loss(model, c.train, batch) == Approx(sum / tokens).epsilon(1e-6));
  CHECK(mean_loss(model, c.train, 1, 1) !=
        Approx(sum / tokens).epsilon(1e-6));  // of one window only
}
