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

TEST_CASE("verbatim_overlap: the share of long runs in characters, and the longest of all") {
  const std::string text = "birds sometimes walk but birds are good at flying",
                    line = "床前明月光疑是",  // seven characters of three bytes each
      indented = "x =\n" + std::string(30, ' ') + "y";
  struct Row {
    std::string sample, text;
    std::size_t least;
    double share;
    std::size_t longest;
  };
  for (const Row& row :
       std::vector<Row>{{text, text, 20, 1, text.size()},
                        {"ducks sometimes swim", text, 8, 12.0 / 20, 12},  // "s sometimes "
                        {"ducks sometimes swim", text, 13, 0, 12},
                        {"birds arebirds are", text, 9, 1, 9},  // two runs side by side
                        {"good at walk but birds", text, 8, 1,
                         15},  // two that overlap: "good at ", " walk but birds"
                        {"", text, 4, 0, 0},
                        {"XYZ", text, 1, 0, 0},
                        {"abc", "", 1, 0, 0},
                        {line, "x" + line, 20, 0, 7},
                        {line, "x" + line, 7, 1, 7},
                        // Blanks in a row are one.
                        {indented, std::string(60, ' '), 2, 0, 1},
                        {indented, "x =\t\ty", 5, 1, 5},
                        {"a \xff\xfe b", "\xff\xfe", 2, 2.0 / 6, 2},
                        {"\xff", "\xc3\xbf", 1, 0, 0}}) {  // U+00FF is not the byte FF
    CAPTURE(row.sample, row.text, row.least);
    const VerbatimOverlap found = verbatim_overlap(row.sample, row.text, row.least);
    CHECK(found.share == row.share);
    CHECK(found.longest == row.longest);
  }
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
