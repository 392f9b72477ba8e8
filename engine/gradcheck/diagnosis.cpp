#include "engine/gradcheck/diagnosis.h"

#include <map>
#include <numeric>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/gradcheck/oracle.h"
#include "engine/ops.h"

namespace fledge {

namespace {

constexpr double close = 1e-6;  // relative; a pattern that holds to six digits is no accident

bool near(double a, double b, double zero) {
  return std::abs(a - b) <= close * std::max(std::abs(a), std::abs(b)) + zero;
}

// A ratio of 1000.0004 is a count; of a random ratio as large, one in 500 would be near one.
bool is_whole(double x) {
  return x < 10000 && near(x, std::round(x), 0) && std::abs(x - std::round(x)) < 1e-3;
}

std::string ratio_text(double ratio) {
  const std::string text =
      "backward() gives " + message::digits(ratio) + " times the true gradient in every element: ";
  if (near(ratio, 2, 0)) return text + "a contribution is counted twice";
  if (near(ratio, 0.5, 0)) return text + "one of two equal contributions is missing";
  if (near(ratio, -1, 0)) return text + "a sign is wrong";
  const double larger = std::max(std::abs(ratio), 1 / std::abs(ratio)), squared = larger * larger;
  const bool is_less = std::abs(ratio) < 1;
  const std::string scale = "1/sqrt(" + std::to_string(std::lround(squared)) + ") is " +
                            (is_less ? "applied twice" : "missing");
  if (is_whole(larger))
    return text + "a factor of " + std::to_string(std::lround(larger)) +
           " (a count, an exponent) is " + (is_less ? "missing" : "applied twice") +
           ", or a scale of " + scale;
  if (is_whole(squared) && squared <= 4096.5) return text + "a scale such as " + scale;
  return text + "a constant factor is wrong";
}

using Flags = std::vector<bool>;

// Whether the mistake gives this gradient, in two or more wrong elements that it does not make
// zero. A mistake is often refuted by one wrong element: these come first.
bool explains(const Mistake& mistake, const std::vector<double>& analytic, const Flags& wrong,
              double zero) {
  const double least = zero / close;  // of a smaller number, rounding may change six digits
  int agreeing = 0;
  for (const bool of_wrong : {true, false})
    for (std::size_t j = 0; j < analytic.size(); ++j) {
      if (wrong[j] != of_wrong) continue;
      const double expected = mistake.gradient(j);
      if (std::abs(analytic[j]) <= least && std::abs(expected) <= least) continue;
      if (!near(analytic[j], expected, zero)) return false;
      agreeing += of_wrong && std::abs(expected) > least ? 1 : 0;
      if (!of_wrong && agreeing < 2) return false;
    }
  return agreeing >= 2;
}

// The number of elements along the axes from begin to end − 1.
Dim count_of(const Shape& shape, int begin, int end) {
  return std::accumulate(shape.begin() + begin, shape.begin() + end, Dim{1}, std::multiplies<>());
}

// The elements of a shape along one axis: element j is at `position` of a line of `count` elements,
// `stride` apart.
struct Line {
  std::size_t position, begin, stride, count;
  std::size_t at(std::size_t i) const { return begin + i * stride; }
};

Line line_of(std::size_t j, int axis, const Shape& shape) {
  const auto stride = static_cast<std::size_t>(count_of(shape, axis + 1, shape.rank())),
             count = static_cast<std::size_t>(shape[axis]), position = j / stride % count;
  return {position, j - position * stride, stride, count};
}

// The right numbers at other positions along an axis.
void add_moved(const std::vector<double>& expected, const Shape& shape,
               std::vector<Mistake>& mistakes) {
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::string along = " along axis " + std::to_string(axis);
    mistakes.push_back({"the gradient is reversed" + along, [&, axis](std::size_t j) {
                          const Line line = line_of(j, axis, shape);
                          return expected[line.at(line.count - 1 - line.position)];
                        }});
    for (const bool later : {true, false})
      for (const bool wraps : {false, true})
        mistakes.push_back(
            {"the gradient is shifted by one position" + along + ": an index is off by one",
             [&, axis, later, wraps](std::size_t j) {
               const Line line = line_of(j, axis, shape);
               const std::size_t step = later ? 1 : line.count - 1,
                                 from = (line.position + step) % line.count;
               const bool is_end = line.position == (later ? line.count - 1 : 0);
               return is_end && !wraps ? 0 : expected[line.at(from)];
             }});
  }
}

// Whether the errors are a multiple of the summand, with one factor for each line along the axis, or
// for all elements if axis is −1. Two errors more than there are factors must agree.
bool error_is_multiple_of(const Summand& summand, int axis, const std::vector<double>& analytic,
                          const std::vector<double>& expected, const Flags& wrong,
                          const Shape& shape, double zero) {
  std::map<std::size_t, std::size_t> pivots;  // by line: the wrong element with the largest number
  const std::vector<double>& b = summand.numbers;
  const auto line = [&](std::size_t j) { return axis < 0 ? 0 : line_of(j, axis, shape).begin; };
  std::size_t count = 0;
  for (std::size_t j = 0; j < wrong.size(); ++j) {
    if (!wrong[j] || !std::isfinite(b[j])) continue;
    std::size_t& pivot = pivots.try_emplace(line(j), j).first->second;
    if (std::abs(b[j]) > std::abs(b[pivot])) pivot = j;
    ++count;
  }
  if (count < pivots.size() + 2) return false;
  for (std::size_t j = 0; j < wrong.size(); ++j) {
    const auto pivot = pivots.find(line(j));
    if (pivot == pivots.end()) continue;
    const std::size_t k = pivot->second;
    const double error = expected[k] - analytic[k], factor = error / b[k];
    if (!(std::abs(expected[j] - analytic[j] - factor * b[j]) <= close * std::abs(error) + zero))
      return false;
  }
  return true;
}

// Whether the wrong elements hold the right numbers in another order.
bool is_permuted(const std::vector<double>& analytic, const std::vector<double>& expected,
                 const Flags& wrong, double zero) {
  std::vector<double> a, n;
  for (std::size_t j = 0; j < wrong.size(); ++j) {
    if (!wrong[j]) continue;
    a.push_back(analytic[j]);
    n.push_back(expected[j]);
  }
  std::sort(a.begin(), a.end());
  std::sort(n.begin(), n.end());
  return std::equal(a.begin(), a.end(), n.begin(),
                    [zero](double x, double y) { return near(x, y, zero); });
}

// In words, the positions along an axis that hold a wrong element. Empty if every position does, or
// if the positions are not one stretch.
std::string stretch_text(int axis, const Flags& wrong, const Shape& shape) {
  Dim first = shape[axis], last = -1;
  Flags hit(static_cast<std::size_t>(shape[axis]), false);
  for (std::size_t j = 0; j < wrong.size(); ++j) {
    if (!wrong[j]) continue;
    const Dim position = static_cast<Dim>(line_of(j, axis, shape).position);
    hit[static_cast<std::size_t>(position)] = true;
    first = std::min(first, position);
    last = std::max(last, position);
  }
  const Dim count = std::count(hit.begin(), hit.end(), true);
  if (count == shape[axis] || count != last - first + 1) return "";
  const std::string where =
      (count == 1 ? "position " : "positions " + std::to_string(first) + " to ") +
      std::to_string(last) + " of " + std::to_string(shape[axis]) + " along axis " +
      std::to_string(axis);
  if (first == 0)
    return "only early positions are wrong, " + where +
           ": contributions from later positions may be missing, as when past keys and values get "
           "no gradient";
  if (last + 1 == shape[axis] && first == 1 && count > 1)
    return "position 0 along axis " + std::to_string(axis) +
           " is right and all later ones are wrong: the rule of something that does nothing at "
           "position 0, such as a rotation by the position, may be wrong, or a loop ends too early";
  if (last + 1 == shape[axis])
    return "only late positions are wrong, " + where + ": a loop may end too early or skip a tail";
  return "only " + where + (count == 1 ? " is" : " are") +
         " wrong: an index or an offset may be wrong";
}

// The axis of time stands before that of features: the axis before the last is tried first.
std::string stretch_of(const Flags& wrong, const Shape& shape) {
  std::vector<int> axes(static_cast<std::size_t>(shape.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() >= 2) std::rotate(axes.begin(), axes.end() - 2, axes.end() - 1);
  for (const int axis : axes)
    if (std::string text = stretch_text(axis, wrong, shape); !text.empty()) return text;
  return "";
}

std::string count_text(std::size_t count, double analytic, double expected, std::size_t size) {
  std::string text = std::to_string(count) + " of " + std::to_string(size) +
                     (size == 1    ? " element is wrong"
                      : count == 1 ? " elements is wrong"
                                   : " elements are wrong");
  if (size > 1 && count < size) text += ", the others are right";
  if (count != 1) return text;
  if (size == 1 && expected != 0) text += ", by a ratio of " + message::digits(analytic / expected);
  return text + "; one element does not show the cause";
}

}  // namespace

std::string index_text(const Shape& shape, Dim j) {
  std::string text;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    text = (axis > 0 ? ", " : "") + std::to_string(j % shape[axis]) + text;
    j /= shape[axis];
  }
  return "[" + text + "]";
}

Diagnosis diagnose(const std::vector<double>& analytic, const std::vector<double>& expected,
                   const Shape& shape, double zero, const std::vector<Mistake>& mistakes,
                   const std::vector<Summand>& summands) {
  const auto all = [&](auto test) { return std::all_of(analytic.begin(), analytic.end(), test); };
  if (!all([](double a) { return std::isfinite(a); }))
    return {"the gradient is not finite: the rule computes 0/0, log(0) or infinity times zero", ""};
  if (all([&](double a) { return std::abs(a) <= zero; }))
    return {
        "backward() gives zero in every element: the graph is cut (by detach(), by NoGrad or by a "
        "tensor made from values), or the rule returns zeros",
        ""};
  Flags wrong(analytic.size());
  std::size_t count = 0, largest = 0;  // of the wrong elements, the one with the largest derivative
  for (std::size_t j = 0; j < analytic.size(); ++j) {
    wrong[j] = !near(analytic[j], expected[j], zero);
    if (!wrong[j]) continue;
    if (count == 0 || std::abs(expected[j]) > std::abs(expected[largest])) largest = j;
    ++count;
  }
  if (count == 0) return {};
  if (count == 1) return {"", count_text(1, analytic[largest], expected[largest], analytic.size())};
  std::vector<Mistake> candidates;
  if (const double ratio = analytic[largest] / expected[largest]; std::isnormal(ratio))
    candidates.push_back(
        {ratio_text(ratio), [&, ratio](std::size_t j) { return ratio * expected[j]; }});
  if (shape.rank() == 2 && shape[0] == shape[1])
    candidates.push_back(
        {"the gradient is transposed", [&, n = static_cast<std::size_t>(shape[0])](std::size_t j) {
           return expected[j % n * n + j / n];
         }});
  add_moved(expected, shape, candidates);
  candidates.insert(candidates.end(), mistakes.begin(), mistakes.end());
  for (const Mistake& mistake : candidates)
    if (explains(mistake, analytic, wrong, zero)) return {mistake.cause, ""};
  for (const Summand& summand : summands) {
    const auto explains_along = [&](int axis) {
      return error_is_multiple_of(summand, axis, analytic, expected, wrong, shape, zero);
    };
    const std::string cause = "a summand is missing, or one too many: " + summand.cause;
    if (!summand.along_axes && explains_along(-1)) return {cause, ""};
    for (int axis = shape.rank() - 1; summand.along_axes && axis >= 0; --axis)
      if (explains_along(axis)) return {cause + " along axis " + std::to_string(axis), ""};
  }
  if (is_permuted(analytic, expected, wrong, zero))
    return {"the gradient is permuted: the right numbers are at other positions", ""};
  std::string stretch = stretch_of(wrong, shape);
  if (!stretch.empty()) return {stretch, ""};
  return {"", count_text(count, 0, 0, analytic.size())};
}

// -- the gradients that known mistakes give ---------------------------------------------------------

namespace {

bool is_square(const Shape& shape) {
  return shape.rank() >= 2 && shape.dim(-1) == shape.dim(-2) && shape.dim(-1) > 1;
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
