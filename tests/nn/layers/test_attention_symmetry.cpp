// Attention under permutations, repetitions and other symmetries.
#include "nn/layers/attention.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

/// Columns (or rows) of heads of size D in another order of heads, in each of `groups` groups.
std::vector<Dim> with_heads(const std::vector<Dim>& heads, Dim D, Dim groups) {
  std::vector<Dim> all;
  const auto H = static_cast<Dim>(heads.size());
  for (Dim group = 0; group < groups; ++group)
    for (const Dim h : heads)
      for (Dim d = 0; d < D; ++d) all.push_back((group * H + h) * D + d);
  return all;
}

}  // namespace

TEST_CASE("attend: queries in another order are answered in that order, to the bit") {
  const Array q = uniform({2, 5, 4}, 1), k = uniform({2, 7, 4}, 2), v = uniform({2, 7, 4}, 3);
  const AttentionOutput straight = attend(q, k, v, 2, {}),
                        shuffled = attend(reordered(q, 1, other_order), k, v, 2, {});
  CHECK(same_bits(shuffled.output.value(), reordered(straight.output.value(), 1, other_order)));
  CHECK(same_bits(shuffled.weights.value(), reordered(straight.weights.value(), 2, other_order)));
  CHECK_FALSE(close(shuffled.output.value(), straight.output.value()));
}

// The sums over keys get another order: each of two sums over T keys is off by at most T·u of its
// size.
TEST_CASE("attend: keys and values may change places together") {
  const Array q = uniform({2, 3, 4}, 1), k = uniform({2, 5, 4}, 2), v = uniform({2, 5, 4}, 3);
  const Array straight = attend(q, k, v, 2, {}).output.value();
  const Array together =
      attend(q, reordered(k, 1, other_order), reordered(v, 1, other_order), 2, {}).output.value();
  const double u = value_of(std::numeric_limits<Real>::epsilon()) / 2;
  CHECK(close(together, straight, 2 * 5 * u * largest(v)));
  CHECK_FALSE(
      close(attend(q, reordered(k, 1, other_order), v, 2, {}).output.value(), straight, 1e-3));
}

TEST_CASE("Attention: without mask and positions, tokens in another order give that order") {
  const Attention attention = drawn<Attention>(1, 4, 2);
  const Array x = uniform({2, 5, 4}, 2), positions = uniform({5, 4}, 3);
  const auto run = [&](const Array& tokens) { return attention(tokens).value(); };
  CHECK(close(run(reordered(x, 1, other_order)), reordered(run(x), 1, other_order)));
  const auto placed = [&](const Array& tokens) {
    return (Tensor(tokens) + Tensor(positions)).value();
  };
  CHECK_FALSE(close(run(placed(reordered(x, 1, other_order))),
                    reordered(run(placed(x)), 1, other_order), 1e-2));
  CHECK_FALSE(close(attention(reordered(x, 1, other_order), causal()).value(),
                    reordered(attention(x, causal()).value(), 1, other_order), 1e-2));
}

TEST_CASE("attend: queries of zero look everywhere alike, at exactly 1/n") {
  for (const Dim n : {1, 2, 4, 8, 16}) {
    const Array v = integers({1, n, 4}, 5);
    const AttentionOutput found = attend(Array::zeros({1, 3, 4}), uniform({1, n, 4}, 4), v, 2, {});
    CHECK(same_bits(found.weights.value(), Array::full({1, 2, 3, n}, Real(1) / real(n))));
    const Tensor mean_of_v = mean(Tensor(v), {1}, true);
    CHECK(
        same_numbers(found.output.value(), (mean_of_v + Tensor(Array::zeros({1, 3, 4}))).value()));
  }
  const AttentionOutput five =
      attend(Array::zeros({1, 5}), uniform({7, 5}, 4), uniform({7, 5}, 5), 1, {});
  CHECK(close(five.weights.value(), Array::full({1, 1, 7}, Real(1.0 / 7))));
}

TEST_CASE("attend: a single key has weight exactly 1, and q and k no gradient") {
  const Tensor q = parameter(uniform({2, 3, 4}, 1)), k = parameter(uniform({2, 1, 4}, 2));
  const Tensor v = parameter(uniform({2, 1, 4}, 3));
  const AttentionOutput found = attend(q, k, v, 2, {});
  CHECK(same_bits(found.weights.value(), Array::ones({2, 2, 3, 1})));
  CHECK(same_bits(part(found.output.value(), 1, 2, 3), v.value()));
  backward(found.output, uniform({2, 3, 4}, 4));
  CHECK(all_zero(q.grad()));
  CHECK(all_zero(k.grad()));
  CHECK(all_alive(v.grad()));
}

TEST_CASE("Attention: on one token it is value-down and value-up") {
  const Attention attention = drawn<Attention>(2, 6, 3);
  for (const Mask& mask : {Mask(), causal()}) {
    const Tensor x = uniform({2, 1, 6}, 5);
    const AttentionOutput found = attention.forward_with_weights(x, mask);
    CHECK(same_bits(found.weights.value(), Array::ones({2, 3, 1, 1})));
    CHECK(same_bits(found.output.value(),
                    attention.c_proj(slice(attention.c_attn(x), -1, 12, 18)).value()));
    pull_random(attention, found.output);
    CHECK(all_zero(part(attention.c_attn.weight.grad(), 1, 0, 12)));
    CHECK(all_zero(part(attention.c_attn.bias.grad(), 0, 0, 12)));
    CHECK(all_alive(part(attention.c_attn.weight.grad(), 1, 12, 18)));
  }
}

TEST_CASE("attend: every output lies between the smallest and the largest value it sees") {
  const Array q = uniform({3, 6, 4}, 1, -9, 9), k = uniform({3, 6, 4}, 2, -9, 9);
  const Array v = uniform({3, 6, 4}, 3);
  const Array y = attend(q, k, v, 2, {}).output.value();
  const double slack = 6 * value_of(std::numeric_limits<Real>::epsilon()) * largest(v);
  for (Dim b = 0; b < 3; ++b)
    for (Dim c = 0; c < 4; ++c) {
      double low = infinity, high = -infinity;
      for (Dim j = 0; j < 6; ++j) {
        low = std::min(low, value_of(v.at({b, j, c})));
        high = std::max(high, value_of(v.at({b, j, c})));
      }
      for (Dim i = 0; i < 6; ++i) {
        CHECK(value_of(y.at({b, i, c})) >= low - slack);
        CHECK(value_of(y.at({b, i, c})) <= high + slack);
      }
    }
}

// Whole numbers, and D = 4 so that the scale is ½: the scores, and what is added to them, are
// exact.
TEST_CASE("attend: a constant added to a row of scores changes no bit") {
  const Array q = integers({2, 5, 8}, 1), k = integers({2, 6, 8}, 2), v = uniform({2, 6, 8}, 3);
  const Array shifted = (Tensor(k) + Tensor(integers({8}, 4))).value();
  const AttentionOutput found = attend(q, shifted, v, 2, {}), plain = attend(q, k, v, 2, {});
  CHECK(same_bits(found.weights.value(), plain.weights.value()));
  CHECK(same_bits(found.output.value(), plain.output.value()));
  CHECK_FALSE(
      same_bits(attention_scores(q, shifted, {}).value(), attention_scores(q, k, {}).value()));
}

TEST_CASE("attend: keys that are the same get the same weight, to the bit") {
  const Array k = uniform({1, 3, 4}, 2), twice = reordered(k, 1, {0, 1, 2, 1, 0, 1});
  const Array w =
      attend(uniform({1, 5, 4}, 1), twice, uniform({1, 6, 4}, 3), 2, {}).weights.value();
  CHECK(same_bits(reordered(w, 3, {0, 1, 1}), reordered(w, 3, {4, 3, 5})));
  CHECK_FALSE(same_bits(reordered(w, 3, {0}), reordered(w, 3, {1})));
}

TEST_CASE("Attention: permuting heads permutes weights and gradients, and leaves the output") {
  constexpr Dim H = 3, D = 2, C = H * D;
  const std::vector<Dim> heads{2, 0, 1}, thirds = with_heads(heads, D, 3),
                                         rows = with_heads(heads, D, 1);
  const Attention one = drawn<Attention>(3, C, H), two = drawn<Attention>(4, C, H);
  assign(two.c_attn.weight, reordered(one.c_attn.weight.value(), 1, thirds));
  assign(two.c_attn.bias, reordered(one.c_attn.bias.value(), 0, thirds));
  assign(two.c_proj.weight, reordered(one.c_proj.weight.value(), 0, rows));
  assign(two.c_proj.bias, one.c_proj.bias.value());
  const Tensor x = uniform({2, 5, C}, 5);
  const AttentionOutput first = one.forward_with_weights(x, causal()),
                        second = two.forward_with_weights(x, causal());
  CHECK(close(second.output.value(), first.output.value()));
  CHECK(same_bits(second.weights.value(), reordered(first.weights.value(), 1, heads)));
  pull_random(one, first.output);
  pull_random(two, second.output);
  CHECK(close(two.c_attn.weight.grad(), reordered(one.c_attn.weight.grad(), 1, thirds)));
  CHECK(close(two.c_attn.bias.grad(), reordered(one.c_attn.bias.grad(), 0, thirds)));
  CHECK(close(two.c_proj.weight.grad(), reordered(one.c_proj.weight.grad(), 0, rows)));
  CHECK_FALSE(close(two.c_proj.weight.grad(), one.c_proj.weight.grad()));
}
