#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/base/errors.h"
#include "engine/gradcheck/gradcheck.h"

namespace fledge {

namespace {

std::string digits(double x, int count) {
  std::string text;
  message::append(text, x, count);
  return text;
}

// Both numbers with as many digits, six at least, as it takes for them to differ.
std::pair<std::string, std::string> digits_that_differ(double a, double b) {
  int count = 6;
  while (count < 17 && a != b && digits(a, count) == digits(b, count)) ++count;
  return {digits(a, count), digits(b, count)};
}

std::string found_by(const GradcheckReport& report) {
  if (report.wrong_by_dual)
    return report.wrong_by_differences ? " by dual numbers and differences" : " by dual numbers";
  return report.wrong_by_differences ? " by differences" : " expected";
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 0, ' ');
}

// A line for each of the worst elements, under titles.
std::string table_of(const std::vector<GradcheckElement>& worst) {
  std::vector<std::array<std::string, 5>> rows{
      {"index", "by backward()", "expected", "ratio", "difference"}};
  for (const GradcheckElement& e : worst) {
    const auto [analytic, expected] = digits_that_differ(e.analytic, e.expected);
    rows.push_back({e.index, analytic, expected,
                    e.expected == 0 ? "-" : digits(e.analytic / e.expected, 6),
                    digits(e.analytic - e.expected, 6)});
  }
  std::array<std::size_t, 5> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < 5; ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    text += "\n    ";
    for (std::size_t i = 0; i < 4; ++i) text += padded(row[i], widths[i] + 2);
    text += row[4];
  }
  return text;
}

}  // namespace

std::string to_string(const GradcheckReport& report) {
  std::string text = (report.ok ? "ok" : report.problem) + ": ";
  if (!report.tensor.empty()) {
    const auto [analytic, expected] = digits_that_differ(report.analytic, report.expected);
    text += report.tensor + report.index + " is " + analytic + " by backward(), " + expected +
            found_by(report) + "; ";
  }
  text += std::to_string(report.elements) + " elements";
  auto add_error = [&, before = ", largest error "](double error, const char* oracle) mutable {
    if (std::isinf(error)) return;  // there is none
    text += before + digits(error, 6) + oracle;
    before = ", ";
  };
  add_error(report.max_error_dual, " (dual)");
  add_error(report.max_error_differences, " (differences)");
  if (!report.note.empty()) text += "; " + report.note;
  if (!report.pattern.empty()) text += "; " + report.pattern;
  if (!report.likely_cause.empty()) text += "; likely cause: " + report.likely_cause;
  if (report.worst.size() > 1) text += table_of(report.worst);
  return text;
}

}  // namespace fledge
