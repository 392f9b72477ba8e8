// Prints what fledge computes in double, for torch_parity.py to compute again with PyTorch:
//
//   parity      every row of the tables of ops and of modules, and steps of training
//
// A line is a JSON object (README.md). fledge in double is the build of dual numbers with all
// tangents 0.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "engine/gradcheck/op_cases.h"
#include "nn/gpt/language_model.h"
#include "nn/io/json.h"
#include "nn/module_cases.h"
#include "nn/optim/adamw.h"
#include "nn/optim/optimizer.h"

using namespace fledge;

namespace {

Json json(const Array& x) {
  return Json::object(
      {{"shape", std::vector<Dim>(x.shape().begin(), x.shape().end())}, {"numbers", to_vector(x)}});
}

template <class F>
Json by_name(const std::vector<NamedTensor>& named, F array_of) {
  Json::Members members;
  for (const auto& [name, tensor] : named) members.emplace_back(name, json(array_of(tensor)));
  return Json::object(members);
}
Json values(const std::vector<NamedTensor>& named) {
  return by_name(named, [](const Tensor& x) { return x.value(); });
}
Json gradients(const std::vector<NamedTensor>& named) {
  return by_name(named, [](const Tensor& x) { return x.grad(); });
}

void print(const Json::Members& members) { std::puts(Json::object(members).text().c_str()); }

/// y = f(), and the gradients of ⟨v, y⟩.
void print_row(const std::string& name, const Subject& subject, std::uint64_t seed) {
  const Tensor y = subject.f();
  Rng rng(seed);
  const Array v = random_normal(y.shape(), 0, 1, rng);
  backward(y, v);
  print({{"row", name},
         {"inputs", values(subject.inputs)},
         {"v", json(v)},
         {"y", json(y.value())},
         {"gradients", gradients(subject.inputs)}});
}

void print_op(const OpCase& op, const std::vector<Array>& inputs, std::uint64_t seed) {
  std::vector<Tensor> x;
  std::vector<NamedTensor> named;
  for (const Array& input : inputs) {
    x.push_back(parameter(input));
    named.push_back({std::to_string(named.size()), x.back()});
  }
  print_row(op.name, {[&] { return op.f(x); }, named}, seed);
}

void print_ops() {
  const auto has_elements = [](const Shape& shape) { return shape.size() > 0; };
  for (const OpCase& op : op_cases())
    for (const std::vector<Shape>& shapes : op.calls())
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Rng rng(seed);
        if (std::all_of(shapes.begin(), shapes.end(), has_elements))
          print_op(op, op.draw(shapes, rng), seed);
      }
}

/// Inputs at the borders of an op: kinks, ties, and where exp would overflow.
void print_borders() {
  const Array tie({3, 4}, {1, 3, 3, 0, 3, 2, 1, 0, 3, 3, 3, 3}), far({3}, {700, 699, -800}),
      both_sides({5}, {-9, -1, 0, 1, 9});
  const std::vector<std::pair<std::string, std::vector<Array>>> borders = {
      {"relu", {Array({4}, {-1, 0, -0.0, 2})}},
      {"max", {tie}},
      {"max axis 1", {tie}},
      {"pow", {Array({4}, {0, 0, 0, 2}), Array({4}, {1, 2.5, 3, 0})}},
      {"pow of a number", {Array({3}, {-2, 0, 1.5})}},
      {"softmax", {far}},
      {"log_softmax", {far}},
      {"sigmoid", {Array({3}, {-40, 0, 40})}},
      {"gelu", {both_sides}},
      {"gelu_tanh", {both_sides}}};
  for (const auto& [name, inputs] : borders)
    for (const OpCase& op : op_cases())
      if (op.name == name) print_op(op, inputs, 1);
}

void print_modules() {
  for (const ModuleCase& module : module_cases())
    for (const Shape& input : module.inputs)
      for (std::uint64_t seed = 1; seed <= 3; ++seed)
        print_row(module.name, module.make(seed, input), seed);
}

/// 50 steps of AdamW, or of Muon and AdamW, with clipping, of a model with large random weights, so
/// that no part of it is negligible. Every fourth model has rows that end early: their targets are −1.
void print_training(Dim number, const LanguageModelSizes& sizes, Dim batch, bool muon) {
  Rng rng(static_cast<std::uint64_t>(number));
  const LanguageModel model(sizes, rng);
  std::vector<double> decay_factors;
  std::vector<NamedTensor> weights;
  for (const auto& [name, p] : named_parameters(model)) {
    const bool is_product = p.rank() == 2 && name.find(".c_") != name.npos,
               is_gain = p.rank() == 1 && name.ends_with("weight");
    const double scale = is_product ? 0.7 / std::sqrt(static_cast<double>(p.dim(0))) : 0.3;
    for (Dim i = 0; i < p.size(); ++i)
      p.write()[i] = Real(rng.normal() * scale + (is_gain ? 1 : 0));
    decay_factors.push_back(p.rank() >= 2 ? 1 : 0);
    weights.push_back({name, p});
  }
  const Json before = values(weights);
  const double clip = std::vector<double>{0.3, 1, 100}[static_cast<std::size_t>(number % 3)];
  const AdamWOptions settings{.beta1 = number % 2 == 0 ? 0.9 : 0.5,
                              .beta2 = 0.99,
                              .decay = 0.1,
                              .times = 3,
                              .momentum = 0.9};
  AdamW optimizer(
      parameters(model), settings, decay_factors,
      muon ? matrices_of_blocks(named_parameters(model)) : std::vector<std::vector<Dim>>());
  std::vector<Json> steps;
  for (int step = 0; step < 50; ++step) {
    // With one token the gradients of queries and keys are 0, and PyTorch's are 1e-17. AdamW divides
    // them by eps = 1e-8, which moves such weights. So there are two tokens, where two fit.
    const Shape shape{batch, sizes.context};
    std::vector<Dim> x, y;
    for (Dim row = 0; row < batch; ++row) {
      const Dim length = number % 4 == 2 ? 1 + rng.below(sizes.context) : sizes.context;
      for (Dim i = 0; i < sizes.context; ++i) {
        x.push_back(rng.below(sizes.vocabulary));
        y.push_back(i < length ? rng.below(sizes.vocabulary) : -1);
      }
    }
    optimizer.zero_grad();
    const Tensor logits = model(Indices(shape, x));
    const Tensor loss = cross_entropy(logits, Indices(shape, y), -1);
    backward(loss);
    Json::Members members{{"x", x}, {"y", y}, {"loss", loss.item()}};
    if (step == 0) members.emplace_back("logits", json(logits.value()));
    if (step == 0) members.emplace_back("gradients", gradients(weights));
    members.emplace_back("norm", clip_gradients(parameters(model), clip));
    optimizer.options.rate = 1e-4 + 1e-2 * rng.uniform();
    members.emplace_back("rate", optimizer.options.rate);
    optimizer.step();
    steps.push_back(Json::object(members));
  }
  print({{"batch", batch},
         {"heads", sizes.heads},
         {"gelu", sizes.recipe.mlp == FeedForward::gelu ? "none" : "tanh"},
         {"epsilon", sizes.epsilon},
         {"clip", clip},
         {"beta1", settings.beta1},
         {"beta2", settings.beta2},
         {"eps", settings.eps},
         {"decay", settings.decay},
         {"muon", muon},
         {"muon_times", settings.times},
         {"momentum", settings.momentum},
         {"steps", steps},
         {"before", before},
         {"after", values(weights)}});
}

void print_trainings() {
  struct Sizes {
    Dim heads, head_size, layers, context, vocabulary, batch;
  };
  std::vector<Sizes> all = {{1, 5, 1, 1, 2, 1},  {5, 1, 1, 33, 131, 2}, {3, 7, 2, 17, 65, 3},
                            {2, 9, 3, 33, 2, 1}, {4, 3, 1, 2, 131, 4},  {1, 13, 2, 31, 27, 2}};
  for (Rng rng(1); all.size() < 12;)
    all.push_back({1 + rng.below(5), 3 + rng.below(11), 1 + rng.below(3), 2 + rng.below(20),
                   2 + rng.below(130), 1 + rng.below(4)});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Dim width = all[i].heads * all[i].head_size;
    const LanguageModelSizes sizes{
        .vocabulary = all[i].vocabulary,
        .context = all[i].context,
        .layers = all[i].layers,
        .heads = all[i].heads,
        .width = width,
        .hidden = i % 3 == 0 ? 2 * width + 1 : 4 * width,
        .bias = i % 2 == 0 ? Bias::with : Bias::without,
        .epsilon = i % 7 == 3 ? 1e-3 : 1e-5,
        .recipe = {.mlp = i % 5 == 4 ? FeedForward::gelu : FeedForward::gelu_tanh}};
    print_training(static_cast<Dim>(i), sizes, all[i].batch, false);
    // The gradients of queries and keys of one token are 0 in fledge and 1e-17 in PyTorch. Muon
    // would divide those by 1e-7.
    if (sizes.context > 1) print_training(static_cast<Dim>(i), sizes, all[i].batch, true);
  }
}

}  // namespace

int main() try {
  print_ops();
  print_borders();
  print_modules();
  print_trainings();
} catch (const std::exception& error) {
  std::fprintf(stderr, "parity: %s\n", error.what());
  return 2;
}
