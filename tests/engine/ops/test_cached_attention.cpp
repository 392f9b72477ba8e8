// cached_attention: rows of attention(…, causal()), to the bit, for a text that is read in parts.
#include "engine/ops/cached_attention.h"

#include "engine/autograd.h"
#include "engine/ops.h"
#include "tests/engine/ops/passes.h"

using namespace tests;

TEST_CASE("cached attention by hand: the second query sees both keys") {
  const NoGrad no_grad;
  KeyValueCache cache;
  CHECK(same_bits(cached_attention(Array({1, 3}, {5, 1, 4}), 1, cache), Array({1, 1}, {4})));
  CHECK(same_bits(cached_attention(Array({1, 3}, {0, 7, 8}), 1, cache), Array({1, 1}, {6})));
  CHECK(cache.length == 2);
  CHECK(cache.keys == std::vector<Real>{Real(1), Real(7)});
  CHECK(cache.values == std::vector<Real>{Real(4), Real(8)});
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
    KeyValueCache all;
    const Array y = cached_attention(qkv, heads, all);
    const Array weights = cached_attention_weights(qkv, heads, all);
    REQUIRE(weights.shape() == Shape{heads, T, T});
    double farthest = 0, sharpest = 0;
    for (Dim h = 0; h < heads; ++h)
      for (Dim t = 0; t < T; ++t) {
        double sum = 0;
        std::vector<double> mixed(static_cast<std::size_t>(D));
        for (Dim j = 0; j < T; ++j) {
          const double w = value_of(weights.at({h, t, j}));
          if (j > t && w != 0) ++farthest;
          sharpest = std::max(sharpest, t > 3 ? w : 0);
          sum += w;
          for (Dim d = 0; d < D; ++d)
            mixed[static_cast<std::size_t>(d)] += w * value_of(qkv.at({j, 2 * C + h * D + d}));
        }
        farthest = std::max(farthest, std::abs(sum - 1));
        for (Dim d = 0; d < D; ++d)
          farthest = std::max(farthest, std::abs(mixed[static_cast<std::size_t>(d)] -
                                                 value_of(y.at({t, h * D + d}))));
      }
    CHECK(farthest < rounding);
    CHECK(sharpest > 0.5);
    // As they were when the text was read in parts.
    KeyValueCache cache;
    Dim wrong = 0;
    for (Dim t = 0, next = 0; t < T; t = next) {
      next = std::min(T, t + 1 + rng.below(9));
      cached_attention(time_steps(qkv, t, next), heads, cache);
      const Array part = cached_attention_weights(time_steps(qkv, t, next), heads, cache);
      for (Dim h = 0; h < heads; ++h)
        for (Dim i = t; i < next; ++i)
          for (Dim j = 0; j < next; ++j)
            wrong += value_of(part.at({h, i - t, j})) != value_of(weights.at({h, i, j}));
    }
    CHECK(wrong == 0);
  }
  KeyValueCache cache;
  CHECK(
      refusal<ShapeError>([&] {
        cached_attention_weights(uniform({2, 6}, 3), 1, cache);
      }) ==
      "cached_attention_weights: needs qkv (T, 3C) of the last places in the cache: got shape (2, "
      "6) and a cache of 0 places, 0 numbers");
}

TEST_CASE("cached attention refuses what has no gradient, no heads or another width") {
  KeyValueCache cache;
  const Array qkv = uniform({2, 12}, 3);
  CHECK(refusal<GraphError>([&] { cached_attention(qkv, 2, cache); }) ==
        "cached_attention: has no gradient: nothing may be recorded; call it under NoGrad");
  const NoGrad no_grad;
  CHECK(refusal<ShapeError>([&] { cached_attention(uniform({12}, 3), 2, cache); }) ==
        "cached_attention: needs q, k and v side by side, (T, 3C): got shape (12)");
  CHECK(refusal<ShapeError>([&] {
          cached_attention(uniform({2, 10}, 3), 2, cache);
        }) == "cached_attention: needs q, k and v side by side, (T, 3C): got shape (2, 10)");
  CHECK(refusal<ValueError>([&] { cached_attention(qkv, 3, cache); }) ==
        "cached_attention: 4 channels do not split into 3 equal heads");
  CHECK(cache.length == 0);
  CHECK(cache.keys.empty());
  cached_attention(qkv, 2, cache);
  CHECK(
      refusal<ShapeError>([&] {
        cached_attention(uniform({2, 6}, 3), 2, cache);
      }) ==
      "cached_attention: the cache holds 2 places, 8 numbers: they do not fit qkv of shape (2, 6)");
}
