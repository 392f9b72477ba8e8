// The decoder: the rows of the full pass, to the bit, however a text is cut and where the window
// stands.
#include "nn/gpt/decoder.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"
#include "tests/support/threads.h"

using namespace tests;

namespace {

constexpr Dim decoder_vocabulary = 13;

// Weights that keep the size of what they map, queries and keys somewhat larger: heads that choose.
LanguageModel decoded_model(Dim context, Dim layers, Dim heads, Dim D, Bias bias,
                            std::uint64_t seed) {
  Rng rng(seed);
  LanguageModel model({.vocabulary = decoder_vocabulary,
                       .context = context,
                       .layers = layers,
                       .heads = heads,
                       .width = heads * D,
                       .bias = bias},
                      rng);
  for (const auto& [name, p] : named_parameters(model)) {
    const bool gain = p.rank() == 1 && name.find("weight") != std::string::npos;
    const double in = p.rank() == 2 ? static_cast<double>(std::min(p.dim(0), p.dim(1))) : 40;
    assign(p, random_normal(p.shape(), gain ? 1 : 0, 2 / std::sqrt(in), rng));
  }
  return model;
}

std::vector<Dim> some_tokens(Dim count, Rng& rng) {
  std::vector<Dim> ids(static_cast<std::size_t>(count));
  for (Dim& id : ids) id = rng.below(decoder_vocabulary);
  return ids;
}

std::vector<Dim> cut(const std::vector<Dim>& ids, Dim begin, Dim end) {
  return {ids.begin() + begin, ids.begin() + end};
}

// (T, decoder_vocabulary)
Array full_pass(const LanguageModel& model, const std::vector<Dim>& ids) {
  const NoGrad no_grad;
  const Dim T = static_cast<Dim>(ids.size());
  return model(Indices({1, T}, ids)).value().with_shape({T, decoder_vocabulary});
}

Array row_at(const Array& logits, Dim t) {
  return part(logits, 0, t, t + 1).with_shape({decoder_vocabulary});
}

// How often more than half of a head's attention is on one token, among places that see four or
// more.
double part_of_sharp(const LanguageModel& model, const std::vector<Dim>& ids) {
  const NoGrad no_grad;
  const Dim T = static_cast<Dim>(ids.size());
  const Array top =
      max(model.forward_with_weights(Indices({1, T}, ids)).weights.back(), {-1}).value();
  Dim sharp = 0, all = 0;
  for (Dim i = 0; i < top.size(); ++i)
    if (i % T >= 3) ++all, sharp += value_of(top[i]) > 0.5;
  return static_cast<double>(sharp) / static_cast<double>(all);
}

// Reads a window that grows by a token, or begins anew; notes the weights of each part it reads.
class Recorded {
 public:
  explicit Recorded(const LanguageModel& model) : model_(model) {}

  // The logits behind the window.
  Array read(const std::vector<Dim>& window) {
    const NoGrad no_grad;
    const bool grows = !window_.empty() && window.size() == window_.size() + 1 &&
                       std::equal(window_.begin(), window_.end(), window.begin());
    if (!grows) {
      ++passes;
      caches_.assign(model_.h.size(), {});
      rows_.assign(model_.h.size(), {});
    }
    const auto length = static_cast<Dim>(window.size()), first = grows ? length - 1 : Dim{0};
    window_ = window;
    Tensor x = embedding(model_.wte.weight, model_.wpe.weight,
                         Indices({length - first}, cut(window, first, length)), first);
    for (std::size_t layer = 0; layer < model_.h.size(); ++layer) {
      const Block& block = model_.h[layer];
      const Tensor qkv = block.attn.c_attn(block.ln_1(x));
      x = block(x, caches_[layer]);
      const Array weights = cached_attention_weights(qkv.value(), block.attn.heads, caches_[layer]);
      for (Dim t = 0; t < length - first; ++t) rows_[layer].push_back({weights, t});
    }
    return model_.logits(slice(x, 0, length - first - 1, length - first))
        .value()
        .with_shape({decoder_vocabulary});
  }
  double weight(std::size_t layer, Dim head, Dim place, Dim key) const {
    const auto& [weights, t] = rows_[layer][static_cast<std::size_t>(place)];
    return key < weights.dim(2) ? value_of(weights.at({head, t, key})) : 0;
  }
  int passes = 0;

 private:
  LanguageModel model_;
  std::vector<KeyValueCache> caches_;
  std::vector<std::vector<std::pair<Array, Dim>>> rows_;  // of each layer and place
  std::vector<Dim> window_;
};

struct DecoderShape {
  Dim context, layers, heads, D;
  Bias bias;
};
const DecoderShape decoder_shapes[] = {
    {96, 1, 1, 16, Bias::with},    {96, 2, 4, 32, Bias::without}, {64, 2, 4, 4, Bias::with},
    {33, 3, 3, 16, Bias::without}, {90, 1, 2, 32, Bias::with},    {47, 2, 2, 8, Bias::without},
    {71, 2, 3, 12, Bias::with},    {40, 1, 4, 5, Bias::with},     {17, 2, 2, 8, Bias::with},
    {8, 2, 2, 8, Bias::with},      {3, 2, 2, 8, Bias::with},      {2, 2, 2, 8, Bias::with},
    {1, 2, 2, 8, Bias::with},
};

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
    const Array full = full_pass(model, by_token.window());
    for (const auto& [position, row] : rows) wrong += !same_bits(row, row_at(full, position));
    rows.clear();
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("Decoder: token by token and in pieces, the rows of full passes to the bit") {
  std::uint64_t seed = 0;
  for (const DecoderShape& s : decoder_shapes) {
    CAPTURE(s.context, s.layers, s.heads, s.D);
    Rng rng(++seed);
    const LanguageModel model = decoded_model(s.context, s.layers, s.heads, s.D, s.bias, seed);
    const std::vector<Dim> ids = some_tokens(5 * s.context / 2 + 20, rng);
    if (s.context > 17) CHECK(part_of_sharp(model, cut(ids, 0, s.context)) > 0.2);
    for (const int count : {1, 2}) {
      const Threads with(count);
      check_rows(model, ids, rng);
    }
  }
}

TEST_CASE("Decoder: its attention is what was used while it read, in each layer and head") {
  for (const DecoderShape& s : decoder_shapes) {
    const Dim context = std::min<Dim>(s.context, 40);
    CAPTURE(context, s.layers, s.heads, s.D);
    const LanguageModel model = decoded_model(context, s.layers, s.heads, s.D, s.bias, 42);
    Rng rng(43);
    const std::vector<Dim> ids = some_tokens(3 * context, rng);
    Decoder decoder(model);
    Recorded recorded(model);
    for (Dim t = 0; t < 3 * context; ++t) {
      const Array logits = decoder.read({ids[static_cast<std::size_t>(t)]});
      REQUIRE(same_bits(logits, recorded.read(decoder.window())));
      if (t % 7 > 0 && t + 1 < 3 * context) continue;
      const std::vector<Array> weights = decoder.attention();
      REQUIRE(weights.size() == static_cast<std::size_t>(s.layers));
      Dim wrong = 0;
      for (std::size_t layer = 0; layer < weights.size(); ++layer) {
        REQUIRE(weights[layer].shape() == Shape{s.heads, decoder.length(), decoder.length()});
        for (Dim h = 0; h < s.heads; ++h)
          for (Dim i = 0; i < decoder.length(); ++i)
            for (Dim j = 0; j < decoder.length(); ++j)
              wrong += value_of(weights[layer].at({h, i, j})) != recorded.weight(layer, h, i, j);
      }
      CHECK(wrong == 0);
    }
    CHECK(recorded.passes > 1);  // the window has moved on
  }
}

TEST_CASE("Decoder: the attention of the last rows alone is that of the whole, to the bit") {
  for (const DecoderShape& s : decoder_shapes) {
    CAPTURE(s.context, s.layers, s.heads, s.D);
    const LanguageModel model = decoded_model(s.context, s.layers, s.heads, s.D, s.bias, 44);
    Rng rng(45);
    for (const Dim T : {Dim{1}, std::min<Dim>(7, s.context), s.context}) {
      Decoder decoder(model);
      decoder.read(some_tokens(T, rng));
      const std::vector<Array> whole = decoder.attention();
      for (const Dim rows : {Dim{1}, Dim{2}, Dim{24}, T, T + 3}) {
        const Dim R = std::min(rows, T);
        const std::vector<Array> last = decoder.attention(rows);
        REQUIRE(last.size() == whole.size());
        for (std::size_t layer = 0; layer < last.size(); ++layer) {
          REQUIRE(last[layer].shape() == Shape{s.heads, R, T});
          CHECK(same_bits(last[layer], part(whole[layer], 1, T - R, T)));
        }
      }
    }
  }
}

TEST_CASE("Decoder: what it cannot do is refused, and nothing is read") {
  Decoder decoder(decoded_model(4, 1, 1, 4, Bias::with, 60)), other = decoder;
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

TEST_CASE("Decoder: without any of the parts it still gives the rows of the full pass") {
  for (const Without& without :
       {Without{.mask = true}, Without{.positions = true}, Without{.scale = true},
        Without{.mlp = true}, Without{.value = true}, Without{.attention = true},
        Without{.residual = true}, Without{.norm = true},
        Without{.mask = true, .scale = true, .residual = true, .norm = true}}) {
    CAPTURE(words_of(without));
    LanguageModelSizes sizes = decoded_model(12, 2, 2, 8, Bias::with, 50).sizes;
    sizes.variant.without = without;
    Rng rng(51);
    const LanguageModel model(sizes, rng);
    const std::vector<Dim> ids = some_tokens(30, rng);
    check_rows(model, ids, rng);
    const NoGrad no_grad;
    for (const Dim T : {Dim{1}, Dim{7}, Dim{12}}) {
      Decoder decoder(model);
      decoder.read(cut(ids, 0, T));
      CHECK(decoder.is_causal() == !without.mask);
      const std::vector<Array> weights = decoder.attention(), last = decoder.attention(2);
      const auto composed = model.forward_with_weights(Indices({1, T}, decoder.window())).weights;
      for (std::size_t layer = 0; layer < 2; ++layer) {
        CHECK(close(weights[layer], composed[layer].value().with_shape({2, T, T})));
        CHECK(same_bits(last[layer], part(weights[layer], 1, std::max<Dim>(0, T - 2), T)));
      }
    }
  }
}

TEST_CASE("decoder: tokens that are never drawn have the logit of an impossible token") {
  const LanguageModel model = decoded_model(8, 1, 1, 8, Bias::with, 60);
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
