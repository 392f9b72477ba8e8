// Attention in all its forms against small ops, head by head, under every kind of mask. What holds for
// every layer is in test_layers.cpp.
#include "nn/layers/attention.h"

#include "engine/gradcheck/op_cases.h"
#include "tests/nn/modules.h"

using namespace tests;

namespace {

/// (…, T, H·D) as (…, H, T, D).
Tensor in_heads(const Tensor& x, Dim heads) {
  const int rank = x.rank();
  const Shape shape = x.shape().without(rank - 1).append({heads, x.dim(-1) / heads});
  return transpose(reshape(x, shape), -3, -2);
}

/// x·W + b for the D columns of one head from `begin` on: "value-down" among them.
Tensor down(const Tensor& x, const Linear& layer, Dim begin, Dim D) {
  return matmul(x, slice(layer.weight, 1, begin, begin + D)) +
         slice(layer.bias, 0, begin, begin + D);
}

/// y = Σ_h softmax(q_h·k_hᵀ/√D)·v_h·Up_h + b: each head reads its columns and writes through its
/// rows of c_proj ("value-up"). With one head these are the five lines of the paper.
AttentionOutput by_hand(const std::function<std::array<Tensor, 3>(Dim head)>& qkv,
                        const Linear& c_proj, Dim heads, const Mask& mask, const Tensor& sink) {
  const Dim D = c_proj.weight.dim(0) / heads;
  Tensor y = c_proj.bias;
  std::vector<Tensor> weights;
  for (Dim h = 0; h < heads; ++h) {
    const auto [q, k, v] = qkv(h);
    const double scale = 1 / std::sqrt(static_cast<double>(D));
    const Tensor own = sink.exists() ? slice(sink, 0, h, h + 1) : sink;
    const Tensor rows = softmax_of_visible(matmul(q, transpose(k)) * scale, mask, own);
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
                         const auto& look, Dim heads, const auto& qkv, const Mask& own,
                         const Tensor& sink) {
    for (const Mask& mask : {Mask(), causal(), window(3), padding({9, 4, 0}),
                             causal() & padding({9, 4, 0}), causal() & documents({2, 6, 1}), own}) {
      if (!mask.document_lengths().empty() && inputs.size() > 1) continue;  // T × S
      const AttentionOutput expected = by_hand(qkv, module.c_proj, heads, mask, sink);
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
  for (const auto& [heads, key_heads] :
       {std::pair<Dim, Dim>{1, 1}, {2, 2}, {3, 3}, {2, 1}, {6, 2}, {6, 3}})
    for (const bool has_sink : {false, true}) {
      CAPTURE(heads, key_heads, has_sink);
      Attention attention = drawn<Attention>(3, Dim{6}, HeadCount(heads, key_heads));
      if (has_sink) attention.sink = parameter(uniform({heads}, 6));
      const Dim D = 6 / heads, group = heads / key_heads, own = key_heads * D;
      check(
          attention, {x}, [&](const Mask& mask) { return attention(x, mask); },
          [&](const Mask& mask) { return attention.forward_with_weights(x, mask); }, heads,
          [&](Dim h) {
            const Dim key = 6 + h / group * D;
            return std::array{down(x, attention.c_attn, h * D, D),
                              down(x, attention.c_attn, key, D),
                              down(x, attention.c_attn, key + own, D)};
          },
          custom(T, T, {some.begin(), some.begin() + T * T}), attention.sink);
    }
  for (const Dim heads : {1, 2, 3}) {
    CAPTURE(heads);
    const Dim D = 6 / heads;
    const CrossAttention cross = drawn<CrossAttention>(3, 6, 5, heads);
    check(
        cross, {x, source}, [&](const Mask& mask) { return cross(x, source, mask); },
        [&](const Mask& mask) { return cross.forward_with_weights(x, source, mask); }, heads,
        [&](Dim h) {
          return std::array{down(x, cross.q_attn, h * D, D), down(source, cross.c_attn, h * D, D),
                            down(source, cross.c_attn, 6 + h * D, D)};
        },
        custom(T, S, some), Tensor());
  }
}

TEST_CASE("attend: without an axis for the batch, a mask never takes the heads for the batch") {
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
  const Tensor scores = uniform({2, 1, 3, 3}, 1);
  for (const double sink : {-infinity, -1000.0})  // of no weight
    CHECK(same_bits(softmax_with_sink(scores, padding({2, 0}), Array({1}, {sink})).value(),
                    softmax(scores, padding({2, 0})).value()));
}

TEST_CASE("rotary positions begin anew in each document, to the bit") {
  Attention turned = drawn<Attention>(3, 8, 2);
  turned.rotary_base = 100;
  const Tensor x = uniform({9, 8}, 1), y = turned(x, causal() & documents({4, 5}));
  CHECK(same_bits(slice(y, 0, 4, 9).value(), turned(slice(x, 0, 4, 9), causal()).value()));
}

// Scores of rotated queries and keys at the positions p + i and p + j are those at i and j. Su et al.
// 2021: a rotation by the angles of p turns both alike.
TEST_CASE("rotary positions: scores depend on the distance alone, and a norm commutes with them") {
  constexpr Dim T = 9;
  for (const Dim D : {2, 6, 8, 34, 64})
    for (const double base : {2.0, 10000.0}) {
      CAPTURE(D, base);
      const Tensor q = uniform({T, D}, 1, -0.5, 0.5), k = uniform({T, D}, 2, -0.5, 0.5);
      const auto scores = [&](Dim first) {
        return matmul_transposed(rotate(q, D, 1, first, base), rotate(k, D, 1, first, base))
            .value();
      };
      const Array expected = scores(0);
      CHECK(close(
          scores(0),
          matmul_transposed(rotated_by_angles(q, 0, base), rotated_by_angles(k, 0, base)).value()));
      for (const Dim first : {1, 17, 1000}) CHECK(close(scores(first), expected));
      // The turned keys differ, and so do scores at other distances.
      CHECK_FALSE(close(rotate(k, D, 1, 1, base).value(), rotate(k, D, 1, 0, base).value(), 1e-3));
      CHECK_FALSE(
          close(matmul_transposed(rotate(q, D, 1, 1, base), rotate(k, D, 1, 0, base)).value(),
                expected, 1e-3));

      const Tensor x = parameter(uniform({2, T, D}, 3)), ones = Array::ones({D});
      const Tensor after = rotate(rms_norm(x, ones), D, 1, 5, base),
                   before = rms_norm(rotate(x, D, 1, 5, base), ones);
      CHECK(close(after.value(), before.value()));
      const Array dy = uniform(x.shape(), 4);
      backward(after, dy);
      const Array dx = x.grad().clone();
      x.zero_grad();
      backward(before, dy);
      CHECK(close(x.grad(), dx));
    }
}

TEST_CASE("exclusive attention: nothing of a position's own value is left; 0 takes nothing away") {
  for (const Dim heads : {1, 2, 4}) {
    Attention attention = drawn<Attention>(3, 8, heads);
    const Tensor all = attention.qkv(uniform({2, 5, 8}, 1));
    const Tensor mixed = fledge::attention(all, heads, causal());
    CHECK(same_bits(attention.passed(mixed, all).value(), mixed.value()));
    attention.exclusive = Exclusive::own_value;
    const Tensor left = in_heads(attention.passed(mixed, all), heads);
    const Tensor own = in_heads(slice(all, -1, 16, 24), heads), y = in_heads(mixed, heads);
    CHECK(largest(sum(left * own, {-1}).value()) < 10 * rounding);
    const Tensor direction = own / sqrt(sum(own * own, {-1}, true));
    CHECK(close(left.value(), (y - sum(y * direction, {-1}, true) * direction).value()));
    // The first position sees itself alone.
    CHECK(largest(part(left.value(), 2, 0, 1)) < 10 * rounding);
    const Tensor nothing = Array::zeros({2, 5, 24});
    CHECK(same_numbers(attention.passed(mixed, nothing).value(), mixed.value()));
  }
}

TEST_CASE("attention: what does not fit is refused") {
  Rng rng(1);
  for (const auto& [width, heads] : {std::pair<Dim, Dim>{8, 3}, {8, 0}, {8, -2}, {0, 2}})
    CHECK(refuses<ValueError>([&, w = width, h = heads] { Attention(w, h, rng); }, "Attention",
                              std::to_string(width) + " channels",
                              std::to_string(heads) + " equal heads"));
  CHECK(refuses<ValueError>([&] { Attention(8, {4, 3}, rng); }, "HeadCount", "got 3 and 4"));
  CHECK(refuses<ValueError>([] { HeadCount((Dim{1} << 31) + 1, 1); }, "HeadCount", "2147483649"));
  const Tensor five = uniform({2, 5}, 1);
  CHECK(refuses<ValueError>([&] { keys_of_heads(five, HeadCount(4, 2)); }, "keys_of_heads",
                            "5 channels"));
  CHECK(refuses<ValueError>([] { keys_of_heads(Tensor(1), 1); }, "keys_of_heads"));
  for (const auto& [scores, sink] : {std::pair<Shape, Shape>{{3, 2, 2}, {1}},
                                     {{3, 2, 2}, {1, 1, 3}},
                                     {{2, 3, 2, 2}, {6}},
                                     {{2, 2}, {2}}})
    CHECK(refuses<ShapeError>(
        [s = scores, b = sink] { softmax_with_sink(Array::zeros(s), causal(), Array::zeros(b)); },
        "softmax_with_sink", to_string(scores.rank() < 3 ? scores : sink)));
  Attention odd(6, {2, 1}, rng);
  odd.rotary_base = 100;
  CHECK(refuses<ValueError>([&] { odd(uniform({2, 6}, 1)); }, "Attention", "even", "6 / 2"));
  Attention turned(4, 2, rng);
  const Tensor two = uniform({2, 4}, 1);
  for (const double base : {-1.0, 0.5, quiet_nan}) {
    turned.rotary_base = base;
    CHECK(refuses<ValueError>([&] { turned(two); }, "rotate", "base"));
  }
  for (const Dim first : {Dim{-1}, (Dim{1} << 31) - 1, std::numeric_limits<Dim>::max()})
    CHECK(refuses<ValueError>([&] { rotate(two, 4, 1, first); }, "rotate", "position",
                              std::to_string(first)));
  const Attention attention(4, 2, rng);
  const auto cached = [&] {
    const NoGrad no_grad;
    KeyValueCache cache;
    attention(two, cache, causal() & documents({1, 1}));
  };
  CHECK(refuses<ValueError>(cached, "Attention", "cache", "one document"));
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

TEST_CASE("a bias that hides keys is a mask, dropout leaves the returned weights whole") {
  Rng rng(1), drops(2);
  const Attention attention(6, 2, rng);
  const Tensor x = uniform({2, 4, 6}, 1);
  const Tensor row = counting({4}), column = reshape(row, {4, 1});
  const Tensor hidden = where(row > column, -1e9, 0.0);  // key j > query i
  const AttentionOutput masked = attention.forward_with_weights(x, causal());
  const AttentionOutput biased = attention.forward_with_weights(x, {}, {.bias = hidden});
  CHECK(close(biased.output.value(), masked.output.value()));
  const Tensor bias = uniform({4, 4}, 2), raised = masked.weights * exp(bias);  // e^(s + b)
  CHECK(close(attention.forward_with_weights(x, causal(), {.bias = bias}).weights.value(),
              (raised / sum(raised, {-1}, true)).value()));
  const AttentionOutput dropped = attention.forward_with_weights(
      x, causal(), {.dropout = Dropout(0.5), .mode = Mode::training(drops)});
  CHECK(same_bits(dropped.weights.value(), masked.weights.value()));
  CHECK_FALSE(same_bits(dropped.output.value(), masked.output.value()));
  // However low all scores are, a sink of −∞ is none.
  const Array low({1}, {-1e31}), none({2}, {-infinity, -infinity}), nothing = Array::zeros({0, 4});
  CHECK(attend(uniform({2, 4}, 1), nothing, nothing, 2, {}, {}, none).output.size() == 8);
  CHECK(same_bits(attend(x, x, x, 2, causal(), {.bias = low}).weights.value(),
                  attend(x, x, x, 2, causal(), {.bias = low}, none).weights.value()));
  const AttendOptions wrong{.bias = Array::ones({3, 4, 4})};
  CHECK(refuses<ShapeError>([&] { attention.forward_with_weights(x, {}, wrong); }, "attend",
                            "(2, 2, 4, 4)", "(3, 4, 4)"));
}
