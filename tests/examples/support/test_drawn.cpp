// What is drawn of characters: tables, curves, maps of attention. tests/command has more
// of each; here are the edges.
#include <cmath>
#include <stdexcept>

#include "examples/support/drawn.h"
#include "examples/support/table.h"
#include "tests/examples/fledge/command.h"

using namespace support;

namespace {

const std::vector<std::string> three_words{"but", "birds", "walk"};
const std::vector<double> nine_weights{1, 0, 0, .7, .3, 0, .02, .58, .4};

MapStyle style_of(bool unicode, int columns = 80) {
  MapStyle look;
  look.unicode = unicode;
  look.columns = columns;
  return look;
}

}  // namespace

TEST_CASE("table: widths are those of the terminal, whatever the colours") {
  const Paint paint{true};
  Table plain({{"鳥"}, {"b", Table::Align::right}}), painted = plain;
  CHECK(plain.text(false) == "鳥  b\n--  -\n");
  plain.row({"Vögel", "xx"});
  plain.row({"", ""});
  plain.row("  %s | %.1f", "x|y", 0.25);
  painted.row({paint.good("Vögel"), "xx"});
  painted.row({"", ""});
  painted.row({"  x|y", paint.bad("0.2")});
  CHECK(plain.text(true) ==
        "鳥       b\n"
        "─────  ───\n"
        "Vögel   xx\n"
        "\n"
        "  x|y  0.2\n");
  CHECK(painted.text(true, paint) != plain.text(true));
  CHECK(testing::without_colours(painted.text(true, paint)) == plain.text(true));
  CHECK_THROWS_WITH(plain.row({"x"}), Equals("table: a row of 2 cells: 1 given"));
  CHECK_THROWS_AS(plain.row("%d", 1), std::invalid_argument);
}

TEST_CASE("plot_text: no line is wider than asked; what is too large or no number; a log axis") {
  LinePlot plot{.curves = {{"loss", "●", "o", {}}}};
  for (int step = 1; step <= 10; ++step) plot.curves[0].points.emplace_back(step, 10 - step);
  LinePlot full = plot;
  full.curves.push_back({"held-out loss", "○", "+", {{1, 8}, {5, 4}, {9, 6}}});
  full.levels = {{"guessing", 8.5}, {"counting table, 3 words of history", 3}, {"b", 3.01}};
  full.best = 5;
  full.is_worse_after = true;
  for (int columns = 40; columns <= 120; ++columns)
    for (const bool unicode : {false, true})
      for (const std::string& line : testing::lines_of(plot_text(full, columns, 12, unicode)))
        CHECK(display_width(line) <= columns);
  plot.curves[0].points[0].second = 1e9;
  plot.curves[0].points[5].second = NAN;
  plot.curves[0].points.emplace_back(1e300, 3);
  plot.top = 9;
  const std::vector<std::string> lines = testing::lines_of(plot_text(plot, 17, 5, false));
  CHECK(lines.at(0) == "9.00 |oo");
  CHECK(lines.at(2) == "     |    o");
  CHECK_THAT(plot_text(plot, 80, 5, false), ContainsSubstring("loss   above 9.00: at the top\n"));
  CHECK_THAT(plot_text(full, 80, 5, false), !ContainsSubstring("above"));
  plot.curves[0].points = {{1, NAN}};
  CHECK(plot_text(plot, 17, 5, false).empty());
  CHECK(plot_text({}, 16, 5, false).empty());
}

TEST_CASE("attention_map: every limit of the shades, and what is no weight") {
  std::string shades;
  for (const double weight :
       std::vector<double>{-3, 0.049, 0.05, 0.249, 0.25, 0.499, 0.5, 0.749, 0.75, INFINITY, NAN})
    shades += shade(weight, true);
  CHECK(shades == "··░░▒▒▓▓██?");
  CHECK(shade(-1, false) + shade(0.999, false) + shade(1, false) + shade(NAN, false) == ".@@?");
  for (const bool unicode : {true, false})
    CHECK_THAT(attention_map({"a", "b"}, {0, 0, NAN, .5}, style_of(unicode)),
               ContainsSubstring("a looks nowhere") && ContainsSubstring("?") &&
                   ContainsSubstring("b looks at what is not a number"));
  MapStyle look = style_of(true);
  look.causal = false;
  CHECK_THAT(attention_map({"a", "b"}, {.1, .9, .5, .5}, look),
             ContainsSubstring("a looks at b 0.90 (even split 0.50)") &&
                 ContainsSubstring("b looks at a 0.50 (even split 0.50)"));
  CHECK(attention_map({}, {}).empty());
  CHECK_THROWS_WITH(
      attention_map(three_words, {1, 2}),
      Equals("attention_map: one weight for each pair of words: 3 words and 2 weights"));
}

TEST_CASE("attention_map: long, wide and hostile words keep the columns straight; colours too") {
  const std::vector<std::string> hostile{"sometimes", "鳥が歩く", "\x1b[2J\n", ""};
  for (const bool unicode : {true, false}) {
    const std::string map =
        attention_map(hostile, std::vector<double>(16, 0.25), style_of(unicode, 120));
    CHECK(map.find('\x1b') == std::string::npos);
    CHECK_THAT(map, ContainsSubstring(unicode ? "somet…" : "somet.") &&
                        ContainsSubstring("'' looks at sometimes"));
    const std::vector<std::string> lines = testing::lines_of(map);
    REQUIRE(lines.size() == 6);
    const int column = display_width(lines[0].substr(0, lines[0].find("rows look")));
    for (std::size_t row = 1; row < 5; ++row)
      CHECK(display_width(lines[row].substr(0, lines[row].rfind("   ") + 3)) == column);
  }
  MapStyle look = style_of(true);
  look.paint.on = true;
  const std::string map = attention_map(three_words, nine_weights, look);
  CHECK_THAT(map, ContainsSubstring(look.paint.accent("▓▓")) &&
                      ContainsSubstring(look.paint.accent("██")));
  CHECK(testing::without_colours(map) == attention_map(three_words, nine_weights, style_of(true)));
}
