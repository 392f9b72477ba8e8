// The story's claims hold together for at least 95 of the seeds 1 to 100 (under sanitizers, for the
// seeds 1 to 4).
//
// Measured: for 100 of 100; the association rises for 99. Both are the same with GCC 12 with and
// without -march=native and with Clang 14. The seeds are divided among threads.
#include <algorithm>
#include <future>
#include <thread>

#include "examples/birds/story.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace fledge;
using namespace fledge::birds;

namespace {

constexpr std::uint64_t seeds = testing::sanitized ? 4 : 100;
constexpr std::uint64_t enough = seeds * 95 / 100;  // at least

struct Told {
  std::string walks, flies;
  TextStory::Seen birds, control;
};

std::vector<Told> tell_every(std::uint64_t first, std::uint64_t step) {
  std::vector<Told> told;
  for (std::uint64_t seed = first; seed <= seeds; seed += step) {
    const TextStory story = tell_text(seed);
    told.push_back({story.completed.at(0).after.next, story.completed.at(1).after.next,
                    story.watched.at(0), story.watched.at(1)});
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

template <class Holds>
std::ptrdiff_t seeds_where(Holds holds) {
  return std::count_if(all_told().begin(), all_told().end(), holds);
}

template <class Number>
double mean(Number number) {
  double sum = 0;
  for (const Told& told : all_told()) sum += number(told);
  return sum / static_cast<double>(seeds);
}

}  // namespace

TEST_CASE("birds, seeds 1 to 100: 95 complete with walk and with flying, and walk looks at birds") {
  REQUIRE(all_told().size() == seeds);
  CHECK(seeds_where([](const Told& told) {
          return told.walks == "walk" && told.flies == "flying" &&
                 told.birds.after.attention > told.birds.before.attention;
        }) >= std::ptrdiff_t{enough});
}

TEST_CASE("birds, seeds 1 to 100: walk's association with birds rises in 95") {
  CHECK(seeds_where([](const Told& told) {
          return told.birds.after.association > told.birds.before.association;
        }) >= std::ptrdiff_t{enough});
}

// A quarter is an even share: walk sees the line end, birds, sometimes and itself.
TEST_CASE("birds, seeds 1 to 100: on average walk looks at birds 0.85, from a quarter") {
  CHECK_THAT(mean([](const Told& told) { return told.birds.before.attention; }),
             WithinAbs(1.0 / 4, 0.01));
  CHECK(mean([](const Told& told) { return told.birds.after.attention; }) > 0.85);
}

TEST_CASE(
    "birds, seeds 1 to 100: on average the control falls below 0.1, and its association too") {
  CHECK_THAT(mean([](const Told& told) { return told.control.before.attention; }),
             WithinAbs(1.0 / 4, 0.01));
  CHECK(mean([](const Told& told) { return told.control.after.attention; }) < 0.1);
  CHECK(mean([](const Told& told) { return told.control.after.association; }) <
        mean([](const Told& told) { return told.control.before.association; }));
}
