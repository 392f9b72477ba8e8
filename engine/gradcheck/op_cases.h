// The table of ops: a row for each op of ops.h and for each of its overloads.
//
// `fledge gradcheck` proves the gradient of every row by both oracles,
// tests/engine/ops/test_op_table.cpp tests on every row what holds of all ops, and `make parity`
// compares every row with PyTorch. A new op gets a row; until it has one a test fails. The table is
// compiled for both number types, and is in no library.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/ops.h"

namespace fledge {

/// The distribution of an input.
enum class Draw {
  normal,    // both signs
  positive,  // ½ … 2½
  apart,     // distinct, at least ⅛ from 0, in random order: no kink or tie is near
};

struct Input {
  Shape shape;
  Draw draw = Draw::normal;
};

inline Array draw_input(const Input& input, Rng& rng) {
  if (input.draw == Draw::normal) return random_normal(input.shape, 0, 1, rng);
  if (input.draw == Draw::positive) return random_uniform(input.shape, 0.5, 2.5, rng);
  std::vector<double> values;
  const Dim below_zero = input.shape.size() / 2;
  for (Dim i = 0; i < input.shape.size(); ++i)
    values.push_back(0.25 * static_cast<double>(i - below_zero) + 0.125);
  rng.shuffle(values);
  return {input.shape, values};
}

using OpFunction = std::function<Tensor(const std::vector<Tensor>& x)>;

/// f of the first inputs, and of what else it takes: of_one(slice, 1, 0, 2).
template <class... P, class... A>
OpFunction of_one(Tensor (*f)(const Tensor&, P...), A... rest) {
  return [=](const std::vector<Tensor>& x) { return f(x[0], rest...); };
}
template <class... P, class... A>
OpFunction of_two(Tensor (*f)(const Tensor&, const Tensor&, P...), A... rest) {
  return [=](const std::vector<Tensor>& x) { return f(x[0], x[1], rest...); };
}
template <class... P, class... A>
OpFunction of_three(Tensor (*f)(const Tensor&, const Tensor&, const Tensor&, P...), A... rest) {
  return [=](const std::vector<Tensor>& x) { return f(x[0], x[1], x[2], rest...); };
}

/// A call that must throw: f of arrays of ones.
struct Refused {
  std::vector<Shape> shapes;
  std::vector<std::string> says;  // what the message must name, in this order
  OpFunction f;
  bool by_value;  // ValueError where it is true, else ShapeError
};

/// A row. Calls are written with shapes as messages print them: "(2, 3) positive (3)" are two inputs,
/// the second drawn from `positive`. After a ';' come the inputs of another call.
struct OpCase {
  std::string name;  // its first word is the op
  std::vector<Input> inputs;
  OpFunction f;
  OpFunction reference = {};                  // the same by other ops, where there is a formula
  std::vector<std::vector<Shape>> more = {};  // other shapes of the inputs, empty ones among them
  std::vector<Refused> refused = {};
  bool takes_every_shape = false;  // if not, a row of the op must refuse something

  /// The shapes of the inputs, then the other ones.
  std::vector<std::vector<Shape>> calls() const {
    std::vector<std::vector<Shape>> all{{}};
    for (const Input& input : inputs) all[0].push_back(input.shape);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// Inputs of these shapes.
  std::vector<Array> draw(const std::vector<Shape>& shapes, Rng& rng) const {
    std::vector<Array> x;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      x.push_back(draw_input({shapes[i], inputs[i].draw}, rng));
    return x;
  }

  /// Calls of `other`, or of f, that throw ShapeError. The message names the shapes, or else `says`.
  OpCase& refuses(const std::string& calls, const std::string& says = "",
                  const OpFunction& other = {});
  OpCase& refuses_value(const std::string& calls, const std::string& says,
                        const OpFunction& other = {});
};

const std::vector<OpCase>& op_cases();

/// 1 where a query may look, else 0.
Array table_of(const Mask& mask, const Shape& scores);

// References that the tests of modules use too.

/// The weights of attention, e^x / (e^b + Σ e^x) over what the mask shows.   x (…, T, S)   The sink b
/// broadcasts to (…, T, 1). Without one a row that may look nowhere is 0.
Tensor softmax_of_visible(const Tensor& x, const Mask& mask, const Tensor& sink = {});
/// x (…, T, D), whose row t is turned by the angles (first + t)·base^(−2i/D): pairs (i, i + D/2) as
/// complex numbers a + bi, times cos + i·sin.
Tensor rotated_by_angles(const Tensor& x, Dim first = 0, double base = 10000);
/// x / √(mean(x²) + eps) over the last axis.
Tensor of_unit_size(const Tensor& x, double eps = 1e-5);
/// attention() with its table of weights, from products, exp and sums: the reference of its rows.
Tensor attention_by_small_ops(const Tensor& q, const Tensor& k, const Tensor& v, HeadCount heads,
                              const Mask& mask, const Tensor& sink = {});
Tensor attention_by_small_ops(const Tensor& qkv, HeadCount heads, const Mask& mask,
                              const Tensor& sink = {});

}  // namespace fledge
