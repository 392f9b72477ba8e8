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

}  // namespace

std::string to_string(const GradcheckReport& report) {
  std::string text = report.ok ? "ok" : report.problem;
  text += ": ";
  if (!report.tensor.empty()) {
    const auto [analytic, expected] = digits_that_differ(report.analytic, report.expected);
    text += report.tensor + report.index + " is " + analytic + " by backward(), " + expected +
            found_by(report) + "; ";
  }
  message::append(text, report.elements);
  text += " elements, largest error " + digits(report.max_error_dual, 6) + " (dual), " +
          digits(report.max_error_differences, 6) + " (differences)";
  if (!report.note.empty()) text += "; " + report.note;
  if (!report.pattern.empty()) text += "; " + report.pattern;
  if (!report.likely_cause.empty()) text += "; likely cause: " + report.likely_cause;
  return text;
}

}  // namespace fledge
