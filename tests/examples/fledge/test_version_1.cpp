// Folders of an older fledge (tests/examples/fledge/version_1/config.json: `fledge train text.txt
// -o run --layers 1 --width 2 --heads 1 --context 4 --batch 2 --no-bias`) are refused, and stay.
#include <filesystem>

#include "tests/examples/fledge/training.h"

using namespace testing;
namespace fs = std::filesystem;

TEST_CASE("version 1: a folder of it is refused in one sentence by every command, and stays") {
  const Desk desk;
  const std::string run = desk / "run";
  fs::create_directory(run);
  fs::copy_file(fs::path(__FILE__).parent_path() / "version_1/config.json", run + "/config.json");
  const auto before = files_in(run);
  for (const Words& line : {Words{"generate", run}, Words{"eval", run, desk.poems()},
                            Words{"train", "--resume", run}}) {
    const Result result = fledge_says(line);
    CHECK(result.status == 3);
    CHECK_THAT(result.err, ContainsSubstring("fledge.version must be 3: got 1; use the fledge that "
                                             "wrote it, or train again\n"));
  }
  CHECK((files_in(run) == before));
}
