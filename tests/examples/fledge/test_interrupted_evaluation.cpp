// Ctrl-C between a step and its evaluation: the step is saved, and is evaluated when the run goes on.
#include <csignal>
#include <fstream>
#include <thread>

#include "tests/examples/fledge/training.h"

using namespace testing;

TEST_CASE("interrupts: a step whose evaluation is broken off is kept, and evaluated later") {
  const Desk desk;
  std::ofstream(desk / "long.txt") << small_text(6000);
  for (const char* steps : {"2", "3"}) {  // the last step, and one before it
    CAPTURE(steps);
    const auto line = [&](const std::string& folder) -> std::vector<std::string> {
      return {"train",        desk / "long.txt",
              "-o",           desk / folder,
              "--layers",     "2",
              "--heads",      "2",
              "--width",      "64",
              "--context",    "64",
              "--batch",      "2",
              "--valid",      "0.6",
              "--dropout",    "0.1",
              "--steps",      steps,
              "--eval-every", "2",
              "--json",       "--force"};
    };
    REQUIRE(fledge_says(line("whole")).status == 0);
    // An evaluation takes as long as a hundred steps, so soon one is hit.
    bool is_hit = false;
    for (int tries = 0; tries < 20 && !is_hit; ++tries) {
      Running run(line("stopped"));
      REQUIRE(run.says("\"step\":1,"));
      std::this_thread::sleep_for(std::chrono::milliseconds(5 * tries));
      run.signal(SIGINT);
      run.end();
      is_hit = text_of(desk / "stopped/run.safetensors").find("unrecorded") != std::string::npos;
    }
    REQUIRE(is_hit);
    CHECK(fledge_says({"generate", desk / "stopped", "--tokens-out", "2"}).status == 0);
    const Result rest = fledge_says({"train", "--resume", desk / "stopped"});
    INFO(rest.err);
    CHECK(rest.status == 0);
    CHECK(rest.err.find("is over after") == std::string::npos);
    CHECK((files_in(desk / "stopped") == files_in(desk / "whole")));
  }
}
