// Forward and backward passes of an op, and the shapes to try it on.
#pragma once

#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/autograd.h"
#include "engine/gradcheck/op_cases.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

namespace tests {

using Tensors = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensors& x)>;

/// What two roads to one answer may differ by, relative to its largest number.
inline constexpr double two_roads = sizeof(Real) == sizeof(float) ? 2e-6 : 1e-13;

/// The row of the table of ops with this name.
inline const OpCase& op_case(const std::string& name) {
  for (const OpCase& row : op_cases())
    if (row.name == name) return row;
  throw std::invalid_argument("the table of ops has no row " + name);
}

/// A value, and the gradient of ⟨dy, y⟩ with respect to every input.
struct Pass {
  Array y;
  std::vector<Array> dx;
};

inline Pass pass(const Function& f, const std::vector<Array>& inputs, const Array& dy) {
  Tensors x;
  for (const Array& input : inputs) x.push_back(parameter(input));
  const Tensor y = f(x);
  backward(y, dy);
  Pass result{y.value(), {}};
  for (const Tensor& each : x) result.dx.push_back(each.grad());
  return result;
}

/// The rows from begin to end.
inline Array time_steps(const Array& x, Dim begin, Dim end) {
  return slice(Tensor(x), -2, begin, end).value();
}

inline Array value(const Function& f, const std::vector<Array>& inputs) {
  return f(Tensors(inputs.begin(), inputs.end())).value();
}

/// |found − expected| ≤ tolerance·max|expected|, of what is finite; infinities are equal.
inline Verdict near(const Array& found, const Array& expected, double tolerance = two_roads) {
  double largest = 0;
  for (const double v : to_vector(expected))
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return compare(found, expected, [=](Real f, Real e) {
    return f == e || std::abs(value_of(f) - value_of(e)) <= tolerance * largest;
  });
}

/// Two formulas for one thing agree in value and in every gradient.
inline void check_two_roads(const Function& a, const Function& b, const std::vector<Array>& inputs,
                            double tolerance = two_roads) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Array dy = uniform(value(a, inputs).shape(), seed);
    const Pass first = pass(a, inputs, dy), second = pass(b, inputs, dy);
    CHECK(near(first.y, second.y));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      INFO("gradient of input " << i);
      CHECK(near(first.dx[i], second.dx[i], tolerance));
    }
  }
}

/// The refusal of a call, which must be the same while nothing is recorded.
template <class E, class F>
std::string refusal_in_both_modes(F call) {
  const std::string recorded = refusal<E>(call);
  const NoGrad off;
  const std::string unrecorded = refusal<E>(call);
  return recorded == unrecorded ? recorded : "<differs under NoGrad: " + unrecorded + ">";
}

/// Which element of an array of shape `from`, stretched to shape `to`, is its element i.
inline Dim source(const Shape& from, const Shape& to, Dim i) {
  Dim at = 0, step = 1;
  for (int axis = 1; axis <= from.rank(); ++axis) {
    const Dim index = i % to[to.rank() - axis];
    i /= to[to.rank() - axis];
    const Dim size = from[from.rank() - axis];
    if (size != 1) at += index * step;
    step *= size;
  }
  return at;
}

inline const std::vector<Shape> shapes = {
    {},     {1},       {0},       {3},          {17},
    {64},   {65},      {1, 3},    {5, 7},       {2, 0},
    {0, 3}, {2, 3, 4}, {2, 0, 4}, {2, 1, 4, 1}, {2, 1, 2, 1, 2, 1, 2, 1}};

inline const std::vector<std::pair<Shape, Shape>> broadcast_pairs = {
    {{}, {2, 3}},     {{1}, {3}},          {{3}, {2, 3}},
    {{2, 1}, {1, 3}}, {{2, 3, 1}, {4}},    {{0}, {1}},
    {{0, 3}, {1, 3}}, {{2, 0}, {2, 1}},    {{2, 1, 4}, {1, 3, 1}},
    {{1, 3}, {3, 1}}, {{5, 1, 7}, {2, 1}}, {{2, 1, 2, 1, 2, 1, 2, 1}, {1, 2, 1, 2, 1, 2, 1, 2}}};

}  // namespace tests
