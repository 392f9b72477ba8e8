// The classes of all code points, held to those that perl computes from tables of its own.
#include "nn/text/unicode.h"

#include <map>
#include <string>

#include "nn/io/checksum.h"
#include "tests/support/catch.h"
#include "tests/support/perl.h"
#include "tests/support/skipped.h"

using namespace fledge;

namespace {

char letter_of(CodePointClass kind) { return "LNSo"[static_cast<int>(kind)]; }

}  // namespace

TEST_CASE("unicode: letters, numbers and white space of many scripts") {
  const std::map<CodePointClass, std::u32string> examples{
      {CodePointClass::letter, U"azAZßÀµªʰǅאاअ鳥한ぁ𠀀𝐀"},
      {CodePointClass::number, U"09²¼٠४Ⅷ①〇𝟗"},
      {CodePointClass::space,
       U"\t\n\v\f\r \u0085\u00A0\u1680\u2000\u200A\u2028\u2029\u202F\u205F\u3000"},
      // signs, marks, an emoji, blanks that are no white space, unassigned, for private use
      {CodePointClass::other,
       U"!'_~¿€\u0300\u093F😀\u180E\u200B\uFEFF\u001C\u0378\uE000\U000F0000\U0010FFFF"}};
  for (const auto& [kind, points] : examples)
    for (const char32_t point : points) CHECK(class_of(point) == kind);
  for (const char32_t point : {0xD800u, 0xDFFFu, 0x110000u, 0xFFFFFFFFu})
    CHECK(class_of(point) == CodePointClass::other);
}

TEST_CASE("unicode: the class of every code point is perl's") {
  std::string ours;
  std::map<char, int> count;
  for (char32_t point = 0; point < 0x110000; ++point) {
    ours += letter_of(class_of(point));
    ++count[ours.back()];
  }
  // Unicode 14.0, also on a machine without perl.
  CHECK(count['L'] == 131756);
  CHECK(count['N'] == 1791);
  CHECK(count['S'] == 25);
  CHECK(hexadecimal(hash_of(ours)) == "f44b1f6de343cd9a");

  const std::string version = testing::unicode_of_perl();
  if (version.empty()) {
    testing::report_skipped("perl is not installed");
    return;
  }
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
