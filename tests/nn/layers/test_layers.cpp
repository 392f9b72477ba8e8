// What holds for every layer: how it starts, which tokens its outputs depend on, and that a batch is
// its samples side by side; and the formulas of all but attention.
#include "nn/layers/block.h"
#include "tests/nn/modules.h"

using namespace tests;

namespace {

constexpr Dim layer_width = 4;

/// Which tokens of a sequence an output depends on.
enum class Sees { itself, earlier, all };

bool sees(Sees who, Dim i, Dim j) {
  return who == Sees::all || i == j || (who == Sees::earlier && j < i);
}

/// Calls test(make, call, who): make(rng) is the layer, call(layer, x) its output for x (…, T, 4).
template <class Test>
void for_each_layer(Test test) {
  const auto with = [&](const char* name, auto call, Sees who, auto make) {
    SECTION(name) { test(make, call, who); }
  };
  const auto plain = [](const auto& layer, const Tensor& x) { return layer(x); };
  const auto causally = [](const auto& layer, const Tensor& x) { return layer(x, causal()); };
  const auto of_one_source = [](const auto& layer, const Tensor& x) {
    const int rank = x.rank();
    const Shape source = x.shape().without(rank - 1).without(rank - 2).append({5, 3});
    Rng rng(9);  // the same source for every sequence
    const Array one = random_normal({5, 3}, 0, 1, rng);
    return layer(x, (Tensor(Array::zeros(source)) + Tensor(one)).value());
  };
  constexpr Dim C = layer_width;
  constexpr Sees itself = Sees::itself, earlier = Sees::earlier;
  constexpr Bias without = Bias::without;
  with("Linear", plain, itself, [](Rng& rng) { return Linear(C, 3, rng); });
  with("Linear without bias", plain, itself, [](Rng& rng) { return Linear(C, 3, rng, without); });
  with("LayerNorm", plain, itself, [](Rng&) { return LayerNorm(C); });
  with("RMS norm", plain, itself, [](Rng&) { return LayerNorm(C, 1e-5, Norm::rms); });
  with("MLP", plain, itself, [](Rng& rng) { return MLP(C, 6, rng); });
  with("MLP with a gate", plain, itself,
       [](Rng& rng) { return MLP(C, 6, rng, Bias::with, FeedForward::swiglu); });
  with("Attention", plain, Sees::all, [](Rng& rng) { return Attention(C, 2, rng); });
  with("Attention, causal", causally, earlier, [](Rng& rng) { return Attention(C, 2, rng); });
  with("Attention without bias", causally, earlier,
       [](Rng& rng) { return Attention(C, 1, rng, without); });
  with("Attention with shared keys", causally, earlier,
       [](Rng& rng) { return Attention(C, HeadCount(2, 1), rng, without); });
  with("Attention of today", causally, earlier, [](Rng& rng) {
    Attention built(C, 1, rng, without);
    built.qk_norm = QueryKeyNorm::rms;
    built.rotary_base = 100;
    return built;
  });
  with("Block", plain, Sees::all, [](Rng& rng) { return Block(C, 2, 6, rng); });
  with("Block, causal", causally, earlier, [](Rng& rng) { return Block(C, 2, 6, rng); });
  with("CrossAttention", of_one_source, itself,
       [](Rng& rng) { return CrossAttention(C, 3, 2, rng); });
}

template <class Make>
auto drawn_layer(Make make, std::uint64_t seed) {
  Rng rng(seed);
  auto layer = make(rng);
  redraw(layer, seed + 1000);
  return layer;
}

}  // namespace

TEST_CASE("layers: a seed decides the weights, each layer takes new ones, biases start at 0") {
  for_each_layer([](auto make, auto, Sees) {
    Rng one(3), same(3);
    const auto a = make(one), next = make(one), b = make(same);
    const auto names = named_parameters(a);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Array value = names[i].tensor.value();
      CHECK(same_bits(value, parameters(b)[i].value()));
      if (names[i].name.ends_with("bias")) CHECK(same_bits(value, Array::zeros(value.shape())));
      if (value.rank() == 1 && names[i].name.ends_with("weight"))
        CHECK(same_bits(value, Array::ones(value.shape())));
      for (std::size_t other = 0; value.rank() == 2 && other < names.size(); ++other) {
        const std::vector<double> numbers = to_vector(value);
        for (const double w : to_vector(parameters(other > i ? a : next)[other].value()))
          CHECK(std::count(numbers.begin(), numbers.end(), w) == 0);
      }
    }
  });
}

TEST_CASE("layers: outputs depend on the tokens they see alone, whatever the others, to the bit") {
  for_each_layer([](auto make, auto call, Sees who) {
    constexpr Dim T = 5;
    const auto layer = drawn_layer(make, 4);
    const Array x = uniform({2, T, layer_width}, 3), y = call(layer, Tensor(x)).value();
    for (const double intruder : {0.5, 1e30, infinity, -infinity, quiet_nan})
      for (Dim j = 0; j < T; ++j) {
        Array input = x.clone();
        for (const Dim row : {j, T + j})
          std::fill_n(input.write() + row * layer_width, layer_width, Real(intruder));
        const Array changed = call(layer, Tensor(input)).value();
        for (Dim i = 0; i < T; ++i)
          CHECK(bool{same_bits(part(changed, 1, i, i + 1), part(y, 1, i, i + 1))} !=
                sees(who, i, j));
      }
    for (Dim i = 0; i < T; ++i) {
      const Tensor input = parameter(x);
      const Tensor row = slice(call(layer, input), 1, i, i + 1);
      backward(row, uniform(row.shape(), 5));
      for (Dim j = 0; j < T; ++j) {
        const Array dx = part(input.grad(), 1, j, j + 1);
        CHECK((sees(who, i, j) ? all_alive(dx) : all_zero(dx)));
      }
    }
  });
}

TEST_CASE("layers: a beginning alone, a sample alone, and other leading axes give the same bits") {
  for_each_layer([](auto make, auto call, Sees who) {
    constexpr Dim T = 19;
    const auto layer = drawn_layer(make, 5);
    const Array x = uniform({6, T, layer_width}, 5), y = call(layer, Tensor(x)).value();
    const Dim out = y.dim(-1);
    for (Dim t = 0; who != Sees::all && t <= T; ++t)
      CHECK(same_bits(call(layer, Tensor(part(x, 1, 0, t))).value(), part(y, 1, 0, t)));
    for (Dim b = 0; b < 6; ++b) {
      const Array alone = part(x, 0, b, b + 1), expected = part(y, 0, b, b + 1);
      CHECK(same_bits(call(layer, Tensor(alone)).value(), expected));
      CHECK(same_bits(call(layer, Tensor(alone.with_shape({T, layer_width}))).value(),
                      expected.with_shape({T, out})));
    }
    CHECK(same_bits(call(layer, Tensor(x.with_shape({2, 3, T, layer_width}))).value(),
                    y.with_shape({2, 3, T, out})));
    CHECK(call(layer, Tensor(Array::zeros({0, 3, layer_width}))).shape() == Shape{0, 3, out});
    CHECK(call(layer, Tensor(Array::zeros({2, 0, layer_width}))).shape() == Shape{2, 0, out});
  });
}

TEST_CASE("layers: what does not fit is refused") {
  for_each_layer([](auto make, auto call, Sees) {
    const auto layer = drawn_layer(make, 1);
    for (const Shape& wrong : {Shape{2, 3, 5}, Shape{3, 3}})
      CHECK_THROWS_AS(call(layer, Tensor(Array::zeros(wrong))), ShapeError);
  });
  Rng rng(1);
  const Linear linear(3, 2, rng);
  for (const Shape& wrong : {Shape{2, 4}, Shape{3, 2}, Shape{3}, Shape{}})
    CHECK(refuses<ShapeError>([&] { linear(Array::zeros(wrong)); }, "Linear", "(..., n, 3)",
                              "(3, 2)", "shape " + to_string(wrong)));
  CHECK_THROWS_AS(LayerNorm(3)(Array::zeros({})), ShapeError);
  CHECK(refuses<ValueError>([&] { Linear(0, 2, rng); }, "Linear", "got 0 and 2"));
  CHECK(refuses<ValueError>([&] { Linear(2, -1, rng); }, "Linear", "got 2 and -1"));
  CHECK(refuses<ValueError>([&] { MLP(3, 0, rng); }, "Linear", "got 3 and 0"));
  CHECK(refuses<ValueError>([&] { Embedding(0, 2, rng); }, "Embedding", "got 0 and 2"));
  CHECK(refuses<ValueError>([&] { Embedding(2, -3, rng); }, "Embedding", "got 2 and -3"));
  for (const Dim width : {0, -2})
    CHECK(refuses<ValueError>([&] { LayerNorm{width}; }, "LayerNorm",
                              "got " + std::to_string(width)));
  const Embedding table(4, 2, rng);
  CHECK(refuses<ValueError>([&] { table({0, 4}); }, "embedding", "id 4 at position 1", "(4, 2)"));
  CHECK(refuses<ValueError>([&] { table({-1}); }, "embedding", "id -1 at position 0"));
  for (const Dim id : {2, 0})
    CHECK(same_bits(table({id}).value(), part(table.weight.value(), 0, id, id + 1)));
  CHECK(refuses<ValueError>([&] { Block(5, 2, 6, rng); }, "Attention", "5 channels", "2 equal"));
  CHECK(refuses<ValueError>([&] { Block(4, 2, 6, rng, 1); }, "Dropout", "got 1"));
  CHECK(refuses<ValueError>([&] { Block(4, 2, -6, rng); }, "Linear", "got 4 and -6"));
}

TEST_CASE("Linear, LayerNorm, MLP: values by hand, and by their parts") {
  Rng rng(1), again(1);
  const Linear linear(2, 3, rng), plain(2, 3, again, Bias::without);
  CHECK_FALSE(plain.bias.exists());
  CHECK(same_bits(plain.weight.value(), linear.weight.value()));
  assign(linear.weight, Array({2, 3}, {1, 2, 3, 4, 5, 6}));
  assign(linear.bias, Array({3}, {10, 20, 30}));
  CHECK(same_bits(linear(Array({2, 2}, {1, 0, 2, -1})).value(),
                  Array({2, 3}, {11, 22, 33, 8, 19, 30})));
  // x = (1, 3): mean 2, variance 1, so x̂ = ±1/√(1 + eps); eps = 3 makes that ±½ exactly.
  const LayerNorm norm(2, 3);
  assign(norm.weight, Array({2}, {4, 6}));
  assign(norm.bias, Array({2}, {10, 20}));
  CHECK(same_bits(norm(Array({1, 2}, {1, 3})).value(), Array({1, 2}, {8, 23})));
  CHECK(LayerNorm(3).eps == 1e-5);

  MLP mlp = drawn<MLP>(1, 5, 9);
  const Tensor x = uniform({2, 3, 5}, 1), hidden = mlp.c_fc(x);
  CHECK(same_bits(mlp(x).value(), mlp.c_proj(gelu_tanh(hidden)).value()));
  const Array usual = mlp(x).value();
  mlp.form = FeedForward::gelu;
  CHECK(same_bits(mlp(x).value(), mlp.c_proj(gelu(hidden)).value()));
  CHECK_FALSE(same_bits(mlp(x).value(), usual));
}

TEST_CASE("Block: normalise, look, add; normalise, think, add; both are dropped in training only") {
  const auto drawn_block = [](double p) {
    Rng rng(1);
    Block block(layer_width, 2, 6, rng, p);
    redraw(block, 1);
    return block;
  };
  const Block block = drawn_block(0), dropping = drawn_block(0.5);
  const Tensor x = uniform({2, 5, layer_width}, 1);
  const auto norm = [&](const LayerNorm& ln, const Tensor& y) {
    return layer_norm(y, ln.weight, ln.bias);
  };
  for (const Mask& mask : {Mask(), causal()}) {
    const AttentionOutput attended = block.attn.forward_with_weights(norm(block.ln_1, x), mask);
    const Tensor seen = x + attended.output, y = seen + block.mlp(norm(block.ln_2, seen));
    CHECK(close(block(x, mask).value(), y.value()));  // its attention is one op
    CHECK(same_bits(block.forward_with_weights(x, mask).output.value(), y.value()));
    CHECK(same_bits(block.forward_with_weights(x, mask).weights.value(), attended.weights.value()));
  }
  // y = x + drop(attn) + drop(mlp), one generator after the other; neither sum is dropped.
  Rng rng(3), same(3);
  const Tensor seen = x + dropout(block.attn(block.ln_1(x), causal()), 0.5, rng);
  const Tensor y = seen + dropout(block.mlp(block.ln_2(seen)), 0.5, rng);
  CHECK(same_bits(dropping(x, causal(), Mode::training(same)).value(), y.value()));
  CHECK(rng.bits() == same.bits());
  CHECK_FALSE(same_bits(dropping(x, causal()).value(), y.value()));
  CHECK(same_bits(dropping(x, causal()).value(), block(x, causal()).value()));
}

TEST_CASE("Dropout: in training the op of its probability, in evaluation x itself, NaN and all") {
  const Tensor x = parameter(Array({4}, {1, -0.0, quiet_nan, infinity}));
  CHECK(Dropout(0.9)(x, Mode::evaluation()).node() == x.node());
  Rng rng(1), same(1);
  CHECK(same_bits(Dropout(0.9)(x, Mode::training(rng)).value(), dropout(x, 0.9, same).value()));
  for (const double p : {1.0, -0.1, 1.5, infinity, quiet_nan})
    CHECK(refuses<ValueError>([p] { Dropout{p}; }, "Dropout", "[0, 1)", "got "));
  CHECK(Dropout(0).p == 0);
}

TEST_CASE("weights start uniform in ±√(3/in) or normal with deviation 0.02, or not at all") {
  for (const Dim in : {1, 3, 48, 300}) {
    Rng rng(7), same(7);
    const double bound = std::sqrt(3.0 / static_cast<double>(in));
    CHECK(
        same_bits(Linear(in, 5, rng).weight.value(), random_uniform({in, 5}, -bound, bound, same)));
  }
  for (const double deviation : {0.02, 1.5}) {
    Rng rng(7), same(7);
    const Embedding table =
        deviation == 0.02 ? Embedding(10, 8, rng) : Embedding(10, 8, rng, deviation);
    CHECK(same_bits(table.weight.value(), random_normal({10, 8}, 0, deviation, same)));
  }
  const InitialWeights none = InitialWeights::none();
  CHECK(none.rng() == nullptr);
  CHECK((Linear(2, 3, none).weight.shape() == Shape{2, 3} &&
         Embedding(4, 2, none).weight.shape() == Shape{4, 2}));
  CHECK(same_bits(Linear(2, 3, none).bias.value(), Array::zeros({3})));
}
