// Texts for a terminal, and what is drawn of characters in one line: shown.txt has what each
// function says, here is what holds of any text; how many columns a stream has, and what is painted.
// Who gets colours and Unicode: fledge/test_terminals.cpp.
#include "examples/support/text.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cstdlib>
#include <ctime>
#include <iterator>
#include <random>
#include <sstream>

#include "examples/support/drawn.h"
#include "tests/support/given.h"
#include "tests/support/process.h"

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

/// What f says, in a process that has of these variables only those given, about a terminal of so many
/// columns and about a file.
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
