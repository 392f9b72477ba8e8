// The text model: batches, training that depends on the seed alone, and what it learns.
#include "examples/birds/text_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "engine/autograd.h"
#include "examples/birds/corpus.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using namespace fledge::birds;

namespace {

const Text& the_text() {
  static const Text text;
  return text;
}

Batch whole_text() {
  std::vector<Dim> all(static_cast<std::size_t>(the_text().sentence_count()));
  std::iota(all.begin(), all.end(), Dim{0});
  return the_text().batch(all);
}

struct Trained {
  LanguageModel model;
  Training training;

  explicit Trained(std::uint64_t seed)
      : model(new_model(the_text(), seed)), training(train(model, the_text(), seed)) {}
};

const Trained& trained_1() {
  static const Trained result(1);
  return result;
}

double loss_of(const LanguageModel& model, const Batch& batch) {
  NoGrad no_grad;
  return cross_entropy(model(batch.ids), batch.targets, no_target).item();
}

std::string word_or_dash(Dim id) {
  return id == no_target ? "-" : the_text().vocabulary().word(id);
}

std::string row_of(const Indices& ids, Dim row) {
  std::string text;
  const Dim T = ids.shape()[1];
  for (Dim t = 0; t < T; ++t) text += word_or_dash(ids[row * T + t]) + " ";
  text.pop_back();
  return text;
}

/// The least mean loss that anyone can have who knows the text by heart and only what came before:
/// −log of how often this word follows this beginning.
double least_loss(const Batch& batch) {
  std::map<std::vector<Dim>, std::map<Dim, double>> follows;
  std::vector<std::pair<std::vector<Dim>, Dim>> places;
  const Dim B = batch.ids.shape()[0], T = batch.ids.shape()[1];
  for (Dim b = 0; b < B; ++b) {
    std::vector<Dim> beginning;
    for (Dim t = 0; t < T && batch.targets[b * T + t] != no_target; ++t) {
      beginning.push_back(batch.ids[b * T + t]);
      places.emplace_back(beginning, batch.targets[b * T + t]);
      ++follows[beginning][batch.targets[b * T + t]];
    }
  }
  double sum = 0;
  for (const auto& [beginning, target] : places) {
    double count = 0;
    for (const auto& [word, times] : follows[beginning]) count += times;
    sum -= std::log(follows[beginning][target] / count);
  }
  return sum / static_cast<double>(places.size());
}

}  // namespace

TEST_CASE("birds text: the sentences of the corpus, in their order, and no more") {
  const Text& text = the_text();
  REQUIRE(text.sentence_count() == static_cast<Dim>(sentences().size()));
  Dim longest = 0;
  for (std::size_t i = 0; i < sentences().size(); ++i) {
    const std::string sentence(sentences()[i]);
    const std::string last_cut = sentence.substr(0, sentence.rfind(' '));
    CHECK(row_of(text.batch({static_cast<Dim>(i)}).ids, 0) == last_cut);
    longest = std::max(longest, static_cast<Dim>(split_words(sentence).size()));
  }
  CHECK(text.longest() == longest);
  CHECK(text.vocabulary().find(".").has_value());
  CHECK_FALSE(text.vocabulary().find("lorem").has_value());
}

TEST_CASE("birds text: targets are the words one place on, and none beyond the end") {
  const Batch batch =
      the_text().batch_of({"crows often think alone .", "but birds are good at flying over roofs .",
                           "birds sometimes walk slowly ."});
  CHECK(batch.ids.shape() == Shape{3, 8});
  CHECK(batch.targets.shape() == Shape{3, 8});
  CHECK(row_of(batch.ids, 0) == "crows often think alone . . . .");
  CHECK(row_of(batch.targets, 0) == "often think alone . - - - -");
  CHECK(row_of(batch.ids, 1) == "but birds are good at flying over roofs");
  CHECK(row_of(batch.targets, 1) == "birds are good at flying over roofs .");
  CHECK(row_of(batch.ids, 2) == "birds sometimes walk slowly . . . .");
  CHECK(row_of(batch.targets, 2) == "sometimes walk slowly . - - - -");
}

TEST_CASE("birds text: padding changes no loss") {
  const std::string short_one = "cats sometimes walk quietly .";
  const std::string long_one = "but cats are good at climbing over roofs .";
  const LanguageModel& model = trained_1().model;
  const double alone = 4 * loss_of(model, the_text().batch_of({short_one})) +
                       8 * loss_of(model, the_text().batch_of({long_one}));
  CHECK_THAT(loss_of(model, the_text().batch_of({short_one, long_one})),
             WithinAbs(alone / 12, 1e-5));
}

TEST_CASE("birds text: what is not there is refused by name") {
  CHECK(tests::refusal<ValueError>([] { the_text().batch_of({"birds fly"}); }) ==
        "Text: no sentence reads 'birds fly'");
  CHECK_THAT(tests::refusal<ValueError>([] { the_text().batch_of({"zebras walk ."}); }),
             ContainsSubstring("'zebras'"));
  CHECK_THROWS_AS(the_text().batch({the_text().sentence_count()}), std::out_of_range);
  const LanguageModel& model = trained_1().model;
  CHECK_THAT(tests::refusal<ValueError>([&] { complete(model, the_text(), "birds zebras"); }),
             ContainsSubstring("'zebras'"));
  CHECK(tests::refusal<ValueError>([&] {
          watch(model, the_text(), {"birds sometimes walk", "sing", "birds"});
        }) == "watch: 'sing' is not in 'birds sometimes walk'");
}

TEST_CASE("birds text model: one layer, one head, more than 3000 numbers") {
  const LanguageModelSizes sizes = model_sizes(the_text());
  CHECK(sizes.layers == 1);
  CHECK(sizes.heads == 1);
  CHECK(sizes.vocabulary == the_text().vocabulary().size());
  CHECK(sizes.context == the_text().longest() - 1);
  const Dim C = sizes.width, F = sizes.hidden;
  const Dim block = 3 * C * C + 3 * C + C * C + C + 2 * C * F + F + C + 4 * C;
  CHECK(count_parameters(trained_1().model) ==
        (sizes.vocabulary + sizes.context) * C + block + 2 * C);
  CHECK(count_parameters(trained_1().model) > 3000);
}

TEST_CASE("birds text model: the same seed gives the same bits, another seed others") {
  const Trained again(1), other(2);
  CHECK(again.training.losses == trained_1().training.losses);
  CHECK(other.training.losses != trained_1().training.losses);
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
  CHECK(train(model, the_text(), 2).losses != trained_1().training.losses);
}

TEST_CASE("birds text model: from guessing to the least loss there is, and never below") {
  const Training& training = trained_1().training;
  CHECK_THAT(training.loss_of_guessing, WithinRel(std::log(78.0), 1e-12));
  CHECK_THAT(training.losses.front(), WithinAbs(training.loss_of_guessing, 0.1));
  REQUIRE(training.losses.size() == 500);
  for (const double loss : training.losses) CHECK(std::isfinite(loss));
  const double last_50 = std::accumulate(training.losses.end() - 50, training.losses.end(), 0.0);
  CHECK(last_50 / 50 < 0.45);

  const double least = least_loss(whole_text());
  CHECK_THAT(least, WithinAbs(0.3658, 5e-5));
  const double loss = loss_of(trained_1().model, whole_text());
  CHECK(loss > least);  // less would mean that a later word was seen
  CHECK(loss < least + 0.05);
}

TEST_CASE("birds text model: before training it looks everywhere alike, and guesses") {
  const LanguageModel model = new_model(the_text(), 1);
  for (const Watch& pair : watches()) {
    const double seen = static_cast<double>(split_words(pair.sentence).size());
    CHECK_THAT(watch(model, the_text(), pair).attention, WithinAbs(1 / seen, 0.01));
  }
  CHECK(complete(model, the_text(), "birds sometimes").probability < 0.1);
}

TEST_CASE("birds text model: the most likely word, with its share of the softmax") {
  const LanguageModel& model = trained_1().model;
  const std::vector<Dim> ids = the_text().vocabulary().encode("but birds are good at");
  NoGrad no_grad;
  const std::vector<double> logits = to_vector(model({{1, 5}, ids}).value());
  const std::vector<double> last(logits.end() - the_text().vocabulary().size(), logits.end());
  const auto best = std::max_element(last.begin(), last.end());
  double sum = 0;
  for (const double logit : last) sum += std::exp(logit - *best);
  const Completion found = complete(model, the_text(), "but birds are good at");
  CHECK(found.next == the_text().vocabulary().word(best - last.begin()));
  CHECK_THAT(found.probability, WithinAbs(1 / sum, 1e-5));
}
