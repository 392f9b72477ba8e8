// Random programs: graphs of 5 to 40 ops with shared results, on which a gradient can be checked.
//
// Key idea: an op, its arguments and attributes are drawn blindly; what the library refuses, or
// what becomes large or not finite, is drawn again. A program is a list of closures, so it can be
// cut short to find the first step that is wrong.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/engine/gradcheck/rules.h"

namespace tests {

using Tensors = std::vector<Tensor>;

/// A kind of step: how it prints, how many arguments it has, and what it computes. It draws its
/// attributes first, so that with the same `rng` it is the same step.
struct Kind {
  std::string name;
  std::size_t arguments;
  std::function<Tensor(In in, Rng& rng)> run;
  /// The result counts as constant: kept from the first evaluation, as perturbed inputs would move
  /// it; recorded evaluations cut the graph for real.
  bool is_island = false;
};

/// A kind without attributes.
inline Kind plain(std::string name, std::size_t arguments, std::function<Tensor(In in)> run) {
  return {std::move(name), arguments, [run](In in, Rng&) { return run(in); }};
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
      plain("a + b", 2, [](In in) { return in[0] + in[1]; }),
      plain("a - b", 2, [](In in) { return in[0] - in[1]; }),
      plain("a * b", 2, [](In in) { return in[0] * in[1]; }),
      plain("a / (b² + 1)", 2, [](In in) { return in[0] / (in[1] * in[1] + 1.0); }),
      plain("-a", 1, [](In in) { return -in[0]; }),
      plain("pow(a² + ½, b)", 2, [](In in) { return pow(in[0] * in[0] + 0.5, in[1]); }),
      plain("exp(a)", 1, [](In in) { return exp(in[0]); }),
      plain("log(a² + ½)", 1, [](In in) { return log(in[0] * in[0] + 0.5); }),
      plain("sqrt(a² + ½)", 1, [](In in) { return sqrt(in[0] * in[0] + 0.5); }),
      plain("tanh(a)", 1, [](In in) { return tanh(in[0]); }),
      plain("sigmoid(a)", 1, [](In in) { return sigmoid(in[0]); }),
      plain("relu(a)", 1, [](In in) { return relu(in[0]); }),
      plain("gelu(a)", 1, [](In in) { return gelu(in[0]); }),
      plain("gelu_tanh(a)", 1, [](In in) { return gelu_tanh(in[0]); }),
      plain("matmul(a, b)", 2, [](In in) { return matmul(in[0], in[1]); }),
      plain("matmul(a, aᵀ)", 1, [](In in) { return matmul(in[0], transpose(in[0])); }),
      plain("softmax(a)", 1, [](In in) { return softmax(in[0]); }),
      plain("softmax(a, causal)", 1, [](In in) { return softmax(in[0], causal()); }),
      plain("log_softmax(a)", 1, [](In in) { return log_softmax(in[0]); }),
      plain("layer_norm(a, b, b)", 2, [](In in) { return layer_norm(in[0], in[1], in[1], 0.1); }),
      plain("attention(a, b, b)", 2,
            [](In in) {
              const Tensor scores = attention_scores(in[0], in[1], causal());
              return weighted_sum(softmax(scores, causal()), in[1], causal());
            }),
      {"cosine_similarity(a, b² + ½, axis)", 2,
       [](In in, Rng& rng) {
         return cosine_similarity(in[0], in[1] * in[1] + 0.5, any_axis(rng));
       }},
      {"transpose(a, i, j)", 1,
       [](In in, Rng& rng) {
         const int i = any_axis(rng), j = any_axis(rng);
         return transpose(in[0], i, j);
       }},
      {"reshape(a, (n, m))", 1,
       [](In in, Rng& rng) {
         const Dim rows = rng.below(4) + 1;
         return reshape(in[0], {rows, in[0].size() / rows});
       }},
      {"slice(a, axis, begin, end)", 1,
       [](In in, Rng& rng) {
         const Dim begin = rng.below(3), end = begin + 1 + rng.below(3);
         return slice(in[0], any_axis(rng), begin, end);
       }},
      {"concat(a, b, a; axis)", 2,
       [](In in, Rng& rng) {
         return concat({in[0], in[1], in[0]}, any_axis(rng));
       }},
      {"last of split(a, 2, axis)", 1,
       [](In in, Rng& rng) { return split(in[0], 2, any_axis(rng))[1]; }},
      {"where(random, a, b)", 2,
       [](In in, Rng& rng) {
         Array condition(in[0].shape());
         Real* to = condition.write();
         for (Dim i = 0; i < condition.size(); ++i) to[i] = real(rng.below(2));
         return where(condition, in[0], in[1]);
       }},
      {"dropout(a, 0.3)", 1,
       [](In in, Rng& rng) {
         Rng fixed(rng.bits());
         return dropout(in[0], 0.3, fixed);
       }},
      {"embedding(a, random ids)", 1,
       [](In in, Rng& rng) {
         const Dim rows = in[0].rank() > 0 ? std::max<Dim>(in[0].dim(0), 1) : 1;
         return embedding(in[0], any_ids(rng, 3, rows));
       }},
      {"cross_entropy(a, random targets)", 1,
       [](In in, Rng& rng) {
         const bool rows = in[0].rank() == 2;
         return cross_entropy(in[0],
                              any_ids(rng, rows ? in[0].dim(0) : 0, rows ? in[0].dim(1) : 1));
       }},
      {"detach(a)", 1, [](In in, Rng&) { return in[0].detach(); }, true},
      {"tanh(a) under NoGrad", 1,
       [](In in, Rng&) {
         const NoGrad no_grad;
         return tanh(in[0] * in[0]);
       },
       true},
  };
  for (const auto& [name, reduce] :
       {std::pair{"sum", &sum}, std::pair{"mean", &mean}, std::pair{"max", &max}})
    kinds.push_back({std::string(name) + "(a, axes)", 1, [reduce = reduce](In in, Rng& rng) {
                       const Axes axes = any_axes(rng, in[0].shape());
                       return reduce(in[0], axes, rng.below(2) == 0);
                     }});
  return kinds;
}

/// Steps whose true gradient is zero, by element or in a direction: what backward() gives is only
/// rounding.
inline std::vector<Kind> kinds_that_cancel() {
  const auto norm = [](const Tensor& a) {
    const Tensor ones = Array::ones({a.dim(-1)});
    return layer_norm(a, ones, ones, 0.1);
  };
  return {
      plain("a - a", 1, [](In in) { return in[0] - in[0]; }),
      plain("a + b - a", 2, [](In in) { return in[0] + in[1] - in[0]; }),
      plain("exp(a) * exp(-a)", 1, [](In in) { return exp(in[0]) * exp(-in[0]); }),
      plain("sigmoid(a) + sigmoid(-a)", 1, [](In in) { return sigmoid(in[0]) + sigmoid(-in[0]); }),
      plain("cosine_similarity(a, a)", 1, [](In in) { return cosine_similarity(in[0], in[0]); }),
      plain("cosine_similarity(a, 3a)", 1,
            [](In in) { return cosine_similarity(in[0], in[0] * 3.0); }),
      plain("sum(softmax(a))", 1, [](In in) { return sum(softmax(in[0]), {-1}, true); }),
      plain("sum(exp(log_softmax(a)))", 1,
            [](In in) { return sum(exp(log_softmax(in[0])), {-1}, true); }),
      plain("log_softmax(a + sum(b))", 2, [](In in) { return log_softmax(in[0] + sum(in[1])); }),
      plain("softmax(a + sum(b)) * b", 2,
            [](In in) { return softmax(in[0] + sum(in[1])) * in[1]; }),
      plain("sum(layer_norm(a))", 1, [=](In in) { return sum(norm(in[0]), {-1}, true); }),
      plain("layer_norm(a + sum(b))", 2, [=](In in) { return norm(in[0] + sum(in[1])); }),
      plain("layer_norm(a row of equal numbers)", 1,
            [=](In in) { return norm(reshape(sum(in[0]), {1}) * Array::ones({3})); }),
  };
}

enum class Ends {
  with_inputs,  // every input is part of the output: no input has a gradient of zero
  results,      // the results alone: an input may have one
};

class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, const std::vector<Kind>& kinds, Ends ends = Ends::with_inputs)
      : rng_(seed), ends_(ends) {
    const Shape shapes[] = {{}, {3}, {2, 3}, {3, 1}, {1, 3}, {3, 3}, {2, 2, 3}, {2, 3, 3}, {4}};
    for (Dim count = rng_.below(3) + 2; count > 0; --count)
      inputs_.push_back(random_uniform(shapes[rng_.below(9)], -1.5, 1.5, rng_));
    const NoGrad no_grad;
    Tensors values(inputs_.begin(), inputs_.end());
    const auto length = static_cast<std::size_t>(5 + rng_.below(36));
    while (steps_.size() < length) try_step(kinds, values);
  }

  const std::vector<Array>& inputs() const { return inputs_; }
  std::size_t length() const { return steps_.size(); }

  /// The first `count` steps. The output is one row: the results that no later step uses, and the
  /// inputs as `ends` says.
  Tensor run(In inputs, std::size_t count) const {
    Tensors values = inputs;
    std::vector<bool> used(inputs.size() + count, false);
    for (std::size_t i = 0; i < count; ++i) {
      Tensors arguments;
      for (const std::size_t from : steps_[i].from) {
        arguments.push_back(values[from]);
        used[from] = true;
      }
      values.push_back(steps_[i](arguments));
    }
    Tensors loose;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!used[i] || (i < inputs.size() && ends_ == Ends::with_inputs))
        loose.push_back(reshape(values[i], {values[i].size()}));
    return concat(loose, 0);
  }

  /// The program, a line a step.
  std::string text(std::size_t count) const {
    std::string text;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      text += "v" + std::to_string(i) + " = input " + to_string(inputs_[i].shape()) + "\n";
    for (std::size_t i = 0; i < count; ++i) {
      text += "v" + std::to_string(inputs_.size() + i) + " = " + steps_[i].kind.name + " of";
      for (const std::size_t from : steps_[i].from) text += " v" + std::to_string(from);
      text += " " + to_string(steps_[i].shape) + "\n";
    }
    return text;
  }

 private:
  struct Step {
    Kind kind;
    Rng rng;  // as it was before the attributes were drawn
    std::vector<std::size_t> from;
    Shape shape = {};
    Array kept = {};  // of an island

    Tensor operator()(In in) const {
      Rng drawn = rng;
      return kept.exists() && !recording() ? Tensor(kept) : kind.run(in, drawn);
    }
  };

  void try_step(const std::vector<Kind>& kinds, Tensors& values) {
    const auto pick = [&](std::size_t n) {
      return static_cast<std::size_t>(rng_.below(static_cast<Dim>(n)));
    };
    const Kind& kind = kinds[pick(kinds.size())];
    std::vector<std::size_t> from;
    Tensors arguments;
    for (std::size_t i = 0; i < kind.arguments; ++i) {
      from.push_back(pick(values.size()));
      arguments.push_back(values[from.back()]);
    }
    try {
      Step step{kind, rng_, from};
      const Tensor y = kind.run(arguments, rng_);
      if (y.size() == 0 || y.size() > 30) return;
      // An exact zero that moves, as in a − detach(a), would stand on the kink of relu.
      for (const double v : to_vector(y.value()))
        if (!(std::abs(v) < 6) || (v == 0 && kind.arguments == 2)) return;
      step.shape = y.shape();
      if (kind.is_island) step.kept = y.value().clone();
      steps_.push_back(step);
      values.push_back(y);
    } catch (const std::invalid_argument&) {  // these shapes do not fit this op: draw again
    }
  }

  Rng rng_;
  Ends ends_;
  std::vector<Array> inputs_;
  std::vector<Step> steps_;
};

}  // namespace tests
