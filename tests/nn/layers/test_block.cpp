#include "nn/layers/block.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

constexpr Dim block_places = 5, block_width = 4;

Block drawn_block(std::uint64_t seed, double p = 0) {
  Rng rng(seed);
  Block block(block_width, 2, 6, rng, p);
  redraw(block, seed);
  return block;
}

}  // namespace

TEST_CASE("Block: normalise, look, add; normalise, think, add") {
  const Block block = drawn_block(1);
  const Tensor x = uniform({2, block_places, block_width}, 1);
  for (const Mask& mask : {Mask(), causal()}) {
    const AttentionOutput attended =
        block.attn.forward_with_weights(layer_norm(x, block.ln_1.weight, block.ln_1.bias), mask);
    const Tensor seen = x + attended.output;
    const Tensor y = seen + block.mlp(layer_norm(seen, block.ln_2.weight, block.ln_2.bias));
    CHECK(close(block(x, mask).value(), y.value()));  // its attention is one op
    CHECK(same_bits(block.forward_with_weights(x, mask).output.value(), y.value()));
    CHECK(same_bits(block.forward_with_weights(x, mask).weights.value(), attended.weights.value()));
  }
}

TEST_CASE("Block: with silent projections it passes x on, and its gradient") {
  const Block block = drawn_block(2);
  for (const Linear& up : {block.attn.c_proj, block.mlp.c_proj}) {
    assign(up.weight, Array::zeros(up.weight.shape()));
    assign(up.bias, Array::zeros({block_width}));
  }
  const Tensor x = parameter(uniform({2, block_places, block_width}, 1));
  const Array dy = uniform({2, block_places, block_width}, 2);
  const Tensor y = block(x, causal());
  CHECK(same_bits(y.value(), x.value()));
  backward(y, dy);
  CHECK(same_numbers(x.grad(), dy));
}

TEST_CASE("Block: every parameter answers, but for the bias of the keys") {
  const Block block = drawn_block(3);
  const Tensor x = uniform({2, block_places, block_width}, 1);
  CHECK(idle_numbers(block, [&] { return block(x, causal()); }) ==
        std::vector<std::string>{"attn.c_attn.bias[4]", "attn.c_attn.bias[5]",
                                 "attn.c_attn.bias[6]", "attn.c_attn.bias[7]"});
}

TEST_CASE("Block: causal outputs do not change with later tokens, even NaN") {
  const Block block = drawn_block(4);
  const Array x = uniform({2, block_places, block_width}, 1), y = block(x, causal()).value();
  for (const double intruder : {0.5, 1e30, infinity, -infinity, not_a_number})
    for (Dim j = 0; j < block_places; ++j) {
      const Array changed = block(replaced(x, 1, j, intruder), causal()).value();
      CHECK(same_bits(part(changed, 1, 0, j), part(y, 1, 0, j)));
      CHECK_FALSE(same_bits(part(changed, 1, j, j + 1), part(y, 1, j, j + 1)));
    }
}

TEST_CASE("Block: a causal output pulls exactly nothing from later tokens") {
  const Block block = drawn_block(5);
  for (Dim i = 0; i < block_places; ++i) {
    const Tensor x = parameter(uniform({2, block_places, block_width}, 4));
    backward(slice(block(x, causal()), 1, i, i + 1), uniform({2, 1, block_width}, 5));
    CHECK(all_zero(part(x.grad(), 1, i + 1, block_places)));
    CHECK(all_alive(part(x.grad(), 1, 0, i + 1)));
  }
}

TEST_CASE("Block: the output on the first tokens is the first part of the output") {
  const Block block = drawn_block(6);
  const Array x = uniform({2, 19, block_width}, 5), y = block(x, causal()).value();
  for (Dim t = 0; t <= 19; ++t)
    CHECK(same_bits(block(part(x, 1, 0, t), causal()).value(), part(y, 1, 0, t)));
}

TEST_CASE("Block: a sample alone gives what it gives in a batch, to the bit") {
  const Block block = drawn_block(7);
  const Array x = uniform({4, block_places, block_width}, 5), y = block(x, causal()).value();
  for (Dim b = 0; b < 4; ++b)
    CHECK(same_bits(block(part(x, 0, b, b + 1), causal()).value(), part(y, 0, b, b + 1)));
}

TEST_CASE("Block: without mask and positions it is the same for tokens in any order") {
  const Block block = drawn_block(8);
  const Array x = uniform({2, block_places, block_width}, 2),
              positions = uniform({block_places, block_width}, 3);
  const auto placed = [&](const Array& tokens) { return Tensor(tokens) + Tensor(positions); };
  CHECK(close(block(reordered(x, 1, other_order)).value(),
              reordered(block(x).value(), 1, other_order)));
  CHECK_FALSE(close(block(placed(reordered(x, 1, other_order))).value(),
                    reordered(block(placed(x)).value(), 1, other_order), 1e-2));
}

// Both branches are dropped, neither the sum: y = x + drop(attn) + drop(mlp), one generator after
// the other.
TEST_CASE("Block: training drops from both branches, evaluation from none") {
  const Block block = drawn_block(9, 0.5), plain = drawn_block(9);
  const Tensor x = uniform({2, block_places, block_width}, 1);
  Rng rng(3), same(3);
  const Tensor attended = dropout(block.attn(block.ln_1(x), causal()), 0.5, rng);
  const Tensor seen = x + attended;
  const Tensor y = seen + dropout(block.mlp(block.ln_2(seen)), 0.5, rng);
  CHECK(same_bits(block(x, causal(), Mode::training(same)).value(), y.value()));
  CHECK(rng.bits() == same.bits());
  CHECK_FALSE(same_bits(block(x, causal()).value(), y.value()));
  CHECK(same_bits(block(x, causal()).value(), plain(x, causal()).value()));
}

TEST_CASE("Block: what does not fit is refused") {
  Rng rng(1);
  CHECK(refusal<ValueError>([&] { Block(5, 2, 6, rng); }) ==
        "Attention: 5 channels do not split into 2 equal heads");
  CHECK(refusal<ValueError>([&] { Block(4, 2, 6, rng, 1); }) ==
        "Dropout: the probability must be in [0, 1): got 1");
  CHECK(refusal<ValueError>([&] { Block(4, 2, -6, rng); }) ==
        "Linear: sizes must be positive: got 4 and -6");
  CHECK_THROWS_AS(drawn_block(1)(Array::zeros({2, 3, 5})), ShapeError);
}
