#if defined(FLEDGE_DOUBLE) || defined(FLEDGE_DUAL)
#include <clocale>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "engine/base/errors.h"
#include "engine/gradcheck/gradcheck.h"

namespace fledge {

namespace {

// printf writes the decimal point of the process's locale, which fledge never sets but a program
// that links it may.
std::string digits(double x, int count) {
  if (std::isnan(x)) return "nan";  // its sign means nothing
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", count, x);
  std::string result = text;
  const std::size_t point = result.find(std::localeconv()->decimal_point);
  if (point != std::string::npos)
    result.replace(point, std::string_view(std::localeconv()->decimal_point).size(), ".");
  return result;
}

// Both numbers with as many digits, six at least, as it takes for them to differ.
std::pair<std::string, std::string> digits_that_differ(double a, double b) {
  int count = 6;
  while (count < 17 && a != b && digits(a, count) == digits(b, count)) ++count;
  return {digits(a, count), digits(b, count)};
}

}  // namespace

std::string to_string(const GradcheckReport& report) {
  std::string text = report.ok ? "ok" : report.problem;
  text += ": ";
  if (!report.tensor.empty()) {
    const auto [analytic, numeric] = digits_that_differ(report.analytic, report.numeric);
    text += report.tensor + report.index + " is " + analytic + " by backward(), " + numeric;
    text += report.by_oracle ? std::string(" by ") + gradcheck_oracle : " expected";
    text += "; ";
  }
  message::append(text, report.elements);
  text += " elements, largest error ";
  text += digits(report.max_error, 6);
  if (!report.pattern.empty()) text += "; " + report.pattern;
  if (!report.likely_cause.empty()) text += "; likely cause: " + report.likely_cause;
  return text;
}

}  // namespace fledge
#endif
