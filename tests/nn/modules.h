// What the tests of modules share: models, parameters written and listed, tokens drawn.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "nn/gpt/language_model.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

namespace tests {

/// Gives a parameter new numbers.
inline void assign(const Tensor& p, const Array& values) {
  require(values.shape() == p.shape(), "assign", values.shape(), " for ", p.shape());
  std::copy_n(values.data(), p.size(), p.write());
}

/// All parameters drawn anew, of size about ½: zeros and tiny numbers would hide a wrong rule.
template <Module M>
void redraw(const M& module, std::uint64_t seed) {
  Rng rng(seed);
  for (const Tensor& p : parameters(module)) assign(p, random_normal(p.shape(), 0, 0.5, rng));
}

/// A language model with the weights that it begins with.
inline LanguageModel new_model(const LanguageModelSizes& sizes, std::uint64_t seed = 1) {
  Rng rng(seed);
  return LanguageModel(sizes, rng);
}

/// A language model, its parameters drawn anew.
inline LanguageModel drawn_model(const LanguageModelSizes& sizes, std::uint64_t seed) {
  const LanguageModel model = new_model(sizes);
  redraw(model, seed);
  return model;
}

/// A module made from a generator, its parameters drawn anew.
template <class M, class... Sizes>
M drawn(std::uint64_t seed, Sizes... sizes) {
  Rng rng(seed);
  M module(sizes..., rng);
  redraw(module, seed + 1000);
  return module;
}

/// GPT-2, GPT-2 without each of its parts and without several, with each part of today, and today's.
inline std::vector<Recipe> all_recipes() {
  Recipe everything = today();
  everything.mask = Masking::none, everything.sink = Sink::learned;
  everything.exclusive = Exclusive::own_value, everything.key_heads = 1, everything.window = 3;
  return {
      {},
      {.mask = Masking::none},
      {.position = Position::none},
      {.scale = Scale::none},
      {.mlp = FeedForward::none},
      {.values = ValueMatrix::none},
      {.heads = Heads::none},
      {.residual = Residual::none},
      {.norm = Norm::none},
      {.mask = Masking::none, .scale = Scale::none, .residual = Residual::none, .norm = Norm::none},
      {.mask = Masking::none, .position = Position::none},
      {.key_heads = 1},
      {.sink = Sink::learned},
      {.mask = Masking::none, .scale = Scale::none, .sink = Sink::learned, .key_heads = 1},
      {.position = Position::rotary},
      {.position = Position::rotary, .scale = Scale::none, .rotary_base = 100},
      {.mlp = FeedForward::swiglu},
      {.mlp = FeedForward::relu_squared},
      {.norm = Norm::rms},
      {.qk_norm = QueryKeyNorm::rms},
      {.scale = Scale::none, .qk_norm = QueryKeyNorm::rms},
      {.exclusive = Exclusive::own_value},
      {.window = 2},
      {.head = OutputHead::own},
      {.mask = Masking::none, .window = 2},
      today(),
      everything};
}

/// "weight (3, 2)", "bias (2)", …: every name, tied ones included, with its shape.
template <class M>
std::vector<std::string> listing(const M& module) {
  std::vector<std::string> lines;
  for_each_name(module, [&](const std::string& name, const Tensor& tensor) {
    lines.push_back(name + " " + to_string(tensor.shape()));
  });
  return lines;
}

/// The gradients of ⟨v, y⟩ for a random v, in place of those that were there.
template <Module M>
void pull_random(const M& module, const Tensor& y, std::uint64_t seed = 77) {
  zero_grad(module);
  backward(y, uniform(y.shape(), seed));
}

/// Elements begin … end − 1 along an axis.
inline Array part(const Array& x, int axis, Dim begin, Dim end) {
  return slice(Tensor(x), axis, begin, end).value();
}

/// Tokens below `vocabulary`, drawn from a generator.
std::vector<Dim> some_tokens(Dim count, Dim vocabulary, auto&& rng) {
  std::vector<Dim> ids(static_cast<std::size_t>(count));
  for (Dim& id : ids) id = rng.below(vocabulary);
  return ids;
}

/// The largest size of a number; NaN when there is one.
inline double largest(const Array& x) {
  double most = 0;
  for (const double v : to_vector(x)) {
    if (std::isnan(v)) return v;
    most = std::max(most, std::abs(v));
  }
  return most;
}

inline bool all_zero(const Array& x) {
  return std::all_of(x.data(), x.data() + x.size(), [](Real v) { return v == Real(0); });
}

/// Finite, and no element is 0.
inline bool all_alive(const Array& x) {
  return std::all_of(x.data(), x.data() + x.size(),
                     [](Real v) { return isfinite(v) && v != Real(0); });
}

}  // namespace tests
