#include "nn/layers/attention.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

const double ln3 = std::log(3.0);

// T = 2, D = 1:   q = (0, 1)   k = (0, ln 3)   v = (4, 8)
struct ByHand {
  Tensor q = parameter(Array({2, 1}, {0, 1}));
  Tensor k = parameter(Array({2, 1}, {0, ln3}));
  Tensor v = parameter(Array({2, 1}, {4, 8}));
};

/// The columns of a (C, 3C) table that belong to one head: its third `part` (0 q, 1 k, 2 v).
Array head_columns(const Tensor& table, int third, Dim head, Dim heads) {
  const Dim C = table.dim(-1) / 3, D = C / heads;
  return part(table.value(), -1, third * C + head * D, third * C + (head + 1) * D);
}

}  // namespace

// Scores (0, 0; 0, ln 3), weights (½, ½; ¼, ¾), outputs 6 and 1 + 6 = 7.
TEST_CASE("attend: two places of one number, by hand") {
  const ByHand in;
  const AttentionOutput attended = attend(in.q, in.k, in.v, 1, {});
  CHECK(close(attended.weights.value(), Array({1, 2, 2}, {0.5, 0.5, 0.25, 0.75})));
  CHECK(close(attended.output.value(), Array({2, 1}, {6, 7})));
  // dy = (1, −2):  dw = dy·vᵀ = (4, 8; −8, −16), with row means ⟨dw, w⟩ = 6 and −14
  // dS = w ⊙ (dw − mean) = (−1, 1; 1.5, −1.5)
  // dq = dS·k = (ln 3, −1.5·ln 3)   dk = dSᵀ·q = (1.5, −1.5)   dv = wᵀ·dy = (½ − ½, ½ − 1½)
  backward(attended.output, Array({2, 1}, {1, -2}));
  CHECK(close(in.q.grad(), Array({2, 1}, {ln3, -1.5 * ln3})));
  CHECK(close(in.k.grad(), Array({2, 1}, {1.5, -1.5})));
  CHECK(close(in.v.grad(), Array({2, 1}, {0, -1})));
}

// The first place sees only itself: weights (1, 0; ¼, ¾), outputs 4 and 7; row 0 pulls on v₀ alone.
TEST_CASE("attend: the same, causal") {
  const ByHand in;
  const AttentionOutput attended = attend(in.q, in.k, in.v, 1, causal());
  CHECK(close(attended.weights.value(), Array({1, 2, 2}, {1, 0, 0.25, 0.75})));
  CHECK(close(attended.output.value(), Array({2, 1}, {4, 7})));
  backward(attended.output, Array({2, 1}, {1, -2}));
  CHECK(close(in.q.grad(), Array({2, 1}, {0, -1.5 * ln3})));
  CHECK(close(in.k.grad(), Array({2, 1}, {1.5, -1.5})));
  CHECK(close(in.v.grad(), Array({2, 1}, {1 - 0.5, -1.5})));
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

TEST_CASE("Attention: with one head it is the five lines of the paper") {
  const Attention attention = drawn<Attention>(1, 5, 1);
  const Tensor x = uniform({2, 4, 5}, 2);
  const Tensor qkv = matmul(x, attention.c_attn.weight) + attention.c_attn.bias;
  const Tensor q = slice(qkv, -1, 0, 5), k = slice(qkv, -1, 5, 10), v = slice(qkv, -1, 10, 15);
  const Tensor weights = softmax(matmul(q, transpose(k)) * (1 / std::sqrt(5.0)));
  const Tensor y = matmul(matmul(weights, v), attention.c_proj.weight) + attention.c_proj.bias;
  const AttentionOutput found = attention.forward_with_weights(x);
  CHECK(close(found.output.value(), y.value()));
  CHECK(close(found.weights.value(), reshape(weights, {2, 1, 4, 4}).value()));
}

// y = Σ_h softmax(q_h·k_hᵀ/√D)·v_h·Up_h + b: each head reads its columns of each third
// ("value-down" among them) and writes through its rows of c_proj ("value-up").
TEST_CASE("Attention: many heads are the sum of heads, each down and up on its own") {
  constexpr Dim heads = 3, D = 2, C = heads * D;
  const Attention attention = drawn<Attention>(2, C, heads);
  const Tensor x = uniform({2, 4, C}, 3);
  const AttentionOutput found = attention.forward_with_weights(x, causal());
  Tensor y = attention.c_proj.bias;
  for (Dim h = 0; h < heads; ++h) {
    const auto made = [&](int third) {
      return matmul(x, head_columns(attention.c_attn.weight, third, h, heads)) +
             Tensor(head_columns(attention.c_attn.bias, third, h, heads));
    };
    const Tensor weights =
        softmax(matmul(made(0), transpose(made(1))) * (1 / std::sqrt(2.0)), causal());
    const Tensor up = part(attention.c_proj.weight.value(), 0, h * D, (h + 1) * D);
    y = y + matmul(matmul(weights, made(2)), up);
    CHECK(close(part(found.weights.value(), 1, h, h + 1), reshape(weights, {2, 1, 4, 4}).value()));
  }
  CHECK(close(found.output.value(), y.value()));
}

TEST_CASE("Attention: the weights it returns are the ones it used, to the bit") {
  const Attention attention = drawn<Attention>(3, 6, 2);
  const Tensor x = uniform({2, 5, 6}, 4);
  const AttentionOutput found = attention.forward_with_weights(x, causal());
  const Tensor v = slice(attention.c_attn(x), -1, 12, 18);
  const Tensor v_heads = transpose(reshape(v, {2, 5, 2, 3}), 1, 2);
  const Tensor mixed = weighted_sum(found.weights, v_heads, causal());
  CHECK(same_bits(attention.c_proj(reshape(transpose(mixed, 1, 2), {2, 5, 6})).value(),
                  found.output.value()));
}

namespace {

// Σ dy·output as a function of the weights (H, T, S) of one batch element, in plain loops.
double weighted(const Array& weights, const Tensor& v, const Array& dy, Dim b, Dim heads) {
  const Dim T = dy.dim(-2), C = dy.dim(-1), S = v.dim(-2), D = C / heads;
  double sum = 0;
  for (Dim h = 0; h < heads; ++h)
    for (Dim i = 0; i < T; ++i)
      for (Dim j = 0; j < S; ++j)
        for (Dim d = h * D; d < (h + 1) * D; ++d)
          sum += value_of(weights[((b * heads + h) * T + i) * S + j] *
                          v.value()[(b * S + j) * C + d] * dy[(b * T + i) * C + d]);
  return sum;
}

}  // namespace

TEST_CASE("attend: the weights it returns are on the path, so they can keep their gradient") {
  constexpr Dim T = 3, S = 4, H = 2, C = 4;
  const Mask table =
      custom(T, S, {true, false, true, false, false, true, true, true, true, false, false, false});
  for (const Shape& lead : {Shape{}, Shape{2}, Shape{2, 2}})
    for (const Mask& mask : {Mask(), causal(), table}) {
      CAPTURE(to_string(lead));
      const Tensor q = parameter(uniform(lead.append({T, C}), 1));
      const Tensor k = parameter(uniform(lead.append({S, C}), 2));
      const Tensor v = parameter(uniform(lead.append({S, C}), 3));
      const Array dy = uniform(q.shape(), 4);
      const AttentionOutput attended = attend(q, k, v, H, mask);
      CHECK(attended.weights.shape() == lead.append({H, T, S}));
      attended.weights.keep_grad();
      backward(attended.output, dy);
      REQUIRE(attended.weights.has_grad());
      const Array weights = attended.weights.value().clone(), grad = attended.weights.grad();
      const std::vector<unsigned char> visible = mask.table({1, H, T, S}, "test");
      const double step = 0.25;  // the output is linear in the weights
      for (Dim i = 0; i < weights.size(); ++i) {
        const Dim b = i / (H * T * S);
        Array more = weights.clone(), less = weights.clone();
        more.write()[i] += Real(step);
        less.write()[i] -= Real(step);
        const double slope =
            (weighted(more, v, dy, b, H) - weighted(less, v, dy, b, H)) / (2 * step);
        const bool is_visible = visible[static_cast<std::size_t>(i % (H * T * S))] != 0;
        CHECK_THAT(value_of(grad[i]), WithinAbs(is_visible ? slope : 0, 10 * rounding));
      }
    }
}

TEST_CASE("Attention: the weights of a look keep their gradient, with and without a batch") {
  Rng rng(8);
  const Attention attention(4, 2, rng);
  const CrossAttention cross(4, 4, 2, rng);
  for (const Shape& lead : {Shape{}, Shape{2}, Shape{1, 2}})
    for (const Mask& mask : {Mask(), causal()}) {
      const Tensor x = uniform(lead.append({3, 4}), 9), source = uniform(x.shape(), 10);
      for (const AttentionOutput& with_weights :
           {attention.forward_with_weights(x, mask), cross.forward_with_weights(x, source, mask)}) {
        with_weights.weights.keep_grad();
        backward(sum(with_weights.output * with_weights.output));
        REQUIRE(with_weights.weights.has_grad());
        CHECK(value_of(sum(Tensor(with_weights.weights.grad()) * with_weights.weights.grad())
                           .value()
                           .item()) > 0);
      }
    }
}

TEST_CASE(
    "Attention: without its weights it gives what it gives with them, and the same gradients") {
  const Attention attention = drawn<Attention>(3, 6, 2);
  const Tensor x = parameter(uniform({3, 9, 6}, 4));
  for (const Mask& mask : {Mask(), causal(), window(3), causal() & padding({9, 4, 0})}) {
    pull_random(attention, attention(x, mask));
    const Array dx = x.grad(), dw = attention.c_attn.weight.grad(),
                db = attention.c_attn.bias.grad();
    x.zero_grad();
    const AttentionOutput with_weights = attention.forward_with_weights(x, mask);
    CHECK(close(attention(x, mask).value(), with_weights.output.value()));
    pull_random(attention, with_weights.output);
    CHECK(close(dx, x.grad()));
    CHECK(close(dw, attention.c_attn.weight.grad()));
    CHECK(close(db, attention.c_attn.bias.grad()));
    x.zero_grad();
  }
  const Mask own = custom(9, 9, std::vector<bool>(81, true));
  CHECK(
      same_bits(attention(x, own).value(), attention.forward_with_weights(x, own).output.value()));
}

TEST_CASE("Attention: every parameter answers, but for the bias of the keys") {
  const Attention attention = drawn<Attention>(4, 4, 2);
  const Tensor x = uniform({2, 5, 4}, 5);
  for (const Mask& mask : {Mask(), causal()})
    CHECK(idle_numbers(attention, [&] { return attention(x, mask); }) ==
          std::vector<std::string>{"c_attn.bias[4]", "c_attn.bias[5]", "c_attn.bias[6]",
                                   "c_attn.bias[7]"});
}

// Softmax does not see what is added to a whole row of scores, and ⟨q_i, b⟩ is just that.
TEST_CASE("Attention: the gradient of the key bias is zero to rounding") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Attention attention = drawn<Attention>(seed, 6, 2);
    pull_random(attention, attention(uniform({3, 7, 6}, seed), causal()));
    const Array g = attention.c_attn.bias.grad();
    CHECK(largest(part(g, 0, 6, 12)) <= rounding * largest(g));
    CHECK(largest(part(g, 0, 0, 6)) > 1e-3 * largest(g));
  }
}

TEST_CASE("Attention: without biases, and with axes in front or none") {
  Rng rng(1);
  const Attention attention(4, 2, rng, Bias::without);
  const Array x = uniform({2, 3, 5, 4}, 1), y = attention(x, causal()).value();
  REQUIRE(y.shape() == Shape{2, 3, 5, 4});
  CHECK(attention.forward_with_weights(x, causal()).weights.shape() == Shape{2, 3, 2, 5, 5});
  for (Dim a = 0; a < 2; ++a)
    for (Dim b = 0; b < 3; ++b) {
      const Array alone = reshape(Tensor(part(part(x, 0, a, a + 1), 1, b, b + 1)), {5, 4}).value();
      const Array expected =
          reshape(Tensor(part(part(y, 0, a, a + 1), 1, b, b + 1)), {5, 4}).value();
      CHECK(same_bits(attention(alone, causal()).value(), expected));
    }
}

TEST_CASE("Attention: no keys, and no queries") {
  const Attention attention = drawn<Attention>(1, 4, 2);
  CHECK(attention(Array::zeros({0, 3, 4})).shape() == Shape{0, 3, 4});
  CHECK(attention(Array::zeros({2, 0, 4})).shape() == Shape{2, 0, 4});
  const AttentionOutput no_queries =
      attend(Array::zeros({1, 0, 4}), Array::zeros({1, 3, 4}), Array::zeros({1, 3, 4}), 2, {});
  CHECK(no_queries.output.shape() == Shape{1, 0, 4});
  CHECK(no_queries.weights.shape() == Shape{1, 2, 0, 3});
  const Tensor none = Array::zeros({1, 0, 4});
  const AttentionOutput no_keys = attend(uniform({1, 3, 4}, 1), none, none, 2, {});
  CHECK(same_bits(no_keys.output.value(), Array::zeros({1, 3, 4})));
  CHECK(no_keys.weights.shape() == Shape{1, 2, 3, 0});
}

TEST_CASE("Attention: starts reproducibly, with numbers of its own in each projection") {
  Rng one(3), same(3);
  const Attention a(4, 2, one), b(4, 2, same);
  CHECK(same_bits(a.c_attn.weight.value(), b.c_attn.weight.value()));
  CHECK(same_bits(a.c_proj.weight.value(), b.c_proj.weight.value()));
  CHECK(same_bits(a.c_attn.bias.value(), Array::zeros({12})));
  const std::vector<double> up = to_vector(a.c_proj.weight.value());
  for (const double w : to_vector(a.c_attn.weight.value()))
    CHECK(std::count(up.begin(), up.end(), w) == 0);
}

TEST_CASE("Attention: what does not fit is refused") {
  Rng rng(1);
  const auto made = [&](Dim width, Dim heads) {
    return refusal<ValueError>([&] { Attention(width, heads, rng); });
  };
  CHECK(made(8, 3) == "Attention: 8 channels do not split into 3 equal heads");
  CHECK(made(8, 0) == "Attention: 8 channels do not split into 0 equal heads");
  CHECK(made(8, -2) == "Attention: 8 channels do not split into -2 equal heads");
  CHECK(made(0, 2) == "Attention: 0 channels do not split into 2 equal heads");
  const Attention attention(4, 2, rng);
  CHECK(refusal<ShapeError>([&] {
          attention(Array::zeros({2, 3, 5}));
        }) == "Attention: expects (..., time, 4): got shape (2, 3, 5)");
  CHECK(refusal<ShapeError>([&] { attention(Array::zeros({4})); }) ==
        "Attention: expects (..., time, 4): got shape (4)");
  const auto refused = [](const Shape& q, const Shape& k, const Shape& v) {
    return refusal<ShapeError>(
        [&] { attend(Array::zeros(q), Array::zeros(k), Array::zeros(v), 1, {}); });
  };
  const std::string needs = "attend: needs q (..., T, C) and k, v (..., S, C): got ";
  CHECK(refused({2, 4}, {3, 4}, {2, 4}) == needs + "(2, 4), (3, 4), (2, 4)");
  CHECK(refused({2, 4}, {3, 5}, {3, 5}) == needs + "(2, 4), (3, 5), (3, 5)");
  CHECK(refused({4}, {4}, {4}) == needs + "(4), (4), (4)");
  const Tensor x = Array::zeros({2, 6});
  CHECK(refusal<ValueError>([&] { attend(x, x, x, 4, {}); }) ==
        "attend: 6 channels do not split into 4 equal heads");
}
