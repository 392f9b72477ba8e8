// builds: f64 dual
// What a report looks like in words.
#include <clocale>

#include "engine/gradcheck/gradcheck.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

GradcheckReport wrong(double analytic, double numeric) {
  GradcheckReport report;
  report.elements = 3;
  report.max_error = 0.5;
  report.problem = "the gradient is wrong";
  report.tensor = "w", report.index = "[1]";
  report.analytic = analytic, report.numeric = numeric;
  return report;
}

std::string text(double analytic, double numeric) {
  const std::string all = to_string(wrong(analytic, numeric));
  const std::string begin = "the gradient is wrong: w[1] is ";
  REQUIRE(all.substr(0, begin.size()) == begin);
  return all.substr(begin.size(), all.find(';') - begin.size());
}

const std::string by = std::string(" by ") + gradcheck_oracle;

}  // namespace

TEST_CASE("two numbers have as many digits as it takes for them to differ, and six at least") {
  CHECK(text(0.5, 2) == "0.5 by backward(), 2" + by);
  CHECK(text(1.0 / 3, 2.0 / 3) == "0.333333 by backward(), 0.666667" + by);
  CHECK(text(1.0000001, 1.0000002) == "1.0000001 by backward(), 1.0000002" + by);
  CHECK(text(1, 1 + 0x1p-52) == "1 by backward(), 1.0000000000000002" + by);
  CHECK(text(1234567, 1234567) == "1.23457e+06 by backward(), 1.23457e+06" + by);
  CHECK(text(-std::nan(""), -1e300) == "nan by backward(), -1e+300" + by);
  CHECK(text(-infinity, 0) == "-inf by backward(), 0" + by);
}

TEST_CASE("a report has a decimal point in a locale that writes a comma") {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  const std::string expected = text(1.5, 2.5), whole = to_string(wrong(1.5, 2.5));
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C"})
    if (std::setlocale(LC_NUMERIC, name) != nullptr) break;  // a machine may have none of these
  CHECK(text(1.5, 2.5) == expected);
  CHECK(to_string(wrong(1.5, 2.5)) == whole);
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST_CASE("a likely cause and a pattern are named as what they are") {
  GradcheckReport report = wrong(1, 2);
  const std::string plain = to_string(report);
  CHECK(plain == "the gradient is wrong: w[1] is 1 by backward(), 2" + by +
                     "; 3 elements, largest error 0.5");
  report.likely_cause = "a sign is wrong";
  CHECK(to_string(report) == plain + "; likely cause: a sign is wrong");
  report.likely_cause.clear();
  report.pattern = "1 of 3 elements is wrong";
  CHECK(to_string(report) == plain + "; 1 of 3 elements is wrong");
  report.by_oracle = false;
  CHECK_THAT(to_string(report), ContainsSubstring("1 by backward(), 2 expected; "));
}
