// The steps that random programs are made of: every op, its attributes drawn blindly.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"

namespace tests {

using Tensors = std::vector<Tensor>;
using Run = std::function<Tensor(const Tensors&)>;

/// A kind of step: how it prints, how many arguments it has, and one of it with drawn attributes
/// for a first argument of the given shape.
struct Kind {
  std::string name;
  std::size_t arguments;
  std::function<Run(Rng&, const Shape&)> draw;
};

inline Kind plain(std::string name, std::size_t arguments, Run run) {
  return {std::move(name), arguments, [run](Rng&, const Shape&) { return run; }};
}

/// A result that counts as constant: kept from the first evaluation, as perturbed inputs would move
/// it; recorded evaluations cut the graph for real.
inline Run island(Run cut) {
  auto kept = std::make_shared<Array>();
  return [kept, cut](const Tensors& in) {
    if (kept->exists() && !recording()) return Tensor(*kept);
    const Tensor y = cut(in);
    if (!kept->exists()) *kept = y.value().clone();
    return y;
  };
}

inline int any_axis(Rng& rng) { return static_cast<int>(rng.below(6) - 3); }

inline Axes any_axes(Rng& rng, const Shape& shape) {
  Axes axes;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (rng.below(2) == 0) axes.push_back(axis);
  return axes;
}

inline Indices any_ids(Rng& rng, Dim count, Dim below) {
  std::vector<Dim> ids;
  for (Dim i = 0; i < count; ++i) ids.push_back(rng.below(below));
  return {{count}, ids};
}

inline std::vector<Kind> kinds_of_steps() {
  std::vector<Kind> kinds{
      plain("a + b", 2, [](const Tensors& in) { return in[0] + in[1]; }),
      plain("a - b", 2, [](const Tensors& in) { return in[0] - in[1]; }),
      plain("a * b", 2, [](const Tensors& in) { return in[0] * in[1]; }),
      plain("a / (b² + 1)", 2, [](const Tensors& in) { return in[0] / (in[1] * in[1] + 1.0); }),
      plain("-a", 1, [](const Tensors& in) { return -in[0]; }),
      plain("pow(a² + ½, b)", 2, [](const Tensors& in) { return pow(in[0] * in[0] + 0.5, in[1]); }),
      plain("exp(a)", 1, [](const Tensors& in) { return exp(in[0]); }),
      plain("log(a² + ½)", 1, [](const Tensors& in) { return log(in[0] * in[0] + 0.5); }),
      plain("sqrt(a² + ½)", 1, [](const Tensors& in) { return sqrt(in[0] * in[0] + 0.5); }),
      plain("tanh(a)", 1, [](const Tensors& in) { return tanh(in[0]); }),
      plain("sigmoid(a)", 1, [](const Tensors& in) { return sigmoid(in[0]); }),
      plain("relu(a)", 1, [](const Tensors& in) { return relu(in[0]); }),
      plain("gelu(a)", 1, [](const Tensors& in) { return gelu(in[0]); }),
      plain("gelu_tanh(a)", 1, [](const Tensors& in) { return gelu_tanh(in[0]); }),
      plain("matmul(a, b)", 2, [](const Tensors& in) { return matmul(in[0], in[1]); }),
      plain("matmul(a, aᵀ)", 1, [](const Tensors& in) { return matmul(in[0], transpose(in[0])); }),
      plain("softmax(a)", 1, [](const Tensors& in) { return softmax(in[0]); }),
      plain("softmax(a, causal)", 1, [](const Tensors& in) { return softmax(in[0], causal()); }),
      plain("log_softmax(a)", 1, [](const Tensors& in) { return log_softmax(in[0]); }),
      plain("layer_norm(a, b, b)", 2,
            [](const Tensors& in) { return layer_norm(in[0], in[1], in[1], 0.1); }),
      plain("attention(a, b, b)", 2,
            [](const Tensors& in) {
              const Tensor scores = attention_scores(in[0], in[1], causal());
              return weighted_sum(softmax(scores, causal()), in[1], causal());
            }),
      {"cosine_similarity(a, b² + ½, axis)", 2,
       [](Rng& rng, const Shape&) -> Run {
         return [axis = any_axis(rng)](const Tensors& in) {
           return cosine_similarity(in[0], in[1] * in[1] + 0.5, axis);
         };
       }},
      {"transpose(a, i, j)", 1,
       [](Rng& rng, const Shape&) -> Run {
         return [i = any_axis(rng), j = any_axis(rng)](const Tensors& in) {
           return transpose(in[0], i, j);
         };
       }},
      {"reshape(a, (n, m))", 1,
       [](Rng& rng, const Shape& shape) -> Run {
         const Dim rows = rng.below(4) + 1;
         return [to = Shape{rows, shape.size() / rows}](const Tensors& in) {
           return reshape(in[0], to);
         };
       }},
      {"slice(a, axis, begin, end)", 1,
       [](Rng& rng, const Shape&) -> Run {
         const Dim begin = rng.below(3), end = begin + 1 + rng.below(3);
         return [axis = any_axis(rng), begin, end](const Tensors& in) {
           return slice(in[0], axis, begin, end);
         };
       }},
      {"concat(a, b, a; axis)", 2,
       [](Rng& rng, const Shape&) -> Run {
         return [axis = any_axis(rng)](const Tensors& in) {
           return concat({in[0], in[1], in[0]}, axis);
         };
       }},
      {"last of split(a, 2, axis)", 1,
       [](Rng& rng, const Shape&) -> Run {
         return [axis = any_axis(rng)](const Tensors& in) { return split(in[0], 2, axis)[1]; };
       }},
      {"where(random, a, b)", 2,
       [](Rng& rng, const Shape& shape) -> Run {
         Array condition(shape);
         Real* to = condition.write();
         for (Dim i = 0; i < condition.size(); ++i) to[i] = real(rng.below(2));
         return [condition](const Tensors& in) { return where(condition, in[0], in[1]); };
       }},
      {"dropout(a, 0.3)", 1,
       [](Rng& rng, const Shape&) -> Run {
         return [seed = rng.bits()](const Tensors& in) {
           Rng fixed(seed);
           return dropout(in[0], 0.3, fixed);
         };
       }},
      {"embedding(a, random ids)", 1,
       [](Rng& rng, const Shape& shape) -> Run {
         const Indices ids = any_ids(rng, 3, shape.rank() > 0 ? std::max<Dim>(shape[0], 1) : 1);
         return [ids](const Tensors& in) { return embedding(in[0], ids); };
       }},
      {"cross_entropy(a, random targets)", 1,
       [](Rng& rng, const Shape& shape) -> Run {
         const bool rows = shape.rank() == 2;
         const Indices ids = any_ids(rng, rows ? shape[0] : 0, rows ? shape[1] : 1);
         return [ids](const Tensors& in) { return cross_entropy(in[0], ids); };
       }},
      {"detach(a)", 1,
       [](Rng&, const Shape&) { return island([](const Tensors& in) { return in[0].detach(); }); }},
      {"tanh(a) under NoGrad", 1,
       [](Rng&, const Shape&) {
         return island([](const Tensors& in) {
           const NoGrad no_grad;
           return tanh(in[0] * in[0]);
         });
       }},
  };
  for (const auto& [name, reduce] :
       {std::pair{"sum", &sum}, std::pair{"mean", &mean}, std::pair{"max", &max}})
    kinds.push_back({std::string(name) + "(a, axes)", 1,
                     [reduce = reduce](Rng& rng, const Shape& shape) -> Run {
                       const Axes axes = any_axes(rng, shape);
                       return [reduce, axes, keep = rng.below(2) == 0](const Tensors& in) {
                         return reduce(in[0], axes, keep);
                       };
                     }});
  return kinds;
}

}  // namespace tests
