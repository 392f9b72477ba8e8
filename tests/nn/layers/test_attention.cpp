// Attention against the formulas of the papers, and under permutations, repetitions and other
// symmetries. What holds for every layer is in test_layers.cpp.
#include "nn/layers/attention.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace tests;

namespace {

/// The columns of a (C, 3C) table that belong to one head: its third `part` (0 q, 1 k, 2 v).
Array head_columns(const Tensor& table, int third, Dim head, Dim heads) {
  const Dim C = table.dim(-1) / 3, D = C / heads;
  return part(table.value(), -1, third * C + head * D, third * C + (head + 1) * D);
}

/// (…, T, H·D) as (…, H, T, D).
Tensor in_heads(const Tensor& x, Dim heads) {
  const int rank = x.rank();
  const Shape shape = x.shape().without(rank - 1).append({heads, x.dim(-1) / heads});
  return transpose(reshape(x, shape), -3, -2);
}

}  // namespace

// T = 2, D = 1: q = (0, 1), k = (0, ln 3), v = (4, 8). Scores (0, 0; 0, ln 3), weights
// (½, ½; ¼, ¾), outputs 6 and 1 + 6 = 7. Causal, the first place sees only itself.
TEST_CASE("attend: two places of one number, by hand") {
  const Tensor q = Array({2, 1}, {0, 1}), k = Array({2, 1}, {0, std::log(3.0)}),
               v = Array({2, 1}, {4, 8});
  const AttentionOutput all = attend(q, k, v, 1, {}), before = attend(q, k, v, 1, causal());
  CHECK(close(all.weights.value(), Array({1, 2, 2}, {0.5, 0.5, 0.25, 0.75})));
  CHECK(close(all.output.value(), Array({2, 1}, {6, 7})));
  CHECK(close(before.weights.value(), Array({1, 2, 2}, {1, 0, 0.25, 0.75})));
  CHECK(close(before.output.value(), Array({2, 1}, {4, 7})));
}

// q = (1, …, 1) against k = (1, …, 1) and 0: scores √D and 0, so the first weight is σ(√D).
TEST_CASE("attend: scores are divided by the root of the head size") {
  for (const Dim D : {1, 2, 16, 64})
    for (const Dim heads : {1, 3}) {
      const Tensor q = Array::ones({1, heads * D}),
                   k = joined({q.value(), Array::zeros({1, heads * D})}, 0);
      const Array w = attend(q, k, k, heads, {}).weights.value();
      const double expected = 1 / (1 + std::exp(-std::sqrt(static_cast<double>(D))));
      REQUIRE(w.shape() == Shape{heads, 1, 2});
      for (Dim h = 0; h < heads; ++h) {
        CHECK_THAT(value_of(w.at({h, 0, 0})), WithinAbs(expected, rounding / 10));
        CHECK_THAT(value_of(w.at({h, 0, 1})), WithinRel(1 - expected, rounding * 10));
      }
    }
}

// y = Σ_h softmax(q_h·k_hᵀ/√D)·v_h·Up_h + b: each head reads its columns of each third
// ("value-down" among them) and writes through its rows of c_proj ("value-up"). With one head these
// are the five lines of the paper.
TEST_CASE("Attention: is the sum of its heads, each down and up on its own") {
  for (const Dim heads : {1, 3})
    for (const Mask& mask : {Mask(), causal()}) {
      constexpr Dim C = 6;
      const Dim D = C / heads;
      const Attention attention = drawn<Attention>(2, C, heads);
      const Tensor x = uniform({2, 4, C}, 3);
      const AttentionOutput found = attention.forward_with_weights(x, mask);
      Tensor y = attention.c_proj.bias;
      for (Dim h = 0; h < heads; ++h) {
        const auto made = [&, h](int third) {
          return matmul(x, head_columns(attention.c_attn.weight, third, h, heads)) +
                 Tensor(head_columns(attention.c_attn.bias, third, h, heads));
        };
        const double scale = 1 / std::sqrt(static_cast<double>(D));
        const Tensor weights = softmax(matmul(made(0), transpose(made(1))) * scale, mask);
        const Tensor up = part(attention.c_proj.weight.value(), 0, h * D, (h + 1) * D);
        y = y + matmul(matmul(weights, made(2)), up);
        CHECK(close(part(found.weights.value(), 1, h, h + 1),
                    reshape(weights, {2, 1, 4, 4}).value()));
      }
      CHECK(close(found.output.value(), y.value()));
      // The weights it returns are the ones it used, to the bit.
      const Tensor v = in_heads(slice(attention.c_attn(x), -1, 2 * C, 3 * C), heads);
      const Tensor mixed = transpose(weighted_sum(found.weights, v, mask), 1, 2);
      CHECK(same_bits(attention.c_proj(reshape(mixed, {2, 4, C})).value(), found.output.value()));
    }
}

// ∂⟨dy, y⟩/∂w = dy·vᵀ for each head, where the mask shows it.
TEST_CASE("attend: the weights it returns are on the path, so they can keep their gradient") {
  constexpr Dim T = 3, S = 4, H = 2, C = 4;
  const Mask table =
      custom(T, S, {true, false, true, false, false, true, true, true, true, false, false, false});
  for (const Shape& lead : {Shape{}, Shape{2}, Shape{2, 2}})
    for (const Mask& mask : {Mask(), causal(), table}) {
      CAPTURE(to_string(lead));
      const Tensor q = parameter(uniform(lead.append({T, C}), 1)),
                   k = parameter(uniform(lead.append({S, C}), 2)),
                   v = parameter(uniform(lead.append({S, C}), 3));
      const Array dy = uniform(q.shape(), 4);
      const AttentionOutput attended = attend(q, k, v, H, mask);
      REQUIRE(attended.weights.shape() == lead.append({H, T, S}));
      attended.weights.keep_grad();
      backward(attended.output, dy);
      REQUIRE(attended.weights.has_grad());
      Array expected = matmul(in_heads(dy, H), transpose(in_heads(v, H))).value().clone();
      const std::vector<unsigned char> visible = mask.table({1, H, T, S}, "test");
      for (Dim i = 0; i < expected.size(); ++i)
        if (visible[static_cast<std::size_t>(i % (H * T * S))] == 0) expected.write()[i] = Real(0);
      CHECK(close(attended.weights.grad(), expected));
    }
}

TEST_CASE(
    "Attention: without its weights it gives what it gives with them, and the same gradients") {
  const Attention attention = drawn<Attention>(3, 6, 2);
  const CrossAttention cross = drawn<CrossAttention>(3, 6, 5, 2);
  const Tensor x = parameter(uniform({3, 9, 6}, 4)), source = parameter(uniform({3, 9, 5}, 5));
  const auto check = [&](const auto& module, const auto& call, const auto& look) {
    for (const Mask& mask : {Mask(), causal(), window(3), causal() & padding({9, 4, 0})}) {
      std::vector<Array> gradients;
      x.zero_grad();
      pull_random(module, call(mask));
      for (const Tensor& p : parameters(module)) gradients.push_back(p.grad().clone());
      const Array dx = x.grad().clone();
      x.zero_grad();
      const AttentionOutput with_weights = look(mask);
      CHECK(close(call(mask).value(), with_weights.output.value()));
      with_weights.weights.keep_grad();
      pull_random(module, with_weights.output);
      CHECK(largest(with_weights.weights.grad()) > 0);
      CHECK(close(x.grad(), dx));
      for (std::size_t i = 0; i < gradients.size(); ++i)
        CHECK(close(parameters(module)[i].grad(), gradients[i]));
    }
    const Mask own = custom(9, 9, std::vector<bool>(81, true));
    CHECK(same_bits(call(own).value(), look(own).output.value()));
  };
  check(
      attention, [&](const Mask& mask) { return attention(x, mask); },
      [&](const Mask& mask) { return attention.forward_with_weights(x, mask); });
  check(
      cross, [&](const Mask& mask) { return cross(x, source, mask); },
      [&](const Mask& mask) { return cross.forward_with_weights(x, source, mask); });
}

// With the numbers of self-attention, on its own input; with more keys than queries the last query
// sees every key.
TEST_CASE("CrossAttention: is self-attention with a source, causal at the last query and key") {
  const Attention own = drawn<Attention>(3, 4, 2);
  Rng rng(1);
  const CrossAttention cross(4, 4, 2, rng);
  const Array w = own.c_attn.weight.value(), b = own.c_attn.bias.value();
  assign(cross.q_attn.weight, part(w, 1, 0, 4));
  assign(cross.q_attn.bias, part(b, 0, 0, 4));
  assign(cross.c_attn.weight, part(w, 1, 4, 12));
  assign(cross.c_attn.bias, part(b, 0, 4, 12));
  assign(cross.c_proj.weight, own.c_proj.weight.value());
  assign(cross.c_proj.bias, own.c_proj.bias.value());
  const Array source = uniform({2, 5, 4}, 4), x = part(source, 1, 2, 5);
  const Array y = cross(x, source, causal()).value();
  CHECK(close(y, part(own(source, causal()).value(), 1, 2, 5)));
  CHECK(cross.forward_with_weights(x, source).weights.shape() == Shape{2, 2, 3, 5});
  for (Dim j = 0; j < 5; ++j) {
    const Array changed = cross(x, replaced(source, 1, j, not_a_number), causal()).value();
    const Dim unaware = std::clamp<Dim>(j - 2, 0, 3);
    CHECK(same_bits(part(changed, 1, 0, unaware), part(y, 1, 0, unaware)));
    for (Dim i = unaware; i < 3; ++i) CHECK(isnan(changed.at({0, i, 0})));
  }
  const Array rubbish = joined({source, Array::full({2, 4, 4}, Real(not_a_number))}, 1);
  CHECK(same_bits(cross(x, rubbish, padding({5, 5})).value(), cross(x, source).value()));
}

TEST_CASE("attend: no keys, no queries, and one key, which has weight 1 and gives q no gradient") {
  const AttentionOutput no_queries =
      attend(Array::zeros({1, 0, 4}), Array::zeros({1, 3, 4}), Array::zeros({1, 3, 4}), 2, {});
  CHECK(no_queries.output.shape() == Shape{1, 0, 4});
  CHECK(no_queries.weights.shape() == Shape{1, 2, 0, 3});
  const Tensor none = Array::zeros({1, 0, 4});
  const AttentionOutput no_keys = attend(uniform({1, 3, 4}, 1), none, none, 2, {});
  CHECK(same_bits(no_keys.output.value(), Array::zeros({1, 3, 4})));
  CHECK(no_keys.weights.shape() == Shape{1, 2, 3, 0});
  const Array no_source =
      drawn<CrossAttention>(7, 4, 3, 2)(uniform({2, 3, 4}, 1), Array::zeros({2, 0, 3})).value();
  CHECK(same_bits(part(no_source, 1, 0, 1), part(no_source, 1, 2, 3)));  // the bias of c_proj

  const Tensor q = parameter(uniform({2, 3, 4}, 1)), k = parameter(uniform({2, 1, 4}, 2)),
               v = parameter(uniform({2, 1, 4}, 3));
  const AttentionOutput one = attend(q, k, v, 2, {});
  CHECK(same_bits(one.weights.value(), Array::ones({2, 2, 3, 1})));
  CHECK(same_bits(part(one.output.value(), 1, 2, 3), v.value()));
  backward(one.output, uniform({2, 3, 4}, 4));
  CHECK((all_zero(q.grad()) && all_zero(k.grad()) && all_alive(v.grad())));
}

TEST_CASE("attend: what is done to queries, keys and values shows in the outputs") {
  const Array q = integers({2, 5, 8}, 1), k = integers({2, 5, 8}, 2), v = uniform({2, 5, 8}, 3);
  const auto on = [](const Array& queries, const Array& keys, const Array& values) {
    return attend(queries, keys, values, 2, {});
  };
  const AttentionOutput straight = on(q, k, v), shuffled = on(reordered(q, 1, other_order), k, v);
  const Array y = straight.output.value(), w = straight.weights.value();
  // Queries in another order are answered in that order, to the bit.
  CHECK(same_bits(shuffled.output.value(), reordered(y, 1, other_order)));
  CHECK(same_bits(shuffled.weights.value(), reordered(w, 2, other_order)));
  // Keys and values may change places together: each of two sums over T keys is off by T·u of its
  // size. Apart they may not.
  const Array moved = reordered(k, 1, other_order);
  CHECK(close(on(q, moved, reordered(v, 1, other_order)).output.value(), y,
              2 * 5 * unit * largest(v)));
  CHECK_FALSE(close(on(q, moved, v).output.value(), y, 1e-3));
  // A constant added to a row of scores changes no bit: the scores are exact, as D = 4.
  const Array shifted = (Tensor(k) + Tensor(integers({8}, 4))).value();
  CHECK(same_bits(on(q, shifted, v).weights.value(), w));
  CHECK(same_bits(on(q, shifted, v).output.value(), y));
  CHECK_FALSE(
      same_bits(attention_scores(q, shifted, {}).value(), attention_scores(q, k, {}).value()));
  // Keys that are the same get the same weight, to the bit.
  const std::vector<Dim> again{0, 1, 2, 1, 0, 1};
  const Array twice =
      on(uniform({1, 5, 4}, 1), reordered(uniform({1, 3, 4}, 2), 1, again), uniform({1, 6, 4}, 3))
          .weights.value();
  CHECK(same_bits(reordered(twice, 3, {0, 1, 1}), reordered(twice, 3, {4, 3, 5})));
  CHECK_FALSE(same_bits(reordered(twice, 3, {0}), reordered(twice, 3, {1})));
  // Every output lies between the smallest and the largest value that it sees.
  const Array far =
      on(uniform({2, 5, 8}, 1, -9, 9), uniform({2, 5, 8}, 2, -9, 9), v).output.value();
  const Array low = (max(Tensor(v) * -1.0, {1}) * -1.0).value(), high = max(Tensor(v), {1}).value();
  for (Dim i = 0; i < far.size(); ++i) {
    const Dim at = i / 40 * 8 + i % 8;
    CHECK(value_of(far[i]) >= value_of(low[at]) - 10 * unit * largest(v));
    CHECK(value_of(far[i]) <= value_of(high[at]) + 10 * unit * largest(v));
  }
}

TEST_CASE("attend: queries of zero look everywhere alike, at exactly 1/n") {
  for (const Dim n : {1, 2, 4, 8, 16}) {
    const Array v = integers({1, n, 4}, 5);
    const AttentionOutput found = attend(Array::zeros({1, 3, 4}), uniform({1, n, 4}, 4), v, 2, {});
    CHECK(same_bits(found.weights.value(), Array::full({1, 2, 3, n}, Real(1) / real(n))));
    const Tensor mean_of_v = mean(Tensor(v), {1}, true);
    CHECK(same_numbers(found.output.value(), (mean_of_v + Array::zeros({1, 3, 4})).value()));
  }
}

TEST_CASE("Attention: what does not fit is refused") {
  Rng rng(1);
  const auto made = [&](Dim width, Dim heads) {
    return [&rng, width, heads] { Attention(width, heads, rng); };
  };
  for (const auto& [width, heads] : {std::pair{8, 3}, {8, 0}, {8, -2}, {0, 2}})
    CHECK(refuses<ValueError>(made(width, heads), "Attention", std::to_string(width) + " channels",
                              std::to_string(heads) + " equal heads"));
  const Attention attention(4, 2, rng);
  CHECK(refuses<ShapeError>(
      [&] {
        attention(Array::zeros({2, 3, 5}));
      },
      "Attention", "4", "(2, 3, 5)"));
  CHECK(refuses<ShapeError>([&] { attention(Array::zeros({4})); }, "Attention", "(4)"));
  const auto attended = [](const Shape& q, const Shape& k, const Shape& v, Dim heads = 1) {
    return [=] { attend(Array::zeros(q), Array::zeros(k), Array::zeros(v), heads, {}); };
  };
  CHECK(refuses<ShapeError>(attended({2, 4}, {3, 4}, {2, 4}), "attend", "(2, 4), (3, 4), (2, 4)"));
  CHECK(refuses<ShapeError>(attended({2, 4}, {3, 5}, {3, 5}), "attend", "(2, 4), (3, 5), (3, 5)"));
  CHECK(refuses<ShapeError>(attended({4}, {4}, {4}), "attend", "(4), (4), (4)"));
  CHECK(
      refuses<ValueError>(attended({2, 6}, {2, 6}, {2, 6}, 4), "attend", "6 channels", "4 equal"));
  const CrossAttention cross(4, 3, 2, rng);
  const auto crossed = [&](const Shape& x, const Shape& source) {
    return [&cross, x, source] { cross(Array::zeros(x), Array::zeros(source)); };
  };
  CHECK(refuses<ShapeError>(crossed({2, 3, 3}, {2, 5, 3}), "CrossAttention:", "4", "(2, 3, 3)"));
  CHECK(refuses<ShapeError>(crossed({2, 3, 4}, {2, 5, 4}), "CrossAttention source", "3",
                            "(2, 5, 4)"));
  for (const Shape& source : {Shape{3, 5, 3}, Shape{5, 3}})
    CHECK(refuses<ShapeError>(crossed({2, 3, 4}, source), "leading axes", "(2, "));
  CHECK(refuses<ValueError>([&] { CrossAttention(6, 3, 4, rng); }, "CrossAttention", "6 channels"));
  CHECK(refuses<ValueError>([&] { CrossAttention(6, 0, 2, rng); }, "Linear", "got 0 and 12"));
  const Attention wide = drawn<Attention>(1, 6, 2);
  const auto masked = [&](const Mask& mask) {
    return [&wide, mask] { wide(uniform({2, 6, 6}, 1), mask); };
  };
  CHECK(refuses<ShapeError>(masked(padding({1, 2, 3})), "attention", "3 lengths", "(2, 2, 6, 6)"));
  CHECK(refuses<ShapeError>(masked(padding({1, 7})), "attention", "length of 7", "(2, 2, 6, 6)"));
  CHECK(refuses<ShapeError>(masked(custom(6, 5, std::vector<bool>(30, true))), "(6, 5)",
                            "(2, 2, 6, 6)"));
}
