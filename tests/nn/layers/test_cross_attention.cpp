// Queries from one place, keys and values from another.
#include "nn/layers/attention.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

constexpr Dim cross_width = 4, source_places = 5, query_places = 3, cross_heads = 2,
              source_width = 3;

CrossAttention drawn_cross(std::uint64_t seed) {
  return drawn<CrossAttention>(seed, cross_width, source_width, cross_heads);
}

}  // namespace

TEST_CASE("CrossAttention: T queries over S keys") {
  const AttentionOutput found = drawn_cross(1).forward_with_weights(
      uniform({2, query_places, cross_width}, 1), uniform({2, source_places, source_width}, 2));
  CHECK(found.output.shape() == Shape{2, query_places, cross_width});
  CHECK(found.weights.shape() == Shape{2, cross_heads, query_places, source_places});
  CHECK(drawn_cross(1)(uniform({query_places, cross_width}, 1),
                       uniform({source_places, source_width}, 2))
            .shape() == Shape{query_places, cross_width});
}

TEST_CASE("CrossAttention: is its projections around attend, to the bit") {
  const CrossAttention cross = drawn_cross(2);
  const Tensor x = uniform({2, query_places, cross_width}, 1),
               source = uniform({2, source_places, source_width}, 2);
  const Tensor kv = cross.c_attn(source);
  const AttentionOutput inner =
      attend(cross.q_attn(x), slice(kv, -1, 0, cross_width),
             slice(kv, -1, cross_width, 2 * cross_width), cross_heads, causal());
  const AttentionOutput found = cross.forward_with_weights(x, source, causal());
  CHECK(same_bits(found.output.value(), cross.c_proj(inner.output).value()));
  CHECK(same_bits(found.weights.value(), inner.weights.value()));
  // Without the weights it is one op, but for custom masks.
  CHECK(close(cross(x, source, causal()).value(), found.output.value()));
  const Mask all =
      custom(query_places, source_places, std::vector<bool>(query_places * source_places, true));
  CHECK(same_bits(cross(x, source, all).value(),
                  cross.forward_with_weights(x, source, all).output.value()));
}

TEST_CASE("CrossAttention: on its own input it is self-attention with the same numbers") {
  const Attention own = drawn<Attention>(3, cross_width, cross_heads);
  Rng rng(1);
  const CrossAttention cross(cross_width, cross_width, cross_heads, rng);
  const Array w = own.c_attn.weight.value(), b = own.c_attn.bias.value();
  assign(cross.q_attn.weight, part(w, 1, 0, cross_width));
  assign(cross.q_attn.bias, part(b, 0, 0, cross_width));
  assign(cross.c_attn.weight, part(w, 1, cross_width, 3 * cross_width));
  assign(cross.c_attn.bias, part(b, 0, cross_width, 3 * cross_width));
  assign(cross.c_proj.weight, own.c_proj.weight.value());
  assign(cross.c_proj.bias, own.c_proj.bias.value());
  const Tensor x = uniform({2, query_places, cross_width}, 4);
  CHECK(close(cross(x, x, causal()).value(), own(x, causal()).value()));
}

// With more keys than queries the last query sees every key.
TEST_CASE("CrossAttention: a causal mask is aligned at the last query and key") {
  const CrossAttention cross = drawn_cross(4);
  const Array x = uniform({2, query_places, cross_width}, 1),
              source = uniform({2, source_places, source_width}, 2);
  const Array y = cross(x, source, causal()).value();
  for (Dim j = 0; j < source_places; ++j) {
    const Array changed = cross(x, replaced(source, 1, j, not_a_number), causal()).value();
    const Dim unaware = std::clamp<Dim>(j - (source_places - query_places), 0, query_places);
    CHECK(same_bits(part(changed, 1, 0, unaware), part(y, 1, 0, unaware)));
    for (Dim i = unaware; i < query_places; ++i) CHECK(isnan(changed.at({0, i, 0})));
  }
}

TEST_CASE("CrossAttention: what padding hides of the source does not matter") {
  const CrossAttention cross = drawn_cross(5);
  const Tensor x = uniform({2, query_places, cross_width}, 1);
  const Array source = uniform({2, source_places, source_width}, 2);
  const Array rubbish = Array::full({2, 4, source_width}, Real(not_a_number));
  CHECK(same_bits(
      cross(x, joined({source, rubbish}, 1), padding({source_places, source_places})).value(),
      cross(x, source).value()));
}

TEST_CASE("CrossAttention: the bias of the keys alone has no effect and no gradient") {
  const CrossAttention cross = drawn_cross(6);
  const Tensor x = uniform({2, query_places, cross_width}, 1),
               source = uniform({2, source_places, source_width}, 2);
  CHECK(idle_numbers(cross, [&] { return cross(x, source); }) ==
        std::vector<std::string>{"c_attn.bias[0]", "c_attn.bias[1]", "c_attn.bias[2]",
                                 "c_attn.bias[3]"});
}

TEST_CASE("CrossAttention: a source of one token, of none, and an empty batch") {
  const CrossAttention cross = drawn_cross(7);
  const Tensor x = uniform({2, query_places, cross_width}, 1);
  CHECK(same_bits(cross.forward_with_weights(x, uniform({2, 1, source_width}, 2)).weights.value(),
                  Array::ones({2, cross_heads, query_places, 1})));
  const Array y = cross(x, Array::zeros({2, 0, source_width})).value();
  CHECK(same_bits(part(part(y, 0, 1, 2), 1, 2, 3),
                  cross.c_proj.bias.value().with_shape({1, 1, cross_width})));
  CHECK(cross(Array::zeros({0, query_places, cross_width}),
              Array::zeros({0, source_places, source_width}))
            .shape() == Shape{0, query_places, cross_width});
}

TEST_CASE("CrossAttention: what does not fit is refused") {
  const CrossAttention cross = drawn_cross(8);
  const auto refused = [&](const Shape& x, const Shape& source) {
    return refusal<ShapeError>([&] { cross(Array::zeros(x), Array::zeros(source)); });
  };
  CHECK(refused({2, 3, 3}, {2, 5, 3}) ==
        "CrossAttention: expects (..., time, 4): got shape (2, 3, 3)");
  CHECK(refused({2, 3, 4}, {2, 5, 4}) ==
        "CrossAttention source: expects (..., time, 3): got shape (2, 5, 4)");
  CHECK_THAT(refused({2, 3, 4}, {3, 5, 3}), ContainsSubstring("needs the same leading axes: (2, "));
  CHECK_THAT(refused({2, 3, 4}, {5, 3}), ContainsSubstring("needs the same leading axes: (2, "));
  Rng rng(1);
  CHECK(refusal<ValueError>([&] { CrossAttention(6, 3, 4, rng); }) ==
        "CrossAttention: 6 channels do not split into 4 equal heads");
  CHECK(refusal<ValueError>([&] { CrossAttention(6, 0, 2, rng); }) ==
        "Linear: sizes must be positive: got 0 and 12");
}
