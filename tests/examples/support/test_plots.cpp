#include "examples/support/plots.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

using namespace support;

TEST_CASE("sparkline: eight heights from the smallest to the largest") {
  CHECK(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, true) == "▁▂▃▄▅▆▇█");
  CHECK(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, false) == ".:-=+*#@");
  CHECK(sparkline({7, 0}, true) == "█▁");
  CHECK(sparkline({-1e-9, 1e-9, 0}, true) == "▁█▅");
  CHECK(sparkline({}, true).empty());
}

TEST_CASE("sparkline: equal values, NaN, infinities, the largest doubles") {
  constexpr double most = std::numeric_limits<double>::max();
  CHECK(sparkline({3}, true) == "▅");
  CHECK(sparkline({3, 3, 3}, false) == "+++");
  CHECK(sparkline({0, NAN, 1}, true) == "▁?█");
  CHECK(sparkline({NAN, NAN}, true) == "??");
  CHECK(sparkline({0, INFINITY, 1, -INFINITY}, true) == "▁██▁");
  CHECK(sparkline({INFINITY, -INFINITY}, true) == "█▁");
  CHECK(sparkline({-most, 0, most}, true) == "▁▅█");
  CHECK(sparkline({0, std::numeric_limits<double>::denorm_min()}, true).size() == 6);
}

TEST_CASE("bar: eighths of a column") {
  CHECK(bar(0.5, 4, true) == "██  ");
  CHECK(bar(0.5, 4, false) == "##--");
  CHECK(bar(0.40625, 4, true) == "█▋  ");
  CHECK(bar(0, 3, true) == "   ");
  CHECK(bar(1, 3, true) == "███");
  CHECK(bar(-5, 3, false) == "---");
  CHECK(bar(INFINITY, 3, false) == "###");
  CHECK(bar(NAN, 3, true) == "?  ");
  CHECK(bar(0.5, 0, true).empty());
  CHECK(bar(0.5, -3, true).empty());
  for (int i = 0; i <= 100; ++i) CHECK(display_width(bar(i / 100.0, 7, true)) == 7);
}
