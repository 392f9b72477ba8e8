// The decoder: the rows of the full pass, to the bit, however a text is cut and where the window
// stands.
#include "nn/gpt/decoder.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"
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
    {71, 2, 3, 12, Bias::with},    {40, 1, 4, 5, Bias::with},
};

}  // namespace

TEST_CASE("Decoder: token by token and in pieces, the rows of the full pass to the bit") {
  Dim steps = 0;
  std::uint64_t seed = 0;
  for (const DecoderShape& s : decoder_shapes) {
    CAPTURE(s.context, s.layers, s.heads, s.D);
    Rng rng(++seed);
    const LanguageModel model = decoded_model(s.context, s.layers, s.heads, s.D, s.bias, seed);
    const std::vector<Dim> ids = some_tokens(s.context, rng);
    const Array full = full_pass(model, ids);
    CHECK(part_of_sharp(model, ids) > 0.2);
    for (const int count : {1, 2}) {
      const Threads with(count);
      Decoder by_token(model), by_piece(model);
      Dim wrong = 0;
      for (Dim t = 0; t < s.context; ++t, ++steps)
        wrong += !same_bits(by_token.read(cut(ids, t, t + 1)), row_at(full, t));
      for (Dim t = 0, next = 0; t < s.context; t = next, ++steps) {
        next = std::min(s.context, t + 1 + rng.below(rng.below(2) == 0 ? 4 : 30));
        wrong += !same_bits(by_piece.read(cut(ids, t, next)), row_at(full, next - 1));
      }
      CHECK(wrong == 0);
      CHECK(by_piece.window() == ids);
    }
  }
  CHECK(steps > 1000);
}

TEST_CASE("Decoder: when the context is full the window moves on, and equals a pass over it") {
  for (const Dim context : {1, 2, 3, 8, 17}) {
    CAPTURE(context);
    const LanguageModel model = decoded_model(context, 2, 2, 8, Bias::with, 40);
    Rng rng(41);
    const std::vector<Dim> ids = some_tokens(70, rng);
    Decoder decoder(model), by_piece(model);
    Dim first = 0, read = 0;  // of the window, by the rule as it is written
    for (Dim t = 0; t < 70; ++t) {
      if (t - first == context) first = t + 1 - std::max<Dim>(1, context / 2);
      const Array logits = decoder.read({ids[static_cast<std::size_t>(t)]});
      const std::vector<Dim> window = cut(ids, first, t + 1);
      REQUIRE(decoder.window() == window);
      REQUIRE(decoder.length() == t + 1 - first);
      REQUIRE(same_bits(logits, row_at(full_pass(model, window), t - first)));
      if (t < 69 && rng.below(9) > 0) continue;
      REQUIRE(same_bits(by_piece.read(cut(ids, read, t + 1)), logits));
      REQUIRE(by_piece.window() == window);
      read = t + 1;
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
  Decoder fresh(decoded_model(4, 1, 1, 4, Bias::with, 60));
  CHECK(refusal<ValueError>([&] { fresh.attention(); }) ==
        "Decoder: must read a token before attention(): it has read none");
}

TEST_CASE("Decoder: the attention of the last rows alone is that of the whole, to the bit") {
  for (const DecoderShape& s : decoder_shapes) {
    CAPTURE(s.context, s.layers, s.heads, s.D);
    const LanguageModel model = decoded_model(s.context, s.layers, s.heads, s.D, s.bias, 44);
    Rng rng(45);
    for (const Dim T : {Dim{1}, Dim{7}, s.context}) {
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
  Decoder decoder(decoded_model(4, 1, 1, 4, Bias::with, 60));
  decoder.read({1});
  CHECK(refusal<ValueError>([&] { decoder.attention(-1); }) ==
        "Decoder: needs 0 rows of attention or more: got -1");
}

TEST_CASE("Decoder: a number that is not a token is refused, and nothing is read") {
  Decoder decoder(decoded_model(4, 1, 1, 4, Bias::with, 60));
  const Array before = decoder.read({1, 2});
  CHECK(refusal<ValueError>([&] { decoder.read({}); }) ==
        "Decoder: needs at least one token to read: got none");
  CHECK(refusal<ValueError>([&] {
          decoder.read({1, 1, 1, 1, 13});
        }) == "Decoder: token 13 is outside a vocabulary of 13");
  CHECK(refusal<ValueError>([&] { decoder.read({-1}); }) ==
        "Decoder: token -1 is outside a vocabulary of 13");
  CHECK(decoder.window() == std::vector<Dim>{1, 2});
  const Array third = decoder.read({5});
  Decoder other(decoded_model(4, 1, 1, 4, Bias::with, 60));
  CHECK(same_bits(other.read({1, 2, 5}), third));
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
    Decoder by_token(model), by_piece(model);
    for (Dim t = 0, read = 0; t < 30; ++t) {
      const Array logits = by_token.read({ids[static_cast<std::size_t>(t)]});
      const Array full = full_pass(model, by_token.window());
      REQUIRE(same_bits(logits, row_at(full, by_token.length() - 1)));
      if (t % 7 < 6 && t < 29) continue;
      REQUIRE(same_bits(by_piece.read(cut(ids, read, t + 1)), logits));
      read = t + 1;
      const NoGrad no_grad;
      const Dim T = by_token.length();
      const std::vector<Array> weights = by_token.attention(), last = by_token.attention(2);
      const auto composed = model.forward_with_weights(Indices({1, T}, by_token.window())).weights;
      for (std::size_t layer = 0; layer < 2; ++layer) {
        CHECK(close(weights[layer], composed[layer].value().with_shape({2, T, T})));
        CHECK(same_bits(last[layer], part(weights[layer], 1, std::max<Dim>(0, T - 2), T)));
      }
    }
    CHECK(by_token.is_causal() == !without.mask);
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
  CHECK(refusal<ValueError>([&] { without_tokens(rows, {3}); }) ==
        "without_tokens: token 3 is outside a vocabulary of 3");
}
