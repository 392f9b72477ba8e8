// The least loss of a text, compared with sums by hand and with the entropy of whole documents.
#include "nn/inspect/ngram_losses.h"

#include <cmath>
#include <map>

#include "nn/gpt/language_model.h"
#include "nn/train/trainer.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace fledge;

namespace {

TokenText documents_of(const std::string& text) {
  return read_corpus(text, {.reading = Reading::lines, .tokens = Tokens::word, .valid = 0}).train;
}

/// The probabilities of the tokens of a document multiply to the probability of the document. So
/// the sum of −ln p over its tokens is −ln of the share of the documents that are equal to it.
double from_whole_documents(const TokenText& text) {
  std::map<std::vector<Dim>, double> equal;
  double tokens = 0;
  for (std::size_t d = 0; d + 1 < text.starts.size(); ++d) {
    const auto at = [&](std::size_t i) {
      return text.tokens.begin() + static_cast<std::ptrdiff_t>(i);
    };
    equal[{at(text.starts[d]), at(text.starts[d + 1] + 1)}] += 1;
    tokens += static_cast<double>(text.starts[d + 1] - text.starts[d]);
  }
  double sum = 0;
  for (const auto& [document, times] : equal)
    sum -= times * std::log(times / static_cast<double>(text.documents()));
  return sum / tokens;
}

}  // namespace

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

TEST_CASE("least loss: the same by the entropy of whole documents") {
  Rng rng(5);
  for (int text = 0; text < 20; ++text) {
    CAPTURE(text);
    std::string lines;
    for (int line = 0; line < 30; ++line) {
      for (int words = 1 + static_cast<int>(3 * rng.uniform()); words > 0; --words)
        lines += std::string(1, static_cast<char>('a' + static_cast<int>(3 * rng.uniform()))) + " ";
      lines += "\n";
    }
    const TokenText documents = documents_of(lines);
    CHECK(least_loss(documents) > 0.1);
    CHECK_THAT(least_loss(documents), WithinAbs(from_whole_documents(documents), 1e-12));
  }
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
  CHECK(tests::refuses<ValueError>([] { least_loss({{0, 1, 0, 1}, {}}); }, "Reading::lines"));
}
