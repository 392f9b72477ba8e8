#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Function loss(const Indices& targets, std::optional<Dim> ignored = {}) {
  return [=](const Tensors& x) { return cross_entropy(x[0], targets, ignored); };
}

// −mean of the chosen log_softmax, from the rows of `choice` that are not all 0.
Function composed_loss(const Indices& targets, Dim V, std::optional<Dim> ignored = {}) {
  std::vector<double> choice(static_cast<std::size_t>(targets.size() * V));
  Dim kept = 0;
  for (Dim i = 0; i < targets.size(); ++i) {
    if (targets[i] == ignored) continue;
    choice[static_cast<std::size_t>(i * V + targets[i])] = 1;
    ++kept;
  }
  const Array chosen(targets.shape().append({V}), choice);
  return [=](const Tensors& x) {
    return -sum(log_softmax(x[0]) * chosen) / static_cast<double>(kept);
  };
}

const Array one_number = Array::ones({});

}  // namespace

TEST_CASE("cross entropy and its gradient by hand") {
  const Array logits({2, 3}, {std::log(1.0), std::log(2.0), std::log(5.0), 0, 0, 0});
  const Pass found = pass(loss({1, 0}), {logits}, Array({}, {2}));
  CHECK(close(found.y, Array({}, {(std::log(4.0) + std::log(3.0)) / 2})));
  const double third = 1.0 / 3;
  CHECK(close(found.dx[0], Array({2, 3}, {0.125, -0.75, 0.625, third - 1, third, third})));
}

TEST_CASE("cross entropy and elementary ops are two roads to one answer") {
  const Indices batch({2, 3}, {4, 0, 4, 1, 3, 2});
  check_two_roads(loss(batch), composed_loss(batch, 5), {uniform({2, 3, 5}, 1, -5, 5)});
  check_two_roads(loss(batch, 4), composed_loss(batch, 5, 4), {uniform({2, 3, 5}, 1, -5, 5)});
  check_two_roads(loss(batch, 0), composed_loss(batch, 5, 0), {uniform({2, 3, 5}, 1, -5, 5)});
  check_two_roads(loss({0}), composed_loss({0}, 2), {uniform({1, 2}, 1)});
  check_two_roads(loss(Indices(Shape{}, {6})), composed_loss(Indices(Shape{}, {6}), 7),
                  {uniform({7}, 1)});
}

TEST_CASE("the gradient is softmax minus one-hot, over the count") {
  for (const Dim V : {2, 7, 65, 1000}) {
    const Array logits = uniform({4, V}, 1, -8, 8);
    const Indices targets = {0, V - 1, V / 2, 0};
    const Pass found = pass(loss(targets), {logits}, one_number);
    const Array p = softmax(Tensor(logits)).value();
    Array expected(p.shape());
    Real* to = expected.write();
    for (Dim i = 0; i < p.size(); ++i) to[i] = (p[i] - real(targets[i / V] == i % V ? 1 : 0)) / 4;
    CHECK(near(found.dx[0], expected));
    for (Dim r = 0; r < 4; ++r) {
      double sums = 0;
      for (Dim j = r * V; j < (r + 1) * V; ++j) sums += value_of(found.dx[0][j]);
      CHECK(std::abs(sums) <= static_cast<double>(V) * unit);
    }
    long double exact = 0;
    for (Dim r = 0; r < 4; ++r) {
      long double total = 0;
      for (Dim j = r * V; j < (r + 1) * V; ++j)
        total += std::exp(static_cast<long double>(value_of(logits[j])));
      exact +=
          (std::log(total) - static_cast<long double>(value_of(logits[r * V + targets[r]]))) / 4;
    }
    const double bound = 4 * unit * (8 + std::log(static_cast<double>(V)) + static_cast<double>(V));
    CHECK(std::abs(static_cast<long double>(value_of(found.y[0])) - exact) <= bound);
  }
}

TEST_CASE("even logits cost log V") {
  for (const Dim V : {1, 2, 3, 10, 27, 65, 50257})
    for (const double number : {0.0, -3.0, 1e4}) {
      const Array expected({}, {std::log(static_cast<double>(V))});
      const Array found = value(loss({0, V - 1}), {Array::full({2, V}, Real(number))});
      CHECK(near(found, expected, 4 * unit));  // 2 ulp
    }
}

TEST_CASE("cross entropy is never negative, and 0 for certainty") {
  for (const std::uint64_t seed : {1u, 2u, 3u})
    CHECK(value(loss({0, 1, 2, 3}), {uniform({4, 9}, seed, -50, 50)})[0] >= Real(0));
  const Pass sure = pass(loss({1}), {Array({1, 2}, {-1e4, 1e4})}, one_number);
  CHECK(sure.y[0] == Real(0));
  CHECK(same_numbers(sure.dx[0], Array::zeros({1, 2})));
  const Pass wrong = pass(loss({0}), {Array({1, 2}, {-1e4, 1e4})}, one_number);
  CHECK(wrong.y[0] == Real(2e4));
  CHECK(same_numbers(wrong.dx[0], Array({1, 2}, {-1, 1})));
}

TEST_CASE("a target that cannot be costs infinity, and a NaN is not lost") {
  const double inf = infinity, nan = quiet_nan;
  const Pass impossible = pass(loss({0}), {Array({1, 3}, {-inf, 0, 0})}, one_number);
  CHECK(same_numbers(impossible.y, Array({}, {inf})));
  CHECK(close(impossible.dx[0], Array({1, 3}, {-1, 0.5, 0.5})));
  CHECK(close(value(loss({1}), {Array({1, 3}, {-inf, 0, 0})}), Array({}, {std::log(2.0)})));
  const Pass unknown = pass(loss({0, 0}), {Array({2, 2}, {1, nan, 1, 1})}, one_number);
  CHECK(isnan(unknown.y[0]));
  CHECK(same_numbers(unknown.dx[0], Array({2, 2}, {nan, nan, -0.25, 0.25})));
  CHECK(isnan(value(loss({0}), {Array({1, 2}, {inf, 0})})[0]));
}

TEST_CASE("an ignored target costs exactly nothing, and the mean is over the others") {
  const Array logits = uniform({4, 5}, 1), cut = slice(logits, 0, 1, 3).value();
  for (const Dim ignored : {-100, -1, 0, 99}) {
    INFO("ignored " << ignored);
    const Pass found = pass(loss({ignored, 1, 2, ignored}, ignored), {logits}, Array({}, {3}));
    const Pass expected = pass(loss({1, 2}), {cut}, Array({}, {3}));
    CHECK(same_bits(found.y, expected.y));
    CHECK(same_bits(slice(found.dx[0], 0, 1, 3).value(), expected.dx[0]));
    CHECK(same_bits(slice(found.dx[0], 0, 0, 1).value(), Array::zeros({1, 5})));
    CHECK(same_bits(slice(found.dx[0], 0, 3, 4).value(), Array::zeros({1, 5})));
  }
  // What stands in an ignored row is not felt.
  const Array poisoned = concat({Array::full({1, 5}, Real(quiet_nan)), Tensor(cut)}, 0).value();
  const Pass found = pass(loss({-1, 1, 2}, -1), {poisoned}, one_number);
  CHECK(same_bits(found.y, value(loss({1, 2}), {cut})));
  CHECK(same_bits(slice(found.dx[0], 0, 0, 1).value(), Array::zeros({1, 5})));
}

TEST_CASE("cross entropy obeys the rules of every op") {
  check_rules(loss({0, 3, 1}), {uniform({3, 4}, 1)});
  check_rules(loss({0, -1, 1}, -1), {uniform({3, 4}, 1)});
  check_rules(loss(Indices({2, 2}, {0, 2, 1, 2})), {uniform({2, 2, 3}, 1)});
  check_rules(loss({1}), {Array({1, 3}, {-infinity, 0, 1e4})});
}

TEST_CASE("cross entropy refuses targets that do not fit") {
  const auto refused = [](const Shape& shape, const Indices& targets) {
    const Tensor logits = parameter(Array::ones(shape));
    return refusal_in_both_modes<ShapeError>([&] { cross_entropy(logits, targets); });
  };
  const std::string hint = "; one target per row of logits";
  CHECK(refused({2, 3}, {0}) ==
        "cross_entropy: targets of shape (1) for logits of shape (2, 3)" + hint);
  CHECK(refused({2, 2, 3}, {0, 1, 2, 0}) ==
        "cross_entropy: targets of shape (4) for logits of shape (2, 2, 3)" + hint);
  CHECK(refused({3}, {0}) == "cross_entropy: targets of shape (1) for logits of shape (3)" + hint);
  CHECK(refused({}, Indices(Shape{}, {0})) ==
        "cross_entropy: targets of shape () for logits of shape ()" + hint);
  CHECK(refusal_in_both_modes<GraphError>([] { cross_entropy(Tensor(), {0}); }) ==
        "value: this tensor was never given a value");
}

TEST_CASE("cross entropy refuses targets outside the logits, and having none") {
  const Tensor logits = parameter(Array::ones({2, 3}));
  const auto refused = [&](const Indices& targets, std::optional<Dim> ignored = {}) {
    return refusal_in_both_modes<ValueError>([&] { cross_entropy(logits, targets, ignored); });
  };
  const std::string outside = " is outside logits of shape (2, 3)";
  CHECK(refused({0, 3}) == "cross_entropy: target 3 at position 1" + outside);
  CHECK(refused({-1, 0}) == "cross_entropy: target -1 at position 0" + outside);
  CHECK(refused({-1, -2}, -1) == "cross_entropy: target -2 at position 1" + outside);
  CHECK(refused({-100, -100}) == "cross_entropy: target -100 at position 0" + outside);
  CHECK(refused({-1, -1}, -1) == "cross_entropy: no target is left to count: 2 given, all ignored");
  CHECK(refused({0, 0}, 0) == "cross_entropy: no target is left to count: 2 given, all ignored");

  const Tensor nothing = parameter(Array::zeros({0, 3})),
               no_words = parameter(Array::zeros({1, 0}));
  CHECK_THAT(refusal_in_both_modes<ValueError>([&] { cross_entropy(nothing, Indices({0}, {})); }),
             StartsWith("cross_entropy: no target is left to count"));
  CHECK(refusal_in_both_modes<ValueError>([&] { cross_entropy(no_words, {0}); }) ==
        "cross_entropy: target 0 at position 0 is outside logits of shape (1, 0)");
}
