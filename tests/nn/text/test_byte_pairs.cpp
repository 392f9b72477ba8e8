// Encoding, held to GPT-2's own algorithm; learning, to the paper's; and what is refused.
#include "nn/text/byte_pairs.h"

#include <set>
#include <unordered_map>

#include "engine/array.h"
#include "nn/text/pieces.h"
#include "tests/support/catch.h"
#include "tests/support/mixed_text.h"
#include "tests/support/processor_time.h"
#include "tests/support/random_tokenizer.h"
#include "tests/support/refuses.h"
#include "tests/support/sanitized.h"

using namespace fledge;
using testing::processor_seconds;
using tests::refuses;

namespace {

// bpe() as GPT-2's encoder.py has it: on strings, each round from the beginning. It is short and
// takes quadratic time.
class ReferenceBpe {
 public:
  explicit ReferenceBpe(const BytePairs& pairs) : pairs_(pairs) {
    const auto& symbols = pairs.symbols();
    for (const auto& [a, b] : pairs.merges())
      ranks_.emplace(
          std::pair(symbols[static_cast<std::size_t>(a)], symbols[static_cast<std::size_t>(b)]),
          ranks_.size());
  }

  std::vector<Dim> encode(std::string_view text) {
    std::vector<Dim> ids;
    for (std::size_t at = 0; at < text.size();) {
      const std::string piece(piece_at(text, at));
      at += piece.size();
      const auto [entry, added] = cache_.try_emplace(piece);
      if (added)
        for (const std::string& symbol : bpe(piece)) entry->second.push_back(*pairs_.find(symbol));
      ids.insert(ids.end(), entry->second.begin(), entry->second.end());
    }
    return ids;
  }

 private:
  std::vector<std::string> bpe(const std::string& piece) const {
    std::vector<std::string> word;
    for (const char c : piece) word.emplace_back(1, c);
    while (word.size() > 1) {
      auto best = ranks_.end();
      for (std::size_t i = 0; i + 1 < word.size(); ++i) {
        const auto found = ranks_.find(std::pair(word[i], word[i + 1]));
        if (found != ranks_.end() && (best == ranks_.end() || found->second < best->second))
          best = found;
      }
      if (best == ranks_.end()) break;
      const auto& [first, second] = best->first;
      std::vector<std::string> merged;
      for (std::size_t i = 0; i < word.size();) {
        const bool here = i + 1 < word.size() && word[i] == first && word[i + 1] == second;
        merged.push_back(here ? first + second : word[i]);
        i += here ? 2 : 1;
      }
      word = std::move(merged);
    }
    return word;
  }

  const BytePairs& pairs_;
  std::map<std::pair<std::string, std::string>, std::size_t> ranks_;
  std::unordered_map<std::string, std::vector<Dim>> cache_;
};

void merge(std::vector<Dim>& ids, Merge pair, Dim both) {
  for (std::size_t i = 0; i + 1 < ids.size(); ++i)
    if (Merge{ids[i], ids[i + 1]} == pair) {
      ids[i] = both;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
}

// Algorithm 1 of the paper as it stands there: all pairs counted anew for each merge.
BytePairs pairs_by_definition(std::string_view text, std::size_t symbols) {
  std::vector<std::vector<Dim>> pieces;
  for (std::size_t at = 0; at < text.size(); at += pieces.back().size()) {
    pieces.emplace_back();
    for (const char byte : piece_at(text, at).substr(0, 64))
      pieces.back().push_back(static_cast<unsigned char>(byte));
  }
  BytePairs pairs;
  std::vector<std::string> bytes = pairs.symbols();
  std::vector<Merge> merges;
  while (bytes.size() < symbols) {
    std::map<Merge, int> counts;
    for (const auto& ids : pieces)
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) ++counts[{ids[i], ids[i + 1]}];
    std::pair<Merge, int> best{{}, 1};
    for (const auto& entry : counts)
      if (entry.second > best.second) best = entry;
    if (best.second == 1) break;
    const auto [a, b] = best.first;
    const std::string both =
        bytes[static_cast<std::size_t>(a)] + bytes[static_cast<std::size_t>(b)];
    const auto known = std::find(bytes.begin(), bytes.end(), both);
    const auto id = static_cast<Dim>(known - bytes.begin());
    if (known == bytes.end()) bytes.push_back(both);
    for (auto& ids : pieces) merge(ids, best.first, id);
    merges.push_back(best.first);
  }
  return BytePairs(bytes, merges);
}

std::string random_letters(std::uint64_t seed, Dim size, std::string_view alphabet) {
  Rng rng(seed);
  std::string text;
  for (Dim i = 0; i < size; ++i)
    text += alphabet[static_cast<std::size_t>(rng.below(static_cast<Dim>(alphabet.size())))];
  return text;
}

}  // namespace

TEST_CASE("byte pairs are learned as the paper says, count after count, and encode as GPT-2's") {
  for (std::uint64_t seed = 1; seed <= 34; ++seed) {
    const bool is_long = seed > 24;
    const std::string text = random_letters(seed, is_long ? 3000 : 400,
                                            is_long         ? "aab"
                                            : seed % 2 == 0 ? "aab "
                                                            : "abcde 1.\n");
    const BytePairs learned = BytePairs::learn(text, is_long ? 400 : 256 + 60);
    const std::set<std::string> distinct(learned.symbols().begin(), learned.symbols().end());
    CHECK(distinct.size() == learned.symbols().size());
    ReferenceBpe reference(learned);
    CHECK(learned.encode(text) == reference.encode(text));
    if (is_long) continue;
    const BytePairs expected = pairs_by_definition(text, 256 + 60);
    CHECK(learned.merges() == expected.merges());
    CHECK(learned.symbols() == expected.symbols());
  }
  // Of equals the smaller numbers; a pair that occurs once is not merged.
  CHECK(BytePairs::learn("zyzy abab xbxb", 1000).merges().front() == Merge{'a', 'b'});
  for (const auto& [text, most] : {std::pair{"abcdefg", 1000}, {"", 1000}, {"abab", 256}})
    CHECK(BytePairs::learn(text, most).merges().empty());
  CHECK(BytePairs::learn("aaaa aaaa", 257).encode("aaaaa") == std::vector<Dim>{256, 256, 'a'});
}

TEST_CASE("byte pairs: the lowest rank is merged everywhere before any other, as in GPT-2") {
  int tokens = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    const BytePairs random = tests::random_pairs(rng, 5, 40);
    ReferenceBpe reference(random);
    for (std::uint64_t text_seed = 1; text_seed <= 20; ++text_seed) {
      const std::string text = random_letters(text_seed, 40, "ab");
      const std::vector<Dim> ids = random.encode(text);
      REQUIRE(ids == reference.encode(text));
      tokens += static_cast<int>(ids.size());
    }
  }
  CHECK(tokens < 200'000);  // of 240,000 letters
}

TEST_CASE("byte pairs: a megabyte of mixed Unicode has GPT-2's tokens") {
  const std::size_t bytes = testing::sanitized ? 150'000 : 1'050'000;
  const std::string text = tests::mixed_text(2, bytes, tests::CodePoints::all);
  const BytePairs pairs = BytePairs::learn(text.substr(0, 100'000), 256 + 1500);
  REQUIRE(pairs.symbols().size() == 256 + 1500);
  const std::vector<Dim> ids = pairs.encode(text);
  ReferenceBpe reference(pairs);
  CHECK(ids == reference.encode(text));
  CHECK(ids.size() < text.size() / 2);
}

TEST_CASE("byte pairs: a piece of a megabyte takes no more than n log n time") {
  const std::string text(1'000'000, 'a');
  const BytePairs pairs = BytePairs::learn(text, 512);  // 64 of them merge six times
  CHECK(pairs.merges().size() == 6);
  std::vector<Dim> ids;
  CHECK(processor_seconds([&] { ids = pairs.encode(text); }) < (testing::sanitized ? 40 : 2));
  CHECK(ids.size() == 15'625);
  CHECK(pairs.symbols().back() == std::string(64, 'a'));
  CHECK(processor_seconds([&] { ids = pairs.encode(random_letters(1, 1'000'000, "ab")); }) <
        (testing::sanitized ? 40 : 2));
}

TEST_CASE("byte pairs: too many or too long symbols, and merges that repeat, are refused") {
  const auto made = [](std::vector<std::string> symbols, std::vector<Merge> merges = {}) {
    return [symbols, merges] { BytePairs(symbols, merges); };
  };
  CHECK(refuses<ValueError>(made({std::string(1025, 'a')}), "symbol 0", "1025", "1024"));
  CHECK(refuses<ValueError>(made(std::vector<std::string>(1'000'001)), "1000001", "1000000"));
  CHECK(refuses<ValueError>([] { BytePairs::learn("a", 255); }, "256", "got 255"));
  CHECK_NOTHROW(made({"", "a", "", std::string(1024, 'a')})());
  CHECK_NOTHROW(made(std::vector<std::string>(1'000'000))());
  for (const Merge& wrong : {Merge{0, 1}, {-1, 0}, {0, 3}})  // without bytes, or no number
    CHECK(refuses<ValueError>(made({"a", "", "aa"}, {wrong}), "merge 0 is of symbols ",
                              ": no symbol has number "));
  CHECK(refuses<ValueError>(made({"a", "b", "aa", "bb"}, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}),
                            "merge 2 is merge 1 again: symbols 1 and 1"));
  CHECK(BytePairs({"a", "b"}).first_unknown_byte("ab\xff") == 2);
  CHECK(refuses<ValueError>([] { BytePairs({"a", "b"}).encode("ab\xff"); }, "byte 2"));
}
