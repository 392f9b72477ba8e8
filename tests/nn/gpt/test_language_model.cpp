// The language model: its formula under every recipe, what it starts with, what its outputs depend on,
// and what it refuses.
#include "nn/gpt/language_model.h"

#include "engine/gradcheck/op_cases.h"
#include "tests/nn/modules.h"

using namespace tests;

namespace {

constexpr LanguageModelSizes small_sizes{
    .vocabulary = 11, .context = 7, .layers = 2, .heads = 2, .width = 8, .hidden = 12};
const Indices two_texts({2, 5}, {1, 2, 3, 4, 5, 10, 9, 2, 2, 0});

LanguageModel small_model(std::uint64_t seed, const LanguageModelSizes& sizes = small_sizes) {
  const LanguageModel model = drawn_model(sizes, seed);
  set_held_values(model);
  return model;
}

LanguageModel model_of(const Recipe& recipe) {
  LanguageModelSizes sizes = small_sizes;
  sizes.recipe = recipe;
  return small_model(1, sizes);
}

Indices some_words(const Shape& shape, std::uint64_t seed) {
  return {shape, some_tokens(shape.size(), small_sizes.vocabulary, Rng(seed))};
}

/// The model by small ops, with the weights of each layer and head (B, T, T).
struct ByHand {
  Tensor logits;
  std::vector<std::vector<Array>> weights;

  ByHand(const LanguageModel& model, const Indices& ids, const Mask& mask) {
    const Recipe& recipe = model.sizes.recipe;
    const Dim D = model.sizes.width / model.sizes.heads;
    const double scale = recipe.scale == Scale::none ? 1 : 1 / std::sqrt(static_cast<double>(D));
    const auto norm = [&](const LayerNorm& ln, const Tensor& x) {
      if (recipe.norm == Norm::rms) return ln.weight * of_unit_size(x);
      return recipe.norm == Norm::none ? x : layer_norm(x, ln.weight, ln.bias, 1e-5);
    };
    const auto add = [&](const Tensor& x, const Tensor& more) {
      return recipe.residual == Residual::none ? more : x + more;
    };
    const bool is_rotary = recipe.position == Position::rotary;
    Tensor x = embedding(model.wte.weight, ids);
    if (!is_rotary) x = x + slice(model.wpe.weight, 0, 0, ids.shape()[1]);
    const auto compared = [&](Tensor t) {  // a query or a key
      if (recipe.qk_norm == QueryKeyNorm::rms) t = of_unit_size(t);
      return is_rotary ? rotated_by_angles(t, 0, recipe.rotary_base) : t;
    };
    const auto hidden = [&](const MLP& mlp, const Tensor& in) -> Tensor {
      const Tensor sums = mlp.c_fc(in),
                   gate = recipe.mlp == FeedForward::swiglu ? mlp.c_gate(in) : sums;
      if (recipe.mlp == FeedForward::swiglu) return gate * sigmoid(gate) * sums;
      return recipe.mlp == FeedForward::relu_squared ? pow(relu(sums), 2) : gelu_tanh(sums);
    };
    for (const Block& block : model.h) {
      const Tensor qkv = block.attn.c_attn(norm(block.ln_1, x)), sink = block.attn.sink;
      const Dim C = model.sizes.width, own = (qkv.dim(-1) - C) / 2;  // columns of keys
      std::vector<Tensor> heads;
      weights.emplace_back();
      for (Dim h = 0; h < model.sizes.heads; ++h) {
        const Dim key = h * own / C * D;  // of its group
        const auto from = [&](Dim begin) { return slice(qkv, -1, begin, begin + D); };
        const Tensor q = compared(from(h * D)), k = compared(from(C + key)),
                     v = from(C + own + key);
        const Tensor rows = softmax_of_visible(matmul(q, transpose(k)) * scale, mask,
                                               sink.exists() ? slice(sink, 0, h, h + 1) : sink);
        heads.push_back(matmul(rows, v));
        if (recipe.exclusive == Exclusive::own_value) {
          const Tensor unit = v / sqrt(sum(v * v, {-1}, true));
          heads.back() = heads.back() - sum(heads.back() * unit, {-1}, true) * unit;
        }
        weights.back().push_back(rows.value());
      }
      x = add(x, block.attn.c_proj(concat(heads, -1)));
      x = add(x, block.mlp.c_proj(hidden(block.mlp, norm(block.ln_2, x))));
    }
    const Embedding& head = recipe.head == OutputHead::own ? model.lm_head : model.wte;
    logits = matmul(norm(model.ln_f, x), transpose(head.weight));
  }
};

/// The gradients of all parameters, for a random cotangent of y.
std::vector<Array> gradients_of(const LanguageModel& model, const Tensor& y) {
  pull_random(model, y);
  std::vector<Array> gradients;
  for (const Tensor& p : parameters(model))
    gradients.push_back(p.has_grad() ? p.grad().clone() : Array::zeros(p.shape()));
  return gradients;
}

void check_same_gradients(const std::vector<Array>& found, const std::vector<Array>& expected) {
  double scale = 0;
  for (const Array& g : expected) scale = std::max(scale, largest(g));
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(largest((Tensor(found[i]) - Tensor(expected[i])).value()) <= rounding * scale);
}

}  // namespace

TEST_CASE("LanguageModel: under every recipe it is its formula, with its weights and gradients") {
  std::vector<Array> all;
  for (const Recipe& recipe : all_recipes()) {
    CAPTURE(words_of_none(recipe), forms_of(recipe));
    const LanguageModel model = model_of(recipe);
    const Mask all_before = recipe.mask == Masking::causal ? causal() : Mask();
    const Mask mask = recipe.window > 0 ? all_before & window(recipe.window) : all_before;
    const ByHand expected(model, two_texts, mask);
    const std::vector<Array> gradients = gradients_of(model, expected.logits);
    const Tensor logits = model(two_texts);
    CHECK(logits.shape() == Shape{2, 5, 11});
    CHECK(close(logits.value(), expected.logits.value()));
    check_same_gradients(gradients_of(model, logits), gradients);
    const Tensor packed =
        model(Indices({10}, {1, 2, 3, 4, 5, 10, 9, 2, 2, 0}), Mode::evaluation(), {5, 0, 5});
    CHECK(close(packed.value(), expected.logits.value().with_shape({10, 11})));
    check_same_gradients(gradients_of(model, packed), gradients);
    for (const Array& other : all) CHECK_FALSE(close(logits.value(), other, 1e-3));
    all.push_back(logits.value());
    const LanguageModel::LogitsAndWeights found = model.forward_with_weights(two_texts);
    CHECK(close(found.logits.value(), expected.logits.value()));
    check_same_gradients(gradients_of(model, found.logits), gradients);
    REQUIRE(found.weights.size() == 2);
    for (std::size_t layer = 0; layer < 2; ++layer)
      for (Dim h = 0; h < 2; ++h)
        CHECK(close(part(found.weights[layer].value(), 1, h, h + 1).with_shape({2, 5, 5}),
                    expected.weights[layer][static_cast<std::size_t>(h)]));
  }
}

TEST_CASE("LanguageModel: parts that are none are held at 0, W_V at the identity, W_K at W_Q") {
  const LanguageModel zeros =
      model_of({.position = Position::none, .mlp = FeedForward::none, .heads = Heads::none});
  CHECK(all_zero(zeros.wpe.weight.value()));
  for (const Block& block : zeros.h)
    for (const Linear& last : {block.attn.c_proj, block.mlp.c_proj})
      CHECK((all_zero(last.weight.value()) && all_zero(last.bias.value())));
  const LanguageModel model = model_of({.values = ValueMatrix::none, .tie_qk = true});
  const Tensor x = uniform({1, 4, 8}, 5);
  for (const Block& block : model.h) {
    const std::vector<Tensor> parts = split(block.attn.qkv(x), 3, -1);
    CHECK(same_bits(parts[0].value(), parts[1].value()));
    CHECK(same_numbers(parts[2].value(), x.value()));
  }
}

TEST_CASE("LanguageModel: gradients of tied W_Q and W_K are the sum of both, as of one matrix") {
  const LanguageModel tied = model_of({.tie_qk = true}), apart = model_of({.tie_qk = true});
  for (const LanguageModel* model : {&tied, &apart}) pull_random(*model, (*model)(two_texts));
  HeldParameters(tied).change_gradients();
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<Tensor> both = parameters(tied.h[0].attn.c_attn),
                              own = parameters(apart.h[0].attn.c_attn);
    const auto third = [](const Tensor& p, Dim t) { return part(p.grad(), -1, 8 * t, 8 * t + 8); };
    CHECK(same_bits(third(both[i], 0), third(both[i], 1)));
    CHECK(close(third(both[i], 0), (Tensor(third(own[i], 0)) + Tensor(third(own[i], 1))).value()));
    CHECK(same_bits(third(both[i], 2), third(own[i], 2)));
  }
}

TEST_CASE("LanguageModel: starts as GPT-2 does, its gate too, reproducibly") {
  LanguageModelSizes sizes{.vocabulary = 200, .context = 100, .layers = 2, .width = 32};
  sizes.recipe.mlp = FeedForward::swiglu;
  const LanguageModel a = new_model(sizes), b = new_model(sizes), c = new_model(sizes, 2);
  const auto named = named_parameters(a);
  for (std::size_t i = 0; i < named.size(); ++i) {
    const auto& [name, p] = named[i];
    INFO(name);
    CHECK(same_bits(p.value(), parameters(b)[i].value()));
    if (p.rank() == 1) {
      const bool is_gain = name.ends_with(".weight");
      CHECK(same_bits(p.value(), Array::full(p.shape(), Real(is_gain ? 1 : 0))));
      continue;
    }
    CHECK_FALSE(same_bits(p.value(), parameters(c)[i].value()));
    double squares = 0;
    for (const double w : to_vector(p.value())) squares += w * w;
    // Radford et al. 2019, section 2.3: 0.02, over √(2·layers) where a layer adds to the stream.
    const double variance = 0.02 * 0.02 / (name.find("c_proj") != name.npos ? 4 : 1);
    const double n = static_cast<double>(p.size());
    CHECK_THAT(squares / n, WithinAbs(variance, 5 * variance * std::sqrt(2 / n)));
  }
  CHECK_FALSE(same_bits(a.h[0].mlp.c_fc.weight.value(), a.h[1].mlp.c_fc.weight.value()));
}

TEST_CASE("LanguageModel: a new model loses about log V, one of equal scores exactly") {
  const LanguageModel fresh =
      new_model({.vocabulary = 11, .context = 8, .layers = 2, .heads = 2, .width = 32});
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Tensor logits = fresh(some_words({4, 8}, seed));
    CHECK_THAT(cross_entropy(logits, some_words({4, 8}, seed + 20)).item(),
               WithinRel(std::log(11.0), 0.02));
  }
  const LanguageModel model = small_model(5);
  assign(model.wte.weight, Array::zeros({11, 8}));
  const double loss = cross_entropy(model(two_texts), two_texts).item();
  CHECK_THAT(loss, WithinAbs(std::log(11.0), 8 * unit));  // two last places of numbers from 2 to 4
}

TEST_CASE("LanguageModel: dropout acts on the embeddings and in the blocks, in training only") {
  LanguageModelSizes sizes = small_sizes;
  sizes.dropout = 0.4;
  const LanguageModel model = small_model(6, sizes), plain = small_model(6);
  CHECK(same_bits(model(two_texts).value(), plain(two_texts).value()));
  Rng rng(1), same(1), by_hand(1);
  const Array y = model(two_texts, Mode::training(rng)).value();
  CHECK(same_bits(model(two_texts, Mode::training(same)).value(), y));
  CHECK_FALSE(same_bits(model(two_texts, Mode::training(rng)).value(), y));
  Tensor x = dropout(plain.wte(two_texts) + slice(plain.wpe.weight, 0, 0, 5), 0.4, by_hand);
  for (const Block& block : model.h) x = block(x, causal(), Mode::training(by_hand));
  CHECK(same_bits(matmul(model.ln_f(x), transpose(model.wte.weight)).value(), y));
}

TEST_CASE("LanguageModel: any time up to the context, none, and an empty batch; more is refused") {
  const LanguageModel model = small_model(7);
  for (const Shape& shape : {Shape{1, 7}, Shape{3, 1}, Shape{2, 0}, Shape{0, 3}})
    CHECK(model(Indices(shape, std::vector<Dim>(static_cast<std::size_t>(shape.size()), 3)))
              .shape() == shape.append({11}));
  const auto on = [&](const Shape& shape, const std::vector<Dim>& ids) {
    return [&model, shape, ids] { model(Indices(shape, ids)); };
  };
  CHECK(refuses<ShapeError>(on({3}, {1, 2, 3}), "LanguageModel", "(batch, time)", "(3)"));
  CHECK(refuses<ShapeError>(on({1, 8}, std::vector<Dim>(8)), "LanguageModel", "7", "(1, 8)"));
  CHECK(refuses<ValueError>(on({1, 2}, {0, 11}), "id 11 at position 1", "(11, 8)"));
  const auto documents_of = [&](const std::vector<Dim>& lengths) {
    const Indices ids({9}, std::vector<Dim>(9));
    return [&model, ids, lengths] { model(ids, Mode::evaluation(), lengths); };
  };
  CHECK_NOTHROW(documents_of({7, 2})());
  const std::vector<Dim> both{5, 5};
  CHECK(refuses<ShapeError>([&] { model(two_texts, Mode::evaluation(), both); }, "LanguageModel",
                            "lengths", "(2, 5) and 2"));
  CHECK(refuses<ShapeError>(documents_of({8, 1}), "LanguageModel", "no more than 7", "got 8"));
  for (const std::vector<Dim>& lengths : {std::vector<Dim>{7}, {7, 1}, {7, 3}})
    CHECK(refuses<ShapeError>(documents_of(lengths), "documents"));
  CHECK(refuses<ValueError>(documents_of({2, -5}), "-5"));
}

TEST_CASE("LanguageModel: sizes that make no model are refused, others reach every block") {
  const auto made = [](LanguageModelSizes sizes) { return [sizes] { new_model(sizes); }; };
  const std::string op = "LanguageModel: ";
  using Size = std::tuple<const char*, Dim*, Dim>;
  LanguageModelSizes s{.vocabulary = 5, .context = 3};
  for (const auto& [name, size, wrong] :
       {Size("vocabulary", &s.vocabulary, 0), Size("context", &s.context, -1),
        Size("layers", &s.layers, 0), Size("heads", &s.heads, 0), Size("width", &s.width, 0),
        Size("hidden", &s.hidden, -1)}) {
    const Dim before = std::exchange(*size, wrong);
    CHECK(refuses<ValueError>(made(s), op + name, "got " + std::to_string(wrong)));
    *size = before;
  }
  for (const double wrong : {0.0, -1.0, infinity, quiet_nan}) {
    s.epsilon = wrong;
    CHECK(refuses<ValueError>(made(s), op + "epsilon", "got "));
  }
  s.epsilon = 1e-5;
  s.dropout = 1;
  CHECK(refuses<ValueError>(made(s), "Dropout", "got 1"));
  CHECK(refuses<ValueError>(made({.vocabulary = 5, .context = 3, .heads = 3, .width = 8}),
                            "Attention", "8 channels", "3 equal"));
  const auto shared = [&](Recipe recipe) {
    return made({.vocabulary = 5, .context = 3, .heads = 4, .width = 8, .recipe = recipe});
  };
  CHECK(refuses<ValueError>(shared({.key_heads = 3}), "HeadCount", "got 3 and 4"));
  CHECK(refuses<ValueError>(shared({.key_heads = -1}), "HeadCount", "got -1 and 4"));
  CHECK(refuses<ValueError>(shared({.tie_qk = true, .key_heads = 2}), op, "got 2 and 4"));
  CHECK(refuses<ValueError>(shared({.values = ValueMatrix::none, .key_heads = 2}), op, "got 2"));
  const LanguageModel plain = new_model({.vocabulary = 5, .context = 3});
  CHECK((plain.h.size() == 1 && plain.h[0].attn.heads.queries == 1 && plain.dropout.p == 0));
  CHECK(plain.wte.weight.shape() == Shape{5, 16});
  CHECK(plain.h[0].mlp.c_fc.weight.shape() == Shape{16, 64});
  LanguageModelSizes other = small_sizes;
  other.epsilon = 1e-3;
  other.recipe.mlp = FeedForward::gelu;
  const LanguageModel model = small_model(1, other);
  for (const Block& block : model.h) {
    CHECK(block.mlp.form == FeedForward::gelu);
    CHECK((block.ln_1.eps == 1e-3 && block.ln_2.eps == 1e-3));
  }
  CHECK(model.ln_f.eps == 1e-3);
}

TEST_CASE("LanguageModel: the limits of a window and of a rotary base") {
  const auto made = [](Dim window, double base) {
    LanguageModelSizes sizes{.vocabulary = 5, .context = 4, .layers = 1, .heads = 1, .width = 4};
    sizes.recipe.window = window, sizes.recipe.rotary_base = base;
    return [sizes] { LanguageModel(sizes, InitialWeights::none()); };
  };
  made(0, 1)();
  CHECK(refuses<ValueError>(made(-1, 500), "window", "got -1"));
  CHECK(refuses<ValueError>(made(0, infinity), "rotary base", "got inf"));
}
