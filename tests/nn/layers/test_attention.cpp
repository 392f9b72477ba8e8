// Attention in all its forms against small ops, head by head, under every kind of mask. What holds for
// every layer is in test_layers.cpp.
#include "nn/layers/attention.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace tests;

namespace {

/// (…, T, H·D) as (…, H, T, D).
Tensor in_heads(const Tensor& x, Dim heads) {
  const int rank = x.rank();
  const Shape shape = x.shape().without(rank - 1).append({heads, x.dim(-1) / heads});
  return transpose(reshape(x, shape), -3, -2);
}

/// x·W + b for the columns of one head in one of `parts` parts of a table: "value-down" among them.
Tensor down(const Tensor& x, const Linear& layer, Dim part, Dim parts, Dim head, Dim heads) {
  const Dim C = layer.weight.dim(1) / parts, D = C / heads, begin = part * C + head * D;
  return matmul(x, slice(layer.weight, 1, begin, begin + D)) +
         slice(layer.bias, 0, begin, begin + D);
}

/// y = Σ_h softmax(q_h·k_hᵀ/√D)·v_h·Up_h + b: each head reads its columns and writes through its
/// rows of c_proj ("value-up"). With one head these are the five lines of the paper.
AttentionOutput by_hand(const std::function<std::array<Tensor, 3>(Dim head)>& qkv,
                        const Linear& c_proj, Dim heads, const Mask& mask) {
  const Dim D = c_proj.weight.dim(0) / heads;
  Tensor y = c_proj.bias;
  std::vector<Tensor> weights;
  for (Dim h = 0; h < heads; ++h) {
    const auto [q, k, v] = qkv(h);
    const double scale = 1 / std::sqrt(static_cast<double>(D));
    const Tensor rows = softmax(matmul(q, transpose(k)) * scale, mask);
    y = y + matmul(matmul(rows, v), slice(c_proj.weight, 0, h * D, (h + 1) * D));
    weights.push_back(reshape(rows, {rows.dim(0), 1, rows.dim(1), rows.dim(2)}));
  }
  return {y, concat(weights, 1)};
}

/// The gradients of the parameters and of the inputs for a random cotangent of y.
template <Module M>
std::vector<Array> gradients_of(const M& module, const std::vector<Tensor>& inputs,
                                const Tensor& y) {
  for (const Tensor& x : inputs) x.zero_grad();
  pull_random(module, y);
  std::vector<Array> gradients;
  for (const Tensor& p : parameters(module)) gradients.push_back(p.grad().clone());
  for (const Tensor& x : inputs) gradients.push_back(x.grad().clone());
  return gradients;
}

const Mask table_3x4 =
    custom(3, 4, {true, false, true, false, false, true, true, true, true, false, false, false});

}  // namespace

TEST_CASE("attention with and without its weights is the sum of its heads, with their gradients") {
  constexpr Dim T = 9, S = 11;
  std::vector<bool> some(T * S, true);
  for (std::size_t i = 0; i < some.size(); i += 3) some[i] = false;
  const auto check = [&](const auto& module, const std::vector<Tensor>& inputs, const auto& call,
                         const auto& look, const auto& qkv, const Mask& own) {
    for (const Mask& mask :
         {Mask(), causal(), window(3), padding({9, 4, 0}), causal() & padding({9, 4, 0}), own}) {
      const AttentionOutput expected = by_hand(qkv, module.c_proj, module.heads, mask);
      const std::vector<Array> gradients = gradients_of(module, inputs, expected.output);
      const AttentionOutput found = look(mask);
      CHECK(close(call(mask).value(), expected.output.value()));
      CHECK(close(found.output.value(), expected.output.value()));
      CHECK(close(found.weights.value(), expected.weights.value()));
      for (const Tensor& y : {call(mask), found.output}) {
        const std::vector<Array> own_gradients = gradients_of(module, inputs, y);
        for (std::size_t i = 0; i < gradients.size(); ++i)
          CHECK(close(own_gradients[i], gradients[i], 10 * rounding));
      }
    }
    CHECK(same_bits(call(own).value(), look(own).output.value()));
  };
  const Tensor x = parameter(uniform({3, T, 6}, 4)), source = parameter(uniform({3, S, 5}, 5));
  for (const Dim heads : {1, 2, 3}) {
    CAPTURE(heads);
    const Attention attention = drawn<Attention>(3, 6, heads);
    check(
        attention, {x}, [&](const Mask& mask) { return attention(x, mask); },
        [&](const Mask& mask) { return attention.forward_with_weights(x, mask); },
        [&](Dim h) {
          const auto third = [&](Dim t) { return down(x, attention.c_attn, t, 3, h, heads); };
          return std::array{third(0), third(1), third(2)};
        },
        custom(T, T, {some.begin(), some.begin() + T * T}));
    const CrossAttention cross = drawn<CrossAttention>(3, 6, 5, heads);
    check(
        cross, {x, source}, [&](const Mask& mask) { return cross(x, source, mask); },
        [&](const Mask& mask) { return cross.forward_with_weights(x, source, mask); },
        [&](Dim h) {
          return std::array{down(x, cross.q_attn, 0, 1, h, heads),
                            down(source, cross.c_attn, 0, 2, h, heads),
                            down(source, cross.c_attn, 1, 2, h, heads)};
        },
        custom(T, S, some));
  }
}

// T = 2, D = 1: q = (0, 1), k = (0, ln 3), v = (4, 8). Scores (0, 0; 0, ln 3), weights
// (½, ½; ¼, ¾), outputs 6 and 1 + 6 = 7. Causal, the first position sees only itself.
TEST_CASE("attend: two positions of one number, by hand") {
  const Tensor q = Array({2, 1}, {0, 1}), k = Array({2, 1}, {0, std::log(3.0)}),
               v = Array({2, 1}, {4, 8});
  const AttentionOutput all = attend(q, k, v, 1, {}), before = attend(q, k, v, 1, causal());
  CHECK(close(all.weights.value(), Array({1, 2, 2}, {0.5, 0.5, 0.25, 0.75})));
  CHECK(close(all.output.value(), Array({2, 1}, {6, 7})));
  CHECK(close(before.weights.value(), Array({1, 2, 2}, {1, 0, 0.25, 0.75})));
  CHECK(close(before.output.value(), Array({2, 1}, {4, 7})));
  // Without an axis for the batch, a mask never takes the heads for the batch.
  const Tensor two = uniform({3, 4}, 1), one = reshape(two, {1, 3, 4});
  CHECK(same_bits(attend(two, two, two, 2, padding({2})).output.value().with_shape({1, 3, 4}),
                  attend(one, one, one, 2, padding({2})).output.value()));
}

// ∂⟨dy, y⟩/∂w = dy·vᵀ for each head, where the mask shows it; elsewhere both are +0, to the bit.
TEST_CASE("attend: the weights it returns are on the path, so they can keep their gradient") {
  constexpr Dim T = 3, S = 4, H = 2, C = 4;
  for (const Shape& lead : {Shape{}, Shape{2}, Shape{2, 2}})
    for (const Mask& mask : {Mask(), causal(), window(1), table_3x4}) {
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
      const Tensor mixed = weighted_sum(attended.weights, in_heads(v, H), mask);
      CHECK(
          same_bits(reshape(transpose(mixed, -3, -2), q.shape()).value(), attended.output.value()));
      Array expected = matmul(in_heads(dy, H), transpose(in_heads(v, H))).value().clone();
      const auto visible = mask.table({1, H, T, S}, "test");
      for (Dim i = 0; i < expected.size(); ++i) {
        if (visible[static_cast<std::size_t>(i % (H * T * S))] != 0) continue;
        expected.write()[i] = Real(0);
        for (const Array& hidden : {attended.weights.value(), attended.weights.grad()})
          CHECK((value_of(hidden[i]) == 0 && !std::signbit(value_of(hidden[i]))));
      }
      CHECK(close(attended.weights.grad(), expected));
    }
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

TEST_CASE("attention: what does not fit is refused") {
  Rng rng(1);
  for (const auto& [width, heads] : {std::pair<Dim, Dim>{8, 3}, {8, 0}, {8, -2}, {0, 2}})
    CHECK(refuses<ValueError>([&, w = width, h = heads] { Attention(w, h, rng); }, "Attention",
                              std::to_string(width) + " channels",
                              std::to_string(heads) + " equal heads"));
  const Attention attention(4, 2, rng);
  for (const Shape& wrong : {Shape{2, 3, 5}, Shape{4}})
    CHECK(refuses<ShapeError>([&] { attention(Array::zeros(wrong)); }, "Attention", "4",
                              to_string(wrong)));
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
