#include "nn/gpt/weights.h"

#include <limits>

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

LanguageModel made(std::uint64_t seed, Bias bias = Bias::with) {
  Rng rng(seed);
  LanguageModel model(
      {.vocabulary = 5, .context = 3, .layers = 2, .heads = 2, .width = 4, .bias = bias}, rng);
  redraw(model, seed);
  return model;
}

std::vector<NamedArray> arrays_of(const LanguageModel& model, const std::string& prefix = "") {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : named_parameters(model))
    arrays.push_back({prefix + name, tensor.value().clone()});
  return arrays;
}
NamedArray& named(std::vector<NamedArray>& arrays, const std::string& name) {
  return *std::find_if(arrays.begin(), arrays.end(),
                       [&](const NamedArray& a) { return a.name == name; });
}

Verdict same(const LanguageModel& a, const LanguageModel& b) {
  const auto all = parameters(a), others = parameters(b);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const Verdict verdict = same_bits(all[i].value(), others.at(i).value()); !verdict)
      return verdict;
  return {};
}

void load(const LanguageModel& model, const std::string& bytes) {
  load_weights(model, bytes, stored_header(bytes));
}

// The message of load_weights() for these arrays; a model that it refuses keeps every bit.
std::string loading(const std::vector<NamedArray>& arrays) {
  const LanguageModel model = made(2), before = made(2);
  const std::string bytes = stored_bytes(arrays);
  const std::string message = refusal<FormatError>([&] { load(model, bytes); });
  CHECK(same(model, before));
  const std::string start = "its tensors must be those of the model that config.json describes: ";
  return message.substr(0, start.size()) == start ? message.substr(start.size()) : message;
}

}  // namespace

TEST_CASE("model weights: names and shapes are those of a model that is built") {
  for (const Bias bias : {Bias::with, Bias::without})
    for (const Dim hidden : {0, 5}) {
      Rng rng(1);
      const LanguageModelSizes sizes{.vocabulary = 7,
                                     .context = 3,
                                     .layers = 3,
                                     .heads = 2,
                                     .width = 4,
                                     .hidden = hidden,
                                     .bias = bias};
      const LanguageModel model(sizes, rng);
      const auto parameters = named_parameters(model);
      const auto shapes = weight_shapes(sizes);
      REQUIRE(shapes.size() == parameters.size());
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        CHECK(shapes[i].first == parameters[i].first);
        CHECK(shapes[i].second == parameters[i].second.shape());
      }
      const std::string bytes = weights_bytes(model);
      CHECK_NOTHROW(require_weights(stored_header(bytes), sizes));
      CHECK(bytes.size() <= most_weights_bytes(sizes));
    }
}

TEST_CASE("model weights: a model's file makes another one the same, to the bit") {
  for (const Bias bias : {Bias::with, Bias::without}) {
    const LanguageModel model = made(1, bias), other = made(2, bias);
    const std::string bytes = weights_bytes(model, {{"format", "pt"}});
    CHECK_FALSE(same(other, model));
    load(other, bytes);
    CHECK(same(other, model));
    CHECK(weights_bytes(other, {{"format", "pt"}}) == bytes);
    CHECK(bias_in(stored_header(bytes)) == bias);
  }
}

TEST_CASE("model weights: GPT-2's files with their prefix, masks and head") {
  const LanguageModel model = made(1), other = made(2);
  std::vector<NamedArray> arrays = arrays_of(model, "transformer.");
  for (const char* name :
       {"transformer.h.0.attn.bias", "transformer.h.11.attn.masked_bias", "h.1.attn.bias"})
    arrays.push_back({name, Array::full({1, 1, 3, 3}, Real(infinity))});
  arrays.push_back({"lm_head.weight", model.wte.weight.value()});
  const std::string bytes = stored_bytes(arrays);
  load(other, bytes);
  CHECK(same(other, model));
  CHECK(bias_in(stored_header(bytes)) == Bias::with);
}

TEST_CASE("model weights: every difference is named at once, and no number moves") {
  std::vector<NamedArray> arrays = arrays_of(made(1));
  named(arrays, "wte.weight").name = "wte";
  named(arrays, "h.1.mlp.c_fc.weight").array = Array::zeros({16, 4});
  arrays.push_back({"h.2.attn.bias_", Array({}, {1})});
  CHECK(
      loading(arrays) ==
      "'wte.weight' of shape (5, 4) is missing; 'h.1.mlp.c_fc.weight' has shape (16, 4), in the "
      "model (4, 16); 'h.2.attn.bias_' of shape () is not in the model; 'wte' of shape (5, 4) is not "
      "in the model");
  arrays = arrays_of(made(1));
  named(arrays, "wpe.weight").array.write()[0] = Real(infinity);
  named(arrays, "ln_f.bias").array.write()[2] = std::numeric_limits<Real>::quiet_NaN();
  CHECK(loading(arrays) ==
        "'wpe.weight' holds a number that is not finite, at 0; 'ln_f.bias' holds a number that is "
        "not finite, at 2");
  CHECK_THAT(loading({}),
             EndsWith("; 'h.1.attn.c_proj.weight' of shape (4, 4) is missing; "
                      "'h.1.attn.c_proj.bias' of shape (4) is missing; and 8 more differences"));
  CHECK_THAT(loading(arrays_of(made(1, Bias::without))),
             StartsWith("'h.0.attn.c_attn.bias' of shape (12) is missing; "));
}

TEST_CASE("model weights: one difference each") {
  const auto with = [](const std::string& name, const Array& array) {
    std::vector<NamedArray> arrays = arrays_of(made(1));
    arrays.push_back({name, array});
    return loading(arrays);
  };
  const Array table = made(1).wte.weight.value();
  Array other = table.clone();
  other.write()[7] = 0;
  CHECK(with("transformer.ln_f.weight", Array::ones({4})) ==
        "'ln_f.weight' stands twice, once behind 'transformer.'");
  CHECK(with("lm_head.weight", other) ==
        "'lm_head.weight' is not wte.weight, as it must be here: they differ at 7");
  CHECK(with("lm_head.weight", Array::zeros({4, 5})) ==
        "'lm_head.weight' has shape (4, 5), in the model (5, 4)");
  CHECK(with("h..attn.bias", table) == "'h..attn.bias' of shape (5, 4) is not in the model");
  CHECK(with("a\u202Eb", table) == "'a\\xe2\\x80\\xaeb' of shape (5, 4) is not in the model");
}

TEST_CASE("model weights: other types are converted, or refused in the same list") {
  const LanguageModel model = made(2);
  std::string bytes = weights_bytes(made(1));
  bytes.replace(bytes.find("F32"), 3, "U32");
  CHECK(
      refusal<FormatError>([&] { load(model, bytes); }) ==
      "its tensors must be those of the model that config.json describes: 'h.0.attn.c_attn.bias' has dtype "
      "U32, which is not read here: use F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL");
  CHECK_THROWS_AS(load(model, bytes.substr(1)), FormatError);
  CHECK(same(model, made(2)));
}

TEST_CASE("model weights: nothing moves while a graph needs the old numbers") {
  const LanguageModel model = made(2);
  const std::string bytes = weights_bytes(made(1));
  {
    const Tensor logits = model(Indices({1, 2}, {0, 4}));
    CHECK_THROWS_AS(load(model, bytes), GraphError);
    CHECK(same(model, made(2)));
  }
  load(model, bytes);
  CHECK(same(model, made(1)));
}
