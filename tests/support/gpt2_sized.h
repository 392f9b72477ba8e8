// A tokenizer as large as GPT-2's: 256 bytes, 50,000 merges and "<|endoftext|>", 50,257 numbers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "nn/text/tokenizer.h"

namespace tests {

/// The merges are random pairs of earlier symbols. As in GPT-2's files, the bytes are in the order of
/// their characters: "!" is number 0.
inline fledge::Tokenizer gpt2_sized_tokenizer() {
  std::vector<std::string> symbols;
  const auto add_bytes = [&](bool printable) {
    for (int byte = 0; byte < 256; ++byte)
      if (((byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD)) == printable)
        symbols.emplace_back(1, static_cast<char>(byte));
  };
  add_bytes(true);
  add_bytes(false);
  fledge::Rng rng(1);
  std::set<std::string> known(symbols.begin(), symbols.end());
  std::vector<fledge::Merge> merges;
  while (merges.size() < 50'000) {
    const auto count = static_cast<fledge::Dim>(symbols.size());
    // Half of the parts are letters, so that the symbols occur in texts.
    const auto part = [&] { return rng.below(2) == 0 ? 64 + rng.below(26) : rng.below(count); };
    const fledge::Merge merge{part(), part()};
    const std::string both = symbols[static_cast<std::size_t>(merge.first)] +
                             symbols[static_cast<std::size_t>(merge.second)];
    if (both.size() > 12 || !known.insert(both).second) continue;
    symbols.push_back(both);
    merges.push_back(merge);
  }
  return fledge::Tokenizer(fledge::BytePairs(std::move(symbols), std::move(merges)),
                           {{"<|endoftext|>", 50'256}});
}

}  // namespace tests
