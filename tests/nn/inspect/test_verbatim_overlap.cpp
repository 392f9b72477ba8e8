#include "nn/inspect/verbatim_overlap.h"

#include <algorithm>
#include <string>

#include "engine/array.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

// Every substring of the sample looked up in the text.
VerbatimOverlap overlap_by_definition(std::string_view sample, std::string_view text,
                                      std::size_t least) {
  std::vector<bool> known(sample.size(), false);
  VerbatimOverlap result;
  for (std::size_t at = 0; at < sample.size(); ++at)
    for (std::size_t size = 1; at + size <= sample.size(); ++size) {
      if (text.find(sample.substr(at, size)) == std::string_view::npos) break;
      result.longest = std::max(result.longest, size);
      if (size >= least) std::fill_n(known.begin() + static_cast<std::ptrdiff_t>(at), size, true);
    }
  const auto bytes = static_cast<double>(std::count(known.begin(), known.end(), true));
  result.share = sample.empty() ? 0 : bytes / static_cast<double>(sample.size());
  return result;
}

std::string text_of_letters(Rng& rng, Dim size, Dim letters) {
  std::string text;
  for (Dim i = 0; i < size; ++i) text += static_cast<char>(rng.below(letters));
  return text;
}

}  // namespace

TEST_CASE("verbatim_overlap: the share of long runs, and the longest of all") {
  const std::string text = "birds sometimes walk but birds are good at flying";
  const auto check = [&](std::string_view sample, std::size_t least, double share,
                         std::size_t longest) {
    const VerbatimOverlap found = verbatim_overlap(sample, text, least);
    CHECK(found.share == share);
    CHECK(found.longest == longest);
  };
  check(text, 20, 1, text.size());
  check("ducks sometimes swim", 8, 12.0 / 20, 12);  // "s sometimes "
  check("ducks sometimes swim", 13, 0, 12);
  check("birds arebirds are", 9, 1, 9);       // two runs side by side
  check("good at walk but birds", 8, 1, 15);  // and two that overlap: "good at ", " walk but birds"
  check("", 4, 0, 0);
  check("XYZ", 1, 0, 0);
  CHECK(verbatim_overlap("abc", "", 1).share == 0);
}

TEST_CASE("verbatim_overlap: characters count, not bytes, and blanks in a row are one") {
  // Seven characters of three bytes each.
  const std::string line = "\u5e8a\u524d\u660e\u6708\u5149\u7591\u662f";
  CHECK(verbatim_overlap(line, "x" + line, 20).share == 0);
  CHECK(verbatim_overlap(line, "x" + line, 7).share == 1);
  CHECK(verbatim_overlap(line, "x" + line, 7).longest == 7);
  const std::string indented = "x =\n" + std::string(30, ' ') + "y";
  CHECK(verbatim_overlap(indented, std::string(60, ' '), 2).share == 0);
  CHECK(verbatim_overlap(indented, "x =\t\ty", 5).share == 1);
  CHECK(verbatim_overlap("a \xff\xfe b", "\xff\xfe", 2).longest == 2);
  CHECK(verbatim_overlap("\xff", "\xc3\xbf", 1).share == 0);  // U+00FF is not the byte FF
}

TEST_CASE("verbatim_overlap: what looking for every substring finds") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    const Dim letters = 1 + rng.below(4);
    const std::string sample = text_of_letters(rng, rng.below(40), letters);
    const std::string text = text_of_letters(rng, rng.below(80), 1 + rng.below(letters + 1));
    const auto least = static_cast<std::size_t>(1 + rng.below(12));
    const VerbatimOverlap found = verbatim_overlap(sample, text, least),
                          right = overlap_by_definition(sample, text, least);
    REQUIRE(found.share == right.share);
    REQUIRE(found.longest == right.longest);
  }
}

TEST_CASE("verbatim_overlap: one byte again and again takes no longer than words") {
  const VerbatimOverlap found =
      verbatim_overlap(std::string(20'000, 'a'), std::string(1'000'000, 'a'), 30);
  CHECK(found.share == 1);
  CHECK(found.longest == 20'000);
}
