#include <cmath>
#include <sstream>
#include <stdexcept>

#include "examples/support/attention_map.h"
#include "tests/support/catch.h"

using namespace support;

namespace {

MapStyle plain_style(bool unicode) {
  MapStyle map_style;
  map_style.unicode = unicode;
  return map_style;
}

const std::vector<std::string> three_words{"but", "birds", "walk"};
const std::vector<double> nine_weights{1, 0, 0, .7, .3, 0, .02, .58, .4};

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

}  // namespace

TEST_CASE("attention_map: digits on request") {
  MapStyle map_style = plain_style(false);
  map_style.numbers = true;
  CHECK_THAT(attention_map(three_words, nine_weights, map_style),
             ContainsSubstring("walk  .02   .58   .40     walk looks at birds 0.58"));
  map_style.causal = false;
  const std::string odd = attention_map({"a", "b"}, {-0.09, 12345.6, 0.999, -0.001}, map_style);
  CHECK_THAT(odd, ContainsSubstring("-.09  1e+04"));
  CHECK_THAT(odd, ContainsSubstring("1.0   .00"));
}

TEST_CASE("attention_map: every limit of the shades") {
  MapStyle map_style = plain_style(true);
  map_style.causal = false;
  const auto shade = [&](double weight) {
    const std::string map = attention_map({"a"}, {weight}, map_style);
    const std::size_t begin = map.find("\na") + 4;
    return map.substr(begin, map.find(' ', begin) - begin);
  };
  CHECK(shade(0.049) == "·");
  CHECK(shade(0.05) == "░░");
  CHECK(shade(0.249) == "░░");
  CHECK(shade(0.25) == "▒▒");
  CHECK(shade(0.5) == "▓▓");
  CHECK(shade(0.75) == "██");
  CHECK(shade(-3) == "·");
  CHECK(shade(INFINITY) == "██");
}

TEST_CASE("attention_map: rows that look nowhere, and what is not a number") {
  for (const bool unicode : {true, false}) {
    const std::string map = attention_map({"a", "b"}, {0, 0, NAN, .5}, plain_style(unicode));
    CHECK_THAT(map, ContainsSubstring("a looks nowhere"));
    CHECK_THAT(map, ContainsSubstring("?"));
    CHECK_THAT(map, ContainsSubstring("b looks at what is not a number"));
  }
}

TEST_CASE("attention_map: without causality every column is seen") {
  MapStyle map_style = plain_style(true);
  map_style.causal = false;
  const std::string map = attention_map({"a", "b"}, {.1, .9, .5, .5}, map_style);
  CHECK_THAT(map, ContainsSubstring("a looks at b 0.90 (even split 0.50)"));
  CHECK_THAT(map, ContainsSubstring("b looks at a 0.50 (even split 0.50)"));
}

TEST_CASE("attention_map: narrow lines put the sentences below, then leave the grid out") {
  MapStyle map_style = plain_style(true);
  map_style.columns = 42;
  const std::string below = attention_map(three_words, nine_weights, map_style);
  CHECK_THAT(below, StartsWith("      but   birds walk\nbut   ██\nbirds ▓▓    ▒▒\n"));
  CHECK_THAT(below, EndsWith("walk looks at birds 0.58 (even split 0.33)\n"));
  map_style.columns = 20;
  CHECK(attention_map(three_words, nine_weights, map_style) ==
        "but looks at but\n  1.00 (even split\n  1.00)\n"
        "birds looks at but\n  0.70 (even split\n  0.50)\n"
        "walk looks at birds\n  0.58 (even split\n  0.33)\n");
  const std::vector<std::string> many(300, "鳥");
  const std::string sentences =
      attention_map(many, std::vector<double>(90000, 1.0 / 300), plain_style(true));
  CHECK(occurrences(sentences, "\n") == 300);
}

TEST_CASE("attention_map: long, wide and hostile words keep the columns straight") {
  const std::vector<std::string> hostile{"sometimes", "鳥が歩く", "\x1b[2J\n", ""};
  std::vector<double> even(16, 0.25);
  for (const bool unicode : {true, false}) {
    MapStyle map_style = plain_style(unicode);
    map_style.columns = 120;
    const std::string map = attention_map(hostile, even, map_style);
    CHECK(map.find('\x1b') == std::string::npos);
    CHECK_THAT(map, ContainsSubstring(unicode ? "somet…" : "somet."));
    CHECK_THAT(map, ContainsSubstring("sometimes looks at sometimes"));
    CHECK_THAT(map, ContainsSubstring("'' looks at sometimes"));
    std::istringstream lines(map);
    std::string header, line;
    std::getline(lines, header);
    const int column = display_width(header.substr(0, header.find("rows look")));
    for (int row = 0; row < 4; ++row) {
      std::getline(lines, line);
      const std::size_t sentence = line.rfind("   ") + 3;
      CHECK(display_width(line.substr(0, sentence)) == column);
    }
    CHECK(occurrences(map, "\n") == 6);
  }
}

TEST_CASE("attention_map: colour marks the largest of a row and changes nothing else") {
  MapStyle map_style = plain_style(true);
  map_style.paint.on = true;
  std::string map = attention_map(three_words, nine_weights, map_style);
  CHECK(occurrences(map, map_style.paint.accent("▓▓")) == 2);
  CHECK(occurrences(map, map_style.paint.accent("██")) == 1);
  for (std::size_t at = 0; (at = map.find('\x1b')) != std::string::npos;)
    map.erase(at, map.find('m', at) + 1 - at);
  CHECK(map == attention_map(three_words, nine_weights, plain_style(true)));
}

TEST_CASE("attention_map: earlier words share a column, have no row, and count for the chance") {
  MapStyle map_style = plain_style(false);
  map_style.columns = 120;
  map_style.numbers = true;
  map_style.earlier = 5;
  const std::vector<double> seen{0,   0,   0,   0, /* before */ 0.9, 0.1, 0,    0,
                                 0.2, 0.7, 0.1, 0, /* walk */ 0.5,   0.1, 0.15, 0.25};
  CHECK(
      attention_map({"before", "but", "birds", "walk"}, seen, map_style) ==
      "       before but    birds  walk     rows look at columns\n"
      "but    .90    .10                    but looks at but 0.10 (even split 0.17); at all earlier "
      "ones 0.90\n"
      "birds  .20    .70    .10             birds looks at but 0.70 (even split 0.14); at all earlier "
      "ones 0.20\n"
      "walk   .50    .10    .15    .25      walk looks at walk 0.25 (even split 0.12); at all earlier "
      "ones 0.50\n");
}

TEST_CASE("attention_map: one weight for each pair") {
  CHECK(attention_map({}, {}).empty());
  CHECK_THROWS_WITH(
      attention_map(three_words, {1, 2}),
      Equals("attention_map: one weight for each pair of words: 3 words and 2 weights"));
  CHECK_THROWS_AS(attention_map({}, {1}), std::invalid_argument);
}

TEST_CASE("attention_map: the shade of a weight") {
  CHECK(support::shade(0.6, true) == "▓");
  CHECK(support::shade(0, true) == "·");
  CHECK(support::shade(1, false) == "@");
  CHECK(support::shade(-1, false) == ".");
  CHECK(support::shade(NAN, true) == "?");
  CHECK(support::shade_scale(false) == "scale  0 .:-=+*#%@ 1");
}
