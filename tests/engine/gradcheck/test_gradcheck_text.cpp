// What a report looks like in words.
#include <clocale>

#include "engine/gradcheck/gradcheck.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

GradcheckReport wrong_report(double analytic, double expected) {
  GradcheckReport report;
  report.elements = 3;
  report.max_error_dual = 0.5, report.max_error_differences = 0.25;
  report.wrong_by_dual = report.wrong_by_differences = true;
  report.problem = "the gradient is wrong";
  report.tensor = "w", report.index = "[1]";
  report.analytic = analytic, report.expected = expected;
  return report;
}

std::string text_of_wrong(double analytic, double expected) {
  const std::string all = to_string(wrong_report(analytic, expected));
  const std::string begin = "the gradient is wrong: w[1] is ";
  REQUIRE(all.substr(0, begin.size()) == begin);
  return all.substr(begin.size(), all.find(';') - begin.size());
}

const std::string by = " by dual numbers and differences";

}  // namespace

TEST_CASE("two numbers have as many digits as it takes for them to differ, and six at least") {
  CHECK(text_of_wrong(0.5, 2) == "0.5 by backward(), 2" + by);
  CHECK(text_of_wrong(1.0 / 3, 2.0 / 3) == "0.333333 by backward(), 0.666667" + by);
  CHECK(text_of_wrong(1.0000001, 1.0000002) == "1.0000001 by backward(), 1.0000002" + by);
  CHECK(text_of_wrong(1, 1 + 0x1p-52) == "1 by backward(), 1.0000000000000002" + by);
  CHECK(text_of_wrong(1234567, 1234567) == "1.23457e+06 by backward(), 1.23457e+06" + by);
  CHECK(text_of_wrong(-std::nan(""), -1e300) == "nan by backward(), -1e+300" + by);
  CHECK(text_of_wrong(-infinity, 0) == "-inf by backward(), 0" + by);
}

TEST_CASE("a report has a decimal point in a locale that writes a comma") {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  const std::string expected = text_of_wrong(1.5, 2.5), whole = to_string(wrong_report(1.5, 2.5));
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C"})
    if (std::setlocale(LC_NUMERIC, name) != nullptr) break;  // a machine may have none of these
  CHECK(text_of_wrong(1.5, 2.5) == expected);
  CHECK(to_string(wrong_report(1.5, 2.5)) == whole);
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST_CASE("a report names the oracles that found the problem, the cause or the pattern") {
  GradcheckReport report = wrong_report(1, 2);
  const std::string plain = to_string(report);
  CHECK(plain == "the gradient is wrong: w[1] is 1 by backward(), 2" + by +
                     "; 3 elements, largest error 0.5 (dual), 0.25 (differences)");
  report.pattern = "1 of 3 elements is wrong";
  CHECK(to_string(report) == plain + "; 1 of 3 elements is wrong");
  report.pattern.clear();
  report.likely_cause = "a sign is wrong";
  CHECK(to_string(report) == plain + "; likely cause: a sign is wrong");
  const auto found_by = [&](bool dual, bool differences) {
    report.wrong_by_dual = dual, report.wrong_by_differences = differences;
    return to_string(report);
  };
  CHECK_THAT(found_by(true, false), ContainsSubstring("1 by backward(), 2 by dual numbers; "));
  CHECK_THAT(found_by(false, true), ContainsSubstring("1 by backward(), 2 by differences; "));
  CHECK_THAT(found_by(false, false), ContainsSubstring("1 by backward(), 2 expected; "));
}

TEST_CASE("the worst elements are a table, unless there is only one") {
  GradcheckReport report = wrong_report(1, 2);
  const std::string plain = to_string(report);
  report.worst = {{"[1]", 1, 2}};
  CHECK(to_string(report) == plain);
  report.worst = {{"[1]", 1, 2}, {"[10]", 1.0000001, 1.0000002}, {"[0]", -3, 0}};
  CHECK(to_string(report) == plain +
                                 "\n    index  by backward()  expected   ratio  difference"
                                 "\n    [1]    1              2          0.5    -1"
                                 "\n    [10]   1.0000001      1.0000002  1      -1e-07"
                                 "\n    [0]    -3             0          -      -3");
}

TEST_CASE("an oracle that has compared nothing has no largest error") {
  GradcheckReport report = wrong_report(1, 2);
  const auto errors = [&] {
    const std::string text = to_string(report), before = " elements";
    return text.substr(text.find(before) + before.size());
  };
  report.max_error_dual = infinity;
  CHECK(errors() == ", largest error 0.25 (differences)");
  report.max_error_differences = infinity;
  CHECK(errors().empty());
  report.max_error_dual = std::nan("");
  CHECK(errors() == ", largest error nan (dual)");
}
