// Texts for a terminal: harmless, measured in columns, cut, padded, wrapped; hints for misspelt words.
#include "examples/support/text.h"

#include <ctime>
#include <random>

#include "tests/support/catch.h"

using namespace support;

namespace {

/// What a function gave, and what it should give.
using Shown = std::vector<std::pair<std::string, std::string>>;

void check_shown(const Shown& rows) {
  for (const auto& [given, wanted] : rows) CHECK(given == wanted);
}

}  // namespace

TEST_CASE("text: what commands or misleads a terminal, a shell or a page is escaped") {
  check_shown(
      {{printable("walk ä 鳥 🐦"), "walk ä 鳥 🐦"},
       {printable("\x1b[2J\x07\nb\r\t\x7f"), R"(\x1b[2J\x07\x0ab\x0d\x09\x7f)"},
       {printable(std::string_view("\0", 1)), R"(\x00)"},
       {printable("\xC2\x9B-\x9B-\xFF\xE2\x82"), R"(\xc2\x9b-\x9b-\xff\xe2\x82)"},
       {printable("\xE2\x80\xAE\xE2\x81\xA6\xEF\xBB\xBF\xE2\x80\xA8"),
        R"(\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf\xe2\x80\xa8)"},
       {support::quoted(""), "''"},
       {support::quoted("a\nb\x1b[0m"), R"('a\x0ab\x1b[0m')"},
       {support::quoted(std::string(80, 'x')), "'" + std::string(80, 'x') + "'"},
       {support::quoted(std::string(81, 'x')), "'" + std::string(80, 'x') + "...'"},
       {markup_escaped("</script><b a=\"&\">"), "&lt;/script&gt;&lt;b a=&quot;&amp;&quot;&gt;"},
       {markup_escaped("a\x1b[1m\xff"), "a\\x1b[1m\\xff"},
       {shell_word("runs/a-1_b.2"), "runs/a-1_b.2"},
       {shell_word("my run"), "'my run'"},
       {shell_word("it's"), R"('it'\''s')"},
       {shell_word(""), "''"},
       {shell_word("a$(b)\x1b"), R"($'a$(b)\x1b')"},
       {shell_word("it's\\\na"), R"($'it\'s\\\x0aa')"}});
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

TEST_CASE("text: widths are columns, not bytes") {
  for (const auto& [text, columns] :
       std::vector<std::pair<std::string, int>>{{"", 0},
                                                {"Vögel", 5},
                                                {"Vo\xCC\x88gel", 5},
                                                {"鳥が歩く", 8},
                                                {"새", 2},
                                                {"\xE1\x84\x89\xE1\x85\xA2", 2},  // in two letters
                                                {"ｗａ", 4},
                                                {"🐦", 2},
                                                {"░█▁─…", 5},
                                                {"\xFF", 1},
                                                {"\x1b[38;5;32mgood\x1b[39m", 4},
                                                {"\x1b[2J", 4}})  // not a colour
    CHECK(display_width(text) == columns);
  check_shown({{pad_left("ä", 3), "  ä"},
               {pad_right("鳥", 3), "鳥 "},
               {pad_right("\x1b[1mx\x1b[22m", 2), "\x1b[1mx\x1b[22m "},
               {pad_left("walk", 2), "walk"},
               {pad_right("walk", -1), "walk"},
               {cut("walk", 4), "walk"},
               {cut("walking", 6), "walki…"},
               {cut("walking", 6, "..."), "wal..."},
               {cut("鳥が歩く", 6), "鳥が…"},
               {cut("o\xCC\x88rtlich", 2), "o\xCC\x88…"},
               {cut("walk", 1), "…"},
               {cut("walk", 0), ""},
               {cut("walk", 2, "..."), ""}});
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

TEST_CASE("text: lines break between words and keep to their columns") {
  check_shown({{wrapped("", 10), ""},
               {wrapped("birds sometimes walk", 20), "birds sometimes walk"},
               {wrapped("birds sometimes walk", 19), "birds sometimes\nwalk"},
               {wrapped("birds sometimes walk", 8, 2), "birds\n  sometimes\n  walk"},
               {wrapped("  birds walk", 7, 2), "  birds\n  walk"},
               {wrapped("one two\nthree four", 8), "one two\nthree\nfour"},
               {wrapped("one\n\n  two", 8), "one\n\n  two"},
               {wrapped("鳥が 歩く", 8), "鳥が\n歩く"},
               {wrapped("\x1b[1mone\x1b[22m two", 7), "\x1b[1mone\x1b[22m two"}});
}

TEST_CASE("text: numbers in messages") {
  const std::string word(500, 'a');
  check_shown({{thousands(999), "999"},
               {thousands(-1000), "-1,000"},
               {thousands(1115394), "1,115,394"},
               {counted(0, "line"), "0 lines"},
               {counted(1, "line"), "1 line"},
               {counted(1200, "line"), "1,200 lines"},
               {percent(0.126), "12.6 %"},
               {percent(1), "100.0 %"},
               {percent(0.0576), "5.8 %"},
               {percent(0.0007), "0.07 %"},
               {percent(0.00001), "<0.01 %"},
               {percent(0), "0 %"},
               {formatted("%s!", word.c_str()), word + "!"},
               {formatted("%d of %.2f", 3, 0.5), "3 of 0.50"}});
  int letters = 0;
  for (int c = 0; c < 256; ++c) letters += is_letter(static_cast<char>(c));
  CHECK(letters == 52);
  for (const char c : {'a', 'z', 'A', 'Z'}) CHECK(is_letter(c));
}

TEST_CASE("closest: the word that was meant") {
  const std::vector<std::string> known{"--help", "--seed", "--only", "--json", "--numbers"};
  check_shown({{closest("--sede", known), "--seed"},
               {closest("--sed", known), "--seed"},
               {closest("--seedd", known), "--seed"},
               {closest("-seed", known), "--seed"},
               {closest("--num", known), "--numbers"},
               {closest("--jsno", known), "--json"},
               {closest("--verbose", known), ""},
               {closest("", known), ""},
               {closest("x", {}), ""},
               {closest("ad", {"a", "add"}), "add"},
               {closest("sofmax", {"matmul", "softmax", "log_softmax"}), "softmax"},
               {closest("b", {"a"}), ""},
               {closest("x", {""}), ""},
               {closest("walkx", {"wxyz", "walky", "walk"}), "walky"},  // the first of the nearest
               {closest("wa", {"wa", "walk"}), "wa"},
               {closest("abcdefghi", {"abcdef"}), ""}});  // three letters more: half of the word
  // A hint costs little, whatever the words.
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
