// examples/birds_first.cpp, the text to read first: it learns, and it stays short.
#include <sstream>

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"

using namespace testing;

TEST_CASE("birds first: the loss falls, walk looks at birds, and the next word is slowly") {
  const Result result = run({FLEDGE_BINARY_DIR "/birds_first"});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 7);
  CHECK_THAT(lines[0], StartsWith("step   loss   walk looks at: line end  birds "));
  double loss = 5;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    INFO(lines[i]);
    std::istringstream line(lines[i]);
    double step = 0, now = 0, line_end = 0, birds = 0, sometimes = 0, walk = 0;
    std::string word;
    line >> step >> now >> line_end >> birds >> sometimes >> walk >> word;
    CHECK(step == 100.0 * static_cast<double>(i - 1));
    CHECK(now < loss + 0.05);  // a mean of some twenty batches, which differ
    loss = now;
    CHECK(std::abs(line_end + birds + sometimes + walk - 1) < 0.03);  // two digits are printed
    if (i == 1) CHECK(birds == 0.25);
    if (i == 6) CHECK((birds > 0.9 && word == "slowly" && now < 0.75));
  }
}

TEST_CASE("birds first: at most 180 lines") {
  CHECK(lines_of(text_of(FLEDGE_SOURCE_DIR "/examples/birds_first.cpp")).size() <= 180);
}
