// Attention does not depend on the tokens that a mask hides.
#include "nn/layers/attention.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

constexpr Dim masked_batch = 2, masked_places = 6, masked_width = 6, masked_heads = 2;

struct MaskedInputs {
  Tensor q, k, v;
  explicit MaskedInputs(std::uint64_t seed, Dim queries = masked_places, Dim keys = masked_places)
      : q(parameter(uniform({masked_batch, queries, masked_width}, seed))),
        k(parameter(uniform({masked_batch, keys, masked_width}, seed + 1))),
        v(parameter(uniform({masked_batch, keys, masked_width}, seed + 2))) {}
  AttentionOutput operator()(const Mask& mask) const { return attend(q, k, v, masked_heads, mask); }
};

Mask custom_of(const Mask& mask, Dim queries, Dim keys) {
  const std::vector<unsigned char> table = mask.table({queries, keys}, "test");
  return custom(queries, keys, std::vector<bool>(table.begin(), table.end()));
}

/// Row `query` of both batch elements may look nowhere, the others everywhere.
Mask blind(Dim query) {
  std::vector<bool> table(masked_places * masked_places, true);
  std::fill_n(table.begin() + query * masked_places, masked_places, false);
  return custom(masked_places, masked_places, table);
}

}  // namespace

TEST_CASE(
    "attend: weights are 0 or more and sum to 1; behind the mask they and their gradients are +0") {
  for (const Mask& mask : {Mask(), causal(), window(2), padding({3, 6}), causal() & window(3),
                           causal() & padding({2, 5})}) {
    const MaskedInputs in(2);
    const AttentionOutput attended = in(mask);
    attended.weights.keep_grad();
    backward(attended.output, uniform({masked_batch, masked_places, masked_width}, 9));
    const Array w = attended.weights.value(), dw = attended.weights.grad();
    const std::vector<unsigned char> visible = mask.table(w.shape(), "test");
    const Real zero = Real(0);
    double total = 0;
    for (Dim i = 0; i < w.size(); ++i) {
      total += value_of(w[i]);
      CHECK(value_of(w[i]) >= 0);
      if (visible[static_cast<std::size_t>(i)] == 0) {
        CHECK(std::memcmp(&w.data()[i], &zero, sizeof zero) == 0);
        CHECK(std::memcmp(&dw.data()[i], &zero, sizeof zero) == 0);
      }
      if (i % masked_places < masked_places - 1) continue;
      CHECK_THAT(total, WithinAbs(1, masked_places * unit));
      total = 0;
    }
  }
}

TEST_CASE("attend: a query alone, after the keys so far, sees what it sees among all") {
  const MaskedInputs in(6, 19, 19);
  const Array q = in.q.value(), k = in.k.value(), v = in.v.value(), y = in(causal()).output.value();
  for (Dim t = 0; t < 19; ++t)
    CHECK(same_bits(attend(part(q, 1, t, t + 1), part(k, 1, 0, t + 1), part(v, 1, 0, t + 1),
                           masked_heads, causal())
                        .output.value(),
                    part(y, 1, t, t + 1)));
}

TEST_CASE("attend: keys added and masked change nothing, not even as NaN") {
  const MaskedInputs in(7);
  const Array dy = uniform({masked_batch, masked_places, masked_width}, 8);
  const AttentionOutput plain = in({});
  backward(plain.output, dy);
  for (const Dim more : {1, 3, 14})
    for (const double rubbish : {0.0, 7.0, 1e30, infinity, not_a_number}) {
      MaskedInputs padded(7);
      const Array filling = Array::full({masked_batch, more, masked_width}, Real(rubbish));
      padded.k = parameter(joined({in.k.value(), filling}, 1));
      padded.v = parameter(joined({in.v.value(), filling}, 1));
      const AttentionOutput found = padded(padding({masked_places, masked_places}));
      CHECK(same_bits(found.output.value(), plain.output.value()));
      CHECK(same_bits(part(found.weights.value(), -1, 0, masked_places), plain.weights.value()));
      backward(found.output, dy);
      CHECK(same_bits(padded.q.grad(), in.q.grad()));
      CHECK(same_bits(part(padded.k.grad(), 1, 0, masked_places), in.k.grad()));
      CHECK(same_bits(part(padded.v.grad(), 1, 0, masked_places), in.v.grad()));
      CHECK(all_zero(part(padded.k.grad(), 1, masked_places, masked_places + more)));
      CHECK(all_zero(part(padded.v.grad(), 1, masked_places, masked_places + more)));
    }
}

TEST_CASE("attend: a row that may look nowhere is as if it were not there") {
  for (const Dim row : {0, 2, 5}) {
    const MaskedInputs in(8), without(8);
    const Array dy = uniform({masked_batch, masked_places, masked_width}, 9);
    const AttentionOutput found = in(blind(row));
    CHECK(all_zero(part(found.output.value(), 1, row, row + 1)));
    CHECK(all_zero(part(found.weights.value(), 2, row, row + 1)));
    backward(found.output, dy);
    CHECK(all_zero(part(in.q.grad(), 1, row, row + 1)));

    std::vector<Dim> others;
    for (Dim i = 0; i < masked_places; ++i)
      if (i != row) others.push_back(i);
    const Tensor q = parameter(reordered(in.q.value(), 1, others));
    const Tensor y = attend(q, without.k, without.v, masked_heads, {}).output;
    CHECK(same_bits(reordered(found.output.value(), 1, others), y.value()));
    backward(y, reordered(dy, 1, others));
    CHECK(same_bits(reordered(in.q.grad(), 1, others), q.grad()));
    CHECK(same_bits(in.k.grad(), without.k.grad()));
    CHECK(same_bits(in.v.grad(), without.v.grad()));
  }
}

TEST_CASE("Attention: a row that may look nowhere gives the last bias, and finite gradients") {
  const Attention attention = drawn<Attention>(5, masked_width, masked_heads);
  const Tensor y = attention(uniform({masked_batch, masked_places, masked_width}, 1), blind(3));
  for (Dim b = 0; b < masked_batch; ++b)
    CHECK(same_bits(part(part(y.value(), 0, b, b + 1), 1, 3, 4).with_shape({masked_width}),
                    attention.c_proj.bias.value()));
  pull_random(attention, y);
  for (const Tensor& p : parameters(attention))
    CHECK((largest(p.grad()) > 0 && largest(p.grad()) < infinity));
}

TEST_CASE("attend: the same mask written as a table gives the same bits") {
  for (const Mask& mask : {causal(), window(1), window(3), causal() & window(2)})
    for (const Dim keys : {masked_places, masked_places + 3}) {
      const MaskedInputs in(9, masked_places, keys), again(9, masked_places, keys);
      const AttentionOutput named = in(mask), tabled = again(custom_of(mask, masked_places, keys));
      CHECK(same_bits(named.output.value(), tabled.output.value()));
      CHECK(same_bits(named.weights.value(), tabled.weights.value()));
      backward(named.output, uniform({masked_batch, masked_places, masked_width}, 3));
      backward(tabled.output, uniform({masked_batch, masked_places, masked_width}, 3));
      CHECK(same_bits(in.q.grad(), again.q.grad()));
      CHECK(same_bits(in.k.grad(), again.k.grad()));
      CHECK(same_bits(in.v.grad(), again.v.grad()));
    }
}

TEST_CASE("attend: padding masks each batch element by its own length") {
  const MaskedInputs in(10);
  const Array y = in(causal() & padding({2, 5})).output.value();
  const std::vector<Dim> lengths{2, 5};
  for (Dim b = 0; b < masked_batch; ++b) {
    const auto alone = [&](const Tensor& x) { return Tensor(part(x.value(), 0, b, b + 1)); };
    const Mask own = causal() & padding({lengths[static_cast<std::size_t>(b)]});
    CHECK(same_bits(attend(alone(in.q), alone(in.k), alone(in.v), masked_heads, own).output.value(),
                    part(y, 0, b, b + 1)));
  }
  CHECK(
      same_bits(in(padding({masked_places, masked_places})).output.value(), in({}).output.value()));
  CHECK(same_bits(in(padding({0, 0})).output.value(),
                  Array::zeros({masked_batch, masked_places, masked_width})));
}

// The other way to write a mask: −∞ added to the scores before a plain softmax.
TEST_CASE("attend: a mask agrees with minus infinities added to the scores") {
  const MaskedInputs in(11);
  const Mask mask = causal() & window(3);
  Array hidden = Array::zeros({masked_places, masked_places});
  const std::vector<unsigned char> visible = mask.table({masked_places, masked_places}, "test");
  for (Dim i = 0; i < masked_places * masked_places; ++i)
    if (visible[static_cast<std::size_t>(i)] == 0) hidden.write()[i] = Real(-infinity);
  const auto split_up = [](const Tensor& x) {
    return transpose(
        reshape(x, {masked_batch, masked_places, masked_heads, masked_width / masked_heads}), 1, 2);
  };
  const Tensor scores = matmul(split_up(in.q), transpose(split_up(in.k))) * (1 / std::sqrt(3.0));
  CHECK(close(in(mask).weights.value(), softmax(scores + Tensor(hidden)).value()));
}
