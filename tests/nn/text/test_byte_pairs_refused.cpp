// Symbols and merges that are refused, and bytes without a symbol.
#include <algorithm>

#include "engine/base/errors.h"
#include "nn/text/byte_pairs.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

std::string refused(std::vector<std::string> symbols, const std::vector<Merge>& merges = {}) {
  return refusal<ValueError>([&] {
    try {
      BytePairs pairs(std::move(symbols), merges);
    } catch (const MergeError& error) {
      CHECK_THAT(error.what(), StartsWith("BytePairs: merge " + std::to_string(error.merge) + " "));
      throw ValueError(error.what());
    }
  });
}

}  // namespace

TEST_CASE("byte pairs: symbols that cannot be told apart, and too long ones, are refused") {
  CHECK(refused({"a", "b", "a"}) == "BytePairs: symbols 0 and 2 have the same bytes");
  CHECK(refused({"", "a", ""}) == "<nothing was thrown>");
  CHECK(refused({std::string(1024, 'a')}) == "<nothing was thrown>");
  CHECK(refused({std::string(1025, 'a')}) ==
        "BytePairs: symbol 0 has 1025 bytes; the most is 1024");
  CHECK(refused(std::vector<std::string>(1'000'000)) == "<nothing was thrown>");
  CHECK(refused(std::vector<std::string>(1'000'001)) ==
        "BytePairs: there are 1000001 symbols; the most is 1000000");
  CHECK(refusal<ValueError>([] { BytePairs::learn("a", 255); }) ==
        "BytePairs: byte pairs have at least 256 symbols: got 255");
}

TEST_CASE("byte pairs: merges of symbols that do not exist are refused") {
  CHECK(refused({"a", "b", "ab"}, {{0, 1}}) == "<nothing was thrown>");
  CHECK(refused({"a", "b", "ab"}, {{0, 1}, {1, 0}}) ==
        "BytePairs: merge 1 is of symbols 1 and 0: no symbol has the bytes of both");
  CHECK(refused({"a", "b", "ab"}, {{0, 1}, {0, 1}}) ==
        "BytePairs: merge 1 is merge 0 again: symbols 0 and 1");
  CHECK(refused({"a", "b", "ab", "aa"}, {{0, 0}, {0, 1}, {0, 0}, {0, 1}}) ==
        "BytePairs: merge 2 is merge 0 again: symbols 0 and 0");
  // Of several that repeat, the first one is named, whichever symbols it has.
  const std::vector<std::string> symbols{"a", "b", "c", "aa", "bb", "cc"};
  for (std::vector<Dim> order{0, 1, 2}; std::next_permutation(order.begin(), order.end());) {
    const Dim i = order[0], j = order[1], k = order[2];
    CHECK(refused(symbols, {{i, i}, {j, j}, {k, k}, {j, j}, {i, i}, {k, k}, {j, j}}) ==
          "BytePairs: merge 3 is merge 1 again: symbols " + std::to_string(j) + " and " +
              std::to_string(j));
  }
  CHECK(refused({"a", "aa"}, std::vector<Merge>(1'000'001, {0, 0})) ==
        "BytePairs: there are 1000001 merges; the most is 1000000");
  CHECK(refused({"a", "", "aa"}, {{0, 1}}) ==
        "BytePairs: merge 0 is of symbols 0 and 1: no symbol has number 1");
  CHECK(refused({"a", "aa"}, {{-1, 0}}) ==
        "BytePairs: merge 0 is of symbols -1 and 0: no symbol has number -1");
  CHECK(refused({"a", "aa"}, {{0, 2}}) ==
        "BytePairs: merge 0 is of symbols 0 and 2: no symbol has number 2");
}

TEST_CASE("byte pairs: a byte without a symbol is an error") {
  const BytePairs pairs({"a", "b"});
  CHECK(pairs.first_unknown_byte("abab") == std::string::npos);
  CHECK(pairs.first_unknown_byte("ab\xff") == 2);
  CHECK(refusal<ValueError>([&] { pairs.encode("ab\xff"); }) ==
        "BytePairs: no symbol has byte 2 of the text");
}
