#include "examples/fledge/train/train_config.h"

#include "examples/fledge/step_cost.h"
#include "tests/support/catch.h"

using namespace fledge;
using namespace fledge::train;

namespace {

// A text of this many tokens of so many kinds; in lines if `line` is not 0.
Corpus corpus_of(Dim tokens, Dim symbols, Dim line = 0) {
  std::string text;
  Rng rng(3);
  for (Dim i = 0; i < tokens; ++i) {
    const bool ends = line > 0 && i % line == line - 1;
    text += ends ? '\n' : static_cast<char>(i < symbols ? 33 + i : 33 + rng.below(symbols));
  }
  return read_corpus(
      text, {.reading = line > 0 ? Reading::lines : Reading::stream, .tokens = Tokens::byte});
}

struct Chosen {
  TrainConfig config;
  std::string text;
};

Chosen chosen_for(const Corpus& corpus, TrainConfig config = {}) {
  config.texts = {"poems.txt"};
  config.sizes.vocabulary = corpus.tokenizer.size();
  const std::string text = choose_for_text(config, corpus);
  return {config, text};
}

double operations(const TrainConfig& config) {
  return static_cast<double>(config.training.schedule.steps) *
         operations_of_step(config.sizes, static_cast<double>(config.training.batch));
}

}  // namespace

TEST_CASE("a longer text gets a larger model, and at most the work of two minutes") {
  Dim width = 0;
  for (const Dim tokens : {300, 3'000, 30'000, 100'000, 600'000}) {
    const Chosen chosen = chosen_for(corpus_of(tokens, 60));
    CHECK(chosen.config.sizes.width >= width);
    width = chosen.config.sizes.width;
    CHECK(operations(chosen.config) <= 2 * operations_of_minute);
    CHECK(chosen.config.sizes.width % chosen.config.sizes.heads == 0);
    CHECK(chosen.config.patience == 5);
    CHECK(chosen.text.find("steps") != std::string::npos);
  }
  CHECK(width == 128);
}

TEST_CASE("evaluations take at most a sixteenth of the work of the steps, both texts counted") {
  for (const Dim tokens : {3'000, 30'000, 100'000})
    for (const Dim batch : {1, 4}) {
      TrainConfig given;
      given.training.batch = batch;
      given.given = {"--batch"};
      const Corpus corpus = corpus_of(tokens, 60);
      const TrainConfig config = chosen_for(corpus, given).config;
      const auto windows = [&](const TokenText& text, Dim most) {
        return std::min(most, text.size() / config.sizes.context);
      };
      const Dim read =
          windows(corpus.valid, evaluated_windows) + windows(corpus.train, training_windows);
      // A step reads its windows three times: forward, and twice as long backward.
      CHECK(16 * read <= 3 * batch * config.evaluate_every);
    }
}

TEST_CASE("the number of steps follows the minutes, and ends after its passes of a short text") {
  const Corpus corpus = corpus_of(600'000, 60);
  for (const double minutes : {1, 3}) {
    TrainConfig config;
    config.minutes = minutes;
    const double chosen = operations(chosen_for(corpus, config).config);
    CHECK(chosen > 0.99 * minutes * operations_of_minute);
    CHECK(chosen <= minutes * operations_of_minute);
  }
  const Chosen chosen = chosen_for(corpus_of(3'000, 60));
  CHECK(chosen.text.starts_with("The training text is very short: "));
  // Whether more would help is known at the end alone: then the report offers more steps, or not.
  CHECK_THAT(chosen.text,
             EndsWith(" These are 100 passes over the text, the most that are chosen."));
  const double seen =
      static_cast<double>(chosen.config.training.schedule.steps * chosen.config.training.batch *
                          chosen.config.sizes.context);
  CHECK(seen <= 100 * 3'000.0);
}

TEST_CASE("rare symbols get a smaller rate and more decay; short lines a narrow model") {
  const Chosen frequent = chosen_for(corpus_of(60'000, 60)), rare = [] {
    std::string text;
    Rng rng(4);
    for (int i = 0; i < 20'000; ++i)
      text += "\xE4" + std::string(1, static_cast<char>(0xB8 + rng.below(4))) +
              static_cast<char>(0x80 + rng.below(64));
    return chosen_for(read_corpus(text, {}));
  }();
  CHECK(rare.config.training.schedule.rate < frequent.config.training.schedule.rate);
  CHECK(rare.config.training.decay > frequent.config.training.decay);
  const Chosen lines = chosen_for(corpus_of(60'000, 60, 8));
  CHECK(lines.config.sizes.context == 8);
  CHECK(lines.config.sizes.width < frequent.config.sizes.width);
  CHECK(lines.config.training.batch > frequent.config.training.batch);
}

TEST_CASE("what is given stays, and the rest fits to it") {
  const Corpus corpus = corpus_of(100'000, 60);
  TrainConfig config;
  config.given = {"--heads", "--steps", "--patience"};
  config.sizes.heads = 6;
  config.training.schedule.steps = 30;
  config.patience = 0;
  const Chosen chosen = chosen_for(corpus, config);
  CHECK(chosen.config.sizes.heads == 6);
  CHECK(chosen.config.sizes.width % 6 == 0);
  CHECK(chosen.config.training.schedule.steps == 30);
  CHECK(chosen.config.training.schedule.warmup == 3);
  CHECK(chosen.config.patience == 0);
  CHECK(chosen.text.find("head") == std::string::npos);
  config = {};
  config.given = {"--width"};
  config.sizes.width = 7;
  CHECK(chosen_for(corpus, config).config.sizes.heads == 1);
  config = {};
  config.given = {"--warmup"};
  config.training.schedule.warmup = 100'000;
  CHECK(chosen_for(corpus, config).config.training.schedule.steps == 100'000);
}

TEST_CASE("the context fits into the shortest text") {
  for (const Dim tokens : {4, 10, 40}) {
    const Corpus corpus = corpus_of(tokens, 3);
    CHECK(chosen_for(corpus).config.sizes.context < corpus.train.size());
  }
}
