// The decoder: the rows of the full pass, to the bit, however a text is cut and where the window
// stands.
#include "nn/gpt/decoder.h"

#include "tests/nn/modules.h"
#include "tests/support/threads.h"

using namespace tests;

namespace {

constexpr Dim decoder_vocabulary = 13;

// Weights that keep the size of what they map, queries and keys somewhat larger: heads that choose.
// Without norms numbers would then grow from layer to layer, and rounding with the scores.
LanguageModel decoded_model(const LanguageModelSizes& sizes, std::uint64_t seed) {
  Rng rng(seed);
  LanguageModel model(sizes, rng);
  const double size = sizes.recipe.norm == Norm::none ? 1 : 2;
  for (const auto& [name, p] : named_parameters(model)) {
    const bool gain = p.rank() == 1 && name.find("weight") != std::string::npos;
    const double in = p.rank() == 2 ? static_cast<double>(std::min(p.dim(0), p.dim(1))) : 40;
    assign(p, random_normal(p.shape(), gain ? 1 : 0, size / std::sqrt(in), rng));
  }
  set_held_values(model);
  return model;
}

LanguageModelSizes decoder_sizes(Dim context, Dim layers, Dim heads, Dim D, Bias bias) {
  LanguageModelSizes sizes{.vocabulary = decoder_vocabulary, .context = context, .layers = layers};
  sizes.heads = heads, sizes.width = heads * D, sizes.bias = bias;
  return sizes;
}

std::vector<LanguageModelSizes> all_sizes() {
  std::vector<LanguageModelSizes> all;
  using Sizes = std::tuple<Dim, Dim, Dim, Dim>;
  for (const auto& [context, layers, heads, D] :
       {Sizes(96, 1, 1, 16), Sizes(96, 2, 4, 32), Sizes(64, 2, 4, 4), Sizes(33, 3, 3, 16),
        Sizes(90, 1, 2, 32), Sizes(47, 2, 2, 8), Sizes(71, 2, 3, 12), Sizes(40, 1, 4, 5),
        Sizes(17, 2, 2, 8), Sizes(8, 2, 2, 8), Sizes(3, 2, 2, 8), Sizes(2, 2, 2, 8),
        Sizes(1, 2, 2, 8)})
    all.push_back(
        decoder_sizes(context, layers, heads, D, all.size() % 2 == 0 ? Bias::with : Bias::without));
  for (const Recipe& recipe : all_recipes()) {
    all.push_back(decoder_sizes(12, 2, 2, 8, Bias::with));
    all.back().recipe = recipe;
  }
  for (const auto& [D, window] : {std::pair<Dim, Dim>{4, 0}, {10, 7}, {32, 0}, {32, 40}}) {
    all.push_back(decoder_sizes(70, 2, 2, D, Bias::without));
    all.back().recipe = today();
    all.back().recipe.window = window;
    all.back().recipe.exclusive = window > 0 ? Exclusive::own_value : Exclusive::none;
  }
  return all;
}

std::vector<Dim> cut(const std::vector<Dim>& ids, Dim begin, Dim end) {
  return {ids.begin() + begin, ids.begin() + end};
}

/// Reads the tokens one by one and in pieces. The logits must be rows of full passes over windows
/// that move on by the rule as it is written.
void check_rows(const LanguageModel& model, const std::vector<Dim>& ids, Rng& rng) {
  const Dim context = model.sizes.context, count = std::ssize(ids);
  Decoder by_token(model), by_piece(model);
  Dim first = 0, read = 0, next_piece = 1, wrong = 0;
  std::vector<std::pair<Dim, Array>> rows;  // of the window, with their positions
  for (Dim t = 0; t < count; ++t) {
    if (t - first == context) first = t + 1 - std::max<Dim>(1, context / 2);
    const Array logits = by_token.read(cut(ids, t, t + 1));
    REQUIRE(by_token.window() == cut(ids, first, t + 1));
    REQUIRE(by_token.length() == t + 1 - first);
    rows.emplace_back(t - first, logits);
    if (t + 1 == count || t + 1 == next_piece) {
      wrong += !same_bits(by_piece.read(cut(ids, read, t + 1)), logits);
      REQUIRE(by_piece.window() == by_token.window());
      read = t + 1;
      next_piece = read + 1 + rng.below(rng.below(2) == 0 ? 4 : 30);
    }
    // A causal window is compared when it is full, for its rows do not change.
    if (by_token.is_causal() && t + 1 < count && t + 1 - first < context) continue;
    const NoGrad no_grad;
    const Array full = model(Indices({1, by_token.length()}, by_token.window())).value();
    for (const auto& [position, row] : rows)
      wrong += !same_bits(row, part(full, 1, position, position + 1).with_shape(row.shape()));
    rows.clear();
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("Decoder: of any recipe, token by token and in pieces, rows of full passes to the bit") {
  std::uint64_t seed = 0;
  for (const LanguageModelSizes& sizes : all_sizes()) {
    CAPTURE(sizes.context, sizes.layers, sizes.heads, sizes.width, words_of_none(sizes.recipe),
            forms_of(sizes.recipe));
    Rng rng(++seed);
    const LanguageModel model = decoded_model(sizes, seed);
    CHECK(Decoder(model).is_causal() == (sizes.recipe.mask == Masking::causal));
    const std::vector<Dim> ids = some_tokens(5 * sizes.context / 2 + 20, decoder_vocabulary, rng);
    for (const int count : {1, 2}) {
      const Threads with(count);
      check_rows(model, ids, rng);
    }
  }
}

TEST_CASE("Decoder: its attention is that of its window; its last rows alone have the same bits") {
  std::uint64_t seed = 40;
  for (const LanguageModelSizes& sizes : all_sizes()) {
    CAPTURE(sizes.context, sizes.layers, sizes.heads, sizes.width, words_of_none(sizes.recipe),
            forms_of(sizes.recipe));
    const LanguageModel model = decoded_model(sizes, ++seed);
    Rng rng(seed);
    double sharpest = 0;
    for (const Dim read : {Dim{1}, Dim{7}, sizes.context, 2 * sizes.context + 3}) {
      Decoder decoder(model);
      decoder.read(some_tokens(read, decoder_vocabulary, rng));
      const NoGrad no_grad;
      const Dim T = decoder.length(), H = sizes.heads;
      const std::vector<Array> weights = decoder.attention();
      const auto composed = model.forward_with_weights(Indices({1, T}, decoder.window())).weights;
      REQUIRE(weights.size() == composed.size());
      for (std::size_t layer = 0; layer < weights.size(); ++layer) {
        CHECK(close(weights[layer], composed[layer].value().with_shape({H, T, T})));
        if (T > 7) sharpest = std::max(sharpest, largest(part(weights[layer], 1, 4, T)));
        for (const Dim rows : {Dim{1}, Dim{2}, Dim{24}, T, T + 3})
          CHECK(same_bits(decoder.attention(rows)[layer],
                          part(weights[layer], 1, T - std::min(rows, T), T)));
      }
    }
    if (sizes.context > 17) CHECK(sharpest > 0.5);  // the weights differ: heads choose
  }
}

TEST_CASE("Decoder: what it cannot do is refused, and nothing is read") {
  Decoder decoder(decoded_model(decoder_sizes(4, 1, 1, 4, Bias::with), 60)), other = decoder;
  CHECK(refuses<ValueError>([&] { decoder.attention(); }, "Decoder", "read"));
  decoder.read({1, 2});
  CHECK(refuses<ValueError>([&] { decoder.attention(-1); }, "Decoder", "got -1"));
  CHECK(refuses<ValueError>([&] { decoder.read({}); }, "Decoder", "none"));
  const std::vector<Dim> long_text{1, 1, 1, 1, 13};
  CHECK(refuses<ValueError>([&] { decoder.read(long_text); }, "token 13", "vocabulary of 13"));
  CHECK(refuses<ValueError>([&] { decoder.read({-1}); }, "token -1", "vocabulary of 13"));
  CHECK(decoder.window() == std::vector<Dim>{1, 2});
  CHECK(same_bits(decoder.read({5}), other.read({1, 2, 5})));
}

TEST_CASE("Decoder: tokens that are never drawn have the logit of an impossible token") {
  const LanguageModel model = decoded_model(decoder_sizes(8, 1, 1, 8, Bias::with), 60);
  const Array all = Decoder(model).read({1, 2, 3});
  const Array some = Decoder(model, {0, 12, 7}).read({1, 2, 3});
  for (Dim id = 0; id < decoder_vocabulary; ++id)
    CHECK(some[id] == (id == 0 || id == 7 || id == 12 ? Real(-infinity) : all[id]));
  CHECK_THROWS_AS(Decoder(model, {13}), ValueError);
  const Array rows({2, 3}, {1, 2, 3, 4, 5, 6}), masked = without_tokens(rows, {2, 0});
  for (Dim i = 0; i < 6; ++i) CHECK(masked[i] == (i % 3 == 1 ? rows[i] : Real(-infinity)));
  CHECK(value_of(rows[0]) == 1);
  CHECK(refuses<ValueError>([&] { without_tokens(rows, {3}); }, "token 3", "vocabulary of 3"));
}
