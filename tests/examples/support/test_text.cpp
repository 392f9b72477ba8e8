// Texts for a terminal, and what is drawn of characters in one line: shown.txt has what each
// function says, here is what holds of any text; how many columns a stream has, and what is painted;
// the edges of tables, curves and maps of attention, of which tests/command has more. Who gets colours
// and Unicode: fledge/test_terminals.cpp.
#include "examples/support/text.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <random>
#include <sstream>
#include <stdexcept>

#include "examples/support/drawn.h"
#include "examples/support/table.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/given.h"

using namespace support;

namespace {

/// f(number, what stands behind it and a blank)
template <class F>
auto of_number(F f) {
  return [f](const std::string& given) {
    return f(std::atoi(given.c_str()), given.substr(given.find(' ') + 1));
  };
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}
std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& word : words_of(text))
    numbers.push_back(std::strtod(word.c_str(), nullptr));
  return numbers;
}

using Variables = std::map<std::string, std::string>;

/// What f says about a terminal of this width and about a file, in a process that has only the given
/// ones of these variables.
std::string said_with(const Variables& variables, unsigned short columns,
                      const std::function<std::string(std::FILE* terminal, std::FILE* file)>& f) {
  return testing::run_here([&] {
           for (const char* name :
                {"NO_COLOR", "FORCE_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG", "COLUMNS"})
             unsetenv(name);
           for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
           const int other_end = posix_openpt(O_RDWR | O_NOCTTY);
           if (other_end < 0 || grantpt(other_end) != 0 || unlockpt(other_end) != 0) return 1;
           std::FILE* terminal = fdopen(open(ptsname(other_end), O_RDWR | O_NOCTTY), "w");
           winsize size{};
           size.ws_col = columns;
           if (terminal == nullptr || ioctl(fileno(terminal), TIOCSWINSZ, &size) != 0) return 1;
           std::fputs(f(terminal, std::tmpfile()).c_str(), stdout);
           return 0;
         })
      .out;
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

TEST_CASE("text, sparkline and bar: what the functions say") {
  const auto wrapped_in = [](int columns, const std::string& given) {
    std::string lines =
        wrapped(given.substr(given.find(' ') + 1), columns, std::atoi(given.c_str()));
    std::replace(lines.begin(), lines.end(), '\n', '|');
    return lines;
  };
  const auto closest_of = [](const std::string& given) {
    const std::size_t of = given.find(" of ");
    return closest(given.substr(0, of), words_of(given.substr(of + 4)));
  };
  const auto bar_of = [](bool unicode) {
    return [unicode](const std::string& given) {
      const std::vector<double> numbers = numbers_of(given);
      return bar(numbers.at(0), static_cast<int>(numbers.at(1)), unicode);
    };
  };
  testing::check_given(
      FLEDGE_SOURCE_DIR "/tests/examples/support/shown.txt",
      {{"printable", [](auto& text) { return printable(text); }},
       {"printable_line", [](auto& text) { return support::printable_line(text); }},
       {"printable_line from column 3", [](auto& text) { return printable_line(text, 3); }},
       {"quoted", [](auto& text) { return support::quoted(text); }},
       {"markup_escaped", [](auto& text) { return markup_escaped(text); }},
       {"token_label", [](auto& text) { return token_label(text, true); }},
       {"token_label in ASCII", [](auto& text) { return token_label(text, false); }},
       {"shell_word", [](auto& text) { return shell_word(text); }},
       {"display_width", [](auto& text) { return std::to_string(display_width(text)); }},
       {"pad_left", of_number([](int n, const std::string& text) { return pad_left(text, n); })},
       {"pad_right", of_number([](int n, const std::string& text) { return pad_right(text, n); })},
       {"cut", of_number([](int n, const std::string& text) { return cut(text, n); })},
       {"cut with three points",
        of_number([](int n, const std::string& text) { return cut(text, n, "..."); })},
       {"wrapped", of_number(wrapped_in)},
       {"thousands", [](auto& number) { return thousands(std::stoll(number)); }},
       {"counted lines", [](auto& number) { return counted(std::stoll(number), "line"); }},
       {"percent", [](auto& share) { return percent(std::stod(share)); }},
       {"closest", closest_of},
       {"sparkline", [](auto& numbers) { return sparkline(numbers_of(numbers), {}, true); }},
       {"sparkline from 0",
        [](auto& numbers) { return sparkline(numbers_of(numbers), {0}, true); }},
       {"sparkline in ASCII",
        [](auto& numbers) { return sparkline(numbers_of(numbers), {}, false); }},
       {"bar", bar_of(true)},
       {"bar in ASCII", bar_of(false)}});
  for (int i = 0; i <= 100; ++i) CHECK(display_width(bar(i / 100.0, 7, true)) == 7);
}

TEST_CASE("text: what is printed is harmless, and printed again the same") {
  const std::string most(80, 'x');
  CHECK(support::quoted(most) == "'" + most + "'");
  CHECK(support::quoted(most + "x") == "'" + most + "...'");
  CHECK(support::quoted(std::string(1000000, '\x01')).size() == 2 + 80 * 4 + 3);
  std::mt19937 random(3);
  int wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text(16, ' ');
    for (char& c : text) c = static_cast<char>(random());
    const std::string shown = printable(text);
    for (std::size_t at = 0; at < shown.size();) {
      const fledge::CodePoint point = fledge::code_point_at(shown, at);
      wrong += !point.valid || point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0);
      at += point.bytes;
    }
    wrong += printable(shown) != shown;
  }
  CHECK(wrong == 0);
}

TEST_CASE("text: what is cut, padded, wrapped or formatted keeps colours and any length") {
  const std::string bold = "\x1b[1mx\x1b[22m", word(500, 'a');
  CHECK(pad_right(bold, 2) == bold + " ");
  CHECK(wrapped(bold + " two", 5) == bold + " two");
  CHECK(formatted("%s!", word.c_str()) == word + "!");
  CHECK(formatted("%d of %.2f", 3, 0.5) == "3 of 0.50");
  std::string tower = "a";
  for (int i = 0; i < 1000; ++i) tower += "\xCC\x88";
  CHECK(cut(tower, 80).size() < 700);
  const std::string text = "a鳥o\xCC\x88🐦 x\xFFyz";
  for (int columns = 0; columns <= 14; ++columns) {
    const std::string part = cut(text, columns);
    CHECK(display_width(part) <= columns);
    CHECK((part == text) == (columns >= display_width(text)));
  }
  int letters = 0;
  for (int c = 0; c < 256; ++c) letters += is_letter(static_cast<char>(c));
  CHECK(letters == 52);
  for (const char c : {'a', 'z', 'A', 'Z'}) CHECK(is_letter(c));
}

TEST_CASE("closest: a hint costs little, whatever the words") {
  std::mt19937 random(7);
  std::vector<std::string> anagrams(1'000'000, "abcdefghijklmnopqrstuvwx");
  for (std::string& each : anagrams) std::shuffle(each.begin(), each.end(), random);
  const std::vector<std::string> long_words(1000, std::string(100'000, 'y'));
  const std::clock_t before = std::clock();  // the time of the processor, not of the day
  CHECK(closest(std::string(100'000, 'x'), long_words).empty());
  CHECK(closest(std::string(100'000, 'x'), anagrams).empty());
  closest("abcdefghijklmnopqrstuvwx", anagrams);
  const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  CHECK(seconds < 2);  // some 0.05 in an optimised build; the whole tables take minutes
}

TEST_CASE("terminal_width: the terminal, COLUMNS, 80; within 20 and 200; of sentences 40 to 80") {
  const auto widths = [](unsigned short columns, const Variables& variables) {
    return said_with(variables, columns, [](std::FILE* terminal, std::FILE* file) {
      return formatted("%d %d %d", terminal_width(terminal), text_width(terminal),
                       terminal_width(file));
    });
  };
  CHECK(widths(93, {}) == "93 80 80");
  CHECK(widths(47, {}) == "47 47 80");
  CHECK(widths(5, {}) == "20 40 80");
  CHECK(widths(3000, {{"COLUMNS", "100"}}) == "200 80 100");
  CHECK(widths(0, {{"COLUMNS", "100"}}) == "100 80 100");
  for (const char* none : {"", "x", "100x", " 100", "-100", "0", "99999999999999999999", "0x40"})
    CHECK(widths(0, {{"COLUMNS", none}}) == "80 80 80");
}

TEST_CASE("Paint: colours when on, the text itself when off") {
  const Paint on{true}, off;
  CHECK(off.bold("x") + off.good("y") == "xy");
  CHECK(on.bold("").empty());
  CHECK(on.bold(on.bad("x") + "y") == "\x1b[1m\x1b[38;5;166mx\x1b[39my\x1b[22m");
  for (const std::string& text :
       {on.bold("ä鳥"), on.dim("ä鳥"), on.good("ä鳥"), on.bad("ä鳥"), on.accent("ä鳥")})
    CHECK(display_width(text) == 3);
  CHECK(on.good("x") != on.bad("x"));
}

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
