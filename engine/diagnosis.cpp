#include "engine/diagnosis.h"

#include <algorithm>
#include <cmath>

#include "engine/errors.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

constexpr double close = 1e-6;  // relative; a pattern that holds to six digits is no accident

bool near(double a, double b, double zero) {
  return std::abs(a - b) <= close * std::max(std::abs(a), std::abs(b)) + zero;
}

std::string ratio_text(double ratio) {
  std::string text = "backward() gives ";
  detail::append(text, ratio);
  text += " times the true gradient in every element: ";
  if (near(ratio, 2, 0)) return text + "a contribution is counted twice";
  if (near(ratio, 0.5, 0)) return text + "one of two equal contributions is lost";
  if (near(ratio, -1, 0)) return text + "a sign is wrong";
  const double larger = std::max(std::abs(ratio), 1 / std::abs(ratio)), squared = larger * larger;
  const std::string root = "1/sqrt(" + std::to_string(std::lround(squared)) + ")";
  if (near(larger, std::round(larger), 0))
    return text + "a factor or a count of " + std::to_string(std::lround(larger)) +
           ", or a scale of " + root + ", is lost or applied twice";
  if (near(squared, std::round(squared), 0) && squared <= 4096)
    return text + "a scale such as " + root + " is lost or applied twice";
  return text + "a constant factor is wrong";
}

// The ratio analytic / numeric if it is the same wherever numeric is not zero; 0 if it is not.
double constant_ratio(const std::vector<double>& analytic, const std::vector<double>& numeric,
                      double zero) {
  double ratio = 0;
  for (std::size_t j = 0; j < analytic.size(); ++j) {
    if (std::abs(numeric[j]) <= zero / close) {
      if (std::abs(analytic[j]) > zero / close) return 0;
      continue;
    }
    if (ratio == 0) ratio = analytic[j] / numeric[j];
    if (!near(analytic[j], ratio * numeric[j], zero)) return 0;
  }
  return ratio;
}

bool is_transposed(const std::vector<double>& analytic, const std::vector<double>& numeric,
                   const Shape& shape, double zero) {
  if (shape.rank() != 2 || shape[0] != shape[1] || shape[0] < 2) return false;
  const auto n = static_cast<std::size_t>(shape[0]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (!near(analytic[i * n + j], numeric[j * n + i], zero)) return false;
  return true;
}

// Which positions along an axis hold a wrong element.
std::vector<bool> wrong_along(int axis, const std::vector<double>& analytic,
                              const std::vector<double>& numeric, const Shape& shape, double zero) {
  Dim inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  std::vector<bool> wrong(static_cast<std::size_t>(shape[axis]), false);
  for (std::size_t j = 0; j < analytic.size(); ++j)
    if (!near(analytic[j], numeric[j], zero))
      wrong[static_cast<std::size_t>(static_cast<Dim>(j) / inner % shape[axis])] = true;
  return wrong;
}

std::string stretch_text(int axis, const std::vector<bool>& wrong) {
  const auto first = std::find(wrong.begin(), wrong.end(), true);
  if (first == wrong.end()) return "";
  const auto end = std::find(first, wrong.end(), false);
  if (std::find(end, wrong.end(), true) != wrong.end()) return "";  // not one stretch
  const auto begin_at = first - wrong.begin(), end_at = end - wrong.begin();
  if (first == wrong.begin() && end == wrong.end()) return "";
  const std::string where = "along axis " + std::to_string(axis) + " only positions " +
                            std::to_string(begin_at) + " to " + std::to_string(end_at - 1) +
                            " of " + std::to_string(wrong.size()) + " are wrong: ";
  if (first == wrong.begin())
    return where +
           "only early positions; contributions of later positions are missing, as when "
           "keys and values of the past get no gradient";
  if (end == wrong.end())
    return where + "only late positions; a loop ends too early or a tail is skipped";
  return where + "an index or an offset is off";
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

std::string diagnose(const std::vector<double>& analytic, const std::vector<double>& numeric,
                     const Shape& shape, double zero) {
  const auto all = [&](auto test) { return std::all_of(analytic.begin(), analytic.end(), test); };
  if (!all([](double a) { return std::isfinite(a); }))
    return "a gradient is not finite: 0/0, log 0 or an infinity times zero in the rule";
  if (all([&](double a) { return std::abs(a) <= zero; }))
    return "backward() gives zero in every element: the graph is cut here (detach(), NoGrad, a tensor "
           "rebuilt from values) or the rule returns zeros";
  const double ratio = constant_ratio(analytic, numeric, zero);
  if (ratio != 0 && !near(ratio, 1, 0)) return ratio_text(ratio);
  if (is_transposed(analytic, numeric, shape, zero)) return "the gradient is transposed";
  // Time stands before features: the axis before the last is asked first.
  std::vector<int> axes;
  if (shape.rank() >= 2) axes.push_back(shape.rank() - 2);
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (axis != shape.rank() - 2) axes.push_back(axis);
  for (const int axis : axes) {
    std::string text = stretch_text(axis, wrong_along(axis, analytic, numeric, shape, zero));
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace fledge::inline FLEDGE_BUILD
