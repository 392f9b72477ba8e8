// The formula of a block. What holds for every layer is in test_layers.cpp.
#include "nn/layers/block.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

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

TEST_CASE("Block: parts that do not fit are refused") {
  Rng rng(1);
  CHECK(refuses<ValueError>([&] { Block(5, 2, 6, rng); }, "Attention", "5 channels", "2 equal"));
  CHECK(refuses<ValueError>([&] { Block(4, 2, 6, rng, 1); }, "Dropout", "got 1"));
  CHECK(refuses<ValueError>([&] { Block(4, 2, -6, rng); }, "Linear", "got 4 and -6"));
}
