#include "examples/support/text.h"

#include <ctime>
#include <random>

#include "nn/io/utf8.h"
#include "tests/support/catch.h"

using namespace support;

TEST_CASE("printable: what commands or misleads a terminal is written in hexadecimal") {
  CHECK(printable("walk ä 鳥 🐦") == "walk ä 鳥 🐦");
  CHECK(printable("\x1b[2J\x07") == R"(\x1b[2J\x07)");
  CHECK(printable("a\nb\r\t\x7f") == R"(a\x0ab\x0d\x09\x7f)");
  CHECK(printable(std::string_view("\0", 1)) == R"(\x00)");
  CHECK(printable("\xC2\x9B"
                  "31m") == R"(\xc2\x9b31m)");
  CHECK(printable("\x9B"
                  "31m\xFF\xE2\x82") == R"(\x9b31m\xff\xe2\x82)");
  CHECK(printable("\xE2\x80\xAE") == R"(\xe2\x80\xae)");
  CHECK(printable("\xE2\x81\xA6\xEF\xBB\xBF\xE2\x80\xA8") ==
        R"(\xe2\x81\xa6\xef\xbb\xbf\xe2\x80\xa8)");
}

TEST_CASE("printable: any bytes become valid UTF-8 without control characters") {
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

TEST_CASE("display_width: columns, not bytes") {
  CHECK(display_width("") == 0);
  CHECK(display_width("walk") == 4);
  CHECK(display_width("Vögel") == 5);
  CHECK(display_width("Vo\xCC\x88gel") == 5);
  CHECK(display_width("鳥が歩く") == 8);
  CHECK(display_width("새") == 2);
  CHECK(display_width("\xE1\x84\x89\xE1\x85\xA2") == 2);  // the same syllable in two letters
  CHECK(display_width("ｗａ") == 4);
  CHECK(display_width("🐦") == 2);
  CHECK(display_width("░█▁─…") == 5);
  CHECK(display_width("\xFF") == 1);
  CHECK(display_width("\x1b[38;5;32mgood\x1b[39m") == 4);
  CHECK(display_width("\x1b[2J") == 4);  // not a colour
}

TEST_CASE("cut: never wider than asked, never within a character") {
  CHECK(cut("walk", 4) == "walk");
  CHECK(cut("walking", 6) == "walki…");
  CHECK(cut("walking", 6, ".") == "walki.");
  CHECK(cut("walking", 6, "...") == "wal...");
  CHECK(cut("鳥が歩く", 6) == "鳥が…");
  CHECK(cut("鳥が歩く", 8) == "鳥が歩く");
  CHECK(cut("o\xCC\x88rtlich", 2) == "o\xCC\x88…");
  CHECK(cut("walk", 1) == "…");
  CHECK(cut("walk", 0).empty());
  CHECK(cut("", 0).empty());
  CHECK(cut("walk", 2, "...").empty());

  std::string tower = "a";
  for (int i = 0; i < 1000; ++i) tower += "\xCC\x88";
  CHECK(cut(tower, 80).size() < 700);

  const std::string text = "a鳥o\xCC\x88🐦 x\xFFyz";
  for (int columns = 0; columns <= 14; ++columns) {
    const std::string part = cut(text, columns);
    CHECK(display_width(part) <= columns);
    CHECK((part == text) == (columns >= display_width(text)));
  }
}

TEST_CASE("pad: to columns, and longer text stays") {
  CHECK(pad_left("ä", 3) == "  ä");
  CHECK(pad_right("鳥", 3) == "鳥 ");
  CHECK(pad_right("\x1b[1mx\x1b[22m", 2) == "\x1b[1mx\x1b[22m ");
  CHECK(pad_left("walk", 2) == "walk");
  CHECK(pad_right("walk", -1) == "walk");
}

TEST_CASE("quoted: a user's text in a message is harmless and short") {
  CHECK(support::quoted("5x") == "'5x'");
  CHECK(support::quoted("") == "''");
  CHECK(support::quoted("a\nb\x1b[0m") == R"('a\x0ab\x1b[0m')");
  CHECK(support::quoted(std::string(80, 'x')) == "'" + std::string(80, 'x') + "'");
  CHECK(support::quoted(std::string(81, 'x')) == "'" + std::string(80, 'x') + "...'");
  CHECK(support::quoted(std::string(1000000, '\x01')).size() == 2 + 80 * 4 + 3);
}

TEST_CASE("thousands and counted: numbers in messages") {
  CHECK(thousands(0) == "0");
  CHECK(thousands(999) == "999");
  CHECK(thousands(-1000) == "-1,000");
  CHECK(thousands(1115394) == "1,115,394");
  CHECK(counted(0, "line") == "0 lines");
  CHECK(counted(1, "line") == "1 line");
  CHECK(counted(1200, "line") == "1,200 lines");
}

TEST_CASE("shell_word: what a shell reads as one word") {
  CHECK(shell_word("runs/a-1_b.2") == "runs/a-1_b.2");
  CHECK(shell_word("my run") == "'my run'");
  CHECK(shell_word("it's") == R"('it'\''s')");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("a$(b)\x1b") == R"($'a$(b)\x1b')");
  CHECK(shell_word("it's\\\na") == R"($'it\'s\\\x0aa')");
}

TEST_CASE("closest: the word that was meant") {
  const std::vector<std::string> known{"--help", "--seed", "--only", "--json", "--numbers"};
  CHECK(closest("--sede", known) == "--seed");
  CHECK(closest("--sed", known) == "--seed");
  CHECK(closest("--seedd", known) == "--seed");
  CHECK(closest("-seed", known) == "--seed");
  CHECK(closest("--num", known) == "--numbers");
  CHECK(closest("--jsno", known) == "--json");
  CHECK(closest("--hepl", known) == "--help");
  CHECK(closest("--verbose", known).empty());
  CHECK(closest("", known).empty());
  CHECK(closest(std::string(1000000, '-'), known).empty());
  CHECK(closest("x", {}).empty());
  CHECK(closest("ad", {"a", "add"}) == "add");
  CHECK(closest("sofmax", {"matmul", "softmax", "log_softmax"}) == "softmax");
  CHECK(closest("wlak", {"walk"}) == "walk");
  CHECK(closest("b", {"a"}).empty());
  CHECK(closest("x", {""}).empty());
  CHECK(closest("walkx", {"wxyz", "walky", "walk"}) == "walky");  // the first of the nearest
  CHECK(closest("wa", {"wa", "walk"}) == "wa");
  CHECK(closest("abcdefghi", {"abcdef"}).empty());  // three letters more: half of the word
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

TEST_CASE("wrapped: lines break between words and keep to their columns") {
  CHECK(wrapped("", 10).empty());
  CHECK(wrapped("birds sometimes walk", 20) == "birds sometimes walk");
  CHECK(wrapped("birds sometimes walk", 19) == "birds sometimes\nwalk");
  CHECK(wrapped("birds sometimes walk", 8, 2) == "birds\n  sometimes\n  walk");
  CHECK(wrapped("  birds walk", 7, 2) == "  birds\n  walk");
  CHECK(wrapped("one two\nthree four", 8) == "one two\nthree\nfour");
  CHECK(wrapped("one\n\n  two", 8) == "one\n\n  two");
  CHECK(wrapped("鳥が 歩く", 8) == "鳥が\n歩く");
  CHECK(wrapped("\x1b[1mone\x1b[22m two", 7) == "\x1b[1mone\x1b[22m two");
}

TEST_CASE("percent: one decimal, two where it is small, a bound where it is tiny") {
  CHECK(support::percent(0.126) == "12.6 %");
  CHECK(support::percent(1) == "100.0 %");
  CHECK(support::percent(0.0576) == "5.8 %");
  CHECK(support::percent(0.0007) == "0.07 %");
  CHECK(support::percent(0.00001) == "<0.01 %");
  CHECK(support::percent(0) == "0 %");
}

TEST_CASE("formatted: long texts are whole, and a text without values stays") {
  const std::string word(500, 'a');
  CHECK(support::formatted("%s!", word.c_str()) == word + "!");
  CHECK(support::formatted("%d of %.2f", 3, 0.5) == "3 of 0.50");
}

TEST_CASE("is_letter: the letters of ASCII alone") {
  int letters = 0;
  for (int c = 0; c < 256; ++c) letters += support::is_letter(static_cast<char>(c));
  CHECK(letters == 52);
  for (const char c : {'a', 'z', 'A', 'Z'}) CHECK(support::is_letter(c));
}
