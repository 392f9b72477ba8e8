#include <algorithm>
#include <cmath>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/gradcheck/diagnosis.h"
#include "engine/gradcheck/oracle.h"
#include "engine/ops.h"

namespace fledge {

namespace {

bool is_square(const Shape& shape) {
  return shape.rank() >= 2 && shape.dim(-1) == shape.dim(-2) && shape.dim(-1) > 1;
}

Dim count_of(const Shape& shape, int begin, int end) {
  Dim count = 1;
  for (int axis = begin; axis < end; ++axis) count *= shape[axis];
  return count;
}

// v at one position of the axes from `begin` to `end`, taken together; zero elsewhere.
Array only_at(const Array& v, int begin, int end, Dim position) {
  const Dim inner = count_of(v.shape(), end, v.rank()), count = count_of(v.shape(), begin, end);
  Array masked = v.clone();
  Real* to = masked.write();
  for (Dim i = 0; i < v.size(); ++i)
    if (i / inner % count != position) to[i] = 0;
  return masked;
}

// J·v with respect to x, one number an output: one forward pass with tangents v. NaN if f throws or
// has an output of another size.
std::vector<double> jacobian_times(const std::function<Tensor()>& f, const Tensor& x,
                                   const Array& v) {
  std::vector<double> result(static_cast<std::size_t>(v.size()), std::nan(""));
  completes([&] {
    NoGrad no_grad;
    const ChangedValues changed({x});
    for (Dim j = 0; j < v.size(); ++j) changed.numbers(0)[j].tangent = v[j].value;
    const Array y = f().value();
    for (Dim i = 0; i < y.size() && y.size() == v.size(); ++i)
      result[static_cast<std::size_t>(i)] = y[i].tangent;
  });
  return result;
}

// dy·y/x: what the product rule for y = x·g(x) gives by its first summand.
std::vector<double> by_first_factor(const Tensor& y, const Tensor& x, const Array& v) {
  return to_vector(v * y.value() / x.value());
}

}  // namespace

std::vector<Mistake> known_mistakes(const std::function<Tensor()>& f,
                                    const std::vector<NamedTensor>& parameters, std::size_t p,
                                    const Array& v) {
  std::vector<Mistake> mistakes;
  const Tensor x = parameters[p].tensor;
  // Outside the domain of f the gradient is NaN, which equals no gradient of backward().
  const auto add = [&](std::string cause, const std::function<Tensor()>& g, const Array& dy) {
    mistakes.push_back({std::move(cause), [=](std::size_t j) {
                          double gradient = std::nan("");
                          completes([&] {
                            const Oracle oracle{Method::dual, g, dy, gradcheck_tolerance_dual};
                            gradient = oracle.at(x, static_cast<Dim>(j), 0).value;
                          });
                          return gradient;
                        }});
  };

  const int rank = v.shape().rank();
  std::vector<std::pair<int, int>> positions;  // each axis, then leading axes together
  for (int axis = 0; axis < rank; ++axis) positions.emplace_back(axis, axis + 1);
  for (int end = 2; end <= rank; ++end) positions.emplace_back(0, end);
  for (const auto& [begin, end] : positions) {
    const Dim count = count_of(v.shape(), begin, end);
    if (count < 2) continue;
    const std::string where =
        end - begin == 1 ? "axis " + std::to_string(begin) : "axes 0 to " + std::to_string(end - 1);
    add("only the first position along " + where +
            " of the output contributes: the sum over a broadcast axis is missing",
        f, only_at(v, begin, end, 0));
    add("only the last position along " + where +
            " of the output contributes: each position overwrites the one before instead of adding",
        f, only_at(v, begin, end, count - 1));
  }
  for (const NamedTensor& q : parameters) {
    if (q.tensor.node() == x.node() || !is_square(q.tensor.shape())) continue;
    add(
        "the rule uses " + q.name + " where its transpose belongs, or the transpose where " +
            q.name + " belongs",
        [&f, q] {
          const ChangedValues changed({q.tensor});
          const Array other = transpose(q.tensor.detach()).value();
          std::copy_n(other.data(), other.size(), changed.numbers(0));
          return Tensor(f().value().clone());
        },
        v);
  }
  if (x.size() == v.size()) {
    const auto add_numbers = [&](std::string cause, std::vector<double> numbers) {
      mistakes.push_back(
          {std::move(cause), [numbers = std::move(numbers)](std::size_t j) { return numbers[j]; }});
    };
    if (x.shape() == v.shape())
      completes([&] {
        NoGrad no_grad;
        add_numbers(
            "a summand is missing: of the product rule for y = x·g(x), only dy·g(x) is there",
            by_first_factor(f(), x, v));
      });
    add_numbers(
        "the rule multiplies dy by the Jacobian where its transpose belongs, as in a rotation with "
        "the wrong sign or a running sum from the wrong end",
        jacobian_times(f, x, v));
  }
  return mistakes;
}

std::vector<Summand> known_summands(const std::function<Tensor()>& f,
                                    const std::vector<NamedTensor>& parameters, std::size_t p,
                                    const Array& v) {
  NoGrad no_grad;
  const Tensor x = parameters[p].tensor, y = f();
  std::vector<Summand> summands{
      {"the error is one number, as of a sum or a mean", to_vector(Array::ones(x.shape()))},
      {"the error is a multiple of the input, as in the rule of a norm", to_vector(x.value())}};
  if (y.shape() != x.shape() || v.shape() != x.shape()) return summands;
  summands.push_back(
      {"the error is a multiple of the output, as in the rule of softmax", to_vector(y.value())});
  summands.push_back({"the error is a multiple of dy, as of a path around f", to_vector(v), false});
  summands.push_back({"the error is a multiple of dy·y/x, as of the product rule for y = x·g(x)",
                      by_first_factor(y, x, v), false});
  return summands;
}

}  // namespace fledge
