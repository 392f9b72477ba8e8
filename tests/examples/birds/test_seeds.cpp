// The story's claims for the seeds 1 to 100 (under sanitizers, for the seeds 1 to 4): as many as the
// program prints fill all blanks and look at birds most, and at least 95 raise the association.
//
// Measured: 99 fill and look, 99 raise. Seed 58 does not look: its weight on birds is 0.31, and
// hiding birds changes nothing. The next smallest weight is above 0.43. All of this is the same with
// GCC 12 with and without -march=native and with Clang 14. The seeds are divided among threads.
#include <algorithm>
#include <functional>
#include <future>
#include <thread>

#include "examples/birds/story.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"
#include "tests/support/skipped.h"

using namespace fledge;
using namespace fledge::birds;

namespace {

constexpr std::uint64_t seeds = testing::sanitized ? 4 : seed_count.tested;

struct Told {
  std::vector<std::string> blanks;
  std::vector<double> looks;  // the weights of walk on the line end, birds, sometimes and itself
  TextStory::Seen birds, control, at_birds;  // of walk, of walk, and of at
};

std::vector<Told> tell_every(std::uint64_t first, std::uint64_t step) {
  std::vector<Told> told;
  for (std::uint64_t seed = first; seed <= seeds; seed += step) {
    const TextStory story = tell_text(seed);
    std::vector<std::string> blanks;
    for (const TextStory::Completed& c : story.completed) blanks.push_back(c.after.next);
    const std::vector<double>& pattern = story.pattern_after;
    told.push_back({blanks,
                    {pattern.end() - 4, pattern.end()},
                    story.watched.at(0),
                    story.watched.at(1),
                    story.watched.at(2)});
  }
  return told;
}

const std::vector<Told>& all_told() {
  static const std::vector<Told> all = [] {
    const std::uint64_t threads = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
    std::vector<std::future<std::vector<Told>>> parts;
    for (std::uint64_t first = 1; first <= threads; ++first)
      parts.push_back(std::async(std::launch::async, tell_every, first, threads));
    std::vector<Told> result;
    for (auto& part : parts)
      for (const Told& told : part.get()) result.push_back(told);
    return result;
  }();
  return all;
}

double share_of_seeds(const std::function<bool(const Told&)>& holds) {
  const auto count = std::count_if(all_told().begin(), all_told().end(), holds);
  return static_cast<double>(count) / static_cast<double>(seeds);
}

double mean(const std::function<double(const Told&)>& number) {
  double sum = 0;
  for (const Told& told : all_told()) sum += number(told);
  return sum / static_cast<double>(seeds);
}

bool needs_birds(const TextStory::Seen& seen) {
  return seen.effect.hidden < seen.effect.visible / 2;
}

}  // namespace

TEST_CASE("birds, seeds 1 to 100: as many as printed fill the blanks and look at birds most") {
  REQUIRE(all_told().size() == seeds);
  STATIC_REQUIRE(seed_count.tested == 100);
  const double fulfil = share_of_seeds([](const Told& told) {
    REQUIRE(told.looks.size() == 4);
    return told.blanks == std::vector<std::string>{"walk", "slowly", "flying"} &&
           std::max_element(told.looks.begin(), told.looks.end()) == told.looks.begin() + 1;
  });
  CHECK(fulfil == (testing::sanitized ? 1 : static_cast<double>(seed_count.fulfil) / 100));
  CHECK(share_of_seeds([](const Told& told) {
          return told.birds.after.association > told.birds.before.association;
        }) >= 0.95);
}

// Measured: 94 for slowly, 88 or 89 for flying. Without an animal to see, the other models guess
// this word.
TEST_CASE("birds, seeds 1 to 100: in most, the right word needs birds to be visible") {
  if (testing::sanitized) {
    testing::report_skipped("four seeds are too few");
    return;
  }
  CHECK(share_of_seeds([](const Told& told) { return needs_birds(told.birds); }) >= 0.9);
  CHECK(share_of_seeds([](const Told& told) { return needs_birds(told.at_birds); }) >= 0.8);
}

// A quarter is an even share: walk sees the line end, birds, sometimes and itself.
TEST_CASE("birds, seeds 1 to 100: on average walk looks at birds 0.85, at the control below 0.1") {
  for (const auto& seen : {&Told::birds, &Told::control})
    CHECK_THAT(mean([&](const Told& told) { return (told.*seen).before.attention; }),
               WithinAbs(1.0 / 4, 0.01));
  CHECK(mean([](const Told& told) { return told.birds.after.attention; }) > 0.85);
  CHECK(mean([](const Told& told) { return told.control.after.attention; }) < 0.1);
  CHECK(mean([](const Told& told) {
          return told.control.after.association - told.control.before.association;
        }) < 0);
}
