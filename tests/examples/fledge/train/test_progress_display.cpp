// The bar and the lines of a run.
#include "examples/fledge/train/screen.h"

#include <algorithm>
#include <cmath>

#include "examples/support/text.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

using namespace fledge::train;

namespace {

const Progress progress{1240, 2000, 0.6124, 0.71, 0.003, 768, "walk->birds 0.38"};
const std::vector<double> curve{3, 2, 1, 0.6};

std::string bar(int columns) { return bar_line(progress, curve, {3.1, 402}, columns, false); }

}  // namespace

TEST_CASE("screen: clocks") {
  CHECK(clock_text(0) == "0:00");
  CHECK(clock_text(3.4) == "0:03");
  CHECK(clock_text(59.6) == "1:00");
  CHECK(clock_text(3727) == "1:02:07");
  for (const double none : {-1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    CHECK(clock_text(none) == "-");
}

TEST_CASE("screen: the bar loses the pair, the curve, times and the bar as the terminal narrows") {
  CHECK(bar(200) ==
        " 62%|#####---| 1,240/2,000 loss 0.612 @+:. held-out 0.710 309k tokens/s 0:03 + 0:02 left  "
        "walk->birds 0.38");
  CHECK(bar(100) ==
        " 62%|#####---| 1,240/2,000 loss 0.612 @+:. held-out 0.710 309k tokens/s 0:03 + 0:02 left");
  CHECK(bar(85) ==
        " 62%|#####---| 1,240/2,000 loss 0.612 held-out 0.710 309k tokens/s 0:03 + 0:02 left");
  CHECK(bar(80) == " 62%|#####---| 1,240/2,000 loss 0.612 held-out 0.710 309k tokens/s 0:02 left");
  CHECK(bar(70) == " 62% 1,240/2,000 loss 0.612 held-out 0.710 309k tokens/s 0:02 left");
  CHECK(bar(60) == " 62% 1,240/2,000 loss 0.612 held-out 0.710 0:02 left");
  CHECK(bar(40) == " 62% 1,240/2,000 loss 0.612 0:02 left");
  for (int columns = 1; columns < 220; ++columns)
    CHECK(support::display_width(bar(columns)) < std::max(columns, 2));
}

TEST_CASE("screen: rates that are slow or not known yet") {
  CHECK_THAT(bar_line(progress, {}, {3, 0}, 200, false), ContainsSubstring("0.710 0:03 + - left"));
  CHECK_THAT(bar_line(progress, {}, {3, 0.25}, 200, false), ContainsSubstring(" 0.2k tokens/s"));
  CHECK_THAT(bar_line({}, {}, {}, 200, false), StartsWith("  0%|"));
}

TEST_CASE("screen: plain lines for programs and people") {
  CHECK(plain_line(progress, {3.12, 402}) ==
        "step=1240 of=2000 loss=0.6124 held_out=0.7100 lr=0.003 tokens_per_s=308736 elapsed=3.1s "
        "left=2s");
  Progress first = progress;
  first.validation = INFINITY;
  CHECK(plain_line(first, {}) == "step=1240 of=2000 loss=0.6124 lr=0.003 elapsed=0.0s");
}
