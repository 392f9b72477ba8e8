// The cause that a wrong gradient shows, and near misses, which have another cause or none.
#include "engine/gradcheck/diagnosis.h"

#include <cmath>
#include <iterator>
#include <new>
#include <sstream>
#include <stdexcept>

#include "engine/base/interrupt.h"
#include "tests/engine/gradcheck/rules.h"
#include "tests/support/given.h"

using namespace tests;

namespace {

using Gradient = std::vector<double>;

const Gradient right_gradient{0.31, -1.7, 2.9, 0.83, -0.41, 1.3, -2.2, 0.59, 1.9};
const Shape small_square{3, 3};

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

template <class T>
std::vector<T> numbers_in(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<T>(words), {}};
}

std::string cause(const Gradient& analytic, const Shape& shape = small_square) {
  return diagnose(analytic, right_gradient, shape, 1e-12).cause;
}

}  // namespace

TEST_CASE("index_text names an element as the array prints it") {
  CHECK(index_text({2, 3, 4}, 0) == "[0, 0, 0]");
  CHECK(index_text({2, 3, 4}, 19) == "[1, 1, 3]");
  CHECK(index_text({}, 0) == "[]");
}

TEST_CASE("a pattern of errors names its cause, and what resembles one does not") {
  testing::check_given(
      FLEDGE_SOURCE_DIR "/tests/engine/gradcheck/patterns.txt",
      {{"times", [](auto& factor) { return cause(right_times(std::stod(factor))); }},
       {"positions", [](auto& list) { return cause(from_positions(numbers_in<int>(list))); }},
       {"elements", [](auto& list) { return cause(wrong_at(numbers_in<std::size_t>(list))); }}});
  for (const char* word : {"count", "positions"})  // too close to 1 to say
    CHECK_THAT(cause(right_times(1 + 1e-6)), !ContainsSubstring(word));
  for (const double bad : {std::nan(""), -infinity})
    CHECK(cause(each_element([=](double x, std::size_t j) { return j == 4 ? bad : 2 * x; })) ==
          "the gradient is not finite: the rule computes 0/0, log(0) or infinity times zero");
  Gradient all_but_one = from_positions({8, 7, 6, 5, 4, 3, 2, 1, 0}), twice = right_times(2);
  all_but_one[0] *= 1 + 1e-5, twice[3] *= 1 + 1e-5;
  const auto negated = [](std::size_t every) {
    return each_element([=](double x, std::size_t j) { return j % every == 0 ? -x : x; });
  };
  for (const Gradient& wrong : {right_gradient, all_but_one, twice, negated(2), negated(8)})
    CHECK(cause(wrong).empty());
  CHECK(cause(from_positions({0, 3, 6, 1, 4, 7, 2, 5, 8}), {9}) != "the gradient is transposed");
}

TEST_CASE("a ratio holds where both are zero, not where one is, and needs two elements") {
  const auto is_twice = [](const Gradient& analytic, const Gradient& expected, const Shape& shape) {
    return diagnose(analytic, expected, shape, 1e-12).cause ==
           "backward() gives 2 times the true gradient in every element: a contribution is counted "
           "twice";
  };
  Gradient a = right_times(2), n = right_gradient;
  CHECK(is_twice(a, n, small_square));
  a[0] = n[0] = a[7] = n[7] = 0;
  CHECK(is_twice(a, n, small_square));
  a[3] = 1;
  n[3] = 0;
  CHECK_FALSE(is_twice(a, n, small_square));
  CHECK_FALSE(is_twice({0, 4, 0}, {0, 2, 0}, {3}));
  CHECK(is_twice({8, 4, 0}, {4, 2, 0}, {3}));
  Gradient symmetric = right_gradient;  // its own transpose
  symmetric[1] = symmetric[3], symmetric[2] = symmetric[6], symmetric[5] = symmetric[7];
  CHECK(diagnose(symmetric, symmetric, small_square, 1e-12).cause.empty());
  Gradient doubled = symmetric;
  for (double& x : doubled) x *= 2;
  CHECK(is_twice(doubled, symmetric, small_square));
}

TEST_CASE("time is asked before batch and features") {
  const Shape shape{2, 3, 2};  // (batch, time, features)
  Gradient n(12), wrong(12);
  for (std::size_t j = 0; j < 12; ++j) n[j] = wrong[j] = std::sin(1.0 + static_cast<double>(j));
  for (const std::size_t j : {0u, 1u, 6u, 7u}) wrong[j] += 0.2 + 0.1 * static_cast<double>(j);
  CHECK_THAT(diagnose(wrong, n, shape, 1e-12).cause,
             StartsWith("only early positions are wrong, position 0 of 3 along axis 1: "));
}

TEST_CASE("a mistake is named when its gradient is the one found, in two wrong elements or more") {
  const auto gives = [](Gradient gradient) {
    return Mistake{"a known mistake", [gradient](std::size_t j) { return gradient[j]; }};
  };
  const auto named = [&](const Gradient& analytic, const Gradient& mistaken) {
    return diagnose(analytic, right_gradient, small_square, 1e-12,
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
    return diagnose(wrong, right_gradient, small_square, 1e-12, {}, summands).cause;
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
