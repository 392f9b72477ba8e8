// The text model: training that depends on the seed alone, and what the model learns.
#include "examples/birds/text_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/autograd.h"
#include "examples/support/built_in_text.h"
#include "nn/inspect/least_loss.h"
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

TEST_CASE("birds text: a sentence begins with a line end") {
  const std::vector<Dim> tokens = beginning(the_text(), "birds sometimes");
  CHECK(the_text().tokenizer.decode(tokens) == "\nbirds sometimes");
  const Indices row = beginning_row(the_text(), "birds sometimes");
  CHECK(row.shape() == Shape{1, 3});
  for (Dim i = 0; i < 3; ++i) CHECK(row[i] == tokens[static_cast<std::size_t>(i)]);
}

TEST_CASE("birds text: what is not there is refused by name") {
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
  const std::vector<Tensor> p = parameters(trained_1().model), q = parameters(again.model),
                            r = parameters(other.model);
  REQUIRE(p.size() == q.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    CHECK(tests::same_bits(q[i].value(), p[i].value()));
    CHECK_FALSE(tests::same_bits(r[i].value(), p[i].value()));
  }
}

TEST_CASE("birds text model: the seed decides the order of the batches as well as the weights") {
  const LanguageModel model = new_model(the_text(), 1);
  CHECK(birds::train(model, the_text(), 2) != trained_1().losses);
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

TEST_CASE("birds text model: before training it looks everywhere alike, and guesses") {
  const LanguageModel model = new_model(the_text(), 1);
  for (const Watch& pair : watches()) {
    const double seen = static_cast<double>(beginning(the_text(), pair.sentence).size());
    CHECK_THAT(watch(model, the_text(), pair).attention, WithinAbs(1 / seen, 0.01));
  }
  CHECK(complete(model, the_text(), "birds sometimes").probability < 0.1);
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

TEST_CASE("birds text model: a variant is trained with the same settings, and only it differs") {
  const auto trained_as = [](const Variant& variant) {
    const LanguageModel model = new_model(the_text(), 1, variant);
    return birds::train(model, the_text(), 1);
  };
  CHECK(trained_as({}) == trained_1().losses);
  const double cheating = trained_as({.without = {.mask = true}}).back();
  CHECK(cheating < 0.1 * least_loss(the_text().train));  // it sees the words that it predicts
  const double blind = trained_as({.without = {.attention = true}}).back();
  CHECK(blind > trained_1().losses.back() + 0.1);
}
