// The check that no position depends on later tokens, which must be able to fail; what words have
// to do with each other, against sums written out here; hidden tokens, against masks made by hand, and
// by what must not matter once it is hidden.
#include "nn/inspect/probes.h"

#include <array>
#include <cmath>

#include "tests/nn/modules.h"

using namespace tests;

namespace {

using Ids = std::vector<Dim>;
constexpr Dim probed_vocabulary = 11, probed_context = 12;

LanguageModel probed_model(Dim layers = 2, Dim heads = 2) {
  LanguageModelSizes sizes{.vocabulary = probed_vocabulary, .context = probed_context, .width = 8};
  sizes.layers = layers, sizes.heads = heads;
  return drawn_model(sizes, 2);
}

Ids random_ids(Dim count, std::uint64_t seed, Dim vocabulary = probed_vocabulary) {
  return some_tokens(count, vocabulary, Rng(seed));
}

// A reader whose logits at place t are Σ of weight(t, j)·(id_j + 1) over all j.
Reads reader(const std::function<double(Dim t, Dim j)>& weight) {
  return [=](const Ids& ids) {
    const Dim T = static_cast<Dim>(ids.size());
    std::vector<double> logits;
    for (Dim t = 0; t < T; ++t) {
      double sum = 0;
      for (Dim j = 0; j < T; ++j)
        sum += weight(t, j) * static_cast<double>(ids[static_cast<std::size_t>(j)] + 1);
      logits.insert(logits.end(), {sum, 2 * sum});
    }
    return Array({T, 2}, logits);
  };
}

constexpr Dim ablated_vocabulary = 7;

LanguageModel ablated_model(Dim layers, const Recipe& recipe = {}) {
  LanguageModelSizes sizes{.vocabulary = ablated_vocabulary, .context = 6, .width = 8};
  sizes.layers = layers, sizes.heads = 2, sizes.recipe = recipe;
  return drawn_model(sizes, 3);
}

/// ln p of a token behind the last row of logits (…, T, ablated_vocabulary).
double log_p(const Tensor& logits, Dim token) {
  const Array z = logits.value();
  const Dim last = z.size() - ablated_vocabulary;
  double sum = 0;
  for (Dim i = 0; i < ablated_vocabulary; ++i) sum += std::exp(value_of(z[last + i]));
  return value_of(z[last + token]) - std::log(sum);
}

/// Of a model that reads with this mask in every layer.
double log_p(const LanguageModel& model, const Ids& ids, Dim token, const Mask& mask) {
  const NoGrad no_grad;
  const Dim T = static_cast<Dim>(ids.size());
  Tensor x = embedding(model.wte.weight, model.wpe.weight, Indices({1, T}, ids));
  for (const Block& block : model.h) x = block.forward_with_weights(x, mask).output;
  return log_p(model.logits(x), token);
}

const Ids read_ids{3, 1, 4, 1, 5};

}  // namespace

TEST_CASE("no peek: the logits of a language model keep every bit") {
  const LanguageModel model = probed_model();
  struct Row {
    Dim tokens, cuts, compared;
  };
  for (const Row& row :
       {Row{probed_context, 64, 11 * 12 / 2}, Row{7, 3, 1 + 3 + 6}, Row{9, 1, 8}, Row{2, 64, 1}}) {
    const CausalityReport report = check_causality(model, random_ids(row.tokens, 3), row.cuts);
    const Dim compared = probed_vocabulary * row.compared;
    CHECK((report.is_causal && !report.looks_ahead));
    CHECK(report.compared == compared);
    CHECK(report.text.empty());
  }
  CHECK(check_causality(model, random_ids(probed_context, 3)).compared ==
        probed_vocabulary * (11 * 12 / 2));
  CHECK(refuses<ValueError>([&] { check_causality(model, {3}); }, "check_causality", "got 1"));
  CHECK(refuses<ValueError>([&] { check_causality(model, {3, 4}, 0); }, "cut", "got 0"));
}

TEST_CASE("no peek: a place that sees later tokens is found; what cannot fail proves nothing") {
  const Ids ids = random_ids(9, 6, 5);
  const auto causal_weight = [](Dim t, Dim j) { return j <= t ? 1.0 : 0.0; };
  const auto check = [&](const std::function<double(Dim, Dim)>& weight, std::optional<Dim> place) {
    const CausalityReport report = check_causality(reader(weight), ids, 5);
    CHECK_FALSE(report.is_causal);
    CHECK(report.looks_ahead == place.has_value());
    if (place) CHECK_THAT(report.text, StartsWith("place " + std::to_string(*place) + " depends"));
    if (!place) CHECK_THAT(report.text, StartsWith("could not be shown"));
  };
  CHECK(check_causality(reader(causal_weight), ids, 5).is_causal);
  // One place looks one ahead, ever so little; the last cut alone shows what the last token does.
  for (const Dim place : {0, 3, 7})
    check([&](Dim t, Dim j) { return t == place && j == t + 1 ? 1e-3 : causal_weight(t, j); },
          place);
  // Place 3 looks at place 4. At the first cuts nothing can be seen, and the search goes on.
  check([](Dim t, Dim j) { return t == 3 && j == 4 ? 1.0 : 0.0; }, 3);
  check([](Dim, Dim) { return 0.0; }, {});
  // Layer norm of one number is constant, so no token changes the logits of such a model.
  const LanguageModel constant =
      new_model({.vocabulary = probed_vocabulary, .context = probed_context, .width = 1});
  const CausalityReport narrow = check_causality(constant, random_ids(probed_context, 3));
  CHECK((!narrow.is_causal && !narrow.looks_ahead));
  CHECK(refuses<ValueError>([&] { check_causality(reader(causal_weight), ids, 1); },
                            "vocabulary has 1"));
}

TEST_CASE("first look: the weights of the model, and the cosine of Σ weight·v with v") {
  const LanguageModel model = probed_model();
  const NoGrad no_grad;
  const Indices ids({2, 7}, random_ids(14, 8));
  const FirstLook look = first_look(model, ids);
  const Array weights = model.forward_with_weights(ids).weights[0].value();  // (2, H, 7, 7)
  CHECK(same_bits(look.weights.value(), weights));
  for (const auto& [batch, from, to] : {std::array<Dim, 3>{0, 6, 2}, {1, 3, 3}, {1, 5, 0}}) {
    CHECK_THAT(look.attention(batch, from, to),
               WithinAbs((value_of(weights.at({batch, 0, from, to})) +
                          value_of(weights.at({batch, 1, from, to}))) /
                             2,
                         rounding));
    double dot = 0, passed = 0, value = 0;
    for (Dim c = 0; c < 8; ++c) {
      double mixed = 0;
      for (Dim j = 0; j < 7; ++j)
        mixed += value_of(weights.at({batch, c / 4, from, j})) *
                 value_of(look.values.value().at({batch, j, c}));
      const double v = value_of(look.values.value().at({batch, to, c}));
      dot += mixed * v, passed += mixed * mixed, value += v * v;
    }
    CHECK_THAT(look.association(batch, from, to),
               WithinAbs(dot / std::sqrt(passed * value), 10 * rounding));
  }
}

TEST_CASE("a watched pair: means over every a with a b in front of it, in windows of the context") {
  const LanguageModel model = probed_model(2, 2);
  const auto by_definition = [&](const TokenText& text, Dim a, Dim b, Dim most_windows) {
    const NoGrad no_grad;
    WatchedPair sum;
    std::vector<std::pair<Dim, Dim>> documents;  // the last token is a target alone
    for (std::size_t d = 0; d + 1 < text.starts.size(); ++d)
      documents.emplace_back(text.starts[d], text.starts[d + 1]);
    if (documents.empty()) documents.emplace_back(0, text.size() - 1);
    Dim windows = 0;
    for (const auto& [begin, end] : documents)
      for (Dim at = begin; at < end && windows < most_windows; at += probed_context) {
        const Dim size = std::min(probed_context, end - at), before = sum.pairs;
        const Ids window(text.tokens.begin() + at, text.tokens.begin() + at + size);
        const Indices ids({1, size}, window);
        for (Dim i = 0; i < size; ++i)
          for (Dim j = 0; j < i; ++j) {
            if (window[static_cast<std::size_t>(i)] != a) continue;
            if (window[static_cast<std::size_t>(j)] != b) continue;
            ++sum.pairs;
            sum.chance += 1 / static_cast<double>(i + 1);
            sum.association += first_look(model, ids).association(0, i, j);
            for (const Tensor& layer : model.forward_with_weights(ids).weights)
              for (const Dim head : {0, 1})
                sum.attention += value_of(layer.value().at({0, head, i, j})) / 4;
          }
        windows += sum.pairs > before;
      }
    return sum;
  };
  const NoGrad no_grad;
  const TokenText stream{random_ids(15 * probed_context + 4, 9), {}};
  // "5 3" and "3 7 5": only the first has a 5 before a 3. One window over both would have three
  // more.
  const TokenText lines{{0, 5, 3, 0, 3, 7, 5, 0}, {0, 3, 7}};
  struct Watched {
    TokenText text;
    Dim a, b, most_windows, least_pairs;
  };
  for (const Watched& row : std::vector<Watched>{{stream, 3, 5, 64, 4},
                                                 {stream, 3, 5, 2, 2},
                                                 {lines, 3, 5, 64, 1},
                                                 {{lines.tokens, {}}, 3, 5, 64, 2},
                                                 {{{3, 1, 5, 0}, {}}, 3, 5, 64, 0},
                                                 {{{4, 4, 4, 0}, {}}, 4, 4, 64, 3}}) {
    const WatchedPair found = watch_pair(model, row.text, row.a, row.b, row.most_windows),
                      sum = by_definition(row.text, row.a, row.b, row.most_windows);
    CHECK(found.pairs == sum.pairs);
    CHECK(found.pairs >= row.least_pairs);
    const auto n = static_cast<double>(std::max<Dim>(sum.pairs, 1));
    CHECK_THAT(found.attention, WithinAbs(sum.attention / n, 1e-12));
    CHECK_THAT(found.chance, WithinAbs(sum.chance / n, 1e-12));
    CHECK_THAT(found.association, WithinAbs(sum.association / n, 1e-12));
    const auto vector_of = [&](Dim token) {
      return part(model.wte.weight.value(), 0, token, token + 1);
    };
    CHECK(found.similarity == cosine_similarity(vector_of(row.a), vector_of(row.b)).item());
  }
  CHECK(watch_pair(model, lines, 3, 5).pairs == 1);
  CHECK(watch_pair(model, stream, 3, 5).pairs > watch_pair(model, stream, 3, 5, 2).pairs);
  CHECK(refuses<ValueError>([&] { watch_pair(model, lines, 11, 5); }, "watch_pair", "token 11",
                            "vocabulary of 11"));
}

TEST_CASE("the control of a pair stands in the text about as often") {
  const TokenText text{{0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 4}, {}};  // 4, 3, 2, 1, 2 times; 5 never
  CHECK(control_of(text, 6, 12, 0, 1) ==
        2);  // 2 and 4 are as far from 3; a itself is none; nothing is before 0
  CHECK(control_of(text, 6, 12, 2, 1) == 0);
  CHECK(control_of(text, 6, 12, 0, 4) == 2);
  CHECK(control_of(text, 6, 12, 0, 5) == 3);
  CHECK(refuses<ValueError>([] { control_of({{0, 1}, {}}, 2, 12, 0, 1); }, "vocabulary has 2"));
  CHECK(refuses<ValueError>([&] { control_of(text, 4, 12, 0, 1); }, "token 4", "of 4"));
  CHECK(refuses<ValueError>([&] { control_of(text, 6, 12, -1, 1); }, "token -1", "of 6"));
}

TEST_CASE("the control of a pair stands beside b before an a, in some document") {
  // Documents: "1 2 2 3 4" and "4 3 5". The token 4 is as frequent as 2, but before 3 never with
  // it.
  const TokenText text{{0, 1, 2, 2, 3, 4, 0, 4, 3, 5, 0}, {0, 6, 10}};
  const LanguageModel model = probed_model(1, 1);
  const Dim control = control_of(text, 6, 12, 3, 2);
  CHECK(control == 1);
  CHECK(watch_pair(model, text, 3, control).pairs == 1);
  CHECK(control_of({text.tokens, {}}, 6, 12, 3, 2) == 4);
  CHECK(control_of({{3, 1, 0, 2}, {}}, 4, 12, 0, 1) == 3);  // a stream begins with no boundary
  CHECK(control_of(text, 6, 12, 2, 1) == 5);  // only 1 and the boundary are before 2: any token
}

TEST_CASE("first look: of every recipe it is what the first layer computes") {
  for (const Recipe& recipe :
       {Recipe{}, Recipe{.sink = Sink::learned}, Recipe{.exclusive = Exclusive::own_value},
        Recipe{.key_heads = 1}, Recipe{.window = 2}, Recipe{.mask = Masking::none}}) {
    const LanguageModel model = drawn_model(
        {.vocabulary = 5, .context = 6, .layers = 1, .heads = 2, .width = 8, .recipe = recipe}, 2);
    const NoGrad no_grad;
    const Indices ids({1, 6}, Ids{1, 2, 3, 4, 0, 1});
    const FirstLook look = first_look(model, ids);
    const Block& block = model.h[0];
    CHECK(same_bits(look.weights.value(), model.forward_with_weights(ids).weights[0].value()));
    const Tensor x = model.embed(ids), y = x + block.attn.c_proj(look.passed);
    CHECK(close((y + block.mlp(block.ln_2(y))).value(), block(x, model.mask()).value()));
    CHECK(look.values.shape() == look.passed.shape());
    const double seen = recipe.mask == Masking::none ? 5 : recipe.window > 0 ? 2 : 4;
    CHECK(watch_pair(model, {{1, 2, 3, 4, 0, 1}, {}}, 4, 3).chance == 1 / seen);
  }
}

TEST_CASE("ablate_tokens: nothing left out is the model's own guess, without what is never drawn") {
  const NoGrad no_grad;
  const LanguageModel model = ablated_model(2);
  const Ids ids{3, 1, 4}, never_drawn{6, 0};
  const Tensor logits = model(Indices({1, 3}, ids));
  std::vector<double> sums(4);
  for (Dim token = 0; token < ablated_vocabulary; ++token) {
    const Ablation found = ablate_tokens(model, ids, token);
    CHECK_THAT(found.log_p, WithinAbs(log_p(logits, token), rounding * 20));
    CHECK(found.without.size() == 2);
    sums[0] += std::exp(found.log_p);
    const Ablation drawn = ablate_tokens(model, ids, token, never_drawn);
    CHECK((drawn.log_p == -infinity) == (token == 0 || token == 6));
    sums[1] += std::exp(drawn.log_p);
    for (std::size_t j = 0; j < 2; ++j) sums[2 + j] += std::exp(drawn.without[j]);
  }
  for (const double sum : sums) CHECK_THAT(sum, WithinAbs(1, 1e-12));
  CHECK(ablate_tokens(model, {3}, 2).without.empty());
}

TEST_CASE("ablate_tokens: one token left out is a mask made by hand, in each layer") {
  const bool o = true, x = false;
  struct Row {
    bool has_mask;
    Ids ids;
    std::size_t left_out;
    Mask mask;
  };
  for (const Row& row :
       std::vector<Row>{{true, {3, 1}, 0, window(1)},  // each position looks at itself alone
                        {true, {3, 1, 5}, 1, custom(3, 3, {o, x, x, o, o, x, o, x, o})},
                        // Without a mask a token is hidden from those before it, too.
                        {false, {3, 1, 4}, 1, custom(3, 3, {o, x, o, o, o, o, o, x, o})}}) {
    const LanguageModel model =
        ablated_model(2, {.mask = row.has_mask ? Masking::causal : Masking::none});
    const Ablation found = ablate_tokens(model, row.ids, 4);
    CHECK(found.without.size() == row.ids.size() - 1);
    CHECK_THAT(found.without[row.left_out],
               WithinAbs(log_p(model, row.ids, 4, row.mask), rounding * 20));
    CHECK(std::abs(found.without[row.left_out] - found.log_p) > 1e-3);
    const NoGrad no_grad;
    const Dim T = std::ssize(row.ids);
    CHECK_THAT(found.log_p, WithinAbs(log_p(model(Indices({1, T}, row.ids)), 4), rounding * 20));
  }
}

TEST_CASE("ablate_tokens: what is hidden may be anything, what is not may not") {
  const LanguageModel model = ablated_model(3);
  const Ablation before = ablate_tokens(model, read_ids, 2);
  for (std::size_t j = 0; j < read_ids.size(); ++j) {
    CAPTURE(j);
    Ids others = read_ids;
    others[j] = (others[j] + 1) % ablated_vocabulary;
    const Ablation after = ablate_tokens(model, others, 2);
    CHECK(after.log_p != before.log_p);
    for (std::size_t i = 0; i + 1 < read_ids.size(); ++i)
      CHECK((after.without[i] == before.without[i]) == (i == j));
  }
  // A model that passes nothing on loses nothing, to the bit.
  for (const Block& block : model.h)
    for (const Tensor& passed : {block.attn.c_proj.weight, block.attn.c_proj.bias})
      assign(passed, Array::zeros(passed.shape()));
  const Ablation found = ablate_tokens(model, read_ids, 2);
  for (const double without : found.without) CHECK(without == found.log_p);
}

TEST_CASE("ablate_tokens: refuses tokens that the model cannot read") {
  const LanguageModel model = ablated_model(2);
  const auto of = [&](const Ids& ids, Dim token) {
    return [&model, ids, token] { ablate_tokens(model, ids, token); };
  };
  CHECK(refuses<ValueError>(of({}, 2), "ablate_tokens", "1 to 6", "got 0"));
  CHECK(refuses<ValueError>(of(Ids(7, 1), 2), "ablate_tokens", "1 to 6", "got 7"));
  CHECK(refuses<ValueError>(of({1}, 7), "token 7", "vocabulary of 7"));
  CHECK(refuses<ValueError>(of({1, -1}, 2), "token -1", "vocabulary of 7"));
}
