// A run depends only on its seed and its step numbers, and what is not finite is named.
#include "nn/train/trainer.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/base/interrupt.h"
#include "tests/nn/modules.h"
#include "tests/support/threads.h"

using namespace tests;

namespace {

// A small language model, its text and its options.

constexpr std::string_view trainer_text =
    "birds sometimes walk and birds often fly over the small blue lake\n";

Corpus corpus() { return read_corpus(trainer_text, {}); }

LanguageModel model_of(const Corpus& c, double dropout = 0.1) {
  Rng rng(5);
  LanguageModelSizes sizes{.vocabulary = c.tokenizer.size(), .context = 8, .width = 8};
  sizes.layers = sizes.heads = 2, sizes.dropout = dropout;
  return {sizes, rng};
}

TrainerOptions options(std::int64_t steps) {
  TrainerOptions result;
  result.batch = 3;
  result.average = 0.8;
  result.schedule = {.rate = 0.02, .warmup = 2, .steps = steps};
  return result;
}

std::vector<double> numbers(const LanguageModel& model) {
  std::vector<double> all;
  for (const Tensor& tensor : parameters(model))
    for (Dim i = 0; i < tensor.size(); ++i) all.push_back(value_of(tensor.value()[i]));
  return all;
}

bool same_arrays(const std::vector<Array>& a, const std::vector<Array>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Array& x, const Array& y) {
    return x.exists() == y.exists() && (!x.exists() || same_bits(x, y));
  });
}

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

std::atomic<int> checks_left{0};

// A trainer whose products are large enough for several threads.
Trainer trainer_on(const Corpus& c, Optimizer optimizer) {
  LanguageModelSizes sizes{.vocabulary = c.tokenizer.size(), .context = 16, .heads = 2};
  sizes.width = 32, sizes.dropout = 0.1;
  TrainerOptions chosen = options(20);
  chosen.optimizer = optimizer, chosen.batch = 8, chosen.average = 0.9;
  return {new_model(sizes, 5), c.train, chosen};
}

// Weights, average and moments.
std::vector<Array> weights_and_moments(const Trainer& trainer) {
  std::vector<Array> all = weights_of(trainer.model()), average = trainer.kept_weights();
  all.insert(all.end(), average.begin(), average.end());
  for (const Moments& moments : trainer.state().moments) {
    all.push_back(moments.m);
    all.push_back(moments.v);
  }
  return all;
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
  Trainer undisturbed(model_of(c), c.train, options(20));
  std::vector<Trainer::Step> steps;
  for (int i = 0; i < 6; ++i) steps.push_back(undisturbed.step());
  for (const int count : {1, 3}) {
    CAPTURE(count);
    const Threads threads(count);
    auto trainer = std::make_unique<Trainer>(model_of(c), c.train, options(20));
    for (const Trainer::Step& step : steps) {
      const std::vector<double> before = numbers(trainer->model());
      trainer->dry_run();
      const double next = trainer->next_loss();
      CHECK(trainer->next_loss() == next);
      CHECK(numbers(trainer->model()) == before);
      CHECK(trainer->steps_done() == step.number - 1);
      auto restored = std::make_unique<Trainer>(trainer->model(), c.train, options(20));
      restored->restore(trainer->state(), weights_of(trainer->model()));
      trainer = std::move(restored);
      CHECK(trainer->steps_done() == step.number - 1);
      CHECK(trainer->step().loss == next);
      CHECK(step.loss == next);
    }
    CHECK(numbers(trainer->model()) == numbers(undisturbed.model()));
    CHECK(same_arrays(trainer->kept_weights(), undisturbed.kept_weights()));
  }
}

TEST_CASE("trainer: an average of the weights is by its definition, and moves no weight") {
  const Corpus c = corpus();
  TrainerOptions averaged = options(30);
  const double beta = averaged.average = 0.6;
  Trainer trainer(model_of(c), c.train, averaged);
  averaged.average = 0;
  Trainer other(model_of(c), c.train, averaged);
  std::vector<double> a = numbers(other.model());
  for (int t = 1; t <= 30; ++t) {
    trainer.step();
    other.step();
    const std::vector<double> w = numbers(other.model());
    REQUIRE(numbers(trainer.model()) == w);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double b = std::min(beta, t / (t + 10.0));
      a[i] = b * a[i] + (1 - b) * w[i];
    }
    const WeightAverage::InPlace average(trainer.average());
    const std::vector<double> found = numbers(trainer.model());
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(found[i] == Approx(a[i]).margin(1e-6));
  }
  CHECK(same_arrays(other.kept_weights(), weights_of(other.model())));
  const double loss = trainer.loss_on(c.valid, 4);
  {
    const WeightAverage::InPlace average(trainer.average());
    CHECK(trainer.loss_on(c.valid, 4) != loss);
  }
  const auto interrupted = [&] {
    const WeightAverage::InPlace average(trainer.average());
    const InterruptScope scope([] { return true; });
    trainer.loss_on(c.valid, 4);
  };
  CHECK_THROWS_AS(interrupted(), Interrupted);
  CHECK(numbers(trainer.model()) == numbers(other.model()));
  CHECK(refuses<ValueError>([&] { other.restore(trainer.state(), trainer.kept_weights()); },
                            "WeightAverage", "0 arrays"));
  CHECK(other.step().loss == trainer.step().loss);
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
  Trainer undisturbed(model_of(c), c.train, options(20));
  for (int i = 0; i < 6; ++i) undisturbed.step();
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
  CHECK(numbers(trainer.model()) == numbers(undisturbed.model()));
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
  CHECK(refuses<ValueError>(made([](auto& o) { o.schedule.steps = 0; }), "Trainer", "one step"));
  CHECK(refuses<ValueError>(made([](auto& o) { o.clip = -1; }), "Trainer", "clip"));
  CHECK(refuses<ValueError>(made([](auto& o) { o.average = 1; }), "WeightAverage", "[0, 1)"));
  const Corpus tiny = read_corpus("abc", {.valid = 0});
  CHECK_THROWS_AS(Trainer(model_of(c), tiny.train, options(20)), ValueError);
  Trainer trainer(model_of(c), c.train, options(20));
  const std::vector<Array> weights = weights_of(trainer.model());
  CHECK_THROWS_AS(trainer.restore({-1, trainer.state().moments}, weights), ValueError);
  CHECK_THROWS_AS(trainer.restore({1, {}}, weights), ValueError);
  const TokenText one{{0}, {}};
  CHECK(refuses<ValueError>([&] { mean_loss(model_of(c), one, 1); }, "mean_loss", "2 tokens",
                            "got 1"));
  CHECK(refuses<ValueError>([&] { mean_loss(model_of(c), c.train, 0); }, "batch", "got 0"));
}

TEST_CASE("mean_loss: counts every token once, the same bits for any batch") {
  const std::string lines =
      "birds sometimes walk\nthey fly\nthe small birds often walk over the blue lake and fly\n"
      "at the lake birds walk\n";
  const Corpus by_line = read_corpus(lines, {.reading = Reading::lines, .tokens = Tokens::word});
  for (const Corpus& c : {corpus(), by_line})
    for (const Recipe& recipe : {Recipe{}, Recipe{.mask = Masking::none},
                                 Recipe{.position = Position::rotary, .window = 3}}) {
      LanguageModelSizes sizes = model_of(c, 0).sizes;
      sizes.context = 12;
      sizes.recipe = recipe;
      const LanguageModel model = new_model(sizes, 5);
      const double one = mean_loss(model, c.train, 1);
      for (const Dim batch : {2, 3, 5, 7, 12, 100}) CHECK(mean_loss(model, c.train, batch) == one);
      std::vector<std::size_t> all(evaluation_windows(c.train, 12).size());
      for (std::size_t w = 0; w < all.size(); ++w) all[w] = w;
      CHECK(one == Approx(mean_of_windows(model, c.train, all)).epsilon(1e-6));
    }
}

// By definition: target i of a text is predicted from all that the window around it has before it. That
// window is the first that ends behind it, of those that begin at 0, s, 2s, … in its document.
TEST_CASE("mean_loss: with history each token is predicted from the window that counts it, alone") {
  const std::string lines = "birds sometimes walk\nthey fly\nat the lake they walk and fly\n";
  for (const Reading reading : {Reading::stream, Reading::lines})
    for (const auto& [context, history] : {std::pair<Dim, Dim>{8, 4}, {7, 3}, {5, 4}, {1, 0}}) {
      const Corpus c = read_corpus(lines, {.reading = reading, .valid = 0});
      LanguageModelSizes sizes = model_of(c, 0).sizes;
      sizes.context = context;
      const LanguageModel model = new_model(sizes, 5);
      std::vector<std::size_t> starts = c.train.starts;
      if (starts.empty()) starts = {0, c.train.tokens.size() - 1};
      double sum = 0;
      for (std::size_t d = 0; d + 1 < starts.size(); ++d)
        for (std::size_t target = starts[d] + 1; target <= starts[d + 1]; ++target) {
          std::size_t begin = starts[d];
          while (begin + static_cast<std::size_t>(context) < target)
            begin += static_cast<std::size_t>(context - history);
          const std::vector<Dim> before(
              c.train.tokens.begin() + static_cast<std::ptrdiff_t>(begin),
              c.train.tokens.begin() + static_cast<std::ptrdiff_t>(target));
          const auto n = static_cast<Dim>(before.size());
          const Tensor scores = model(Indices({1, n}, before));
          sum +=
              cross_entropy(slice(scores, 1, n - 1, n), Indices({1, 1}, {c.train.tokens[target]}))
                  .item();
        }
      const double mean = sum / static_cast<double>(c.train.size() - 1);
      const double one = mean_loss(model, c.train, 1, 0, history);
      CHECK(one == Approx(mean).epsilon(1e-6));
      for (const Dim batch : {2, 3, 5, 100})
        CHECK(mean_loss(model, c.train, batch, 0, history) == one);
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
                                            {3, 4, {0, 1, 2, 3, 4, 5}},
                                            {3, 100, {0, 1, 2, 3, 4, 5, 6, 7}}})
    CHECK(mean_loss(model, c.train, batch, most) ==
          Approx(mean_of_windows(model, c.train, chosen)).epsilon(1e-6));
}

TEST_CASE("trainer: what a recipe holds keeps its bits, the rest learns; also restored") {
  const Corpus c = corpus();
  struct Row {
    Recipe recipe;
    std::string held;         // in the names of parameters
    std::vector<Dim> thirds;  // of c_attn: q, k and v
  };
  const std::vector<Row> rows{
      {{}, "none", {}},
      {{.position = Position::none}, "wpe.weight", {}},
      {{.mlp = FeedForward::none}, ".mlp.c_proj.", {}},
      {{.heads = Heads::none}, ".attn.c_proj.", {}},
      {{.values = ValueMatrix::none}, "none", {2}},
      {{.learned = {.q = Learning::none}}, "none", {0}},
      {{.learned = {.k = Learning::none}}, "none", {1}},
      {{.position = Position::none, .learned = {.v = Learning::none}, .tie_qk = true},
       "wpe.weight",
       {2}},
      {{.tie_qk = true}, "none", {}},
      {today(), "none", {}},
      {{.mlp = FeedForward::relu_squared, .exclusive = Exclusive::own_value, .window = 3},
       "none",
       {}},
      {{.position = Position::rotary, .values = ValueMatrix::none, .tie_qk = true}, "none", {2}},
      // Tied and one of both frozen, neither learns.
      {{.learned = {.q = Learning::none}, .tie_qk = true}, "none", {0, 1}},
      {{.learned = {.k = Learning::none}, .tie_qk = true}, "none", {0, 1}},
      {{.learned = {.k = Learning::none}, .sink = Sink::learned, .key_heads = 1}, "none", {1}}};
  for (const auto& [recipe, held, thirds] : rows)
    for (const Bias bias : {Bias::with, Bias::without}) {
      CAPTURE(words_of_none(recipe), words_of_none(recipe.learned), recipe.tie_qk);
      LanguageModelSizes sizes = model_of(c).sizes;
      sizes.recipe = recipe;
      sizes.bias = bias;
      TrainerOptions decaying = options(20);
      decaying.decay = 0.5;
      const auto trainer_of = [&](int steps) {
        Trainer trainer(new_model(sizes, 5), c.train, decaying);
        for (int i = 0; i < steps; ++i) trainer.step();
        return trainer;
      };
      const Trainer start = trainer_of(0), whole = trainer_of(6), first = trainer_of(3);
      Trainer second = trainer_of(0);
      second.restore(first.state(), weights_of(first.model()));
      for (int i = 0; i < 3; ++i) second.step();
      CHECK(numbers(second.model()) == numbers(whole.model()));
      const std::vector<Array> before = weights_of(start.model());
      std::size_t p = 0;
      for (const auto& [name, tensor] : named_parameters(whole.model())) {
        const Dim parts = name.find("c_attn") != name.npos ? 3 : 1, all = tensor.dim(-1);
        const Dim n = parts == 3 ? sizes.width : all, own = (all - n) / 2;  // columns of keys
        for (Dim third = 0; third < parts; ++third) {
          CAPTURE(name, third);
          const auto columns = [&, t = third](const Array& x) {
            return part(x, -1, t == 0 ? 0 : n + (t - 1) * own, n + t * own);
          };
          const bool is_held =
              name.find(held) != name.npos ||
              (parts == 3 && std::find(thirds.begin(), thirds.end(), third) != thirds.end());
          // What only leads to a layer that adds nothing has the gradient 0, and weight decay; the
          // gradient of the biases of keys is rounding.
          const bool may_rest = name.ends_with(".bias") || held.find("c_proj") != held.npos;
          if (is_held || !may_rest)
            CHECK(bool{same_bits(columns(tensor.value()), columns(before[p]))} == is_held);
          if (third == 1 && recipe.tie_qk)
            CHECK(same_bits(columns(tensor.value()), part(tensor.value(), -1, 0, n)));
        }
        ++p;
      }
    }
}

TEST_CASE("trainer: what is not finite is named, in a step and outside of one; nothing has moved") {
  const Corpus c = corpus();
  const LanguageModel model = model_of(c, 0);
  Trainer trainer(model, c.train, options(20));
  trainer.step();
  const Dim history = model.sizes.context / 2;
  CHECK(trainer.loss_on(c.valid, 4) == mean_loss(model, c.valid, 4, 0, history));
  CHECK(trainer.loss_on(c.train, 2, 2) == mean_loss(model, c.train, 2, 2, history));
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

TEST_CASE("trainer: a step that is interrupted at any place has changed nothing") {
  const Corpus c = corpus();
  for (const auto& [count, optimizer] :
       {std::pair{1, Optimizer::adamw}, {3, Optimizer::adamw}, {1, Optimizer::muon}}) {
    const Threads threads(count);
    Trainer undisturbed = trainer_on(c, optimizer), trainer = trainer_on(c, optimizer);
    int interruptions = 0, wrong = 0;
    for (int step = 0; step < 6; ++step) {
      undisturbed.step();
      const std::vector<Array> before = weights_and_moments(trainer);
      for (int calls = 0; trainer.steps_done() == step; ++calls) {
        checks_left = calls;
        const InterruptScope scope([] { return --checks_left < 0; });
        try {
          trainer.step();
        } catch (const Interrupted&) {
          ++interruptions;
          if (trainer.steps_done() != step || !same_arrays(weights_and_moments(trainer), before))
            ++wrong;
        }
      }
      CHECK(same_arrays(weights_and_moments(trainer), weights_and_moments(undisturbed)));
    }
    INFO(count << " threads, " << interruptions << " interruptions");
    CHECK(wrong == 0);
    CHECK(interruptions > 300);
  }
}

TEST_CASE("trainer: Muon moves the matrices of the blocks; queries, keys and values are three") {
  std::vector<std::string> lines;
  const auto named = named_parameters(model_of(corpus()));
  const auto matrices = matrices_of_blocks(named);
  REQUIRE(matrices.size() == named.size());
  for (std::size_t p = 0; p < named.size(); ++p) {
    std::string line = named[p].name;
    for (const Dim columns : matrices[p]) line += " " + std::to_string(columns);
    if (!matrices[p].empty() && line.starts_with("h.0.")) lines.push_back(line);
    CHECK((matrices[p].empty() || line.starts_with("h.")));
  }
  CHECK(lines == std::vector<std::string>{"h.0.attn.c_attn.weight 8 8 8",
                                          "h.0.attn.c_proj.weight 8", "h.0.mlp.c_fc.weight 32",
                                          "h.0.mlp.c_proj.weight 8"});
}

TEST_CASE("mean_loss: interrupted before any batch, however small the model is") {
  const Corpus c = corpus();
  LanguageModelSizes sizes = model_of(c).sizes;
  sizes.layers = sizes.heads = 1, sizes.width = 4;
  const LanguageModel model = new_model(sizes);
  const double whole = mean_loss(model, c.train, 1);
  for (int calls = 0; calls < 3; ++calls) {
    checks_left = calls;
    const InterruptScope scope([] { return --checks_left < 0; });
    CHECK_THROWS_AS(mean_loss(model, c.train, 1), Interrupted);
  }
  CHECK(mean_loss(model, c.train, 1) == whole);
}

TEST_CASE("trainer: betas are those of the options") {
  const Corpus c = corpus();
  const auto numbers_with = [&](auto change) {
    TrainerOptions chosen = options(20);
    change(chosen);
    Trainer trainer(model_of(c), c.train, chosen);
    for (int i = 0; i < 3; ++i) trainer.step();
    return numbers(trainer.model());
  };
  const auto adamw = numbers_with([](TrainerOptions&) {});
  CHECK(numbers_with([](auto& o) { o.beta1 = 0.5; }) != adamw);
  CHECK(numbers_with([](auto& o) { o.beta2 = 0.5; }) != adamw);
}

TEST_CASE("trainer: what is held has no gradient, so that clipping does not count it") {
  LanguageModelSizes sizes{.vocabulary = 5, .context = 4, .layers = 1, .heads = 1, .width = 4};
  sizes.recipe.learned.v = Learning::none;
  const LanguageModel model = new_model(sizes);
  const Tensor& weight = model.h[0].attn.c_attn.weight;
  weight.set_grad(Array::ones({4, 12}));
  HeldParameters(model).change_gradients();
  for (Dim i = 0; i < 48; ++i) CHECK(weight.grad()[i] == Real(i % 12 < 8 ? 1 : 0));
}

TEST_CASE("trainer: the largest number counts without its sign; a gradient says where it goes") {
  CHECK(largest_number({{"a", Array({2}, {1, -5})}, {"b", Array({1}, {3})}}) == "5 in a");
  const Tensor w = parameter(Array::zeros({2}));
  CHECK(first_not_finite({{"w", w}}, [&] { backward(sum(sqrt(w))); }) ==
        "first in the gradient that 'sqrt' gives to w, shape (2), element 0");
}
