#include "nn/text/pair_counts.h"

#include "tests/support/catch.h"

using namespace fledge;

namespace {

using TwoSymbols = std::pair<Dim, Dim>;

}  // namespace

TEST_CASE("pair counts: pairs within pieces, of equally frequent ones the smaller numbers") {
  PairCounts counts("abab cb cb bd bd");
  CHECK(counts.most_frequent().symbols ==
        TwoSymbols{' ', 'b'});  // twice, as ab, bd, cb and " c" are
  CHECK(counts.most_frequent().count == 2);
  CHECK(PairCounts("").most_frequent().count == 0);
  CHECK(PairCounts("a b").most_frequent().count == 1);
  CHECK(PairCounts("a 1!a").most_frequent().symbols == TwoSymbols{' ', '1'});
}

TEST_CASE("pair counts: a merge replaces its pair from left to right, and counts what is new") {
  PairCounts counts("aaa aaa");
  CHECK(counts.most_frequent().symbols == TwoSymbols{'a', 'a'});
  CHECK(counts.most_frequent().count == 4);
  counts.merge({'a', 'a'}, 256);
  CHECK(counts.most_frequent().symbols == TwoSymbols{256, 'a'});  // "aa" + "a" twice
  CHECK(counts.most_frequent().count == 2);
  counts.merge({256, 'a'}, 257);
  CHECK(counts.most_frequent().symbols == TwoSymbols{' ', 257});
  CHECK(counts.most_frequent().count == 1);
}

TEST_CASE("pair counts: a long piece is counted in parts of 64 bytes") {
  PairCounts counts(std::string(64, 'a') + "b");
  CHECK(counts.most_frequent().count == 63);
  counts.merge({'a', 'a'}, 256);
  CHECK(counts.most_frequent().count == 31);
  CHECK(PairCounts(std::string(63, 'a') + "bb").most_frequent().count == 62);  // no pair b, b
}
