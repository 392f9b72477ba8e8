// attention() over heads, sizes and masks; cached_attention(), which has its bits; and that what a
// mask hides is not read, and has weight and gradient exactly 0.
#include "engine/ops/cached_attention.h"
#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

void check_attention(const Shape& lead, Dim T, Dim heads, Dim D, const Mask& mask) {
  INFO(to_string(lead) << ", time " << T << ", " << heads << " heads of size " << D);
  check_two_roads([&](const Tensors& x) { return attention(x[0], heads, mask); },
                  [&](const Tensors& x) { return attention_by_small_ops(x[0], heads, mask); },
                  {uniform(lead.append({T, 3 * heads * D}), 1)});
}

void check_separate(const Shape& lead, Dim T, Dim S, Dim heads, Dim D, const Mask& mask) {
  INFO(to_string(lead) << ", " << T << " queries, " << S << " keys, " << heads << " heads of "
                       << D);
  const Shape keys = lead.append({S, heads * D});
  check_two_roads(
      [&](const Tensors& x) { return attention(x[0], x[1], x[2], heads, mask); },
      [&](const Tensors& x) { return attention_by_small_ops(x[0], x[1], x[2], heads, mask); },
      {uniform(lead.append({T, heads * D}), 1), uniform(keys, 2), uniform(keys, 3)});
}

}  // namespace

TEST_CASE(
    "attention and its small ops are two roads to one answer, whatever the mask and the heads") {
  for (const Mask& mask : {Mask(), causal(), window(1), window(3), causal() & window(4)})
    for (const auto& [heads, D] : {std::pair<Dim, Dim>{1, 1}, {1, 4}, {2, 3}, {3, 1}, {2, 17}})
      for (const Dim T : {1, 2, 7, 33})
        for (const Shape& lead : {Shape{}, Shape{2}, Shape{2, 3}})
          check_attention(lead, T, heads, D, mask);
  for (const Mask& mask : {Mask(), causal(), window(3), causal() & window(40)})
    for (const auto& [heads, D] : {std::pair<Dim, Dim>{2, 3}, {1, 4}, {2, 17}})
      for (const auto& [T, S] : {std::pair<Dim, Dim>{1, 7}, {9, 5}, {5, 9}, {60, 33}, {33, 130}})
        for (const Shape& lead : {Shape{}, Shape{2, 2}}) check_separate(lead, T, S, heads, D, mask);
}

TEST_CASE("large scores lose no digits of the weights") {
  for (const Dim D : {2, 4, 11})
    for (const double a : {1.0, 30.0, 1e3, 1e4, 1e6, 1e8}) {
      // Two keys alike: each weighs ½, whatever the size of their scores. Values 3 and 5.
      std::vector<double> numbers(static_cast<std::size_t>(6 * D), a);
      for (Dim t = 0; t < 2; ++t)
        std::fill_n(numbers.begin() + (3 * t + 2) * D, D, 3 + 2 * static_cast<double>(t));
      const Pass found = pass([](const Tensors& x) { return attention(x[0], 1, Mask()); },
                              {Array({2, 3 * D}, numbers)}, Array::ones({2, D}));
      CAPTURE(a, D);
      CHECK(close(found.y, Array::full({2, D}, Real(4)), 2.5e-6));
      for (Dim t = 0; t < 2; ++t) CHECK(std::abs(value_of(found.dx[0].at({t, 2 * D})) - 1) < 1e-5);
    }
}

TEST_CASE("cached attention: however a text is cut, the rows of attention() to the bit") {
  const NoGrad no_grad;
  Rng rng(1);
  for (const auto& [heads, D] :
       {std::pair<Dim, Dim>{1, 1}, {3, 4}, {2, 8}, {4, 5}, {2, 9}, {3, 33}}) {
    CAPTURE(heads, D);
    constexpr Dim T = 150;
    const Array qkv = uniform({T, 3 * heads * D}, 2);
    const Array whole = attention(qkv, heads, causal()).value();
    for (const Dim most : {1, 3, 20, 200}) {
      KeyValueCache cache;
      for (Dim t = 0, next = 0; t < T; t = next) {
        next = std::min(T, t + 1 + rng.below(most));
        CHECK(same_bits(cached_attention(time_steps(qkv, t, next), heads, cache),
                        time_steps(whole, t, next)));
      }
      CHECK(
          same_bits(cached_attention(time_steps(qkv, 0, 0), heads, cache), Array({0, heads * D})));
      CHECK(cache.length == T);
    }
  }
}

TEST_CASE("cached attention: its weights, in whatever parts, are those of its outputs") {
  const NoGrad no_grad;
  Rng rng(4);
  for (const auto& [heads, D] : {std::pair<Dim, Dim>{1, 1}, {3, 4}, {2, 8}, {4, 5}, {3, 33}}) {
    CAPTURE(heads, D);
    constexpr Dim T = 70;
    const Dim C = heads * D;
    Array qkv = uniform({T, 3 * C}, 5);
    Real* const numbers = qkv.write();  // heads that choose
    for (Dim i = 0; i < qkv.size(); ++i) numbers[i] *= Real(i % (3 * C) < C ? 9 : 1);
    KeyValueCache all, in_parts;
    const Array y = cached_attention(qkv, heads, all);
    const Array weights = cached_attention_weights(qkv, heads, all);
    REQUIRE(weights.shape() == Shape{heads, T, T});
    const Array hidden = where(table_of(causal(), {T, T}), 0.0, weights).value();
    CHECK(same_numbers(hidden, Array::zeros({heads, T, T})));
    CHECK(close(sum(weights, {-1}).value(), Array::ones({heads, T})));
    CHECK(max(slice(weights, 1, 4, T)).item() > 0.5);
    const Tensor values =
        transpose(reshape(slice(Tensor(qkv), 1, 2 * C, 3 * C), {T, heads, D}), 0, 1);
    CHECK(close(reshape(transpose(matmul(weights, values), 0, 1), {T, C}).value(), y));
    for (Dim t = 0, next = 0; t < T; t = next) {
      next = std::min(T, t + 1 + rng.below(9));
      const Array part = time_steps(qkv, t, next);
      cached_attention(part, heads, in_parts);
      CHECK(same_bits(cached_attention_weights(part, heads, in_parts),
                      slice(slice(weights, 1, t, next), 2, 0, next).value()));
    }
  }
}

TEST_CASE("cached attention refuses what has no gradient, no heads or another width") {
  KeyValueCache cache;
  const Array qkv = uniform({2, 12}, 3), narrow = uniform({2, 6}, 3);
  CHECK_THAT(refusal<GraphError>([&] { cached_attention(qkv, 2, cache); }),
             StartsWith("cached_attention: has no gradient"));
  const NoGrad no_grad;
  for (const Shape& shape : {Shape{12}, Shape{2, 10}})
    CHECK_THAT(refusal<ShapeError>([&] { cached_attention(uniform(shape, 3), 2, cache); }),
               EndsWith(to_string(shape)));
  CHECK_THAT(refusal<ValueError>([&] { cached_attention(qkv, 3, cache); }),
             StartsWith("cached_attention: 4 channels do not split into 3"));
  CHECK((cache.length == 0 && cache.keys.empty()));
  cached_attention(qkv, 2, cache);
  for (const std::string& text :
       {refusal<ShapeError>([&] { cached_attention(narrow, 2, cache); }),
        refusal<ShapeError>([&] { cached_attention_weights(narrow, 2, cache); })}) {
    CHECK_THAT(text, ContainsSubstring("2 positions, 8 numbers"));
    CHECK_THAT(text, ContainsSubstring("(2, 6)"));
  }
}

namespace {

// Query 1 sees no key, and no query sees key 3; query 0 sees two keys and query 2 all three others.
const Mask three_by_four =
    custom(3, 4, {true, false, true, false, false, false, false, false, true, true, true, false});

// x with `filling` where keep is 0.
Array filled(const Array& x, const Array& keep, double filling) {
  return where(keep, x, filling).value();
}

// 1 in all rows but one.
Array all_rows_but(Dim row, const Shape& shape) {
  Array keep = Array::ones(shape);
  for (Dim c = 0; c < shape[1]; ++c) keep.write()[row * shape[1] + c] = Real(0);
  return keep;
}

// A call with what of each input, of dy and of y is visible; the rest of y is exactly `hidden`.
struct MaskedCall {
  const char* name;
  Function f;
  std::vector<Array> visible;
  Array visible_dy, visible_y;
  double hidden;
};

void check_hidden(const MaskedCall& call) {
  INFO(call.name);
  std::vector<Array> x;
  for (const Array& visible : call.visible) x.push_back(uniform(visible.shape(), x.size() + 1));
  const Array dy = uniform(call.visible_dy.shape(), 7);
  const Pass clean = pass(call.f, x, dy);
  CHECK(same_bits(clean.y, filled(clean.y, call.visible_y, call.hidden)));
  for (const double poison : {quiet_nan, infinity, -infinity, 1e30}) {
    std::vector<Array> poisoned;
    for (std::size_t i = 0; i < x.size(); ++i)
      poisoned.push_back(filled(x[i], call.visible[i], poison));
    const Pass found = pass(call.f, poisoned, filled(dy, call.visible_dy, poison));
    CHECK(same_bits(found.y, clean.y));
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(same_bits(found.dx[i], clean.dx[i]));
      CHECK(same_bits(found.dx[i], filled(found.dx[i], call.visible[i], 0)));
    }
  }
}

}  // namespace

TEST_CASE("masked ops read nothing that is hidden, and give it nothing") {
  const Array seen = table_of(three_by_four, {3, 4}), several = table_of(three_by_four, {5, 3, 4});
  const Array queries = all_rows_but(1, {3, 2}), keys = all_rows_but(3, {4, 2});
  const auto soft = [](const Tensors& x) { return softmax(x[0], three_by_four); };
  check_hidden({"softmax", soft, {several}, several, several, 0});
  check_hidden({"attention_scores",
                [](const Tensors& x) { return attention_scores(x[0], x[1], three_by_four); },
                {queries, keys},
                seen,
                seen,
                -infinity});
  check_hidden({"weighted_sum",
                [](const Tensors& x) { return weighted_sum(x[0], x[1], three_by_four); },
                {seen, keys},
                queries,
                queries,
                0});
  CHECK(
      close(sum(value(soft, {uniform({3, 4}, 1)}), {1}).value(), Array({3}, {1, 0, 1}), 4 * unit));
}

TEST_CASE("softmax under a mask that hides nothing is softmax to the bit") {
  for (const Shape& shape : {Shape{4, 1}, Shape{2, 3, 65}, Shape{2, 0}, Shape{0, 3}}) {
    const Array x = uniform(shape, 1, -20, 20);
    CHECK(same_bits(softmax(x, Mask()).value(), softmax(x).value()));
  }
}
