// The text model: training that depends on the seed alone, what the model learns, where a word looks
// and what attention passes to it, compared with the sums written out in double.
#include "examples/birds/text_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/autograd.h"
#include "examples/support/built_in_text.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/train/trainer.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using namespace fledge::birds;

namespace {

const Corpus& the_text() {
  static const Corpus text = read_text();
  return text;
}

struct Trained {
  LanguageModel model;
  std::vector<double> losses;

  explicit Trained(std::uint64_t seed)
      : model(new_model(the_text(), seed)), losses(birds::train(model, the_text(), seed)) {}
};

const Trained& trained_1() {
  static const Trained result(1);
  return result;
}

std::vector<double> numbers(const Tensor& tensor) { return to_vector(tensor.value()); }

/// v of each word, (n, C): layer_norm(wte + wpe)·W_v + b_v.
std::vector<std::vector<double>> values_of(const LanguageModel& model,
                                           const std::vector<Dim>& ids) {
  const auto C = static_cast<std::size_t>(model.sizes.width);
  const Block& block = model.h[0];
  const std::vector<double> wte = numbers(model.wte.weight), wpe = numbers(model.wpe.weight),
                            scale = numbers(block.ln_1.weight), shift = numbers(block.ln_1.bias),
                            W = numbers(block.attn.c_attn.weight),  // (C, 3·C): q, k, v
      b = numbers(block.attn.c_attn.bias);
  std::vector<std::vector<double>> values;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    std::vector<double> x(C), v(C);
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < C; ++c) {
      x[c] = wte[static_cast<std::size_t>(ids[t]) * C + c] + wpe[t * C + c];
      mean += x[c] / static_cast<double>(C);
    }
    for (const double number : x)
      variance += (number - mean) * (number - mean) / static_cast<double>(C);
    for (std::size_t c = 0; c < C; ++c)
      x[c] = (x[c] - mean) / std::sqrt(variance + 1e-5) * scale[c] + shift[c];
    for (std::size_t j = 0; j < C; ++j) {
      v[j] = b[2 * C + j];
      for (std::size_t c = 0; c < C; ++c) v[j] += x[c] * W[c * 3 * C + 2 * C + j];
    }
    values.push_back(v);
  }
  return values;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The position of a word behind the line end.
std::size_t position_of(const std::string& word, const std::string& sentence) {
  const std::vector<Dim> tokens = beginning(the_text(), sentence);
  const auto position = std::find(tokens.begin(), tokens.end(), the_text().tokenizer.find(word));
  REQUIRE(position != tokens.end());
  return static_cast<std::size_t>(position - tokens.begin());
}

}  // namespace

TEST_CASE("birds text: the sentences of the built-in text, in their order, and no more") {
  const Corpus& text = the_text();
  CHECK(text.train.documents() == 79);
  CHECK(text.tokenizer.decode(text.train.tokens) == "\n" + std::string(support::built_in_text()));
  CHECK(text.valid.tokens.empty());
  CHECK(text.tokenizer.size() == 79);  // 78 words and the line end
  CHECK(text.tokenizer.find(".").has_value());
  CHECK_FALSE(text.tokenizer.find("lorem").has_value());
}

TEST_CASE("birds text: a sentence begins with a line end, and what is not there is refused") {
  const std::vector<Dim> tokens = beginning(the_text(), "birds sometimes");
  CHECK(the_text().tokenizer.decode(tokens) == "\nbirds sometimes");
  const Indices row = beginning_row(the_text(), "birds sometimes");
  CHECK(row.shape() == Shape{1, 3});
  for (Dim i = 0; i < 3; ++i) CHECK(row[i] == tokens[static_cast<std::size_t>(i)]);
  const LanguageModel model = new_model(the_text(), 1);
  CHECK_THAT(tests::refusal<UnknownSymbol>([&] { complete(model, the_text(), "birds zebras"); }),
             ContainsSubstring("'zebras'"));
  for (const std::string word : {"sing", "zebras"})
    CHECK(tests::refusal<ValueError>([&] {
            watch(model, the_text(), {"birds sometimes walk", word, "birds"});
          }) == "watch: '" + word + "' is not in 'birds sometimes walk'");
}

TEST_CASE("birds text model: one layer, one head, more than 3000 numbers") {
  const LanguageModelSizes sizes = model_sizes(the_text());
  CHECK(sizes.layers == 1);
  CHECK(sizes.heads == 1);
  CHECK(sizes.vocabulary == the_text().tokenizer.size());
  std::size_t longest = 0;  // predictions of a sentence: one after each token but the last
  const std::vector<std::size_t>& starts = the_text().train.starts;
  for (std::size_t d = 0; d + 1 < starts.size(); ++d)
    longest = std::max(longest, starts[d + 1] - starts[d]);
  CHECK(sizes.context == static_cast<Dim>(longest));
  const Dim C = sizes.width, F = sizes.hidden;
  const Dim block = 3 * C * C + 3 * C + C * C + C + 2 * C * F + F + C + 4 * C;
  CHECK(count_parameters(trained_1().model) ==
        (sizes.vocabulary + sizes.context) * C + block + 2 * C);
  CHECK(count_parameters(trained_1().model) > 3000);
}

TEST_CASE("birds text model: the same seed gives the same bits, another seed others") {
  const Trained again(1), other(2);
  CHECK(again.losses == trained_1().losses);
  CHECK(other.losses != trained_1().losses);
  const LanguageModel model = new_model(the_text(), 1);  // the seed decides the batches too
  CHECK(birds::train(model, the_text(), 2) != trained_1().losses);
  const std::vector<Tensor> p = parameters(trained_1().model), q = parameters(again.model),
                            r = parameters(other.model);
  REQUIRE(p.size() == q.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    CHECK(tests::same_bits(q[i].value(), p[i].value()));
    CHECK_FALSE(tests::same_bits(r[i].value(), p[i].value()));
  }
}

TEST_CASE("birds text model: from guessing to the least loss there is, and never below") {
  const std::vector<double>& losses = trained_1().losses;
  CHECK_THAT(losses.front(), WithinAbs(std::log(79.0), 0.1));
  REQUIRE(losses.size() == 500);
  for (const double loss : losses) CHECK(std::isfinite(loss));

  const double least = least_loss(the_text().train);
  CHECK_THAT(least, WithinAbs(0.5577, 5e-5));
  const double last_50 = std::accumulate(losses.end() - 50, losses.end(), 0.0);
  CHECK(last_50 / 50 < least + 0.084);
  const double loss = mean_loss(trained_1().model, the_text().train, 12);
  CHECK(loss > least);  // less would mean that a later word was seen
  CHECK(loss < least + 0.05);
}

TEST_CASE("birds text model: the most likely word, with its share of the softmax") {
  const LanguageModel& model = trained_1().model;
  const NoGrad no_grad;
  const Indices row = beginning_row(the_text(), "but birds are good at");
  const std::vector<double> logits = to_vector(model(row).value());
  const std::vector<double> last(logits.end() - the_text().tokenizer.size(), logits.end());
  const auto best = std::max_element(last.begin(), last.end());
  double sum = 0;
  for (const double logit : last) sum += std::exp(logit - *best);
  const Completion found = complete(model, the_text(), "but birds are good at");
  CHECK(found.next == the_text().tokenizer.decode({best - last.begin()}));
  CHECK_THAT(found.probability, WithinAbs(1 / sum, 1e-5));
}

TEST_CASE("birds text model: a recipe is trained with the same settings, and only it differs") {
  const auto trained_as = [](const Recipe& recipe) {
    const LanguageModel model = new_model(the_text(), 1, recipe);
    return birds::train(model, the_text(), 1);
  };
  CHECK(trained_as({}) == trained_1().losses);
  const double cheating = trained_as({.mask = Masking::none}).back();
  CHECK(cheating < 0.1 * least_loss(the_text().train));  // it sees the words that it predicts
  const double blind = trained_as({.heads = Heads::none}).back();
  CHECK(blind > trained_1().losses.back() + 0.1);
}

TEST_CASE("birds watch: walk and the blank, at birds and at a control in the same sentence") {
  const std::vector<std::vector<std::string>> expected{
      {"birds sometimes walk", "walk", "birds"},
      {"birds sometimes walk", "walk", "sometimes"},
      {"but birds are good at", "at", "birds"},
      {"but birds are good at", "at", "good"}};
  std::vector<std::vector<std::string>> pairs;
  for (const Watch& pair : watches()) pairs.push_back({pair.sentence, pair.word, pair.looks_at});
  CHECK(pairs == expected);
}

TEST_CASE("birds watch: the pattern's entry, and the cosine of the weighted mean with v") {
  const LanguageModel untrained = new_model(the_text(), 1);
  CHECK(complete(untrained, the_text(), "birds sometimes").probability < 0.1);
  CHECK(attention_pattern(untrained, the_text(), "birds").size() == 4);
  for (const LanguageModel* model : {&untrained, &trained_1().model})
    for (const Watch& pair : watches()) {
      CAPTURE(pair.word, pair.looks_at, model == &untrained);
      const std::vector<Dim> tokens = beginning(the_text(), pair.sentence);
      const std::size_t n = tokens.size(), row = position_of(pair.word, pair.sentence),
                        column = position_of(pair.looks_at, pair.sentence);
      const std::vector<double> pattern = attention_pattern(*model, the_text(), pair.sentence);
      REQUIRE(pattern.size() == n * n);
      const auto values = values_of(*model, tokens);
      std::vector<double> mixed(values[0].size());
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
          sum += pattern[i * n + j];
          CHECK((pattern[i * n + j] > 0) == (j <= i));
          CHECK(pattern[i * n + j] >= 0);
          if (i == row)
            for (std::size_t c = 0; c < mixed.size(); ++c)
              mixed[c] += pattern[i * n + j] * values[j][c];
        }
        CHECK_THAT(sum, WithinAbs(1, 1e-5));
      }
      const double lengths = std::sqrt(dot(mixed, mixed) * dot(values[column], values[column]));
      const Watched found = watch(*model, the_text(), pair);
      CHECK(found.attention == pattern[row * n + column]);
      CHECK_THAT(found.association, WithinAbs(dot(mixed, values[column]) / lengths, 1e-4));
      if (model == &untrained)  // it looks everywhere alike
        CHECK_THAT(found.attention, WithinAbs(1 / static_cast<double>(n), 0.01));
    }
}

TEST_CASE("birds watch: nothing that comes later changes where a word looks, to the bit") {
  const LanguageModel& model = trained_1().model;
  const auto alone = attention_pattern(model, the_text(), "birds sometimes walk"),
             longer = attention_pattern(model, the_text(), "birds sometimes walk slowly on grass");
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) CHECK(longer[i * 7 + j] == alone[i * 4 + j]);
}
