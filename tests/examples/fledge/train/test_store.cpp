// Ctrl-C between a step and its evaluation: the step is saved, and is evaluated when the run goes on.
#include <csignal>

#include "examples/fledge/train/run.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

std::unique_ptr<fledge::train::Run> set_up(const Words& arguments) {
  std::vector<const char*> argv{"train"};
  for (const std::string& word : arguments) argv.push_back(word.c_str());
  return fledge::train::set_up(
      fledge::train::train_config(static_cast<int>(argv.size()), argv.data()));
}

}  // namespace

TEST_CASE("store: a step whose evaluation was interrupted is evaluated when the run goes on") {
  const Desk desk;
  const Words call{"--watch", "b:i", "-q"},
      line = tiny + Words{"--eval-every", "5", "--dropout", "0.1", "--accumulate", "2"};
  REQUIRE(fledge_says(Words{"train", desk.poems(), "-o", desk / "whole"} + line + call).status ==
          0);
  // The first step, one with a sample, with an evaluation, and the last.
  for (const std::int64_t step : {1, 4, 5, 20}) {
    CAPTURE(step);
    const std::string folder = desk / ("run" + std::to_string(step));
    const Result stopped = run_here([&] {
      const auto run = set_up(Words{desk.poems(), "-o", folder} + line + call);
      run->observers.emplace_back([&](const fledge::train::Event& event) {
        const auto* stepped = std::get_if<fledge::train::Stepped>(&event);
        if (stepped && stepped->step.number == step - 1) std::raise(SIGINT);
      });
      return step > 1 ? fledge::train::train(*run) : 0;
    });
    CHECK(stopped.status == (step > 1 ? 128 + SIGINT : 0));
    const Result taken = run_here([&] {
      const auto run = set_up(Words{"--resume", folder} + call);
      run->store.take(run->trainer.step());
      run->store.save(true);
      return 0;
    });
    CHECK(taken.status == 0);
    CHECK_THAT(noted_in(folder, "notes"),
               ContainsSubstring("\"step\":" + std::to_string(step) + ",") &&
                   ContainsSubstring("\"unrecorded\":{\"loss\":"));
    CHECK(fledge_says({"generate", folder, "--tokens-out", "2"}).status == 0);
    const Result rest = fledge_says(Words{"train", "--resume", folder} + call);
    INFO(rest.err);
    CHECK(rest.status == 0);
    CHECK((files_in(folder) == files_in(desk / "whole")));
  }
}
