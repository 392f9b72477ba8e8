#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Function scores(const Mask& mask) {
  return [mask](const Tensors& x) { return attention_scores(x[0], x[1], mask); };
}
Function mix(const Mask& mask) {
  return [mask](const Tensors& x) { return weighted_sum(x[0], x[1], mask); };
}

// Query 1 sees no key, and no query sees key 3.
const Mask three_by_four =
    custom(3, 4, {true, false, true, false, false, false, false, false, true, true, true, false});

struct MaskedSizes {
  Shape lead;
  Dim n, m, d;
};
const std::vector<MaskedSizes> masked_sizes = {
    {{}, 3, 4, 5},  {{2}, 4, 4, 1}, {{2, 3}, 3, 3, 4}, {{2}, 1, 6, 3}, {{2}, 5, 2, 3},
    {{0}, 3, 4, 5}, {{2}, 0, 4, 5}, {{2}, 3, 0, 5},    {{2}, 3, 4, 0}, {{2, 1, 2}, 9, 9, 17}};

// Rows of x that no query may look at, or that may look nowhere, filled with something else.
Array with_row(const Array& x, Dim row, double poison) {
  Array y = x.clone();
  Real* to = y.write();
  const Dim length = x.dim(-1);
  for (Dim i = 0; i < length; ++i) to[row * length + i] = Real(poison);
  return y;
}

Array where_hidden(const Array& x, double poison) {
  return where(table_of(three_by_four, {3, 4}), x, poison).value();
}

}  // namespace

TEST_CASE("attention scores and mix by hand") {
  const Array q({2, 2}, {1, 2, 3, 4}), k({2, 2}, {5, 6, 7, 8});
  const Pass s = pass(scores(causal()), {q, k}, Array({2, 2}, {1, 1000, 10, 100}));
  CHECK(same_bits(s.y, Array({2, 2}, {17, -infinity, 39, 53})));
  CHECK(same_numbers(s.dx[0], Array({2, 2}, {5, 6, 750, 860})));
  CHECK(same_numbers(s.dx[1], Array({2, 2}, {31, 42, 300, 400})));

  const Array w({2, 2}, {1, 9, 0.25, 0.75}), v({2, 1}, {4, 8});
  const Pass y = pass(mix(causal()), {w, v}, Array({2, 1}, {1, 10}));
  CHECK(same_bits(y.y, Array({2, 1}, {4, 7})));
  CHECK(same_numbers(y.dx[0], Array({2, 2}, {4, 0, 40, 80})));
  CHECK(same_numbers(y.dx[1], Array({2, 1}, {3.5, 7.5})));
}

TEST_CASE("attention without a mask is two matrix products") {
  for (const auto& [lead, n, m, d] : masked_sizes) {
    INFO(to_string(lead) << " " << n << " queries, " << m << " keys of size " << d);
    const Array q = uniform(lead.append({n, d}), 1), k = uniform(lead.append({m, d}), 2);
    const Array w = uniform(lead.append({n, m}), 3);
    check_two_roads(scores(Mask()), [](const Tensors& x) { return matmul(x[0], transpose(x[1])); },
                    {q, k});
    check_two_roads(mix(Mask()), [](const Tensors& x) { return matmul(x[0], x[1]); }, {w, k});
  }
}

TEST_CASE("attention under masks, and elementary ops, are two roads to one answer") {
  for (const auto& [lead, n, m, d] : masked_sizes)
    for (const Mask& mask : {causal(), window(2), causal() & window(1)}) {
      const Shape shape = lead.append({n, m});
      const Array visible = table_of(mask, shape);
      const Array q = uniform(lead.append({n, d}), 1), k = uniform(lead.append({m, d}), 2);
      const auto only_visible = [visible](const Tensor& s) { return where(visible, s, 0.0); };
      INFO(to_string(shape));
      // The scores are compared where they are finite; −∞ is checked by itself.
      check_two_roads(
          [&](const Tensors& x) { return only_visible(attention_scores(x[0], x[1], mask)); },
          [&](const Tensors& x) { return only_visible(matmul(x[0], transpose(x[1]))); }, {q, k});
      check_two_roads(mix(mask), [&](const Tensors& x) { return matmul(only_visible(x[0]), x[1]); },
                      {uniform(shape, 3), k});
      const Array s = value(scores(mask), {q, k});
      bool hidden_is_minus_infinity = true;
      for (Dim i = 0; i < s.size(); ++i)
        hidden_is_minus_infinity =
            hidden_is_minus_infinity && (visible[i] == Real(0)) == (s[i] == Real(-infinity));
      CHECK(hidden_is_minus_infinity);
    }
}

TEST_CASE("the three steps of attention and elementary ops are two roads to one answer") {
  const Shape shape{2, 3, 5, 4};
  for (const Mask& mask : {Mask(), causal(), padding({5, 2}) & causal(), window(2)}) {
    const Array visible = table_of(mask, {2, 3, 5, 5});
    const auto stepwise = [&](const Tensors& x) {
      return weighted_sum(softmax(attention_scores(x[0] * 0.5, x[1], mask), mask), x[2], mask);
    };
    const auto elementary = [&](const Tensors& x) {
      const Tensor e = where(visible, exp(matmul(x[0], transpose(x[1])) * 0.5), 0.0);
      return matmul(e / sum(e, {-1}, true), x[2]);
    };
    check_two_roads(stepwise, elementary,
                    {uniform(shape, 1), uniform(shape, 2), uniform(shape, 3)});
  }
}

TEST_CASE("attention scores read nothing that is hidden") {
  const Array q = uniform({3, 2}, 1), k = uniform({4, 2}, 2), dy = uniform({3, 4}, 3);
  const Pass clean = pass(scores(three_by_four), {q, k}, dy);
  for (const double poison : {quiet_nan, infinity, -infinity}) {
    const Pass found = pass(scores(three_by_four), {with_row(q, 1, poison), with_row(k, 3, poison)},
                            where_hidden(dy, poison));
    CHECK(same_bits(found.y, clean.y));
    CHECK(same_bits(found.dx[0], clean.dx[0]));
    CHECK(same_bits(found.dx[1], clean.dx[1]));
    CHECK(same_bits(slice(found.dx[0], 0, 1, 2).value(), Array::zeros({1, 2})));
    CHECK(same_bits(slice(found.dx[1], 0, 3, 4).value(), Array::zeros({1, 2})));
  }
}

TEST_CASE("attention mix reads nothing that is hidden") {
  const Array w = uniform({3, 4}, 1), v = uniform({4, 2}, 2), dy = uniform({3, 2}, 3);
  const Pass clean = pass(mix(three_by_four), {w, v}, dy);
  CHECK(same_bits(slice(clean.y, 0, 1, 2).value(), Array::zeros({1, 2})));
  for (const double poison : {quiet_nan, infinity, -infinity}) {
    const Pass found = pass(mix(three_by_four), {where_hidden(w, poison), with_row(v, 3, poison)},
                            with_row(dy, 1, poison));
    CHECK(same_bits(found.y, clean.y));
    CHECK(same_bits(found.dx[0], clean.dx[0]));
    CHECK(same_bits(found.dx[1], clean.dx[1]));
    CHECK(same_bits(found.dx[0], where_hidden(found.dx[0], 0)));
    CHECK(same_bits(slice(found.dx[1], 0, 3, 4).value(), Array::zeros({1, 2})));
  }
}

TEST_CASE("what is visible travels as IEEE 754 says") {
  const Array q({1, 2}, {0, 1}), k({2, 2}, {infinity, 1, quiet_nan, 1});
  CHECK(same_numbers(value(scores(Mask()), {q, k}), Array({1, 2}, {quiet_nan, quiet_nan})));
  const Array w({1, 2}, {0, 1}), v({2, 1}, {infinity, 1});
  CHECK(isnan(value(mix(Mask()), {w, v})[0]));
  CHECK(value(mix(custom(1, 2, {false, true})), {w, v})[0] == Real(1));
}

TEST_CASE("attention of one tensor with itself") {
  const auto fused = [](const Tensors& x) {
    return weighted_sum(softmax(attention_scores(x[0], x[0], causal()), causal()), x[0], causal());
  };
  const auto apart = [](const Tensors& x) {
    return weighted_sum(softmax(attention_scores(x[0], x[1], causal()), causal()), x[2], causal());
  };
  const Array x = uniform({2, 4, 3}, 1), dy = uniform({2, 4, 3}, 2);
  const Pass three = pass(apart, {x, x, x}, dy);
  const Array total = (Tensor(three.dx[0]) + three.dx[1] + three.dx[2]).value();
  CHECK(near(pass(fused, {x}, dy).dx[0], total));
}

TEST_CASE("attention ops obey the rules of every op") {
  check_rules(mix(causal()), {uniform({2, 3, 4}, 1), uniform({2, 4, 5}, 2)});
  check_rules(mix(three_by_four), {uniform({3, 4}, 1), uniform({4, 5}, 2)});
  check_rules(scores(causal()), {uniform({2, 3, 5}, 1), uniform({2, 4, 5}, 2)});
  check_rules(scores(three_by_four),
              {uniform({3, 5}, 1), with_row(uniform({4, 5}, 2), 3, quiet_nan)});
}

TEST_CASE("attention ops refuse what does not fit") {
  const auto refused = [](const Function& f, const Shape& a, const Shape& b) {
    const Tensors x = {parameter(Array::ones(a)), parameter(Array::ones(b))};
    return refusal_in_both_modes<ShapeError>([&] { f(x); });
  };
  for (const std::string op : {"attention_scores", "weighted_sum"}) {
    const Function f = op == "weighted_sum" ? mix(causal()) : scores(causal());
    const std::string lead = op + ": needs the same leading axes: ";
    CHECK(refused(f, {3}, {3}) == lead + "(3) and (3)");
    CHECK(refused(f, {2, 3, 3}, {3, 3}) == lead + "(2, 3, 3) and (3, 3)");
    CHECK(refused(f, {2, 3, 3}, {1, 3, 3}) == lead + "(2, 3, 3) and (1, 3, 3)");
    CHECK(refusal_in_both_modes<GraphError>([&] {
            f({Tensor(), 1.0});
          }) == "value: this tensor was never given a value");
  }
  CHECK(refused(scores(causal()), {3, 4}, {3, 5}) ==
        "attention_scores: queries and keys differ in size: (3, 4) and (3, 5)");
  CHECK(refused(mix(causal()), {3, 4}, {5, 4}) ==
        "weighted_sum: keys and values differ in number: (3, 4) and (5, 4)");
  CHECK(refused(scores(three_by_four), {4, 2}, {3, 2}) ==
        "attention_scores: a custom mask (3, 4) does not fit scores of shape (4, 3); its rows are "
        "queries, its columns keys");
  CHECK(refused(mix(padding({1})), {2, 3, 4}, {2, 4, 5}) ==
        "weighted_sum: a padding mask of 1 lengths needs scores (1, ..., queries, keys): got shape "
        "(2, 3, 4)");
}
