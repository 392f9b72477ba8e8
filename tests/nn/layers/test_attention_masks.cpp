// Attention does not depend on the tokens that a mask hides.
#include "nn/layers/attention.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

constexpr Dim B = 2, T = 6, C = 6, heads = 2;

struct Inputs {
  Tensor q, k, v;
  explicit Inputs(std::uint64_t seed, Dim queries = T, Dim keys = T)
      : q(parameter(uniform({B, queries, C}, seed))),
        k(parameter(uniform({B, keys, C}, seed + 1))),
        v(parameter(uniform({B, keys, C}, seed + 2))) {}
  AttentionOutput operator()(const Mask& mask) const { return attend(q, k, v, heads, mask); }
};

Mask custom_of(const Mask& mask, Dim queries, Dim keys) {
  const std::vector<unsigned char> table = mask.table({queries, keys}, "test");
  return custom(queries, keys, std::vector<bool>(table.begin(), table.end()));
}

/// Row `query` of both batch elements may look nowhere, the others everywhere.
Mask blind(Dim query) {
  std::vector<bool> table(T * T, true);
  std::fill_n(table.begin() + query * T, T, false);
  return custom(T, T, table);
}

}  // namespace

TEST_CASE("attend: weights are positive and each row sums to 1") {
  for (const Mask& mask : {Mask(), causal(), window(2), padding({3, 6}), causal() & window(3)}) {
    const Array w = Inputs(1)(mask).weights.value();
    for (Dim row = 0; row < w.size() / T; ++row) {
      double total = 0;
      for (Dim j = 0; j < T; ++j) {
        CHECK(w[row * T + j] >= Real(0));
        total += value_of(w[row * T + j]);
      }
      CHECK_THAT(total, WithinAbs(1, T * value_of(std::numeric_limits<Real>::epsilon()) / 2));
    }
  }
}

TEST_CASE("attend: weights behind the mask are +0, and so are the gradients there") {
  for (const Mask& mask : {causal(), window(2), padding({3, 6}), causal() & padding({2, 5})}) {
    const Inputs in(2);
    const AttentionOutput attended = in(mask);
    attended.weights.keep_grad();
    backward(attended.output, uniform({B, T, C}, 9));
    const Array w = attended.weights.value(), dw = attended.weights.grad();
    const std::vector<unsigned char> visible = mask.table(w.shape(), "test");
    const Real zero = Real(0);
    int hidden = 0;
    for (Dim i = 0; i < w.size(); ++i) {
      if (visible[static_cast<std::size_t>(i)] != 0) continue;
      ++hidden;
      CHECK(std::memcmp(&w.data()[i], &zero, sizeof zero) == 0);
      CHECK(std::memcmp(&dw.data()[i], &zero, sizeof zero) == 0);
    }
    CHECK(hidden > 0);
  }
}

TEST_CASE("Attention: a causal output does not change with later tokens, even NaN") {
  const Attention attention = drawn<Attention>(1, C, heads);
  const Array x = uniform({B, T, C}, 3), y = attention(x, causal()).value();
  for (const double intruder : {0.5, 1e30, infinity, -infinity, not_a_number})
    for (Dim j = 0; j < T; ++j) {
      const Array changed = attention(replaced(x, 1, j, intruder), causal()).value();
      CHECK(same_bits(part(changed, 1, 0, j), part(y, 1, 0, j)));
      CHECK_FALSE(same_bits(part(changed, 1, j, j + 1), part(y, 1, j, j + 1)));
    }
}

TEST_CASE("Attention: a causal output pulls exactly nothing from later tokens") {
  const Attention attention = drawn<Attention>(2, C, heads);
  for (Dim i = 0; i < T; ++i) {
    const Tensor x = parameter(uniform({B, T, C}, 4));
    backward(slice(attention(x, causal()), 1, i, i + 1), uniform({B, 1, C}, 5));
    CHECK(all_zero(part(x.grad(), 1, i + 1, T)));
    CHECK(all_alive(part(x.grad(), 1, 0, i + 1)));
  }
}

TEST_CASE("Attention: the output on the first tokens is the first part of the output") {
  const Attention attention = drawn<Attention>(3, C, heads);
  const Array x = uniform({B, 19, C}, 5), y = attention(x, causal()).value();
  for (Dim t = 0; t <= 19; ++t)
    CHECK(same_bits(attention(part(x, 1, 0, t), causal()).value(), part(y, 1, 0, t)));
}

TEST_CASE("attend: a query alone, after the keys so far, sees what it sees among all") {
  const Inputs in(6, 19, 19);
  const Array q = in.q.value(), k = in.k.value(), v = in.v.value(), y = in(causal()).output.value();
  for (Dim t = 0; t < 19; ++t)
    CHECK(same_bits(
        attend(part(q, 1, t, t + 1), part(k, 1, 0, t + 1), part(v, 1, 0, t + 1), heads, causal())
            .output.value(),
        part(y, 1, t, t + 1)));
}

TEST_CASE("attend: keys added and masked change nothing, not even as NaN") {
  const Inputs in(7);
  const Array dy = uniform({B, T, C}, 8);
  const AttentionOutput plain = in({});
  backward(plain.output, dy);
  for (const Dim more : {1, 3, 14})
    for (const double rubbish : {0.0, 7.0, 1e30, infinity, not_a_number}) {
      Inputs padded(7);
      const Array filling = Array::full({B, more, C}, Real(rubbish));
      padded.k = parameter(joined({in.k.value(), filling}, 1));
      padded.v = parameter(joined({in.v.value(), filling}, 1));
      const AttentionOutput found = padded(padding({T, T}));
      CHECK(same_bits(found.output.value(), plain.output.value()));
      CHECK(same_bits(part(found.weights.value(), -1, 0, T), plain.weights.value()));
      backward(found.output, dy);
      CHECK(same_bits(padded.q.grad(), in.q.grad()));
      CHECK(same_bits(part(padded.k.grad(), 1, 0, T), in.k.grad()));
      CHECK(same_bits(part(padded.v.grad(), 1, 0, T), in.v.grad()));
      CHECK(all_zero(part(padded.k.grad(), 1, T, T + more)));
      CHECK(all_zero(part(padded.v.grad(), 1, T, T + more)));
    }
}

TEST_CASE("attend: a row that may look nowhere is as if it were not there") {
  for (const Dim row : {0, 2, 5}) {
    const Inputs in(8), without(8);
    const Array dy = uniform({B, T, C}, 9);
    const AttentionOutput found = in(blind(row));
    CHECK(same_bits(part(found.output.value(), 1, row, row + 1), Array::zeros({B, 1, C})));
    CHECK(same_bits(part(found.weights.value(), 2, row, row + 1), Array::zeros({B, heads, 1, T})));
    backward(found.output, dy);
    CHECK(all_zero(part(in.q.grad(), 1, row, row + 1)));

    std::vector<Dim> others;
    for (Dim i = 0; i < T; ++i)
      if (i != row) others.push_back(i);
    const Tensor q = parameter(reordered(in.q.value(), 1, others));
    const Tensor y = attend(q, without.k, without.v, heads, {}).output;
    CHECK(same_bits(reordered(found.output.value(), 1, others), y.value()));
    backward(y, reordered(dy, 1, others));
    CHECK(same_bits(reordered(in.q.grad(), 1, others), q.grad()));
    CHECK(same_bits(in.k.grad(), without.k.grad()));
    CHECK(same_bits(in.v.grad(), without.v.grad()));
  }
}

TEST_CASE("Attention: a row that may look nowhere gives the last bias, and finite gradients") {
  const Attention attention = drawn<Attention>(5, C, heads);
  const Tensor y = attention(uniform({B, T, C}, 1), blind(3));
  for (Dim b = 0; b < B; ++b)
    CHECK(same_bits(reshape(slice(slice(y, 0, b, b + 1), 1, 3, 4), {C}).value(),
                    attention.c_proj.bias.value()));
  pull_random(attention, y);
  for (const Tensor& p : parameters(attention)) {
    CHECK(largest(p.grad()) > 0);
    CHECK(largest(p.grad()) < infinity);
  }
}

TEST_CASE("attend: the same mask written as a table gives the same bits") {
  for (const Mask& mask : {causal(), window(1), window(3), causal() & window(2)})
    for (const Dim keys : {T, T + 3}) {
      const Inputs in(9, T, keys), again(9, T, keys);
      const AttentionOutput named = in(mask), tabled = again(custom_of(mask, T, keys));
      CHECK(same_bits(named.output.value(), tabled.output.value()));
      CHECK(same_bits(named.weights.value(), tabled.weights.value()));
      backward(named.output, uniform({B, T, C}, 3));
      backward(tabled.output, uniform({B, T, C}, 3));
      CHECK(same_bits(in.q.grad(), again.q.grad()));
      CHECK(same_bits(in.k.grad(), again.k.grad()));
      CHECK(same_bits(in.v.grad(), again.v.grad()));
    }
}

TEST_CASE("attend: padding masks each batch element by its own length") {
  const Inputs in(10);
  const Array y = in(causal() & padding({2, 5})).output.value();
  const std::vector<Dim> lengths{2, 5};
  for (Dim b = 0; b < B; ++b) {
    const auto alone = [&](const Tensor& x) { return Tensor(part(x.value(), 0, b, b + 1)); };
    const Mask own = causal() & padding({lengths[static_cast<std::size_t>(b)]});
    CHECK(same_bits(attend(alone(in.q), alone(in.k), alone(in.v), heads, own).output.value(),
                    part(y, 0, b, b + 1)));
  }
  CHECK(same_bits(in(padding({T, T})).output.value(), in({}).output.value()));
  CHECK(same_bits(in(padding({0, 0})).output.value(), Array::zeros({B, T, C})));
}

// The other way to write a mask: −∞ added to the scores before a plain softmax.
TEST_CASE("attend: a mask agrees with minus infinities added to the scores") {
  const Inputs in(11);
  const Mask mask = causal() & window(3);
  Array hidden = Array::zeros({T, T});
  const std::vector<unsigned char> visible = mask.table({T, T}, "test");
  for (Dim i = 0; i < T * T; ++i)
    if (visible[static_cast<std::size_t>(i)] == 0) hidden.write()[i] = Real(-infinity);
  const auto split_up = [](const Tensor& x) {
    return transpose(reshape(x, {B, T, heads, C / heads}), 1, 2);
  };
  const Tensor scores = matmul(split_up(in.q), transpose(split_up(in.k))) * (1 / std::sqrt(3.0));
  CHECK(close(in(mask).weights.value(), softmax(scores + Tensor(hidden)).value()));
}

TEST_CASE("Attention: a mask that does not fit is refused with the shapes") {
  const Attention attention = drawn<Attention>(1, C, heads);
  const Tensor x = uniform({B, T, C}, 1);
  const auto refused = [&](const Mask& mask) {
    return refusal<ShapeError>([&] { attention(x, mask); });
  };
  CHECK(refused(padding({1, 2, 3})) ==
        "attention: a padding mask of 3 lengths needs scores (3, ..., queries, keys): got shape "
        "(2, 2, 6, 6)");
  CHECK(refused(padding({1, 7})) ==
        "attention: a padding length of 7 exceeds the keys of shape (2, 2, 6, 6)");
  CHECK(
      refused(custom(6, 5, std::vector<bool>(30, true))) ==
      "attention_scores: a custom mask (6, 5) does not fit scores of shape (2, 2, 6, 6); its rows are "
      "queries, its columns keys");
}
