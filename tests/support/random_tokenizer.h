// Tokenizers that no training makes: merges in any order, most of them of symbols that come later,
// and special tokens.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "nn/text/tokenizer.h"

namespace tests {

/// All strings of a and b up to this length are symbols, in any order.
inline fledge::BytePairs random_pairs(fledge::Rng& rng, std::size_t longest, fledge::Dim merges) {
  std::vector<std::string> symbols{"a", "b"};
  for (std::size_t i = 0; symbols[i].size() < longest; ++i)
    for (const char c : {'a', 'b'}) symbols.push_back(symbols[i] + c);
  rng.shuffle(symbols);
  const auto count = static_cast<fledge::Dim>(symbols.size());
  std::vector<fledge::Merge> chosen;
  while (std::ssize(chosen) < merges) {
    const fledge::Merge pair{rng.below(count), rng.below(count)};
    const std::size_t length = symbols[static_cast<std::size_t>(pair.first)].size() +
                               symbols[static_cast<std::size_t>(pair.second)].size();
    if (length <= longest && std::find(chosen.begin(), chosen.end(), pair) == chosen.end())
      chosen.push_back(pair);
  }
  return fledge::BytePairs(symbols, chosen);
}

/// Up to `most` + 1 of them, with numbers from `first` on, some of them left out.
inline std::vector<fledge::SpecialToken> random_special_tokens(fledge::Rng& rng, fledge::Dim first,
                                                               fledge::Dim most) {
  std::vector<fledge::SpecialToken> tokens;
  for (fledge::Dim i = 0; i <= most; ++i) {
    std::string text;
    for (fledge::Dim size = rng.below(4); size >= 0; --size) text += "ab\xff"[rng.below(3)];
    if (std::none_of(tokens.begin(), tokens.end(), [&](auto& t) { return t.text == text; }))
      tokens.push_back({text, first + i, rng.below(3) == 0, rng.below(3) > 0});
  }
  return tokens;
}

inline fledge::Tokenizer random_tokenizer(fledge::Rng& rng) {
  fledge::BytePairs pairs = random_pairs(rng, 4, 10);
  const auto size = static_cast<fledge::Dim>(pairs.symbols().size());
  std::vector<fledge::SpecialToken> special = random_special_tokens(rng, size, rng.below(4));
  for (fledge::SpecialToken& token : special)  // UTF-8, and the name of no other symbol
    token.text = "<" + std::to_string(token.id) + "é>";
  return fledge::Tokenizer(std::move(pairs), std::move(special));
}

inline bool equal_tokenizers(const fledge::Tokenizer& a, const fledge::Tokenizer& b) {
  return a.kind() == b.kind() && a.size() == b.size() && a.symbols() == b.symbols() &&
         a.merges() == b.merges() && a.special_tokens() == b.special_tokens();
}

}  // namespace tests
