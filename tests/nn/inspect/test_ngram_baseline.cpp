#include "nn/inspect/ngram_baseline.h"

#include <cmath>

#include "engine/array.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

TokenText stream(std::vector<Dim> tokens) { return {std::move(tokens), {}}; }

const TokenText abab = stream({0, 1, 0, 1, 0, 1, 0, 1});

// The formula as it stands, every count made by looking through the text; for streams.
double loss_by_definition(const std::vector<Dim>& train, const std::vector<Dim>& test, Dim V,
                          std::ptrdiff_t history, double add) {
  std::vector<Dim> all = train;
  all.insert(all.end(), test.begin(), test.end());
  const auto n = static_cast<std::ptrdiff_t>(train.size());
  double loss = 0;
  for (auto i = n; i < static_cast<std::ptrdiff_t>(all.size()); ++i) {
    double both = 0, before = 0;
    for (auto j = history; j < n && i >= history; ++j) {
      if (!std::equal(all.begin() + j - history, all.begin() + j, all.begin() + i - history))
        continue;
      before += 1;
      both += all[static_cast<std::size_t>(j)] == all[static_cast<std::size_t>(i)];
    }
    loss -= std::log((both + add) / (before + add * static_cast<double>(V)));
  }
  return loss / static_cast<double>(test.size());
}

}  // namespace

TEST_CASE("without a history a table counts tokens") {
  // four of each of two, one more of each of three: (4 + 1) / (8 + 3)
  CHECK_THAT(ngram_loss(abab, stream({0}), 3, 0, 1), WithinAbs(-std::log(5.0 / 11), 1e-15));
  CHECK_THAT(ngram_loss(abab, stream({2}), 3, 0, 1), WithinAbs(-std::log(1.0 / 11), 1e-15));
  CHECK_THAT(ngram_loss(abab, stream({0, 2}), 3, 0, 1),
             WithinAbs(-0.5 * (std::log(5.0 / 11) + std::log(1.0 / 11)), 1e-15));
}

TEST_CASE("a history of one tells what follows, across the split of a stream") {
  // behind 1 comes 0 three times of three: the last 1 is followed by nothing
  CHECK_THAT(ngram_loss(abab, stream({0}), 2, 1, 0.1), WithinAbs(-std::log(3.1 / 3.2), 1e-15));
  CHECK_THAT(ngram_loss(abab, stream({1}), 2, 1, 0.1), WithinAbs(-std::log(0.1 / 3.2), 1e-15));
  CHECK_THAT(ngram_loss(abab, stream({0, 1}), 2, 1, 0.1),
             WithinAbs(-0.5 * (std::log(3.1 / 3.2) + std::log(4.1 / 4.2)), 1e-15));
}

TEST_CASE("a history that was never seen is a guess, and so is what has no history") {
  CHECK_THAT(ngram_loss(stream({0, 0, 0}), stream({1, 2}), 4, 2, 0.5),
             WithinAbs(-0.5 * (std::log(0.5 / (1 + 2)) + std::log(0.25)), 1e-15));
  CHECK_THAT(ngram_loss({}, stream({1, 2, 0}), 4, 3, 0.5), WithinAbs(std::log(4.0), 1e-15));
  CHECK_THAT(ngram_loss(stream({1, 1}), stream({1, 1}), 2, 8, 1), WithinAbs(std::log(2), 1e-15));
}

TEST_CASE("tables count what looking through the text counts") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    std::vector<Dim> train, test;
    for (Dim i = rng.below(60); i >= 0; --i) train.push_back(rng.below(3));
    for (Dim i = rng.below(30); i >= 0; --i) test.push_back(rng.below(4));
    for (const int history : {0, 1, 2, 3, 8})
      CHECK_THAT(ngram_loss(stream(train), stream(test), 4, history, 0.3),
                 WithinAbs(loss_by_definition(train, test, 4, history, 0.3), 1e-12));
  }
}

TEST_CASE("documents are counted each by itself, behind as many boundaries as a history needs") {
  // "ab", "b" and "b", with the boundary 0
  const TokenText train{{0, 1, 2, 0, 2, 0}, {0, 3, 5}}, test{{0, 2, 0}, {0, 2}};
  const double no_history = -std::log(3.0 / 8) - std::log(3.0 / 8);  // a b 0 b 0: 2 of 5 each
  CHECK_THAT(ngram_loss(train, test, 3, 0, 1), WithinAbs(no_history / 2, 1e-15));
  // b behind a boundary 1 of 2, a boundary behind b 2 of 2
  CHECK_THAT(ngram_loss(train, test, 3, 1, 1),
             WithinAbs((-std::log(2.0 / 5) - std::log(3.0 / 5)) / 2, 1e-15));
  // b behind two boundaries 1 of 2, a boundary behind (boundary, b) 1 of 1
  for (const int history : {2, 5})
    CHECK_THAT(ngram_loss(train, test, 3, history, 1),
               WithinAbs((-std::log(2.0 / 5) - std::log(2.0 / 4)) / 2, 1e-15));
}

TEST_CASE("the more is added, the nearer a table comes to guessing") {
  for (const int history : {0, 1, 2, 3})
    CHECK_THAT(ngram_loss(abab, abab, 5, history, 1e12), WithinAbs(std::log(5.0), 1e-6));
}

TEST_CASE("tables refuse what cannot be counted") {
  const auto refused = [](const TokenText& train, const TokenText& test, int history, double add) {
    return refusal<ValueError>([&] { ngram_loss(train, test, 2, history, add); });
  };
  CHECK(refused(abab, {}, 1, 1) == "ngram_loss: the test has no tokens");
  CHECK(refused(abab, stream({2}), 1, 1) == "ngram_loss: token 2 is outside a vocabulary of 2");
  CHECK(refused(stream({-1}), stream({0}), 1, 1) ==
        "ngram_loss: token -1 is outside a vocabulary of 2");
  for (const int history : {-1, 9})
    CHECK(refused(abab, abab, history, 1) ==
          "ngram_loss: the history must have 0 to 8 tokens: "
          "got " +
              std::to_string(history));
  CHECK(refused(abab, abab, 1, 0) ==
        "ngram_loss: what is added to each count must be positive: got 0");
  CHECK(refused(abab, abab, 1, NAN) ==
        "ngram_loss: what is added to each count must be positive: got nan");
  CHECK(refused(abab, {{0, 1, 0}, {0, 2}}, 1, 1) ==
        "ngram_loss: a stream and documents have different histories");
}
