// What is advised after a divergence, and that it is said before another failure.
// tests/command/divergence.txt has all else.
#include "examples/fledge/train/train_config.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

TEST_CASE("divergence: the advised rate is the one for the text, or less than one that was tried") {
  using namespace fledge::train;
  TrainConfig config;
  const fledge::Corpus corpus = fledge::read_corpus(small_text(), {});
  config.texts = {"poems.txt"};
  for (const auto& [rate, advised] : {std::pair{0.01, 0.004}, {0.004, 0.0004}, {0.0004, 0.00004}}) {
    config.training.schedule.rate = rate;
    CHECK(rate_after_divergence(config, corpus) == advised);
  }
  config.from = "base";
  config.training.schedule.rate = 0.004;
  CHECK(rate_after_divergence(config, corpus) == 0.0004);
}

TEST_CASE("divergence: it is said before a folder that cannot be written to") {
  const Desk desk;
  const std::string errors = desk / "errors";
  Running run(Words{"train", desk.poems(), "-o", desk / "run", "--json", "--accumulate", "2000",
                    "--lr", "1e6", "--clip", "0", "--warmup", "4"} +
                  tiny,
              errors);
  REQUIRE(run.says("\"step\":1,"));
  std::filesystem::create_directories(desk / "run/.fledge-new/thesis");
  CHECK(WEXITSTATUS(run.end()) == 1);
  const std::string said = text_of(errors);
  const std::size_t diverged = said.find(" at step "), unwritten = said.find("cannot remove '");
  CAPTURE(said);
  REQUIRE(diverged != said.npos);
  REQUIRE(unwritten != said.npos);
  CHECK(diverged < unwritten);
  CHECK_THAT(said, ContainsSubstring("remove the cause; then go on with: fledge train --resume "));
}
