#include "engine/gradcheck/diagnosis.h"

#include <algorithm>
#include <cmath>

#include "engine/base/errors.h"

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
  std::string text = "backward() gives ";
  message::append(text, ratio);
  text += " times the true gradient in every element: ";
  if (near(ratio, 2, 0)) return text + "a contribution is counted twice";
  if (near(ratio, 0.5, 0)) return text + "one of two equal contributions is missing";
  if (near(ratio, -1, 0)) return text + "a sign is wrong";
  const double larger = std::max(std::abs(ratio), 1 / std::abs(ratio)), squared = larger * larger;
  const std::string root = "1/sqrt(" + std::to_string(std::lround(squared)) + ")";
  if (is_whole(larger))
    return text + "a factor of " + std::to_string(std::lround(larger)) +
           " (a count, an exponent, or a scale of " + root + ") is missing or applied twice";
  if (is_whole(squared) && squared <= 4096.5)
    return text + "a scale such as " + root + " is missing or applied twice";
  return text + "a constant factor is wrong";
}

// The ratio analytic / expected if it is the same wherever expected is not zero; 0 if it is not.
double constant_ratio(const std::vector<double>& analytic, const std::vector<double>& expected,
                      double zero) {
  double ratio = 0;
  for (std::size_t j = 0; j < analytic.size(); ++j) {
    if (std::abs(expected[j]) <= zero / close) {
      if (std::abs(analytic[j]) > zero / close) return 0;
      continue;
    }
    if (ratio == 0) ratio = analytic[j] / expected[j];
    if (!near(analytic[j], ratio * expected[j], zero)) return 0;
  }
  return ratio;
}

bool is_transposed(const std::vector<double>& analytic, const std::vector<double>& expected,
                   const Shape& shape, double zero) {
  if (shape.rank() != 2 || shape[0] != shape[1] || shape[0] < 2) return false;
  const auto n = static_cast<std::size_t>(shape[0]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (!near(analytic[i * n + j], expected[j * n + i], zero)) return false;
  return true;
}

using Flags = std::vector<bool>;

// Whether the mistake gives this gradient, in two or more wrong elements that it does not make zero.
// A mistake is often refuted by one wrong element: these come first.
bool explains(const Mistake& mistake, const std::vector<double>& analytic, const Flags& wrong,
              double zero) {
  int agreeing = 0;
  for (const bool of_wrong : {true, false})
    for (std::size_t j = 0; j < analytic.size(); ++j) {
      if (wrong[j] != of_wrong) continue;
      const double expected = mistake.gradient(j);
      if (!near(analytic[j], expected, zero)) return false;
      agreeing += of_wrong && std::abs(expected) > zero / close ? 1 : 0;
      if (!of_wrong && agreeing < 2) return false;
    }
  return agreeing >= 2;
}

// Which positions along an axis hold a wrong element.
Flags wrong_along(int axis, const Flags& wrong, const Shape& shape) {
  Dim inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  Flags positions(static_cast<std::size_t>(shape[axis]), false);
  for (std::size_t j = 0; j < wrong.size(); ++j)
    if (wrong[j])
      positions[static_cast<std::size_t>(static_cast<Dim>(j) / inner % shape[axis])] = true;
  return positions;
}

std::string stretch_text(int axis, const Flags& wrong) {
  const auto first = std::find(wrong.begin(), wrong.end(), true);
  if (first == wrong.end()) return "";
  const auto end = std::find(first, wrong.end(), false);
  if (std::find(end, wrong.end(), true) != wrong.end()) return "";  // not one stretch
  const auto begin_at = first - wrong.begin(), last_at = end - wrong.begin() - 1;
  if (first == wrong.begin() && end == wrong.end()) return "";
  const std::string where =
      (begin_at == last_at ? "position " : "positions " + std::to_string(begin_at) + " to ") +
      std::to_string(last_at) + " of " + std::to_string(wrong.size()) + " along axis " +
      std::to_string(axis);
  if (first == wrong.begin())
    return "only early positions are wrong, " + where +
           ": contributions from later positions may be missing, as when past keys and values get "
           "no gradient";
  if (end == wrong.end())
    return "only late positions are wrong, " + where + ": a loop may end too early or skip a tail";
  return "only " + where + (begin_at == last_at ? " is" : " are") +
         " wrong: an index or an offset may be wrong";
}

std::string stretch_of(const Flags& wrong, const Shape& shape) {
  // Time stands before features: the axis before the last is tried first.
  std::vector<int> axes;
  if (shape.rank() >= 2) axes.push_back(shape.rank() - 2);
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (axis != shape.rank() - 2) axes.push_back(axis);
  for (const int axis : axes) {
    std::string text = stretch_text(axis, wrong_along(axis, wrong, shape));
    if (!text.empty()) return text;
  }
  return "";
}

std::string count_text(std::size_t count, double analytic, double expected, std::size_t size) {
  std::string text = std::to_string(count) + " of " + std::to_string(size) +
                     (size == 1    ? " element is wrong"
                      : count == 1 ? " elements is wrong"
                                   : " elements are wrong");
  if (size > 1 && count < size) text += ", the others are right";
  if (count != 1) return text;
  if (size == 1 && expected != 0) {
    text += ", by a ratio of ";
    message::append(text, analytic / expected);
  }
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
                   const Shape& shape, double zero, const std::vector<Mistake>& mistakes) {
  const auto all = [&](auto test) { return std::all_of(analytic.begin(), analytic.end(), test); };
  if (!all([](double a) { return std::isfinite(a); }))
    return {"the gradient is not finite: the rule computes 0/0, log(0) or infinity times zero", ""};
  if (all([&](double a) { return std::abs(a) <= zero; }))
    return {
        "backward() gives zero in every element: the graph is cut (by detach(), by NoGrad or by a "
        "tensor made from values), or the rule returns zeros",
        ""};
  Flags wrong(analytic.size());
  std::size_t count = 0, last = 0;
  for (std::size_t j = 0; j < analytic.size(); ++j) {
    wrong[j] = !near(analytic[j], expected[j], zero);
    if (wrong[j]) ++count, last = j;
  }
  if (count == 0) return {};
  if (count == 1) return {"", count_text(1, analytic[last], expected[last], analytic.size())};
  const double ratio = constant_ratio(analytic, expected, zero);
  if (ratio != 0 && !near(ratio, 1, 0)) return {ratio_text(ratio), ""};
  if (is_transposed(analytic, expected, shape, zero)) return {"the gradient is transposed", ""};
  for (const Mistake& mistake : mistakes)
    if (explains(mistake, analytic, wrong, zero)) return {mistake.cause, ""};
  std::string stretch = stretch_of(wrong, shape);
  if (!stretch.empty()) return {stretch, ""};
  return {"", count_text(count, 0, 0, analytic.size())};
}

}  // namespace fledge
