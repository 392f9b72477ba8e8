#include "engine/gradcheck/diagnosis.h"

#include <cmath>

#include "engine/real.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

using Gradient = std::vector<double>;

const Gradient right_gradient{0.31, -1.7, 2.9, 0.83, -0.41, 1.3, -2.2, 0.59, 1.9};
const Shape square{3, 3};

Gradient right_times(double factor) {
  Gradient wrong = right_gradient;
  for (double& x : wrong) x *= factor;
  return wrong;
}

std::string cause(const Gradient& analytic, const Shape& shape = square) {
  return diagnose(analytic, right_gradient, shape, 1e-12).cause;
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

TEST_CASE("a right gradient has no diagnosis") { CHECK(cause(right_gradient).empty()); }

TEST_CASE("a number that is not finite comes first") {
  const std::string text =
      "the gradient is not finite: the rule computes 0/0, log(0) or infinity times zero";
  for (const double bad : {std::nan(""), infinity, -infinity}) {
    Gradient wrong = right_times(2);
    wrong[4] = bad;
    CHECK(cause(wrong) == text);
  }
}

TEST_CASE("all zero: the graph is cut, or the rule returns zeros") {
  CHECK(cause(Gradient(9, 0.0)) ==
        "backward() gives zero in every element: the graph is cut (by detach(), by NoGrad or by a "
        "tensor made from values), or the rule returns zeros");
}

TEST_CASE("a constant ratio is named, and its likely reason") {
  CHECK(cause(right_times(2)) == ratio("2", "a contribution is counted twice"));
  CHECK(cause(right_times(0.5)) == ratio("0.5", "one of two equal contributions is missing"));
  CHECK(cause(right_times(-1)) == ratio("-1", "a sign is wrong"));
  CHECK(cause(right_times(std::sqrt(2))) ==
        ratio("1.41421", "a scale such as 1/sqrt(2) is missing or applied twice"));
  CHECK(cause(right_times(1 / std::sqrt(8))) ==
        ratio("0.353553", "a scale such as 1/sqrt(8) is missing or applied twice"));
  CHECK(cause(right_times(1.37)) == ratio("1.37", "a constant factor is wrong"));
  CHECK(cause(right_times(-1.37)) == ratio("-1.37", "a constant factor is wrong"));
}

// √D is a whole number only where D is a square, a count always is.
TEST_CASE("a ratio that is a whole number may be a count") {
  CHECK(cause(right_times(3)) ==
        ratio("3",
              "a factor of 3 (a count, an exponent, or a scale of 1/sqrt(9)) is "
              "missing or applied twice"));
  CHECK(cause(right_times(0.2)) ==
        ratio("0.2",
              "a factor of 5 (a count, an exponent, or a scale of 1/sqrt(25)) "
              "is missing or applied twice"));
  for (const double count : {7.0, -4.0, 100.0}) {
    CHECK_THAT(cause(right_times(count)), ContainsSubstring("a count"));
    CHECK_THAT(cause(right_times(1 / count)), ContainsSubstring("a count"));
  }
}

TEST_CASE("a ratio next to 1 is a constant factor, or too close to say") {
  CHECK(cause(right_times(1.001)) == ratio("1.001", "a constant factor is wrong"));
  CHECK_THAT(cause(right_times(1 + 1e-6)), !ContainsSubstring("count"));
  CHECK_THAT(cause(right_times(1 + 1e-6)), !ContainsSubstring("positions"));
}

TEST_CASE("a ratio is found although some elements are zero in both") {
  Gradient a = right_times(2), n = right_gradient;
  a[0] = n[0] = a[7] = n[7] = 0;
  CHECK(diagnose(a, n, square, 1e-12).cause == ratio("2", "a contribution is counted twice"));
}

TEST_CASE("one element that breaks the ratio breaks the diagnosis") {
  Gradient wrong = right_times(2);
  wrong[8] *= 1.1;
  CHECK(cause(wrong).find("in every element") == std::string::npos);
  Gradient n = right_gradient;
  n[3] = 0;
  CHECK(diagnose(right_times(2), n, square, 1e-12).cause.find("in every element") ==
        std::string::npos);
}

TEST_CASE("a transposed square gradient is named") {
  Gradient wrong = right_gradient;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) wrong[i * 3 + j] = right_gradient[j * 3 + i];
  CHECK(cause(wrong) == "the gradient is transposed");
  CHECK(cause(wrong, {9}) != "the gradient is transposed");
}

TEST_CASE("only early positions wrong: the past gets no gradient") {
  Gradient wrong = right_gradient;
  for (std::size_t j = 0; j < 3; ++j) wrong[j] *= 0.3 + 0.1 * static_cast<double>(j);
  CHECK(cause(wrong) ==
        "only early positions are wrong, position 0 of 3 along axis 0: contributions from later "
        "positions may be missing, as when past keys and values get no gradient");
  for (std::size_t j = 3; j < 6; ++j) wrong[j] += 0.1 * static_cast<double>(j);
  CHECK_THAT(cause(wrong),
             StartsWith("only early positions are wrong, positions 0 to 1 of 3 along axis 0: "));
}

TEST_CASE("only late positions wrong: a tail is skipped") {
  Gradient wrong = right_gradient;
  for (const std::size_t j : {2u, 5u, 8u}) wrong[j] = 0;
  CHECK(cause(wrong) ==
        "only late positions are wrong, position 2 of 3 along axis 1: a loop may end too early or "
        "skip a tail");
}

TEST_CASE("one stretch in the middle: an index is off") {
  Gradient wrong = right_gradient;
  for (const std::size_t j : {3u, 4u, 5u}) wrong[j] += static_cast<double>(j);
  CHECK(cause(wrong) ==
        "only position 1 of 3 along axis 0 is wrong: an index or an offset may be wrong");
}

TEST_CASE("time is asked before batch and features") {
  const Shape shape{2, 3, 2};  // (batch, time, features)
  Gradient n(12), wrong(12);
  for (std::size_t j = 0; j < 12; ++j) n[j] = wrong[j] = std::sin(1.0 + static_cast<double>(j));
  for (const std::size_t j : {0u, 1u, 6u, 7u}) wrong[j] += 0.2 + 0.1 * static_cast<double>(j);
  CHECK_THAT(diagnose(wrong, n, shape, 1e-12).cause,
             StartsWith("only early positions are wrong, position 0 of 3 along axis 1: "));
}

TEST_CASE("errors everywhere without a pattern have no diagnosis") {
  Gradient wrong = right_gradient;
  for (std::size_t j = 0; j < 9; ++j) wrong[j] += std::cos(static_cast<double>(j));
  CHECK(cause(wrong).empty());
  wrong = right_gradient;
  wrong[0] += 1;  // scattered, not one stretch of any axis
  wrong[8] += 2;
  CHECK(cause(wrong).empty());
}

TEST_CASE("one wrong element does not show the cause") {
  Gradient wrong = right_gradient;
  wrong[4] *= 2;
  const Diagnosis one = diagnose(wrong, right_gradient, square, 1e-12);
  CHECK(one.cause.empty());
  CHECK(one.pattern ==
        "1 of 9 elements is wrong, the others are right; one element does not show the cause");
  const Diagnosis only = diagnose({3}, {2}, {}, 1e-12);
  CHECK(only.cause.empty());
  CHECK(only.pattern ==
        "1 of 1 element is wrong, by a ratio of 1.5; one element does not show the cause");
  CHECK(diagnose({3}, {0}, {}, 1e-12).pattern ==
        "1 of 1 element is wrong; one element does not show the cause");
  // The other elements are zero, so no second one agrees on the factor.
  CHECK(diagnose({0, 4, 0}, {0, 2, 0}, {3}, 1e-12).cause.empty());
  CHECK(diagnose({8, 4, 0}, {4, 2, 0}, {3}, 1e-12).cause ==
        ratio("2", "a contribution is counted twice"));
}

TEST_CASE("a mistake is named when its gradient is the one found, in two wrong elements or more") {
  const auto gives = [](Gradient gradient) {
    return Mistake{"a known mistake", [gradient](std::size_t j) { return gradient[j]; }};
  };
  const auto named = [&](const Gradient& analytic, const Gradient& mistaken) {
    return diagnose(analytic, right_gradient, square, 1e-12,
                    {gives(right_times(7)), gives(mistaken)})
               .cause == "a known mistake";
  };
  Gradient wrong = right_gradient;
  wrong[2] = 0.3, wrong[7] = -0.9;
  CHECK(named(wrong, wrong));
  Gradient other = wrong;
  other[0] *= 1 + 1e-5;  // the mistake changes an element that is right
  CHECK_FALSE(named(wrong, other));
  other = wrong;
  other[7] *= 1 + 1e-5;
  CHECK_FALSE(named(wrong, other));
  other[7] = std::nan("");
  CHECK_FALSE(named(wrong, other));
  wrong = right_gradient;
  wrong[2] = 0.3;
  CHECK_FALSE(named(wrong, wrong));  // one element
  wrong[7] = 0;                      // the mistake and any other rule that gives zero there
  CHECK_FALSE(named(wrong, wrong));
}

// Patterns that resemble a known one: each has another cause or none.
TEST_CASE("near misses are not taken for a known pattern") {
  struct Row {
    const char* what;
    Gradient wrong;
    std::string cause;
  };
  const auto moved = [](auto source) {
    Gradient wrong(9);
    for (std::size_t j = 0; j < 9; ++j) wrong[j] = right_gradient[source(j)];
    return wrong;
  };
  Gradient random = right_gradient, signs = right_gradient, symmetric = right_gradient,
           nearly = right_times(2), two_signs = right_gradient;
  for (std::size_t j = 0; j < 9; ++j) {
    random[j] += std::sin(7.0 + 3 * static_cast<double>(j));
    if (j % 2 == 0) signs[j] = -signs[j];
  }
  nearly[3] *= 1 + 1e-5;
  Gradient shifted = moved([](std::size_t j) { return j / 3 * 3 + (j + 1) % 3; });
  Gradient almost = moved([](std::size_t j) { return 8 - j; });
  shifted[2] = shifted[5] = shifted[8] = 0;
  almost[0] *= 1 + 1e-5;
  two_signs[0] = -two_signs[0], two_signs[8] = -two_signs[8];
  const std::vector<Row> rows = {
      {"random errors", random, ""},
      {"every second sign", signs, ""},
      {"two signs, far apart", two_signs, ""},
      {"shifted along axis 0", moved([](std::size_t j) { return (j + 3) % 9; }),
       "the gradient is shifted by one position along axis 0: an index is off by one"},
      {"shifted along axis 1", moved([](std::size_t j) { return j / 3 * 3 + (j + 2) % 3; }),
       "the gradient is shifted by one position along axis 1: an index is off by one"},
      {"shifted along axis 1, zero enters", shifted,
       "the gradient is shifted by one position along axis 1: an index is off by one"},
      {"reversed along axis 0", moved([](std::size_t j) { return (2 - j / 3) * 3 + j % 3; }),
       "the gradient is reversed along axis 0"},
      {"reversed along axis 1", moved([](std::size_t j) { return j / 3 * 3 + 2 - j % 3; }),
       "the gradient is reversed along axis 1"},
      {"reversed along both", moved([](std::size_t j) { return 8 - j; }),
       "the gradient is permuted: the right numbers are at other positions"},
      {"two elements exchanged", moved([](std::size_t j) { return j == 1   ? 5
                                                                  : j == 5 ? 1
                                                                           : j; }),
       "the gradient is permuted: the right numbers are at other positions"},
      {"permuted but for one number", almost, ""},
      {"a factor that one element does not have", nearly, ""},
      {"a random factor near a large whole number", right_times(123456.3),
       ratio("123456", "a constant factor is wrong")},
      {"a factor of the size", right_times(9),
       ratio("9",
             "a factor of 9 (a count, an exponent, or a scale of 1/sqrt(81)) is missing or "
             "applied twice")},
      {"a factor of 1 over the size", right_times(1.0 / 9),
       ratio("0.111111",
             "a factor of 9 (a count, an exponent, or a scale of 1/sqrt(81)) is missing "
             "or applied twice")},
      {"a factor close to a root", right_times(std::sqrt(8.001)),
       ratio("2.8286", "a constant factor is wrong")},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(cause(row.wrong) == row.cause);
  }
  symmetric[1] = symmetric[3], symmetric[2] = symmetric[6], symmetric[5] = symmetric[7];
  CHECK(diagnose(symmetric, symmetric, square, 1e-12).cause.empty());  // its own transpose, right
  Gradient doubled = symmetric;
  for (double& x : doubled) x *= 2;
  CHECK(diagnose(doubled, symmetric, square, 1e-12).cause ==
        ratio("2", "a contribution is counted twice"));
}

TEST_CASE("a missing summand is named by what the error is a multiple of") {
  const Gradient input{1.1, -0.4, 0.7, 2.3, 0.9, -1.6, 0.2, 1.4, -0.8};
  const std::vector<Summand> summands{{"as 1", Gradient(9, 1.0)},
                                      {"as the input", input},
                                      {"as dy", Gradient{3, 1, 4, 1, 5, 9, 2, 6, 5}, false}};
  const auto named = [&](auto error) {
    Gradient wrong = right_gradient;
    for (std::size_t j = 0; j < 9; ++j) wrong[j] += error(j);
    return diagnose(wrong, right_gradient, square, 1e-12, {}, summands).cause;
  };
  const std::string missing = "a summand is missing, or one too many: ";
  const double by_row[] = {0.5, -2, 0.25};
  CHECK(named([&](std::size_t j) { return by_row[j / 3]; }) == missing + "as 1 along axis 1");
  CHECK(named([&](std::size_t j) { return by_row[j % 3]; }) == missing + "as 1 along axis 0");
  CHECK(named([&](std::size_t j) { return by_row[j / 3] * input[j]; }) ==
        missing + "as the input along axis 1");
  CHECK(named([&](std::size_t j) { return -2 * summands[2].numbers[j]; }) == missing + "as dy");
  // One factor for each row is too many for a summand that has one for all.
  CHECK(named([&](std::size_t j) { return by_row[j / 3] * summands[2].numbers[j]; }).empty());
  CHECK(named([&](std::size_t j) { return input[j] * (j == 4 ? 1 + 1e-4 : 1); }).empty());
}

TEST_CASE("the first position right and all others wrong is no tail that a loop skips") {
  Gradient wrong = right_gradient;
  for (std::size_t j = 3; j < 9; ++j) wrong[j] += std::sin(static_cast<double>(j));
  CHECK_THAT(cause(wrong),
             StartsWith("position 0 along axis 0 is right and all later ones are wrong: "));
}
