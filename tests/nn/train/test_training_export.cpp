// What is exported is what the next step uses. examples/pytorch continues from it: make pytorch-test.
#include "nn/train/training_export.h"

#include <cmath>

#include "nn/io/json.h"
#include "nn/io/safetensors.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"
#include "tests/support/small_trainer.h"
#include "tests/support/stored_file.h"

using namespace tests;

namespace {

struct Exported {
  explicit Exported(std::string file) : bytes(std::move(file)), header(stored_header(bytes)) {}

  bool has(const std::string& name) const { return find(header, name) != nullptr; }
  Array array(const std::string& name) const {
    const StoredTensor* const tensor = find(header, name);
    if (tensor == nullptr) throw std::out_of_range(name);
    return stored_array(bytes, *tensor);
  }
  JsonValue json(const char* key) const { return read_json(header.text(key)); }

  std::string bytes;
  StoredHeader header;
};

std::vector<double> items(const JsonValue& json) {
  std::vector<double> numbers;
  json.each_item([&](const JsonValue& number) { numbers.push_back(number.number()); });
  return numbers;
}

std::vector<double> as_doubles(const Indices& indices) {
  std::vector<double> numbers;
  for (Dim i = 0; i < indices.size(); ++i) numbers.push_back(static_cast<double>(indices[i]));
  return numbers;
}

Corpus names() {
  return read_corpus("anna\nbo\ncarolina\ndan\neve\n", {.reading = Reading::lines, .valid = 2});
}

}  // namespace

TEST_CASE("training export: weights, moments and settings are those of the run") {
  const Corpus c = corpus();
  TrainerOptions chosen = options(9);
  chosen.seed = ~std::uint64_t{0};
  Trainer trainer(model_of(c), c.train, chosen);
  trainer.step();
  trainer.step();
  const Exported exported(training_bytes(trainer, c.valid, {{"id", "a run"}}));
  CHECK(exported.header.text("id") == "a run");
  const Trainer::State state = trainer.state();
  const JsonValue training = exported.json("training");
  std::size_t p = 0;
  for (const auto& [name, tensor] : named_parameters(trainer.model())) {
    INFO(name);
    CHECK(same_bits(exported.array(name), tensor.value()));
    CHECK(same_bits(exported.array("average." + name), state.average[p]));
    CHECK(same_bits(exported.array("adamw.m." + name), state.moments[p].m));
    CHECK(same_bits(exported.array("adamw.v." + name), state.moments[p++].v));
    CHECK(training["gradients"][name].integer(0, 9) == 2);
  }
  const auto is = [&](const char* key, double value) {
    INFO(key);
    CHECK(training[key].number() == value);
  };
  is("step", 2), is("steps", 9), is("rate", 0.02), is("final_ratio", 0.1), is("warmup", 2);
  is("batch", 3), is("context", 8), is("clip", 1), is("decay", 0.1);
  is("average", 0.8), is("beta1", 0.9), is("beta2", 0.99), is("eps", AdamWOptions().eps);
  CHECK(training["seed"].shown() == "18446744073709551615");
}

TEST_CASE("training export: both texts, and of lines the lengths of the documents") {
  const Corpus c = names();
  const Trainer trainer(model_of(c), c.train, options(9));
  const Exported exported(training_bytes(trainer, c.valid));
  CHECK_FALSE(exported.has("adamw.m.wte.weight"));  // no step, no moments
  CHECK(exported.json("training")["gradients"]["wte.weight"].integer(0, 9) == 0);
  for (const auto& [prefix, text] : {std::pair{"", &c.train}, std::pair{"valid.", &c.valid}}) {
    const std::vector<double> tokens = to_vector(exported.array(std::string(prefix) + "tokens"));
    CHECK(tokens == std::vector<double>(text->tokens.begin(), text->tokens.end()));
    std::vector<double> starts{0};
    for (const double length : to_vector(exported.array(std::string(prefix) + "lengths")))
      starts.push_back(starts.back() + length);
    CHECK(starts == std::vector<double>(text->starts.begin(), text->starts.end()));
  }
  const Corpus stream = corpus();
  const Trainer other(model_of(stream), stream.train, options(9));
  CHECK_FALSE(Exported(training_bytes(other, stream.valid)).has("lengths"));
  CHECK_FALSE(Exported(training_bytes(other, {})).has("valid.tokens"));
}

TEST_CASE("training export: the check is the next batch, its loss and its gradients") {
  for (const Corpus& c : {corpus(), names()}) {
    Trainer trainer(model_of(c, 0), c.train, options(9));
    trainer.step();
    const JsonValue check = Exported(training_bytes(trainer, c.valid)).json("check");
    for (const auto& [name, tensor] : named_parameters(trainer.model()))
      CHECK_FALSE(tensor.has_grad());
    const Batch batch = trainer.next_batch();
    std::vector<double> inputs, targets;
    check["inputs"].each_item([&](const JsonValue& row) {
      CHECK(std::ssize(items(row)) == batch.inputs.shape()[1]);
      for (const double token : items(row)) inputs.push_back(token);
    });
    check["targets"].each_item([&](const JsonValue& row) {
      for (const double token : items(row)) targets.push_back(token);
    });
    CHECK(inputs == as_doubles(batch.inputs));
    CHECK(targets == as_doubles(batch.targets));
    CHECK(check["loss"].number() == trainer.next_loss());
    double squares = 0;
    check["gradient_norms"].each_member([&](const std::string&, const JsonValue& norm) {
      squares += norm.number() * norm.number();
    });
    const Trainer::Step step = trainer.step();
    CHECK(step.loss == check["loss"].number());
    CHECK(std::sqrt(squares) == Approx(step.gradient_norm).epsilon(1e-6));
  }
}

TEST_CASE("training export: the loss of the check has no dropout, and the run goes on unchanged") {
  const Corpus c = corpus();
  Trainer trainer(model_of(c, 0.5), c.train, options(9)),
      alone(model_of(c, 0.5), c.train, options(9));
  const std::string bytes = training_bytes(trainer, c.valid);
  CHECK(bytes == training_bytes(trainer, c.valid));
  CHECK(Exported(bytes).json("check")["loss"].number() != trainer.next_loss());
  for (int i = 0; i < 3; ++i) CHECK(trainer.step().loss == alone.step().loss);
  CHECK(numbers(trainer.model()) == numbers(alone.model()));
}

TEST_CASE("training export: what other programs cannot repeat is refused") {
  const Corpus c = corpus();
  for (const Recipe& recipe :
       {Recipe{.position = Position::none}, Recipe{.scale = Scale::none},
        Recipe{.learned = {.v = Learning::none}}, Recipe{.tie_qk = true},
        Recipe{.position = Position::rotary, .values = ValueMatrix::none},
        Recipe{.qk_norm = QueryKeyNorm::rms}, Recipe{.sink = Sink::learned}, today()}) {
    Rng rng(1);
    const LanguageModel model(
        {.vocabulary = c.tokenizer.size(), .context = 8, .width = 8, .recipe = recipe}, rng);
    const Trainer trainer(model, c.train, options(9));
    CHECK(refuses<ValueError>([&] { training_bytes(trainer, c.valid); }, "training_bytes",
                              "whole GPT-2"));
  }
  TokenText text = c.train;
  text.tokens[3] = Dim{1} << 24;
  const Trainer trainer(model_of(c), text, options(9));
  CHECK(refuses<ValueError>([&] { training_bytes(trainer, {}); }, "training_bytes", "16777216"));
}

TEST_CASE("training export: Muon's settings, and no held-out text in which nothing is guessed") {
  const Corpus c = corpus();
  TrainerOptions chosen = options(9);
  chosen.optimizer = Optimizer::muon;
  const Exported exported(training_bytes(Trainer(model_of(c), c.train, chosen), {{1}, {}}));
  CHECK_FALSE(exported.has("valid.tokens"));
  const JsonValue training = exported.json("training");
  CHECK(training["muon"].boolean());
  CHECK(training["muon_times"].number() == 5);
  CHECK(training["momentum"].number() == 0.95);
}
