// Tables that count, held to their definition; the least loss of a text, to sums by hand and the
// entropy of whole documents.
#include "nn/inspect/ngram_losses.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "nn/gpt/language_model.h"
#include "nn/train/trainer.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace fledge;
using tests::refuses;

namespace {

TokenText stream(std::vector<Dim> tokens) { return {std::move(tokens), {}}; }

const TokenText abab = stream({0, 1, 0, 1, 0, 1, 0, 1});

double p_of_last(const TokenText& train, const std::vector<Dim>& test, Dim V, int history) {
  return std::exp(-ngram_losses(train, stream(test), V, history).back());
}

// The formulas as they stand, every count made by looking through the text; for streams.
class ByDefinition {
 public:
  ByDefinition(std::vector<Dim> train, std::vector<Dim> test, Dim V)
      : n_(static_cast<std::ptrdiff_t>(train.size())), V_(V), all_(std::move(train)) {
    all_.insert(all_.end(), test.begin(), test.end());
  }

  double loss(int history) {
    weights_.clear();
    for (int shorter = 1; shorter <= history; ++shorter) weights_.push_back(estimate(shorter));
    double sum = 0;
    for (auto i = n_; i < std::ssize(all_); ++i) sum -= std::log(p(i, history, false));
    return sum / static_cast<double>(std::ssize(all_) - n_);
  }

 private:
  // How often the history of token i occurs in the training text, and with token i behind it.
  std::pair<double, double> counts(std::ptrdiff_t i, std::ptrdiff_t history, bool left_out) const {
    double both = 0, before = 0;
    for (auto j = history; j < n_ && i >= history; ++j) {
      if (left_out && j == i) continue;
      if (!std::equal(all_.begin() + j - history, all_.begin() + j, all_.begin() + i - history))
        continue;
      before += 1;
      both += all_[static_cast<std::size_t>(j)] == all_[static_cast<std::size_t>(i)];
    }
    return {before, both};
  }

  double p(std::ptrdiff_t i, int history, bool left_out) const {
    const auto [before, both] = counts(i, history, left_out);
    if (history == 0) return (both + 1) / (before + static_cast<double>(V_));
    const double shorter = p(i, history - 1, left_out);
    if (before == 0) return shorter;
    const auto size = static_cast<std::size_t>(std::log2(before));
    const double weight = weights_.at(static_cast<std::size_t>(history) - 1).at(size);
    return weight * both / before + (1 - weight) * shorter;
  }

  std::vector<double> estimate(int history) const {
    std::vector<double> weights(16, 0.5);
    for (int round = 0; round < 20; ++round) {
      std::vector<double> sum(16), number(16);
      for (std::ptrdiff_t i = 0; i < n_; ++i) {
        const auto [before, both] = counts(i, history, true);
        if (before == 0) continue;
        const auto size = static_cast<std::size_t>(std::log2(before));
        const double longer = weights[size] * both / before;
        sum[size] += longer / (longer + (1 - weights[size]) * p(i, history - 1, true));
        number[size] += 1;
      }
      for (std::size_t size = 0; size < 16; ++size)
        if (number[size] > 0) weights[size] = std::clamp(sum[size] / number[size], 0.001, 0.999);
    }
    return weights;
  }

  std::ptrdiff_t n_;
  Dim V_;
  std::vector<Dim> all_;
  std::vector<std::vector<double>> weights_;
};

TokenText documents_of(const std::string& text) {
  return read_corpus(text, {.reading = Reading::lines, .tokens = Tokens::word, .valid = 0}).train;
}

}  // namespace

TEST_CASE(
    "a history of one predicts what follows, one that was never seen leaves it to a shorter") {
  // After 1 always comes 0, also when one of these is left out: the weight grows to its limit.
  CHECK_THAT(p_of_last(abab, {0}, 2, 1), WithinAbs(1, 0.002));
  CHECK_THAT(p_of_last(abab, {1}, 2, 1), WithinAbs(0, 0.002));
  const TokenText train = stream({0, 1, 2, 0, 1, 2, 3, 1}), unseen = stream({3, 3, 3, 2});
  const std::vector<double> some = ngram_losses(train, unseen, 4, 3),
                            more = ngram_losses(train, unseen, 4, 8);
  CHECK(some.size() == 4);
  CHECK(more.back() == some.back());  // no longer history of the test stands in the training text
}

TEST_CASE("tables count what looking through the text counts") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    std::vector<Dim> train, test;
    for (Dim i = rng.below(60); i >= 0; --i) train.push_back(rng.below(3));
    for (Dim i = rng.below(30); i >= 0; --i) test.push_back(rng.below(4));
    ByDefinition by_definition(train, test, 4);
    const std::vector<double> losses = ngram_losses(stream(train), stream(test), 4, 3);
    for (int history = 0; history <= 3; ++history)
      CHECK_THAT(losses.at(static_cast<std::size_t>(history)),
                 WithinAbs(by_definition.loss(history), 1e-9));
  }
}

TEST_CASE("documents are counted each by itself, after as many boundaries as a history needs") {
  // "ab", "b" and "b", with the boundary 0
  const TokenText train{{0, 1, 2, 0, 2, 0}, {0, 3, 5}}, test{{0, 2, 0}, {0, 2}};
  const double no_history = -std::log(3.0 / 8) - std::log(3.0 / 8);  // a b 0 b 0: 2 of 5 each
  const std::vector<double> losses = ngram_losses(train, test, 3, 5);
  CHECK_THAT(losses.at(0), WithinAbs(no_history / 2, 1e-15));
  CHECK(losses.at(1) < losses.at(0));  // the boundary always follows b
  CHECK(losses.size() == 6);
  // The history of two boundaries is the beginning of a document, as is that of one: of six
  // documents that begin with a or with b, each begins as often as that.
  const TokenText begun{{0, 1, 0, 1, 0, 1, 0, 2, 0, 2, 0, 2, 0}, {0, 2, 4, 6, 8, 10, 12}};
  const std::vector<double> of_a = ngram_losses(begun, {{0, 1, 0}, {0, 2}}, 3, 3);
  const std::vector<double> of_b = ngram_losses(begun, {{0, 2, 0}, {0, 2}}, 3, 3);
  for (std::size_t n = 0; n < of_a.size(); ++n) CHECK_THAT(of_a[n], WithinAbs(of_b[n], 1e-12));
  // Half of ln 2 for the letter; of the boundary, which is sure, next to nothing is left.
  for (std::size_t n = 1; n < of_a.size(); ++n)
    CHECK_THAT(of_a[n], WithinAbs(0.5 * std::log(2.0), 0.1));
}

TEST_CASE("the share of the work that is done rises to 1") {
  std::vector<double> shares;
  ngram_losses(abab, abab, 2, 3, [&](double share) { shares.push_back(share); });
  CHECK(shares.size() == 12);
  CHECK(std::is_sorted(shares.begin(), shares.end()));
  CHECK(shares.front() > 0);
  CHECK(shares.back() == 1);
}

TEST_CASE("tables refuse what cannot be counted") {
  const auto losses = [](const TokenText& train, const TokenText& test, int history) {
    return [=] { ngram_losses(train, test, 2, history); };
  };
  CHECK(refuses<ValueError>(losses(abab, {}, 1), "ngram_losses", "no tokens"));
  CHECK(refuses<ValueError>(losses(abab, stream({2}), 1), "token 2", "vocabulary of 2"));
  CHECK(refuses<ValueError>(losses(stream({-1}), stream({0}), 1), "token -1", "vocabulary of 2"));
  for (const int history : {-1, 9})
    CHECK(refuses<ValueError>(losses(abab, abab, history), "0 to 8",
                              "got " + std::to_string(history)));
  CHECK(refuses<ValueError>(losses(abab, {{0, 1, 0}, {0, 2}}, 1), "stream", "documents"));
}

TEST_CASE("least loss: sums by hand, and 0 where every beginning goes on in one way") {
  for (const auto& [text, by_hand] :
       {// After "a" come b, b and c; the 6 other predictions have one answer.
        std::pair{"a b\na c\na b\n", -(2 * std::log(2.0 / 3) + std::log(1.0 / 3)) / 9},
        // "a" ends or goes on with b: 2·ln 2 of 5 predictions.
        {"a\na b\n", 2 * std::log(2.0) / 5},
        // The first word is b or c: 2·ln 2 of 6 predictions. What follows is decided by it.
        {"b a\nc d\n", 2 * std::log(2.0) / 6},
        {"a b c\n", 0.0},
        {"a b c\na b c\n", 0.0}})
    CHECK_THAT(least_loss(documents_of(text)), WithinAbs(by_hand, by_hand > 0 ? 1e-12 : 0));
}

TEST_CASE("least loss: a model that learns a text by heart comes near it, and not below") {
  const TokenText text = documents_of("a b\na c\na b\na c d\nb\n");
  Rng rng(1);
  const LanguageModel model(
      {.vocabulary = 5, .context = 4, .layers = 1, .heads = 1, .width = 8, .hidden = 16}, rng);
  Trainer trainer(model, text, {.batch = 5, .schedule = {.rate = 0.02, .steps = 400}, .decay = 0});
  while (trainer.steps_done() < 400) trainer.step();
  const double least = least_loss(text), loss = mean_loss(model, text, 5);
  CHECK(loss > least - 1e-6);  // the engine computes in float
  CHECK(loss < least + 0.01);
}

TEST_CASE("least loss: a stream has no documents and is refused") {
  CHECK(refuses<ValueError>([] { least_loss({{0, 1, 0, 1}, {}}); }, "Reading::lines"));
}
