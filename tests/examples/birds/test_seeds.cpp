// The story's claims for the seeds 1 to 100 (under sanitizers, for the seeds 1 to 4): as many as the
// program prints fill all blanks and look at birds most, and at least 95 raise the association.
//
// Measured: 99 fill and look, 99 raise. Seed 58 does not look: its weight on birds is 0.31, and
// hiding birds changes nothing. The next smallest weight is above 0.43. All of this is the same with
// GCC 12 with and without -march=native and with Clang 14.
#include <algorithm>

#include "examples/birds/story.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace fledge;
using namespace fledge::birds;

namespace {

constexpr std::uint64_t seeds = testing::sanitized ? 4 : seed_count.tested;

/// Sums over seeds: of what holds, and of weights and associations.
struct Sums {
  int fulfil = 0, raise = 0, needs_birds = 0, at_needs_birds = 0;
  double before = 0, control_before = 0, after = 0, control_after = 0, control_rise = 0;
};

}  // namespace

// A quarter is an even share: walk sees the line end, birds, sometimes and itself. The right word
// needs birds to be visible with 94 seeds for slowly, 88 or 89 for flying: without an animal to see,
// the other models guess this word.
TEST_CASE("birds, seeds 1 to 100: as many as printed fill the blanks and look at birds most") {
  Sums all;
  const auto needs_birds = [](const TextStory::Seen& seen) {
    return seen.effect.hidden < seen.effect.visible / 2 ? 1 : 0;
  };
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const TextStory story = tell_text(seed);
    const std::vector<double>& pattern = story.pattern_after;  // walk has its last row
    const auto row = pattern.end() - 4;  // the weights on the line end, birds, sometimes and itself
    const TextStory::Seen &birds = story.watched.at(0), &control = story.watched.at(1);
    std::string blanks;
    for (const TextStory::Completed& c : story.completed) blanks += c.after.next + " ";
    all.fulfil +=
        blanks == "walk slowly flying " && std::max_element(row, pattern.end()) == row + 1 ? 1 : 0;
    all.raise += birds.after.association > birds.before.association ? 1 : 0;
    all.needs_birds += needs_birds(birds);
    all.at_needs_birds += needs_birds(story.watched.at(2));
    all.before += birds.before.attention, all.control_before += control.before.attention;
    all.after += birds.after.attention, all.control_after += control.after.attention;
    all.control_rise += control.after.association - control.before.association;
  }
  STATIC_REQUIRE(seed_count.tested == 100);
  const auto n = static_cast<double>(seeds);
  CHECK(all.fulfil == (testing::sanitized ? 4 : static_cast<int>(seed_count.fulfil)));
  CHECK(all.raise >= 0.95 * n);
  CHECK((testing::sanitized || (all.needs_birds >= 90 && all.at_needs_birds >= 80)));
  CHECK_THAT(all.before / n, WithinAbs(0.25, 0.01));
  CHECK_THAT(all.control_before / n, WithinAbs(0.25, 0.01));
  CHECK(all.after / n > 0.85);
  CHECK(all.control_after / n < 0.1);
  CHECK(all.control_rise < 0);
}
