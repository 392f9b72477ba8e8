// attention(), which keeps no weights, against the step by step attend().
#include <algorithm>

#include "nn/layers/attention.h"
#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Function fused(Dim heads, const Mask& mask) {
  return [=](const Tensors& x) { return attention(x[0], heads, mask); };
}
Function stepwise(Dim heads, const Mask& mask) {
  return [=](const Tensors& x) {
    const std::vector<Tensor> qkv = split(x[0], 3, -1);
    return attend(qkv[0], qkv[1], qkv[2], heads, mask).output;
  };
}

Function of_separate(Dim heads, const Mask& mask) {
  return [=](const Tensors& x) { return attention(x[0], x[1], x[2], heads, mask); };
}
Function stepwise_of_separate(Dim heads, const Mask& mask) {
  return [=](const Tensors& x) { return attend(x[0], x[1], x[2], heads, mask).output; };
}

// Queries, keys or values (part 0, 1, 2) of time t in a row of qkv, replaced.
Array with_time(const Array& qkv, Dim part, Dim t, double number) {
  Array y = qkv.clone();
  const Dim C = qkv.dim(-1) / 3;
  std::fill_n(y.write() + (3 * t + part) * C, C, Real(number));
  return y;
}

}  // namespace

TEST_CASE("attention by hand: one head, causal") {
  // D = 1, so the scale is 1. Query 0 sees itself; to query 1 both keys are alike.
  const Array qkv({2, 3}, {5, 1, 4, 0, 7, 8});
  const Pass found = pass(fused(1, causal()), {qkv}, Array({2, 1}, {10, 2}));
  CHECK(close(found.y, Array({2, 1}, {4, 6})));
  // dp = dy·v = 8, 16; ds = p·(dp − 12) = −2, 2; dq₁ = −2·1 + 2·7; dk = ds·q₁ = 0; dv = p·dy + 10
  CHECK(close(found.dx[0], Array({2, 3}, {0, 0, 11, 12, 0, 1})));
}

TEST_CASE("attention and attend() are two roads to one answer, whatever the mask and the heads") {
  for (const auto& [heads, D] : {std::pair<Dim, Dim>{1, 1}, {1, 4}, {2, 3}, {3, 1}, {2, 17}})
    for (const Dim T : {1, 2, 7, 33})
      for (const Mask& mask : {Mask(), causal(), window(1), window(3), causal() & window(4)}) {
        INFO(heads << " heads of size " << D << ", time " << T);
        for (const Shape& lead : {Shape{}, Shape{2}, Shape{2, 3}})
          check_two_roads(fused(heads, mask), stepwise(heads, mask),
                          {uniform(lead.append({T, 3 * heads * D}), 1)});
      }
}

TEST_CASE("attention under padding is attend() under padding; the batch is axis 0") {
  for (const Mask& also : {Mask(), causal(), window(2), causal() & window(3)})
    for (const Shape& lead : {Shape{3}, Shape{3, 2}}) {
      const Mask mask = padding({5, 2, 0}) & also;
      check_two_roads(fused(2, mask), stepwise(2, mask), {uniform(lead.append({5, 18}), 1)});
    }
  const Mask mask = causal() & padding({3});
  check_two_roads(fused(2, mask), stepwise(2, mask), {uniform({5, 12}, 1)});
}

TEST_CASE("attention over many blocks of queries is attend()") {
  for (const Dim T : {49, 97, 130, 227})
    for (const Mask& mask : {Mask(), causal(), window(9), causal() & window(60)}) {
      INFO("time " << T);
      for (const Dim width : {30, 66})  // narrow heads, and wide ones, which go block by block
        check_two_roads(fused(2, mask), stepwise(2, mask), {uniform({2, T, width}, 1)});
    }
}

TEST_CASE("attention of separate q, k and v is that of qkv side by side, to the bit") {
  const Mask mask = GENERATE(Mask(), causal(), window(3), padding({9, 4}) & causal());
  for (const auto& [heads, D] : {std::pair<Dim, Dim>{1, 1}, {2, 4}, {2, 5}, {3, 11}}) {
    INFO(heads << " heads of size " << D);
    const Array qkv = uniform({2, 9, 3 * heads * D}, 1), dy = uniform({2, 9, heads * D}, 2);
    const std::vector<Tensor> parts = split(Tensor(qkv), 3, -1);
    const Pass packed = pass(fused(heads, mask), {qkv}, dy);
    const Pass apart =
        pass(of_separate(heads, mask), {parts[0].value(), parts[1].value(), parts[2].value()}, dy);
    CHECK(same_bits(apart.y, packed.y));
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(same_bits(apart.dx[i], split(Tensor(packed.dx[0]), 3, -1)[i].value()));
  }
}

TEST_CASE(
    "attention of separate q, k and v is attend(), also with more or fewer keys than queries") {
  for (const auto& [T, S] : {std::pair<Dim, Dim>{1, 7}, {9, 5}, {5, 9}, {60, 33}, {33, 130}})
    for (const auto& [heads, D] : {std::pair<Dim, Dim>{2, 3}, {1, 4}, {2, 17}})
      for (const Mask& mask : {Mask(), causal(), window(3), causal() & window(40)}) {
        INFO(T << " queries, " << S << " keys, " << heads << " heads of size " << D);
        const Dim C = heads * D;
        for (const Shape& lead : {Shape{}, Shape{2, 2}})
          check_two_roads(of_separate(heads, mask), stepwise_of_separate(heads, mask),
                          {uniform(lead.append({T, C}), 1), uniform(lead.append({S, C}), 2),
                           uniform(lead.append({S, C}), 3)});
      }
  for (const Mask& also : {Mask(), causal()})
    for (const Shape& lead : {Shape{3}, Shape{3, 2}}) {
      const Mask mask = padding({5, 2, 0}) & also;
      check_two_roads(of_separate(2, mask), stepwise_of_separate(2, mask),
                      {uniform(lead.append({4, 6}), 1), uniform(lead.append({5, 6}), 2),
                       uniform(lead.append({5, 6}), 3)});
    }
}

TEST_CASE("attention of separate q, k and v obeys the rules of every op") {
  check_rules(of_separate(2, causal()),
              {uniform({2, 3, 4}, 1), uniform({2, 5, 4}, 2), uniform({2, 5, 4}, 3)});
  check_rules(of_separate(3, window(2)),
              {uniform({7, 9}, 1), uniform({4, 9}, 2), uniform({4, 9}, 3)});
  check_rules(of_separate(1, Mask()), {uniform({2, 2}, 1), uniform({0, 2}, 2), uniform({0, 2}, 3)});
  // One tensor as queries, keys and values.
  check_two_roads([](const Tensors& x) { return attention(x[0], x[0], x[0], 2, causal()); },
                  [](const Tensors& x) { return attend(x[0], x[0], x[0], 2, causal()).output; },
                  {uniform({5, 6}, 1)});
}

TEST_CASE("attention over nothing, and of a row that may look nowhere") {
  for (const Shape& shape : {Shape{0, 6}, Shape{0, 3, 6}, Shape{2, 0, 6}, Shape{2, 0, 3, 6}}) {
    const Pass found = pass(fused(2, causal()), {Array::zeros(shape)}, Array(shape.with(-1, 2)));
    CHECK(found.y.shape() == shape.with(-1, 2));
    CHECK(found.dx[0].shape() == shape);
  }
  const Pass found =
      pass(fused(1, padding({0, 2})), {uniform({2, 2, 6}, 1)}, uniform({2, 2, 2}, 2));
  CHECK(same_bits(time_steps(found.y.with_shape({4, 2}), 0, 2), Array::zeros({2, 2})));
  CHECK(same_numbers(time_steps(found.dx[0].with_shape({4, 6}), 0, 2), Array::zeros({2, 6})));
}

TEST_CASE("attention with one key passes its value on") {
  const Array qkv = uniform({3, 1, 12}, 1), dy = uniform({3, 1, 4}, 2);
  const Pass found = pass(fused(2, causal()), {qkv}, dy);
  CHECK(near(found.y, split(Tensor(qkv), 3, -1)[2].value()));
  CHECK(near(split(Tensor(found.dx[0]), 3, -1)[2].value(), dy));
}

TEST_CASE("attention: what comes later changes no bit of what was before") {
  const Dim width = GENERATE(24, 54);
  const Array qkv = uniform({130, width}, 1);
  const Array whole = value(fused(2, causal()), {qkv});
  for (const Dim t : {1, 2, 5, 6, 7, 47, 48, 49, 100, 129})
    CHECK(same_bits(value(fused(2, causal()), {time_steps(qkv, 0, t)}), time_steps(whole, 0, t)));
}

TEST_CASE("attention reads nothing that is hidden") {
  const Array qkv = uniform({60, 12}, 1), dy = uniform({60, 4}, 2);
  const Pass clean = pass(fused(2, causal()), {qkv}, dy);
  for (const double poison : {quiet_nan, infinity, -infinity})
    for (const Dim part : {1, 2}) {
      const Pass found = pass(fused(2, causal()), {with_time(qkv, part, 59, poison)}, dy);
      CHECK(same_bits(time_steps(found.y, 0, 59), time_steps(clean.y, 0, 59)));
      // An infinite key may weigh nothing; a NaN never does, and no infinite value is mixed away.
      for (Dim c = 0; c < 4; ++c)
        if (part == 2 || std::isnan(poison)) CHECK_FALSE(isfinite(found.y[59 * 4 + c]));
      // Queries before the last; what flows to their keys comes from the last query too.
      CHECK(same_bits(slice(Tensor(time_steps(found.dx[0], 0, 59)), -1, 0, 4).value(),
                      slice(Tensor(time_steps(clean.dx[0], 0, 59)), -1, 0, 4).value()));
    }
  // A window of 1: everyone sees himself alone.
  const Pass alone = pass(fused(2, window(1)), {qkv}, dy);
  for (const Dim part : {0, 1, 2}) {
    const Pass found = pass(fused(2, window(1)), {with_time(qkv, part, 20, quiet_nan)}, dy);
    CHECK(same_bits(time_steps(found.y, 0, 20), time_steps(alone.y, 0, 20)));
    CHECK(same_bits(time_steps(found.y, 21, 60), time_steps(alone.y, 21, 60)));
    CHECK(same_bits(time_steps(found.dx[0], 0, 20), time_steps(alone.dx[0], 0, 20)));
    CHECK(same_bits(time_steps(found.dx[0], 21, 60), time_steps(alone.dx[0], 21, 60)));
  }
}

TEST_CASE("attention obeys the rules of every op") {
  check_rules(fused(2, causal()), {uniform({2, 5, 12}, 1)});
  check_rules(fused(3, window(2)), {uniform({70, 9}, 1)});
  check_rules(fused(1, padding({3, 0, 1})), {uniform({3, 3, 6}, 1)});
  check_rules(fused(1, causal()), {uniform({2, 0, 6}, 1)});
}

TEST_CASE("large scores lose no digits of the weights") {
  for (const Dim D : {2, 4, 11})
    for (const double a : {1.0, 30.0, 1e3, 1e4, 1e6, 1e8}) {
      // Two keys alike: each weighs ½, whatever the size of their scores. Values 3 and 5.
      std::vector<double> numbers(static_cast<std::size_t>(6 * D), a);
      for (Dim t = 0; t < 2; ++t)
        std::fill_n(numbers.begin() + (3 * t + 2) * D, D, 3 + 2 * static_cast<double>(t));
      const Tensor qkv = parameter(Array({2, 3 * D}, numbers));
      const Tensor y = attention(qkv, 1, Mask());
      CAPTURE(a, D);
      for (Dim i = 0; i < 2 * D; ++i) CHECK(std::abs(value_of(y.value()[i]) - 4) < 1e-5);
      backward(y, Array::ones({2, D}));
      for (Dim t = 0; t < 2; ++t) CHECK(std::abs(value_of(qkv.grad().at({t, 2 * D})) - 1) < 1e-5);
    }
}

TEST_CASE("attention refuses what does not fit") {
  const auto of = [](const Shape& shape) { return parameter(Array::ones(shape)); };
  const auto refused = [&](const Shape& shape, const Mask& mask = {}) {
    return refusal_in_both_modes<ShapeError>([&] { attention(of(shape), 1, mask); });
  };
  const std::string sides = "attention: needs q, k and v side by side, (..., T, 3C): got shape ";
  CHECK(refused({}) == sides + "()");
  CHECK(refused({3}) == sides + "(3)");
  CHECK(refused({2, 4}) == sides + "(2, 4)");
  CHECK(
      refused({3, 2, 6}, padding({1, 2})) ==
      "attention: a padding mask of 2 lengths needs scores (2, ..., queries, keys): got shape (3, "
      "1, 2, 2)");
  CHECK(refused({2, 2, 6}, padding({1, 3})) ==
        "attention: a padding length of 3 exceeds the keys of shape (2, 1, 2, 2)");
  const auto refused_parts = [&](const Shape& q, const Shape& k, const Shape& v) {
    return refusal_in_both_modes<ShapeError>([&] { attention(of(q), of(k), of(v), 1, Mask()); });
  };
  const std::string parts = "attention: needs q (..., T, C) and k, v (..., S, C): got ";
  CHECK(refused_parts({2}, {2}, {2}) == parts + "(2), (2), (2)");
  CHECK(refused_parts({3, 2}, {4, 2}, {5, 2}) == parts + "(3, 2), (4, 2), (5, 2)");
  CHECK(refused_parts({3, 2}, {4, 4}, {4, 4}) == parts + "(3, 2), (4, 4), (4, 4)");
  const std::string lead = "attention: needs the same leading axes: ";
  CHECK(refused_parts({2, 3, 2}, {3, 4, 2}, {3, 4, 2}) == lead + "(2, 3, 2) and (3, 4, 2)");
  CHECK(refused_parts({3, 2}, {1, 4, 2}, {1, 4, 2}) == lead + "(3, 2) and (1, 4, 2)");
  const auto refused_value = [&](const Shape& shape, Dim heads, const Mask& mask = {}) {
    return refusal_in_both_modes<ValueError>([&] { attention(of(shape), heads, mask); });
  };
  for (const Dim heads : {-1, 0, 3, 5}) {
    const std::string number = std::to_string(heads);
    CHECK(refused_value({2, 12}, heads) ==
          "attention: 4 channels do not split into " + number + " equal heads");
  }
  CHECK(refused_value({2, 0}, 1) == "attention: 0 channels do not split into 1 equal heads");
  CHECK(refused_value({2, 6}, 1, custom(2, 2, {true, false, true, true})) ==
        "attention: a custom mask has no spans");
  CHECK(refusal_in_both_modes<GraphError>([] { attention(Tensor(), 1, Mask()); }) ==
        "value: this tensor was never given a value");
}
