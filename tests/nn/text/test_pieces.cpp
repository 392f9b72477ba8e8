// GPT-2's pattern, held to the pattern itself as perl runs it. Examples are in
// tests/formats/texts.txt.
#include "nn/text/pieces.h"

#include <sstream>

#include "tests/support/catch.h"
#include "tests/support/mixed_text.h"
#include "tests/support/perl.h"
#include "tests/support/skipped.h"

using namespace fledge;
using tests::CodePoints;

TEST_CASE("pieces of GPT-2: a piece may have any length") {
  for (const char c : {'x', ' ', '7', '\xff'})
    CHECK(piece_at(std::string(100'000, c), 0).size() == 100'000);
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
