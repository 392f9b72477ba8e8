// What is drawn of characters: tables, curves, maps of attention, shaded texts. tests/command has more
// of each; here are the edges.
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "examples/support/attention_map.h"
#include "examples/support/plots.h"
#include "examples/support/table.h"
#include "tests/support/catch.h"

using namespace support;

namespace {

std::vector<std::string> drawn_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string uncoloured(std::string text) {
  for (std::size_t at = 0; (at = text.find('\x1b')) != std::string::npos;)
    text.erase(at, text.find('m', at) + 1 - at);
  return text;
}

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
  CHECK(uncoloured(painted.text(true, paint)) == plain.text(true));
  CHECK_THROWS_WITH(plain.row({"x"}), Equals("table: a row of 2 cells: 1 given"));
  CHECK_THROWS_AS(plain.row("%d", 1), std::invalid_argument);
}

TEST_CASE("rows: one value in a terminal, in JSON and in CSV") {
  support::Rows rows({{"id"}, {"token", "token"}, {"", "size"}, {"p", "share"}});
  rows.add({7, {std::string("a\n"), "a"}, 12000, 0.1});
  rows.add({8, {std::string("x,\"\xff"), "x"}, 1, {1.0 / 3, "%.1f"}});
  const std::vector<std::string> lines = drawn_lines(rows.text(80));
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "token    size  share");
  CHECK(lines[2] == "a      12,000    0.1");
  CHECK(lines[3] == "x           1    0.3");
  CHECK(rows.json().text() ==
        "[{\"id\":7,\"token\":\"a\\u000a\",\"p\":0.1},"
        "{\"id\":8,\"token\":\"x,\\\"\\\\xff\",\"p\":0.3333333333333333}]");
  CHECK(rows.csv() == "id,token,p\n7,\"a\n\",0.1\n8,\"x,\"\"\\xff\",0.3333333333333333\n");
  rows.put_first("sample", 2);
  CHECK(rows.csv(false) == "2,7,\"a\n\",0.1\n2,8,\"x,\"\"\\xff\",0.3333333333333333\n");
  CHECK_THROWS_WITH(rows.add({1}), Equals("rows: 5 cells a row: 1 given"));
}

TEST_CASE("sparkline and bar: every height; NaN, infinities, the largest doubles") {
  constexpr double most = std::numeric_limits<double>::max();
  CHECK(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, true) == "▁▂▃▄▅▆▇█");
  CHECK(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, false) == ".:-=+*#@");
  CHECK(sparkline({-1e-9, 1e-9, 0}, true) == "▁█▅");
  CHECK(sparkline({3, 3, 3}, false) == "+++");
  CHECK(sparkline({NAN, NAN}, true) == "??");
  CHECK(sparkline({0, INFINITY, NAN, 1, -INFINITY}, true) == "▁█?█▁");
  CHECK(sparkline({-most, 0, most}, true) == "▁▅█");
  CHECK(sparkline({}, true).empty());
  CHECK(bar(0.40625, 4, true) == "█▋  ");
  CHECK(bar(0.5, 4, false) == "##--");
  CHECK(bar(-5, 3, false) == "---");
  CHECK(bar(INFINITY, 3, true) == "███");
  CHECK(bar(NAN, 3, true) == "?  ");
  CHECK(bar(0.5, -3, true).empty());
  for (int i = 0; i <= 100; ++i) CHECK(display_width(bar(i / 100.0, 7, true)) == 7);
}

TEST_CASE("plot_text: no line is wider than asked; what is too large or no number; a log axis") {
  LinePlot plot{.x_name = "steps", .curves = {{"loss", "●", "o", {}}}};
  for (int step = 1; step <= 10; ++step) plot.curves[0].points.emplace_back(step, 10 - step);
  LinePlot full = plot;
  full.curves.push_back({"held-out loss", "○", "+", {{1, 8}, {5, 4}, {9, 6}}});
  full.levels = {{"guessing", 8.5}, {"counting table, 3 words of history", 3}, {"b", 3.01}};
  full.best = 5;
  full.is_worse_after = true;
  for (int columns = 40; columns <= 120; ++columns)
    for (const bool unicode : {false, true})
      for (const std::string& line : drawn_lines(plot_text(full, columns, 12, unicode)))
        CHECK(display_width(line) <= columns);
  plot.curves[0].points[0].second = 1e9;
  plot.curves[0].points[5].second = NAN;
  plot.curves[0].points.emplace_back(1e300, 3);
  plot.top = 9;
  const std::vector<std::string> lines = drawn_lines(plot_text(plot, 17, 5, false));
  CHECK(lines.at(0) == "9.00 |oo");
  CHECK(lines.at(2) == "     |    o");
  plot.curves[0].points = {{1, NAN}};
  CHECK(plot_text(plot, 17, 5, false).empty());
  CHECK(plot_text({}, 16, 5, false).empty());
  plot.curves[0].points = {{1, 1}, {10, 1}, {100, 1}};
  plot.has_log_axis = true;
  CHECK(drawn_lines(plot_text(plot, 18, 3, false)).at(1) == "     |o    o    o");
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

TEST_CASE("attention_map: narrow lines put the sentences below, then leave the grid out") {
  const std::string below = attention_map(three_words, nine_weights, style_of(true, 42));
  CHECK_THAT(below, StartsWith("      but   birds walk\nbut   ██\nbirds ▓▓    ▒▒\n") &&
                        EndsWith("walk looks at birds 0.58 (even split 0.33)\n"));
  CHECK(attention_map(three_words, nine_weights, style_of(true, 20)) ==
        "but looks at but\n  1.00 (even split\n  1.00)\n"
        "birds looks at but\n  0.70 (even split\n  0.50)\n"
        "walk looks at birds\n  0.58 (even split\n  0.33)\n");
}

TEST_CASE("attention_map: long, wide and hostile words keep the columns straight; colours too") {
  const std::vector<std::string> hostile{"sometimes", "鳥が歩く", "\x1b[2J\n", ""};
  for (const bool unicode : {true, false}) {
    const std::string map =
        attention_map(hostile, std::vector<double>(16, 0.25), style_of(unicode, 120));
    CHECK(map.find('\x1b') == std::string::npos);
    CHECK_THAT(map, ContainsSubstring(unicode ? "somet…" : "somet.") &&
                        ContainsSubstring("'' looks at sometimes"));
    const std::vector<std::string> lines = drawn_lines(map);
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
  CHECK(uncoloured(map) == attention_map(three_words, nine_weights, style_of(true)));
}

TEST_CASE("attention_map: of many words the first share a column, have no row, and count") {
  MapStyle look = style_of(false, 120);
  look.most_words = 2;
  const std::vector<std::string> words{"a", "a", "a", "a", "sometimes", "but", "birds"};
  std::vector<double> weights(49);
  for (std::size_t column = 0; column < 5; ++column)
    weights[35 + column] = 0.18, weights[42 + column] = 0.04;
  weights[40] = 0.1, weights[47] = 0.7, weights[48] = 0.1;
  CHECK_THAT(
      attention_map(words, weights, look),
      StartsWith("      ..    but   birds   rows look at columns\n"
                 "but   @@    ..            but looks at but 0.10 (even split 0.17); at all "
                 "earlier ones 0.90\n"
                 "birds ::    ##    ..      birds looks at but 0.70 (even split 0.14); at all "
                 "earlier ones 0.20\n"));
  look.columns =
      36;  // names of six columns: room for four columns, one of them for the earlier ones
  look.most_words = 24;
  CHECK(hidden_words(words, look) == 4);
  look.columns = 55;
  CHECK(hidden_words(words, look) == 0);
  look.columns = 5;
  CHECK(hidden_words(words, look) == 6);
}

TEST_CASE("painted_text: shades below the text, or a ground; lines break between words") {
  const std::vector<ShadedPart> birds{{"but", 0}, {" birds", 0.9}, {" are", 0.1}, {" good", NAN}};
  const Paint on{true}, off;
  const auto shown = [&](const std::vector<ShadedPart>& parts, int columns, bool unicode = true) {
    return painted_text(parts, columns, off, unicode);
  };
  CHECK(shown(birds, 80) == "but birds are good\n    █████ ░░░\n");
  CHECK(shown(birds, 80, false) == "but birds are good\n    @@@@@ ...\n");
  CHECK(shown(birds, 10) == "but birds\n    █████\nare good\n░░░\n");
  CHECK(painted_text(birds, 80, on, true) ==
        "but " + on.ground("birds", 0.9) + " " + on.ground("are", 0.1) + " good\n");
  CHECK(shown({{"a", 0.01}}, 80) == "a\n");
  CHECK(shown({}, 80).empty());
  CHECK(shown({{"abcdefgh", 1}, {" i", 0}}, 5) == "abcde\n█████\nfgh i\n███\n");
  CHECK(shown({{"鳥が", 1}, {"鳥", 0}}, 4) == "鳥が\n████\n鳥\n");
  CHECK(shown({{"a", 0}, {"\n", 0.6}, {"b", 0}}, 80) == "a⏎\n ▓\nb\n");
  CHECK(shown({{"a\n", 0.6}, {"b", 0}}, 80, false) == "a\\n\n***\nb\n");
  CHECK(shown({{"\x1b", 0}, {"e\u0301", 0.6}}, 80) == "\\x1be\u0301\n    ▓\n");
}
