// The cause that a wrong gradient shows, and near misses, which have another cause or none.
#include "engine/gradcheck/diagnosis.h"

#include <cmath>
#include <new>
#include <stdexcept>

#include "engine/base/interrupt.h"
#include "tests/engine/gradcheck/rules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

using Gradient = std::vector<double>;

const Gradient right_gradient{0.31, -1.7, 2.9, 0.83, -0.41, 1.3, -2.2, 0.59, 1.9};
const Shape square{3, 3};

// The right gradient with element j replaced by f(right_j, j).
template <class F>
Gradient each_element(F f) {
  Gradient wrong = right_gradient;
  for (std::size_t j = 0; j < wrong.size(); ++j) wrong[j] = f(right_gradient[j], j);
  return wrong;
}
Gradient right_times(double factor) {
  return each_element([=](double x, std::size_t) { return x * factor; });
}
// The right numbers at other positions; 0 for −1.
Gradient from_positions(const std::vector<int>& source) {
  Gradient wrong;
  for (const int j : source)
    wrong.push_back(j < 0 ? 0 : right_gradient[static_cast<std::size_t>(j)]);
  return wrong;
}
// What is added differs from element to element of those that are wrong.
Gradient wrong_at(const std::vector<std::size_t>& elements) {
  Gradient wrong = right_gradient;
  for (const std::size_t j : elements) wrong[j] += std::sin(7.0 + 3 * static_cast<double>(j));
  return wrong;
}

std::string cause(const Gradient& analytic, const Shape& shape = square) {
  return diagnose(analytic, right_gradient, shape, 1e-12).cause;
}

}  // namespace

TEST_CASE("index_text names an element as the array prints it") {
  CHECK(index_text({2, 3, 4}, 0) == "[0, 0, 0]");
  CHECK(index_text({2, 3, 4}, 19) == "[1, 1, 3]");
  CHECK(index_text({}, 0) == "[]");
}

TEST_CASE("a pattern of errors names its cause, and what resembles one does not") {
  const std::string constant = "a constant factor is wrong",
                    permuted = "the gradient is permuted: the right numbers are at other positions";
  const auto times = [](const std::string& number, const std::string& reason) {
    return "backward() gives " + number + " times the true gradient in every element: " + reason;
  };
  const auto count_of = [&](const std::string& n, const char* squared) {
    return "a factor of " + n + " (a count, an exponent, or a scale of 1/sqrt(" + squared +
           ")) is missing or applied twice";
  };
  const auto scale_of = [](const std::string& squared) {
    return "a scale such as 1/sqrt(" + squared + ") is missing or applied twice";
  };
  const auto shifted = [](const char* axis) {
    return std::string("the gradient is shifted by one position along axis ") + axis +
           ": an index is off by one";
  };
  // A constant ratio; √D is a whole number only where D is a square, a count always is.
  const std::vector<std::tuple<double, std::string, std::string>> ratios = {
      {2, "2", "a contribution is counted twice"},
      {0.5, "0.5", "one of two equal contributions is missing"},
      {-1, "-1", "a sign is wrong"},
      {std::sqrt(2), "1.41421", scale_of("2")},
      {1 / std::sqrt(8), "0.353553", scale_of("8")},
      {std::sqrt(8.001), "2.8286", constant},  // close to a root
      {1.37, "1.37", constant},
      {-1.37, "-1.37", constant},
      {1.001, "1.001", constant},
      {3, "3", count_of("3", "9")},
      {-4, "-4", count_of("4", "16")},
      {0.2, "0.2", count_of("5", "25")},
      {1.0 / 9, "0.111111", count_of("9", "81")},
      {123456.3, "123456", constant}};  // near a large whole number
  for (const auto& [factor, number, reason] : ratios)
    CHECK(cause(right_times(factor)) == times(number, reason));
  for (const char* word : {"count", "positions"})  // too close to 1 to say
    CHECK_THAT(cause(right_times(1 + 1e-6)), !ContainsSubstring(word));
  struct Row {
    const char* what;
    Gradient wrong;
    std::string cause;  // empty: none
  };
  const Gradient transposed = from_positions({0, 3, 6, 1, 4, 7, 2, 5, 8});
  Gradient all_but_one = from_positions({8, 7, 6, 5, 4, 3, 2, 1, 0});
  all_but_one[0] *= 1 + 1e-5;
  const std::vector<Row> rows = {
      {"right", right_gradient, ""},
      {"NaN comes first",
       each_element([](double x, std::size_t j) { return j == 4 ? std::nan("") : 2 * x; }),
       "the gradient is not finite: the rule computes 0/0, log(0) or infinity times zero"},
      {"infinity", each_element([](double x, std::size_t j) { return j == 4 ? -infinity : x; }),
       "the gradient is not finite: the rule computes 0/0, log(0) or infinity times zero"},
      {"zeros", Gradient(9, 0.0),
       "backward() gives zero in every element: the graph is cut (by detach(), by NoGrad or by a "
       "tensor made from values), or the rule returns zeros"},
      {"a factor that one element does not have",
       each_element([](double x, std::size_t j) { return 2 * x * (j == 3 ? 1 + 1e-5 : 1); }), ""},
      {"every second sign",
       each_element([](double x, std::size_t j) { return j % 2 == 0 ? -x : x; }), ""},
      {"two signs, far apart",
       each_element([](double x, std::size_t j) { return j % 8 == 0 ? -x : x; }), ""},
      // the right numbers at other positions
      {"transposed", transposed, "the gradient is transposed"},
      {"shifted along axis 0", from_positions({3, 4, 5, 6, 7, 8, 0, 1, 2}), shifted("0")},
      {"shifted along axis 1", from_positions({2, 0, 1, 5, 3, 4, 8, 6, 7}), shifted("1")},
      {"shifted, zero enters", from_positions({1, 2, -1, 4, 5, -1, 7, 8, -1}), shifted("1")},
      {"reversed rows", from_positions({6, 7, 8, 3, 4, 5, 0, 1, 2}),
       "the gradient is reversed along axis 0"},
      {"reversed columns", from_positions({2, 1, 0, 5, 4, 3, 8, 7, 6}),
       "the gradient is reversed along axis 1"},
      {"reversed along both", from_positions({8, 7, 6, 5, 4, 3, 2, 1, 0}), permuted},
      {"two elements exchanged", from_positions({0, 5, 2, 3, 4, 1, 6, 7, 8}), permuted},
      {"permuted but for one number", all_but_one, ""},
      // some positions
      {"row 0", wrong_at({0, 1, 2}),
       "only early positions are wrong, position 0 of 3 along axis 0: contributions from later "
       "positions may be missing, as when past keys and values get no gradient"},
      {"rows 0 and 1", wrong_at({0, 1, 2, 3, 4, 5}),
       "only early positions are wrong, positions 0 to 1 of 3 along axis 0: "},
      {"rows 1 and 2", wrong_at({3, 4, 5, 6, 7, 8}),
       "position 0 along axis 0 is right and all later ones are wrong: "},
      {"column 2", from_positions({0, 1, -1, 3, 4, -1, 6, 7, -1}),
       "only late positions are wrong, position 2 of 3 along axis 1: a loop may end too early or "
       "skip a tail"},
      {"row 1", wrong_at({3, 4, 5}),
       "only position 1 of 3 along axis 0 is wrong: an index or an offset may be wrong"},
      {"two elements, no stretch of an axis", wrong_at({0, 8}), ""},
      {"everywhere", wrong_at({0, 1, 2, 3, 4, 5, 6, 7, 8}), ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const std::string found = cause(row.wrong);
    CHECK_THAT(found, StartsWith(row.cause));
    CHECK(found.empty() == row.cause.empty());
  }
  CHECK(cause(transposed, {9}) != "the gradient is transposed");
}

TEST_CASE("a ratio holds where both are zero, not where one is, and needs two elements") {
  const auto is_twice = [](const Gradient& analytic, const Gradient& expected, const Shape& shape) {
    return diagnose(analytic, expected, shape, 1e-12).cause ==
           "backward() gives 2 times the true gradient in every element: a contribution is counted "
           "twice";
  };
  Gradient a = right_times(2), n = right_gradient;
  CHECK(is_twice(a, n, square));
  a[0] = n[0] = a[7] = n[7] = 0;
  CHECK(is_twice(a, n, square));
  a[3] = 1;
  n[3] = 0;
  CHECK_FALSE(is_twice(a, n, square));
  CHECK_FALSE(is_twice({0, 4, 0}, {0, 2, 0}, {3}));
  CHECK(is_twice({8, 4, 0}, {4, 2, 0}, {3}));
  Gradient symmetric = right_gradient;  // its own transpose
  symmetric[1] = symmetric[3], symmetric[2] = symmetric[6], symmetric[5] = symmetric[7];
  CHECK(diagnose(symmetric, symmetric, square, 1e-12).cause.empty());
  Gradient doubled = symmetric;
  for (double& x : doubled) x *= 2;
  CHECK(is_twice(doubled, symmetric, square));
}

TEST_CASE("time is asked before batch and features") {
  const Shape shape{2, 3, 2};  // (batch, time, features)
  Gradient n(12), wrong(12);
  for (std::size_t j = 0; j < 12; ++j) n[j] = wrong[j] = std::sin(1.0 + static_cast<double>(j));
  for (const std::size_t j : {0u, 1u, 6u, 7u}) wrong[j] += 0.2 + 0.1 * static_cast<double>(j);
  CHECK_THAT(diagnose(wrong, n, shape, 1e-12).cause,
             StartsWith("only early positions are wrong, position 0 of 3 along axis 1: "));
}

TEST_CASE("one wrong element does not show the cause") {
  const auto pattern = [](const Gradient& analytic, const Gradient& expected, const Shape& shape) {
    const Diagnosis found = diagnose(analytic, expected, shape, 1e-12);
    CHECK(found.cause.empty());
    return found.pattern;
  };
  Gradient wrong = right_gradient;
  wrong[4] *= 2;
  CHECK(pattern(wrong, right_gradient, square) ==
        "1 of 9 elements is wrong, the others are right; one element does not show the cause");
  CHECK(pattern({3}, {2}, {}) ==
        "1 of 1 element is wrong, by a ratio of 1.5; one element does not show the cause");
  CHECK(pattern({3}, {0}, {}) == "1 of 1 element is wrong; one element does not show the cause");
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
  const auto changed = [](Gradient gradient, std::size_t j, double number) {
    gradient[j] = number;
    return gradient;
  };
  const Gradient one = changed(right_gradient, 2, 0.3), two = changed(one, 7, -0.9);
  CHECK(named(two, two));
  CHECK_FALSE(named(two, changed(two, 0, two[0] * (1 + 1e-5))));  // changes one that is right
  CHECK_FALSE(named(two, changed(two, 7, two[7] * (1 + 1e-5))));
  CHECK_FALSE(named(two, changed(two, 7, std::nan(""))));
  CHECK_FALSE(named(one, one));
  // The mistake and any other rule that gives zero there.
  CHECK_FALSE(named(changed(one, 7, 0), changed(one, 7, 0)));
}

TEST_CASE("a missing summand is named by what the error is a multiple of") {
  const Gradient input{1.1, -0.4, 0.7, 2.3, 0.9, -1.6, 0.2, 1.4, -0.8};
  const std::vector<Summand> summands{{"as 1", Gradient(9, 1.0)},
                                      {"as the input", input},
                                      {"as dy", Gradient{3, 1, 4, 1, 5, 9, 2, 6, 5}, false}};
  const auto named = [&](auto error) {
    const Gradient wrong = each_element([&](double x, std::size_t j) { return x + error(j); });
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

TEST_CASE("the inputs have their old numbers after a diagnosis, also where f throws") {
  const Array left = uniform({3, 3}, 1), right = uniform({3, 3}, 2);
  const Tensor a = parameter(left.clone()), b = parameter(right.clone());
  const std::vector<NamedTensor> named{{"a", a}, {"b", b}};
  CHECK_FALSE(gradcheck([&] { return product_of(a, b, "A: B"); }, named).ok);
  const auto gradient = [&](const std::function<Tensor()>& f) {
    return known_mistakes(f, named, 0, Array::ones({3, 3})).back().gradient(0);
  };
  // Outside the domain of f a mistake has no gradient.
  CHECK(std::isnan(gradient([]() -> Tensor { throw std::invalid_argument("outside"); })));
  CHECK_THROWS_AS(gradient([]() -> Tensor { throw Interrupted(); }), Interrupted);
  CHECK_THROWS_AS(gradient([]() -> Tensor { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK((same_bits(a.value(), left) && same_bits(b.value(), right)));
}
