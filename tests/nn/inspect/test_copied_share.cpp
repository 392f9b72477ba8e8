// Held to every substring looked up. Examples are in tests/formats/texts.txt.
#include "nn/inspect/ngram_losses.h"

#include <algorithm>
#include <string>

#include "engine/array.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

// Every substring of the sample looked up in the text.
double share_by_definition(std::string_view sample, std::string_view text, std::size_t least) {
  std::vector<bool> known(sample.size(), false);
  for (std::size_t at = 0; at < sample.size(); ++at)
    for (std::size_t size = 1; at + size <= sample.size(); ++size) {
      if (text.find(sample.substr(at, size)) == std::string_view::npos) break;
      if (size >= least) std::fill_n(known.begin() + static_cast<std::ptrdiff_t>(at), size, true);
    }
  const auto bytes = static_cast<double>(std::count(known.begin(), known.end(), true));
  return sample.empty() ? 0 : bytes / static_cast<double>(sample.size());
}

std::string text_of_letters(Rng& rng, Dim size, Dim letters) {
  std::string text;
  for (Dim i = 0; i < size; ++i) text += static_cast<char>(rng.below(letters));
  return text;
}

}  // namespace

TEST_CASE("copied_share: what looking for every substring finds") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    const Dim letters = 1 + rng.below(4);
    const std::string sample = text_of_letters(rng, rng.below(40), letters);
    const std::string text = text_of_letters(rng, rng.below(80), 1 + rng.below(letters + 1));
    const auto least = static_cast<std::size_t>(1 + rng.below(12));
    REQUIRE(copied_share({sample}, text, least) == share_by_definition(sample, text, least));
  }
}

TEST_CASE("copied_share: of several samples it is that of all their characters, each for itself") {
  CHECK(copied_share({"abc", "xyz"}, "abcxyz", 3) == 1);
  CHECK(copied_share({"ab", "cxyzzz"}, "abcxyz", 4) == 0.5);
}

TEST_CASE("copied_share: one byte again and again takes no longer than words") {
  CHECK(copied_share({std::string(20'000, 'a')}, std::string(1'000'000, 'a'), 30) == 1);
}
