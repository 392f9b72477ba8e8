// GPT-2's pattern, held to the pattern itself as perl runs it, and the classes of all code points,
// held to those that perl computes from tables of its own. Examples are in tests/formats/texts.txt.
#include "nn/text/pieces.h"

#include <map>
#include <sstream>

#include "nn/io/checksum.h"
#include "tests/support/catch.h"
#include "tests/support/mixed_text.h"
#include "tests/support/perl.h"
#include "tests/support/skipped.h"

using namespace fledge;
using tests::CodePoints;

namespace {

// Letter, number, white space or other: a code point goes on the piece of its class alone.
char class_letter(char32_t point) {
  const std::string after = utf8_of(point);
  std::string classes;
  for (const auto& [first, letter] : {std::pair{'a', 'L'}, {'1', 'N'}, {'\n', 'S'}, {'!', 'o'}})
    if (piece_at(first + after, 0).size() == 1 + after.size()) classes += letter;
  return classes.size() == 1 ? classes[0] : '?';
}

}  // namespace

TEST_CASE("pieces of GPT-2: a piece may have any length") {
  for (const char c : {'x', ' ', '7', '\xff'})
    CHECK(piece_at(std::string(100'000, c), 0).size() == 100'000);
}

TEST_CASE("pieces of GPT-2: perl cuts a megabyte of mixed Unicode at the same places") {
  const std::string version = testing::unicode_of_perl();
  if (version.empty()) return testing::report_skipped("perl is not installed");
  // Unassigned code points may have characters in another version.
  const CodePoints points = version == "14.0.0" ? CodePoints::all : CodePoints::of_old_scripts;
  const std::string text = tests::mixed_text(1, 1'200'000, points);
  const std::string lengths = *testing::perl(
      R"(no warnings; local $/; $_ = <STDIN>; utf8::decode($_) or die "not UTF-8";
         while (/'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu) {
           my $piece = $&; utf8::encode($piece); print length($piece), "\n" })",
      text);
  std::istringstream theirs(lengths);
  std::size_t at = 0, count = 0, different = 0, length = 0;
  for (; at < text.size() && theirs >> length; ++count) {
    const std::size_t ours = piece_at(text, at).size();
    different += ours != length;
    at += ours;
  }
  CHECK(different == 0);
  CHECK(at == text.size());
  CHECK_FALSE(theirs >> length);
  CHECK(count > 100'000);
}

TEST_CASE("unicode: the class of every code point is perl's") {
  std::string ours;
  std::map<char, int> count;
  for (char32_t point = 0; point < 0x110000; ++point) {
    ours += class_letter(point);
    ++count[ours.back()];
  }
  // Unicode 14.0, also on a machine without perl.
  CHECK(count['L'] == 131756);
  CHECK(count['N'] == 1791);
  CHECK(count['S'] == 25);
  CHECK(hexadecimal(hash_of(ours)) == "f44b1f6de343cd9a");

  const std::string version = testing::unicode_of_perl();
  if (version.empty()) return testing::report_skipped("perl is not installed");
  // Between two versions, code points are compared that have a character in both: '.' is skipped.
  const bool is_later = std::stoi(version) > 14;
  const std::string is_skipped = version == "14.0.0" ? "0"
                                 : is_later          ? "!/\\p{In=14.0}/"
                                                     : "/\\p{Cn}/";
  const std::string theirs =
      *testing::perl("no warnings; for my $c (0 .. 0x10FFFF) { $_ = chr $c; print " + is_skipped +
                     " ? '.' : /\\p{L}/u ? 'L' : /\\p{N}/u ? 'N' : /\\s/u ? 'S' : 'o' }");
  REQUIRE(theirs.size() == ours.size());
  int different = 0;
  for (std::size_t point = 0; point < ours.size(); ++point)
    different += theirs[point] != '.' && theirs[point] != ours[point];
  CHECK(different == 0);
}
