// Where a word looks and what attention passes to it, compared with the sums written out in double.
#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "examples/birds/text_model.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::birds;

namespace {

struct Example {
  Corpus text = read_text();
  LanguageModel untrained = new_model(text, 1), model = new_model(text, 1);
  Example() { birds::train(model, text, 1); }
};

const Example& example() {
  static const Example result;
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

/// The place of a word behind the line end.
std::size_t place_of(const std::string& word, const std::string& sentence) {
  const std::vector<Dim> tokens = beginning(example().text, sentence);
  const auto place = std::find(tokens.begin(), tokens.end(), example().text.tokenizer.find(word));
  REQUIRE(place != tokens.end());
  return static_cast<std::size_t>(place - tokens.begin());
}

}  // namespace

TEST_CASE("birds watch: walk and the blank, at birds and at a control in the same sentence") {
  const std::vector<Watch>& pairs = watches();
  REQUIRE(pairs.size() == 4);
  const std::vector<std::vector<std::string>> expected{
      {"birds sometimes walk", "walk", "birds"},
      {"birds sometimes walk", "walk", "sometimes"},
      {"but birds are good at", "at", "birds"},
      {"but birds are good at", "at", "good"}};
  for (std::size_t i = 0; i < pairs.size(); ++i)
    CHECK(std::vector<std::string>{pairs[i].sentence, pairs[i].word, pairs[i].looks_at} ==
          expected[i]);
}

TEST_CASE("birds watch: rows of the pattern sum to 1 and look at no later word") {
  for (const LanguageModel* model : {&example().untrained, &example().model})
    for (const std::string sentence : {"birds", "birds sometimes walk", "but birds are good at"}) {
      const std::size_t n = beginning(example().text, sentence).size();
      const std::vector<double> pattern = attention_pattern(*model, example().text, sentence);
      REQUIRE(pattern.size() == n * n);
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
          sum += pattern[i * n + j];
          if (j > i) CHECK(pattern[i * n + j] == 0);
          if (j <= i) CHECK(pattern[i * n + j] > 0);
        }
        CHECK_THAT(sum, WithinAbs(1, 1e-5));
      }
    }
}

TEST_CASE("birds watch: the pattern's entry, and the cosine of the weighted mean with v") {
  for (const LanguageModel* model : {&example().untrained, &example().model})
    for (const Watch& pair : watches()) {
      CAPTURE(pair.word, pair.looks_at, model == &example().model);
      const std::size_t n = beginning(example().text, pair.sentence).size();
      const std::size_t row = place_of(pair.word, pair.sentence);
      const std::size_t column = place_of(pair.looks_at, pair.sentence);
      const std::vector<double> pattern = attention_pattern(*model, example().text, pair.sentence);
      const auto values = values_of(*model, beginning(example().text, pair.sentence));
      std::vector<double> mixed(values[0].size());
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t c = 0; c < mixed.size(); ++c)
          mixed[c] += pattern[row * n + j] * values[j][c];
      const double lengths = std::sqrt(dot(mixed, mixed) * dot(values[column], values[column]));

      const Watched found = watch(*model, example().text, pair);
      CHECK(found.attention == pattern[row * n + column]);
      CHECK_THAT(found.association, WithinAbs(dot(mixed, values[column]) / lengths, 1e-4));
    }
}

TEST_CASE("birds watch: nothing that comes later changes where a word looks, to the bit") {
  const std::vector<double> alone =
      attention_pattern(example().model, example().text, "birds sometimes walk");
  const std::vector<double> longer =
      attention_pattern(example().model, example().text, "birds sometimes walk slowly on grass");
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) CHECK(longer[i * 7 + j] == alone[i * 4 + j]);
}
