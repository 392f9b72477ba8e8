#include "nn/text/byte_pairs.h"

#include <map>

#include "engine/array.h"
#include "engine/base/errors.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

std::vector<std::string> pieces_of(std::string_view text) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size(); at += pieces.back().size())
    pieces.emplace_back(piece_at(text, at));
  return pieces;
}

std::vector<Dim> byte_ids(std::string_view piece) {
  std::vector<Dim> ids;
  for (const char c : piece) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

void merge(std::vector<Dim>& ids, Merge pair, Dim both) {
  for (std::size_t i = 0; i + 1 < ids.size(); ++i)
    if (Merge{ids[i], ids[i + 1]} == pair) {
      ids[i] = both;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
}

// Algorithm 1 of the paper as it stands there: all pairs counted anew for each merge.
std::vector<Merge> merges_by_definition(std::string_view text, std::size_t most) {
  std::vector<std::vector<Dim>> pieces;
  for (const std::string& piece : pieces_of(text)) pieces.push_back(byte_ids(piece));
  std::vector<Merge> merges;
  while (merges.size() < most) {
    std::map<Merge, int> counts;
    for (const auto& ids : pieces)
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) ++counts[{ids[i], ids[i + 1]}];
    std::pair<Merge, int> best{{}, 1};
    for (const auto& entry : counts)
      if (entry.second > best.second) best = entry;
    if (best.second == 1) break;
    const Dim both = 256 + static_cast<Dim>(merges.size());
    for (auto& ids : pieces) merge(ids, best.first, both);
    merges.push_back(best.first);
  }
  return merges;
}

std::string random_letters(std::uint64_t seed, Dim size, std::string_view alphabet) {
  Rng rng(seed);
  std::string text;
  for (Dim i = 0; i < size; ++i)
    text += alphabet[static_cast<std::size_t>(rng.below(static_cast<Dim>(alphabet.size())))];
  return text;
}

}  // namespace

TEST_CASE("piece_at: runs of one kind, with the one space before them") {
  using Pieces = std::vector<std::string>;
  CHECK(pieces_of("birds walk") == Pieces{"birds", " walk"});
  CHECK(pieces_of("Don't, 42x!") == Pieces{"Don", "'", "t", ",", " 42", "x", "!"});
  CHECK(pieces_of("a  b\n\n c \t d ") == Pieces{"a", " ", " b", "\n\n", " c", " \t", " d", " "});
  CHECK(pieces_of("a\r\nb") == Pieces{"a", "\r\n", "b"});
  CHECK(pieces_of(" ß鳥") == Pieces{" ß鳥"});
  const Pieces cut = pieces_of(std::string(130, 'x') + std::string(70, ' '));
  CHECK(cut == Pieces{std::string(64, 'x'), std::string(64, 'x'), "xx", std::string(64, ' '),
                      std::string(6, ' ')});
}

TEST_CASE("byte pairs are learned as the paper says, one count after another") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::string text = random_letters(seed, 400, seed % 2 == 0 ? "aab " : "abcde 1.\n");
    CHECK(BytePairs::learn(text, 256 + 40).merges() == merges_by_definition(text, 40));
  }
}

TEST_CASE("byte pairs are encoded as they were learned, the earliest merge first") {
  const auto pairs = BytePairs({{'b', 'c'}, {'a', 'b'}, {'a', 256}, {256, 'd'}});
  CHECK(pairs.encode("abc") == std::vector<Dim>{258});
  CHECK(pairs.encode("abcd") == std::vector<Dim>{258, 'd'});
  CHECK(pairs.encode("abbcd") == std::vector<Dim>{257, 259});
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::string text = random_letters(seed, 400, "abcd ");
    const BytePairs learned = BytePairs::learn(text, 256 + 40);
    std::vector<Dim> expected;  // every merge, from left to right, over the whole piece
    for (const std::string& piece : pieces_of(text)) {
      std::vector<Dim> ids = byte_ids(piece);
      for (std::size_t m = 0; m < learned.merges().size(); ++m)
        merge(ids, learned.merges()[m], 256 + static_cast<Dim>(m));
      expected.insert(expected.end(), ids.begin(), ids.end());
    }
    CHECK(learned.encode(text) == expected);
  }
}

TEST_CASE(
    "byte pairs: the most frequent pair is merged first, of equals the smaller numbers; a pair that occurs once is not merged") {
  const BytePairs pairs = BytePairs::learn("zyzy abab xbxb", 1000);
  CHECK(pairs.merges().front() == Merge{'a', 'b'});
  CHECK(BytePairs::learn("abcdefg", 1000).merges().empty());
  CHECK(BytePairs::learn("", 1000).merges().empty());
  CHECK(BytePairs::learn("abab", 256).merges().empty());
  CHECK(BytePairs::learn("aaaa aaaa", 257).encode("aaaaa") == std::vector<Dim>{256, 256, 'a'});
}

TEST_CASE("byte pairs: a text without a gap takes no longer than one of words") {
  const std::string text(300'000, 'a');  // 64 of them merge six times
  const BytePairs pairs = BytePairs::learn(text, 512);
  CHECK(pairs.merges().size() == 6);
  CHECK(pairs.encode(text).size() == 4687 + 1);  // 300,000 = 4,687·64 + 32
  CHECK(pairs.symbols().back() == std::string(64, 'a'));
}

TEST_CASE("byte pairs are made again from their merges") {
  const std::string text = random_letters(3, 2000, "abc \n");
  const BytePairs learned = BytePairs::learn(text, 300), again(learned.merges());
  CHECK(again.encode(text) == learned.encode(text));
  CHECK(again.symbols() == learned.symbols());
}

TEST_CASE("merges that cannot have been learned are refused") {
  const auto refused = [](std::vector<Merge> merges) {
    return refusal<ValueError>([&] { BytePairs pairs(merges); });
  };
  CHECK(refused({{256, 'a'}}) ==
        "BytePairs: merge 0 is of symbols 256 and 97: there are 256 symbols before it");
  CHECK(refused({{1, 2}, {258, 3}}) ==
        "BytePairs: merge 1 is of symbols 258 and 3: there are 257 symbols before it");
  CHECK(refused({{-1, 2}}) ==
        "BytePairs: merge 0 is of symbols -1 and 2: there are 256 symbols before it");
  CHECK(refused({{1, 2}, {3, 4}, {1, 2}}) ==
        "BytePairs: merge 2 is merge 0 again: symbols 1 and 2");
  // doubled sixty times, a symbol would have 2⁶⁰ bytes
  std::vector<Merge> doubled{{'a', 'a'}};
  for (Dim i = 256; i < 316; ++i) doubled.emplace_back(i, i);
  CHECK(refused(doubled) == "BytePairs: merge 6 makes a symbol of 128 bytes; the most is 64");
  CHECK(refusal<ValueError>([] { BytePairs::learn("a", 255); }) ==
        "BytePairs: byte pairs have at least 256 symbols: got 255");
}
