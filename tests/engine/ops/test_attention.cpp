// attention() over heads, sizes and masks; cached_attention(), which has its bits; and that what a
// mask hides is not read, and has weight and gradient exactly 0.
#include "engine/ops/cached_attention.h"
#include "tests/engine/ops/passes.h"
#include "tests/support/blocking.h"

using namespace tests;

namespace {

const auto by_kernel = [](const auto&... x) { return attention(x...); };
const auto by_small_ops = [](const auto&... x) { return attention_by_small_ops(x...); };

// f of qkv, or of q, k and v; one input more is a sink for each head.
template <class F>
Function attention_of(F f, HeadCount heads, const Mask& mask) {
  return [=](const Tensors& x) {
    const Tensor sink = x.size() % 2 == 0 ? x.back() : Tensor();
    return x.size() < 3 ? f(x[0], heads, mask, sink) : f(x[0], x[1], x[2], heads, mask, sink);
  };
}

std::vector<Array> packed(const Shape& lead, Dim T, HeadCount heads, Dim D) {
  return {uniform(lead.append({T, (heads.queries + 2 * heads.keys) * D}), 1)};
}
std::vector<Array> separate(const Shape& lead, Dim T, Dim S, HeadCount heads, Dim D) {
  const Shape keys = lead.append({S, heads.keys * D});
  return {uniform(lead.append({T, heads.queries * D}), 1), uniform(keys, 2), uniform(keys, 3)};
}
// The inputs, and a sink for each head if there are any.
std::vector<Array> with_sink(std::vector<Array> inputs, HeadCount heads, bool has_sink) {
  if (has_sink) inputs.push_back(uniform({heads.queries}, 9, -2, 2));
  return inputs;
}

void check_attention(const std::vector<Array>& inputs, HeadCount heads, const Mask& mask,
                     bool has_sink = false) {
  INFO("q or qkv " << to_string(inputs[0].shape()) << ", the last input "
                   << to_string(inputs.back().shape()) << ", " << heads.queries << " heads, "
                   << heads.keys << " of keys, sink: " << has_sink);
  // The gradient of a sink is one sum over all queries, of terms of both signs.
  check_two_roads(attention_of(by_kernel, heads, mask), attention_of(by_small_ops, heads, mask),
                  with_sink(inputs, heads, has_sink), has_sink ? 10 * two_roads : two_roads);
}

struct SizedHeads {
  HeadCount count;
  Dim size;
  bool has_sink = false;
};
const std::vector<SizedHeads> cached_heads{
    {1, 1},      {3, 4},      {2, 8},      {4, 5}, {2, 9}, {3, 33}, {{4, 2}, 5}, {{3, 1}, 33, true},
    {{4, 1}, 8}, {{6, 2}, 9}, {2, 4, true}};

// Query 1 sees no key, and no query sees key 3; query 0 sees two keys and query 2 all three others.
const Mask three_by_four =
    custom(3, 4, {true, false, true, false, false, false, false, false, true, true, true, false});

// x with `filling` where keep is 0.
Array filled(const Array& x, const Array& keep, double filling) {
  return where(keep, x, filling).value();
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

TEST_CASE(
    "attention and its small ops are two roads to one answer, whatever the mask and the heads") {
  for (const Mask& mask : {Mask(), causal(), window(1), window(3), causal() & window(4)})
    for (const auto& [heads, D] : {std::pair<Dim, Dim>{1, 1}, {1, 4}, {2, 3}, {3, 1}, {2, 17}})
      for (const Dim T : {1, 2, 7, 33})
        for (const Shape& lead : {Shape{}, Shape{2}, Shape{2, 3}})
          check_attention(packed(lead, T, heads, D), heads, mask);
  for (const Mask& mask : {Mask(), causal(), window(3), causal() & window(40)})
    for (const auto& [heads, D] : {std::pair<Dim, Dim>{2, 3}, {1, 4}, {2, 17}})
      for (const auto& [T, S] : {std::pair<Dim, Dim>{1, 7}, {9, 5}, {5, 9}, {60, 33}, {33, 130}})
        for (const Shape& lead : {Shape{}, Shape{2, 2}})
          check_attention(separate(lead, T, S, heads, D), heads, mask);
}

TEST_CASE("attention with shared keys and with sinks is its small ops, whatever the mask") {
  for (const bool has_sink : {false, true})
    for (const Mask& mask : {Mask(), causal(), window(3), causal() & window(40), padding({0, 4}),
                             causal() & padding({4, 3})})
      for (const SizedHeads& heads :
           {SizedHeads{{4, 2}, 3}, SizedHeads{{3, 1}, 4}, SizedHeads{{2, 1}, 8},
            SizedHeads{{6, 3}, 1}, SizedHeads{{4, 1}, 9}, SizedHeads{{6, 2}, 17}, SizedHeads{2, 9}})
        for (const Dim T : {4, 9, 120}) {
          if (T > 9 && heads.size != 3 && heads.size != 9) continue;
          for (const std::vector<Array>& inputs :
               {packed({2}, T, heads.count, heads.size),
                separate({2}, T, T / 2 + 2, heads.count, heads.size)})
            check_attention(inputs, heads.count, mask, has_sink);
        }
}

TEST_CASE("attention: a document has the same bits alone and among others, whatever they hold") {
  const std::vector<Dim> lengths{3, 1, 0, 70, 12};
  for (const Dim block : {kernels::blocking.block_queries, Dim{16}}) {
    kernels::Blocking small = kernels::blocking;
    small.block_queries = small.block_keys = block;
    const Blocked blocked(small);
    for (const auto& [heads, D, has_sink] : cached_heads)
      for (const Mask& mask : {Mask(), causal(), window(3)}) {
        CAPTURE(heads.queries, heads.keys, D, block);
        const Array qkv = packed({2}, 86, heads, D)[0];
        const Array dy = uniform({2, 86, heads.queries * D}, 2);
        const Mask apart = mask & documents(lengths);
        Dim begin = 0;
        for (const Dim length : lengths) {
          Array others = Array::full(qkv.shape(), Real(quiet_nan));
          for (Dim row = 0; row < 2; ++row)
            std::copy_n(qkv.data() + (row * 86 + begin) * qkv.dim(2), length * qkv.dim(2),
                        others.write() + (row * 86 + begin) * qkv.dim(2));
          const auto own = [&](const Array& x) { return time_steps(x, begin, begin + length); };
          const Pass alone = pass(attention_of(by_kernel, heads, mask),
                                  with_sink({own(qkv)}, heads, has_sink), own(dy)),
                     found = pass(attention_of(by_kernel, heads, apart),
                                  with_sink({others}, heads, has_sink), dy);
          REQUIRE(same_bits(own(found.y), alone.y));
          REQUIRE(same_bits(own(found.dx[0]), alone.dx[0]));
          begin += length;
        }
        check_attention({qkv}, heads, apart, has_sink);
      }
  }
}

TEST_CASE("a sink takes its share, and less or more than any number of a float can say") {
  for (const Dim D : {2, 9, 16}) {
    // Of equal scores 0 and a sink of log 3, one of n keys weighs 1/(n + 3).
    const Array sink({1}, {std::log(3.0)}), q = Array::zeros({4, D}), v = Array::ones({4, D});
    const Array y = attention(q, q, v, 1, causal(), sink).value();
    for (Dim i = 0; i < 4; ++i)
      CHECK(std::abs(value_of(y[i * D] - real(i + 1) / real(i + 4))) < 1e-6);

    const Array qkv = uniform({70, 6 * D}, 1, -3, 3), dy = uniform({70, 2 * D}, 2);
    const Function f = attention_of(by_kernel, 2, causal());
    const auto pass_with = [&](double b) { return pass(f, {qkv, Array({2}, {b, b})}, dy); };
    const Pass none = pass(f, {qkv}, dy);
    const Pass never = pass_with(-infinity), hardly = pass_with(-1e4), always = pass_with(1e4);
    for (const double b : {-1e38, -3.4e38}) CHECK(close(pass_with(b).y, none.y));
    for (const double b : {1e38, 3.4e38}) {
      CHECK(same_numbers(pass_with(b).y, Array::zeros(dy.shape())));
      CHECK(same_numbers(pass_with(b).dx[1], Array::zeros({2})));
    }
    const Array blind = Array::ones({3, D}), keys = Array::ones({2, D});
    for (const double b : {-3.4e38, infinity, quiet_nan}) {
      const Array first = attention(blind, keys, keys, 1, causal(), Array({1}, {b})).value();
      CHECK(value_of(first[0]) == 0);  // it sees no key
      CHECK(std::isnan(value_of(first[D])) == !(b < 0));
    }
    CHECK((same_bits(never.y, none.y) && same_bits(never.dx[0], none.dx[0])));
    CHECK((close(hardly.y, none.y) && close(hardly.dx[0], none.dx[0], 1e-5)));
    CHECK((close(always.y, Array::zeros(dy.shape())) &&
           close(always.dx[0], Array::zeros(qkv.shape()))));
    for (const double b : {quiet_nan, infinity})  // e^b / e^b
      CHECK(std::isnan(value_of(pass_with(b).y[0])));
    for (const Pass* one : {&never, &hardly, &always})
      CHECK(same_numbers(one->dx[1], Array::zeros({2})));
  }
}

TEST_CASE("large scores lose no digits of the weights") {
  for (const Dim D : {2, 4, 11})
    for (const double a : {1.0, 30.0, 1e3, 1e4, 1e6, 1e8}) {
      // Two keys alike: each weighs ½, whatever the size of their scores. Values 3 and 5.
      std::vector<double> numbers(static_cast<std::size_t>(6 * D), a);
      for (Dim t = 0; t < 2; ++t)
        std::fill_n(numbers.begin() + (3 * t + 2) * D, D, 3 + 2 * static_cast<double>(t));
      const Pass found = pass(attention_of(by_kernel, 1, Mask()), {Array({2, 3 * D}, numbers)},
                              Array::ones({2, D}));
      CAPTURE(a, D);
      CHECK(close(found.y, Array::full({2, D}, Real(4)), 2.5e-6));
      for (Dim t = 0; t < 2; ++t) CHECK(std::abs(value_of(found.dx[0].at({t, 2 * D})) - 1) < 1e-5);
    }
}

TEST_CASE("cached attention: however a text is cut, the rows of attention() to the bit") {
  const NoGrad no_grad;
  Rng rng(1);
  for (const auto& [heads, D, has_sink] : cached_heads) {
    CAPTURE(heads.queries, heads.keys, D);
    constexpr Dim T = 150;
    const Array qkv = packed({}, T, heads, D)[0];
    const Tensor sink = has_sink ? uniform({heads.queries}, 3) : Tensor();
    const Array whole = attention(qkv, heads, causal(), sink).value();
    for (const Dim most : {1, 3, 20, 200}) {
      KeyValueCache cache;
      for (Dim t = 0, next = 0; t < T; t = next) {
        next = std::min(T, t + 1 + rng.below(most));
        CHECK(same_bits(cached_attention(time_steps(qkv, t, next), heads, cache, causal(), sink),
                        time_steps(whole, t, next)));
      }
      CHECK(same_bits(cached_attention(time_steps(qkv, 0, 0), heads, cache),
                      Array({0, heads.queries * D})));
      CHECK((cache.length == T && std::ssize(cache.keys) == T * heads.keys * D));
    }
  }
}

TEST_CASE("cached attention: its weights, in whatever parts, are those of its outputs") {
  const NoGrad no_grad;
  Rng rng(4);
  for (const auto& [heads, D, has_sink] : cached_heads) {
    CAPTURE(heads.queries, heads.keys, D);
    constexpr Dim T = 70;
    const Dim H = heads.queries, C = H * D, columns = C + 2 * heads.keys * D;
    Array qkv = uniform({T, columns}, 5);
    Real* const numbers = qkv.write();  // heads that choose
    for (Dim i = 0; i < qkv.size(); ++i) numbers[i] *= Real(i % columns < C ? 9 : 1);
    const Tensor sink = has_sink ? uniform({H}, 3) : Tensor();
    KeyValueCache all, in_parts;
    const Array y = cached_attention(qkv, heads, all, causal(), sink);
    const Array weights = cached_attention_weights(qkv, heads, all, causal(), sink);
    REQUIRE(weights.shape() == Shape{H, T, T});
    const Array hidden = where(table_of(causal(), {T, T}), 0.0, weights).value();
    CHECK(same_numbers(hidden, Array::zeros({H, T, T})));
    CHECK(bool{close(sum(weights, {-1}).value(), Array::ones({H, T}))} == !sink.exists());
    CHECK(max(slice(weights, 1, 4, T)).item() > 0.5);
    for (Dim h = 0; h < H; ++h) {
      const Dim v = columns - (heads.keys - h * heads.keys / H) * D;
      CHECK(close(matmul(reshape(slice(Tensor(weights), 0, h, h + 1), {T, T}),
                         slice(Tensor(qkv), 1, v, v + D))
                      .value(),
                  slice(Tensor(y), 1, h * D, (h + 1) * D).value()));
    }
    for (Dim t = 0, next = 0; t < T; t = next) {
      next = std::min(T, t + 1 + rng.below(9));
      const Array part = time_steps(qkv, t, next);
      cached_attention(part, heads, in_parts, causal(), sink);
      CHECK(same_bits(cached_attention_weights(part, heads, in_parts, causal(), sink),
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

TEST_CASE("masked ops read nothing that is hidden, and give it nothing") {
  const Array seen = table_of(three_by_four, {3, 4}), several = table_of(three_by_four, {5, 3, 4});
  const Array queries({3, 2}, {1, 1, 0, 0, 1, 1}), keys({4, 2}, {1, 1, 1, 1, 1, 1, 0, 0});
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
