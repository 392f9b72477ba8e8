// builds: f64
#include "nn/text/ngrams.h"

#include <cmath>

#include "engine/errors.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

const std::vector<Dim> abab{0, 1, 0, 1, 0, 1, 0, 1};

}  // namespace

TEST_CASE("without a history a table counts tokens") {
  // four of each of two, one more of each of three: (4 + 1) / (8 + 3)
  CHECK_THAT(counted_loss(abab, {0}, 3, 0, 1), WithinAbs(-std::log(5.0 / 11), 1e-15));
  CHECK_THAT(counted_loss(abab, {2}, 3, 0, 1), WithinAbs(-std::log(1.0 / 11), 1e-15));
  CHECK_THAT(counted_loss(abab, {0, 2}, 3, 0, 1),
             WithinAbs(-0.5 * (std::log(5.0 / 11) + std::log(1.0 / 11)), 1e-15));
}

TEST_CASE("a history of one tells what follows, across the split") {
  // behind 1 comes 0 three times of three: the last 1 is followed by nothing
  CHECK_THAT(counted_loss(abab, {0}, 2, 1, 0.1), WithinAbs(-std::log(3.1 / 3.2), 1e-15));
  CHECK_THAT(counted_loss(abab, {1}, 2, 1, 0.1), WithinAbs(-std::log(0.1 / 3.2), 1e-15));
  CHECK_THAT(counted_loss(abab, {0, 1}, 2, 1, 0.1),
             WithinAbs(-0.5 * (std::log(3.1 / 3.2) + std::log(4.1 / 4.2)), 1e-15));
}

TEST_CASE("a history that was never seen is a guess, and so is what has no history") {
  CHECK_THAT(counted_loss({0, 0, 0}, {1, 2}, 4, 2, 0.5),
             WithinAbs(-0.5 * (std::log(0.5 / (1 + 2)) + std::log(0.25)), 1e-15));
  CHECK_THAT(counted_loss({}, {1, 2, 0}, 4, 3, 0.5), WithinAbs(std::log(4.0), 1e-15));
}

TEST_CASE("the more is added, the nearer a table comes to guessing") {
  for (const int history : {0, 1, 2, 3})
    CHECK_THAT(counted_loss(abab, abab, 5, history, 1e12), WithinAbs(std::log(5.0), 1e-6));
}

TEST_CASE("tables refuse what cannot be counted") {
  CHECK_THROWS_WITH(counted_loss(abab, {}, 2, 1, 1), ContainsSubstring("the test is empty"));
  CHECK_THROWS_WITH(counted_loss(abab, {2}, 2, 1, 1), ContainsSubstring("token 2"));
  CHECK_THROWS_WITH(counted_loss({-1}, {0}, 2, 1, 1), ContainsSubstring("token -1"));
  CHECK_THROWS_WITH(counted_loss(abab, {0}, 2, 9, 1), ContainsSubstring("0 to 8 tokens: got 9"));
  CHECK_THROWS_WITH(counted_loss(abab, {0}, 2, 1, 0), ContainsSubstring("must be positive"));
  CHECK_THROWS_WITH(counted_loss(abab, {0}, 2, 1, NAN), ContainsSubstring("must be positive"));
}
