// GPT-2's pattern, held to the pattern itself as perl runs it.
#include "nn/text/pieces.h"

#include <sstream>

#include "tests/support/catch.h"
#include "tests/support/mixed_text.h"
#include "tests/support/perl.h"
#include "tests/support/skipped.h"

using namespace fledge;
using namespace std::string_literals;
using tests::CodePoints;

namespace {

using Pieces = std::vector<std::string>;

Pieces pieces_of(std::string_view text) {
  Pieces pieces;
  for (std::size_t at = 0; at < text.size(); at += pieces.back().size())
    pieces.emplace_back(piece_at(text, at));
  return pieces;
}

}  // namespace

TEST_CASE("pieces of GPT-2: words, numbers and other signs, with the one space before them") {
  CHECK(pieces_of("birds walk") == Pieces{"birds", " walk"});
  CHECK(pieces_of("Don't we'll I'M, 42x!") ==
        Pieces{"Don", "'t", " we", "'ll", " I", "'", "M", ",", " 42", "x", "!"});
  CHECK(pieces_of(" 's''s") == Pieces{" '", "s", "''", "s"});
  CHECK(pieces_of("'re've'm'd'lla") == Pieces{"'re", "'ve", "'m", "'d", "'ll", "a"});
  CHECK(pieces_of("'r 'l") == Pieces{"'", "r", " '", "l"});
  CHECK(pieces_of("ß鳥 ²¼٠ e\u0301") == Pieces{"ß鳥", " ²¼٠", " e", "\u0301"});
}

TEST_CASE("pieces of GPT-2: before a sign, the last of several blanks is apart") {
  CHECK(pieces_of("a  b\n\n c \t d ") == Pieces{"a", " ", " b", "\n\n", " c", " \t", " d", " "});
  CHECK(pieces_of("a\r\nb") == Pieces{"a", "\r", "\n", "b"});
  CHECK(pieces_of("a\u3000\u3000b\u00A0") == Pieces{"a", "\u3000", "\u3000", "b", "\u00A0"});
  CHECK(pieces_of("   ") == Pieces{"   "});
  CHECK(pieces_of("\n") == Pieces{"\n"});
}

TEST_CASE(
    "pieces of GPT-2: bytes that are not UTF-8 are other signs; a piece may have any length") {
  CHECK(pieces_of("a\xff\xfe b \x80!\xe2\x82") == Pieces{"a", "\xff\xfe", " b", " \x80!\xe2\x82"});
  CHECK(pieces_of("\0\0a"s) == Pieces{"\0\0"s, "a"});
  for (const char c : {'x', ' ', '7', '\xff'})
    CHECK(pieces_of(std::string(100'000, c)).size() == 1);
}

TEST_CASE("pieces of GPT-2: perl cuts a megabyte of mixed Unicode at the same places") {
  const std::string version = testing::unicode_of_perl();
  if (version.empty()) {
    testing::report_skipped("perl is not installed");
    return;
  }
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
