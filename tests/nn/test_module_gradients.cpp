// The gradient of every module, with respect to its input and every number of every parameter, by both
// oracles: every row of the table of modules, at the inputs of the row and at others. What recipes
// change has the gradients of its formula (gpt/test_language_model.cpp).
#include "nn/gpt/language_model.h"
#include "nn/gradcheck.h"
#include "nn/module_cases.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace tests;

TEST_CASE("every module: every element of every gradient is right by both oracles") {
  for (const ModuleCase& module : module_cases())
    for (std::size_t i = 0; i < module.inputs.size(); ++i) {
      if (testing::sanitized && module.inputs[i].size() > 100) continue;
      const std::uint64_t seed = 6 + i;
      const Subject subject = module.make(seed, module.inputs[i]);
      Dim elements = 0;
      for (const NamedTensor& input : subject.inputs) elements += input.tensor.size();
      const GradcheckReport report = gradcheck(subject.f, subject.inputs, {.seed = seed});
      INFO(module.name << " of " << to_string(module.inputs[i]) << ": " << to_string(report));
      CHECK(report.ok);
      CHECK(report.elements == elements);
    }
}

// A softmax over one key is 1 whatever the query: mathematics says that nothing arrives there.
TEST_CASE("gradients of CrossAttention over one key") {
  const CrossAttention cross = drawn<CrossAttention>(1, 6, 3, 2);
  const Tensor x = parameter(uniform({2, 3, 6}, 1)), source = parameter(uniform({2, 1, 3}, 2));
  std::vector<NamedTensor> named{{"x", x}, {"source", source}};
  for (const NamedTensor& tensor : named_tensors(cross)) named.push_back(tensor);
  GradcheckOptions options;
  CHECK_FALSE(gradcheck([&] { return cross(x, source); }, named, options).ok);
  options.zero_gradients = {"x", "q_attn.weight", "q_attn.bias"};
  const GradcheckReport report = gradcheck([&] { return cross(x, source); }, named, options);
  INFO(to_string(report));
  CHECK(report.ok);
}

TEST_CASE("gradients of a new model's loss, its numbers as small as they start") {
  Rng rng(5);
  const LanguageModel model({.vocabulary = 7, .context = 4, .heads = 2, .width = 4}, rng);
  const Indices ids({2, 4}, {0, 1, 2, 3, 4, 5, 6, 0});
  const GradcheckReport report = gradcheck(model, [&] { return cross_entropy(model(ids), ids); });
  INFO(to_string(report));
  CHECK(report.ok);
}
