// The gradient of every module, with respect to its input and every number of every parameter, by both
// oracles: every row of the table of modules, at the inputs of the row and at others. What recipes
// change has the gradients of its formula (gpt/test_language_model.cpp).
#include "engine/array_math.h"
#include "nn/gradcheck.h"
#include "nn/module_cases.h"
#include "tests/nn/modules.h"
#include "tests/support/sanitized.h"

using namespace tests;

namespace {

/// x, with a backward pass that says `factor` times as much as is true.
Tensor exaggerated(const Tensor& x, double factor) {
  return record("exaggerated", x.value(),
                wrt(x, [factor](const Array& dy) { return dy * Real(factor); }));
}

struct Scaled {
  Tensor scale, unused;
  Tensor operator()(const Tensor& x) const { return x * scale; }
  void visit(auto&& f) const { f("scale", scale), f("unused", unused); }
};

struct WrongInput {
  Linear inner;
  Tensor operator()(const Tensor& x) const { return inner(exaggerated(x, 3)); }
  void visit(auto&& f) const { f("inner", inner); }
};

struct Twice {
  Linear first, second;
  Tensor operator()(const Tensor& x) const { return second(first(x)); }
  void visit(auto&& f) const { f("first", first), f("second", second); }
};

struct Forgetful {
  Linear listed, forgotten;
  double factor = 1;
  Tensor operator()(const Tensor& x) const { return forgotten(exaggerated(listed(x), factor)); }
  Tensor operator()(const Indices& ids) const { return (*this)(embedding(listed.weight, ids)); }
  void visit(auto&& f) const { f("listed", listed); }
};

}  // namespace

// The engine's tests prove the checker; here is what a module adds: which tensors, and their names.
TEST_CASE("gradcheck of a module compares every parameter once, and the input if it is given one") {
  const MLP mlp = drawn<MLP>(1, 3, 5);
  const Array x = uniform({2, 2, 3}, 1);
  for (const bool has_input : {true, false}) {
    const GradcheckReport report =
        has_input ? gradcheck(mlp, x) : gradcheck(mlp, [&] { return mean(mlp(x)); });
    INFO(to_string(report));
    CHECK(report.ok);
    CHECK(report.elements == (has_input ? 12 : 0) + 15 + 5 + 15 + 3);
  }
  // Tied parameters are compared as the sum of their roles.
  Twice module{drawn<Linear>(1, 3, 3), drawn<Linear>(2, 3, 3)};
  module.second.weight = module.first.weight;
  const GradcheckReport report = gradcheck(module, uniform({2, 3}, 1));
  INFO(to_string(report));
  CHECK(report.ok);
  CHECK(report.elements == 6 + 9 + 3 + 3);
}

TEST_CASE("gradcheck of a module sees a wrong gradient of the input, and what nothing depends on") {
  CHECK(gradcheck(WrongInput{drawn<Linear>(3, 3, 2)}, uniform({2, 3}, 1)).tensor == "input");
  const Scaled module{parameter(uniform({2}, 1)), parameter(uniform({3}, 2))};
  const GradcheckReport report = gradcheck(module, uniform({4, 2}, 3));
  CHECK_FALSE(report.ok);
  CHECK(report.tensor == "unused");
  GradcheckOptions listed;
  listed.zero_gradients = {"unused"};
  CHECK(gradcheck(module, uniform({4, 2}, 3), listed).ok);
}

TEST_CASE("gradcheck of a module sees a part that visit() has forgotten") {
  const Forgetful module{drawn<Linear>(1, 3, 3), drawn<Linear>(2, 3, 4)};
  const GradcheckReport report = gradcheck(module, uniform({2, 3}, 1));
  CHECK_FALSE(report.ok);
  CHECK_THAT(report.problem, ContainsSubstring("(3, 4)") && ContainsSubstring("visit()"));
  CHECK(gradcheck(module, Indices({2}, {0, 2})).problem == report.problem);
  // A wrong gradient comes first.
  const Forgetful wrong{module.listed, module.forgotten, 3};
  CHECK_THAT(gradcheck(wrong, uniform({2, 3}, 1)).problem, !ContainsSubstring("visit()"));
  // Another module may take part in f.
  CHECK(gradcheck(module.listed, [&] { return module(Tensor(uniform({2, 3}, 1))); }).ok);
}

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
