// builds: f64
#include "engine/diagnosis.h"

#include <cmath>

#include "engine/real.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

using Numbers = std::vector<double>;

const Numbers right{0.31, -1.7, 2.9, 0.83, -0.41, 1.3, -2.2, 0.59, 1.9};
const Shape square{3, 3};

Numbers times(double factor) {
  Numbers wrong = right;
  for (double& x : wrong) x *= factor;
  return wrong;
}

std::string cause(const Numbers& analytic, const Shape& shape = square) {
  return diagnose(analytic, right, shape, 1e-12);
}

std::string ratio(const std::string& number, const std::string& reason) {
  return "backward() gives " + number + " times the true gradient in every element: " + reason;
}

}  // namespace

TEST_CASE("index_text names an element as the array prints it") {
  CHECK(index_text({3, 4}, 0) == "[0, 0]");
  CHECK(index_text({3, 4}, 7) == "[1, 3]");
  CHECK(index_text({2, 3, 4}, 23) == "[1, 2, 3]");
  CHECK(index_text({5}, 4) == "[4]");
  CHECK(index_text({}, 0) == "[]");
}

TEST_CASE("a right gradient has no diagnosis") { CHECK(cause(right).empty()); }

TEST_CASE("a number that is not finite comes first") {
  const std::string text =
      "a gradient is not finite: 0/0, log 0 or an infinity times zero in the rule";
  for (const double bad : {std::nan(""), infinity, -infinity}) {
    Numbers wrong = times(2);
    wrong[4] = bad;
    CHECK(cause(wrong) == text);
  }
}

TEST_CASE("all zero: the graph is cut, or the rule returns zeros") {
  CHECK(cause(Numbers(9, 0.0)) ==
        "backward() gives zero in every element: the graph is cut here (detach(), NoGrad, a tensor "
        "rebuilt from values) or the rule returns zeros");
}

TEST_CASE("a constant ratio is named, and its likely reason") {
  CHECK(cause(times(2)) == ratio("2", "a contribution is counted twice"));
  CHECK(cause(times(0.5)) == ratio("0.5", "one of two equal contributions is lost"));
  CHECK(cause(times(-1)) == ratio("-1", "a sign is wrong"));
  CHECK(cause(times(std::sqrt(2))) ==
        ratio("1.41421", "a scale such as 1/sqrt(2) is lost or applied twice"));
  CHECK(cause(times(1 / std::sqrt(8))) ==
        ratio("0.353553", "a scale such as 1/sqrt(8) is lost or applied twice"));
  CHECK(cause(times(1.37)) == ratio("1.37", "a constant factor is wrong"));
  CHECK(cause(times(-1.37)) == ratio("-1.37", "a constant factor is wrong"));
}

// √D is a whole number only where D is a square, a count always is.
TEST_CASE("a ratio that is a whole number may be a count") {
  CHECK(cause(times(3)) ==
        ratio("3", "a factor or a count of 3, or a scale of 1/sqrt(9), is lost or applied twice"));
  CHECK(
      cause(times(0.2)) ==
      ratio("0.2", "a factor or a count of 5, or a scale of 1/sqrt(25), is lost or applied twice"));
  for (const double count : {7.0, -4.0, 100.0}) {
    CHECK_THAT(cause(times(count)), ContainsSubstring("a count"));
    CHECK_THAT(cause(times(1 / count)), ContainsSubstring("a count"));
  }
}

TEST_CASE("a ratio next to 1 is a constant factor, or too close to say") {
  CHECK(cause(times(1.001)) == ratio("1.001", "a constant factor is wrong"));
  CHECK_THAT(cause(times(1 + 1e-6)), !ContainsSubstring("count"));
  CHECK_THAT(cause(times(1 + 1e-6)), !ContainsSubstring("positions"));
}

TEST_CASE("a ratio is found although some elements are zero in both") {
  Numbers a = times(2), n = right;
  a[0] = n[0] = a[7] = n[7] = 0;
  CHECK(diagnose(a, n, square, 1e-12) == ratio("2", "a contribution is counted twice"));
}

TEST_CASE("one element that breaks the ratio breaks the diagnosis") {
  Numbers wrong = times(2);
  wrong[8] *= 1.1;
  CHECK(cause(wrong).find("in every element") == std::string::npos);
  Numbers n = right;
  n[3] = 0;
  CHECK(diagnose(times(2), n, square, 1e-12).find("in every element") == std::string::npos);
}

TEST_CASE("a transposed square gradient is named") {
  Numbers wrong = right;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) wrong[i * 3 + j] = right[j * 3 + i];
  CHECK(cause(wrong) == "the gradient is transposed");
  CHECK(cause(wrong, {9}) != "the gradient is transposed");
}

TEST_CASE("only early positions wrong: the past gets no gradient") {
  Numbers wrong = right;
  for (std::size_t j = 0; j < 3; ++j) wrong[j] *= 0.3 + 0.1 * static_cast<double>(j);
  CHECK(cause(wrong) ==
        "along axis 0 only positions 0 to 0 of 3 are wrong: only early positions; contributions of "
        "later positions are missing, as when keys and values of the past get no gradient");
  for (std::size_t j = 3; j < 6; ++j) wrong[j] += 0.1 * static_cast<double>(j);
  CHECK_THAT(cause(wrong),
             StartsWith("along axis 0 only positions 0 to 1 of 3 are wrong: only early"));
}

TEST_CASE("only late positions wrong: a tail is skipped") {
  Numbers wrong = right;
  for (const std::size_t j : {2u, 5u, 8u}) wrong[j] = 0;
  CHECK(
      cause(wrong) ==
      "along axis 1 only positions 2 to 2 of 3 are wrong: only late positions; a loop ends too early "
      "or a tail is skipped");
}

TEST_CASE("one stretch in the middle: an index is off") {
  Numbers wrong = right;
  for (const std::size_t j : {3u, 4u, 5u}) wrong[j] += static_cast<double>(j);
  CHECK(cause(wrong) ==
        "along axis 0 only positions 1 to 1 of 3 are wrong: an index or an offset is off");
}

TEST_CASE("time is asked before batch and features") {
  const Shape shape{2, 3, 2};  // (batch, time, features)
  Numbers n(12), wrong(12);
  for (std::size_t j = 0; j < 12; ++j) n[j] = wrong[j] = std::sin(1.0 + static_cast<double>(j));
  for (const std::size_t j : {0u, 1u, 6u, 7u}) wrong[j] += 0.2 + 0.1 * static_cast<double>(j);
  CHECK_THAT(diagnose(wrong, n, shape, 1e-12),
             StartsWith("along axis 1 only positions 0 to 0 of 3 are wrong: only early positions"));
}

TEST_CASE("errors everywhere without a pattern have no diagnosis") {
  Numbers wrong = right;
  for (std::size_t j = 0; j < 9; ++j) wrong[j] += std::cos(static_cast<double>(j));
  CHECK(cause(wrong).empty());
  wrong = right;
  wrong[0] += 1;  // scattered, not one stretch of any axis
  wrong[8] += 2;
  CHECK(cause(wrong).empty());
}
