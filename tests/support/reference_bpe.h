// bpe() as GPT-2's encoder.py has it: on strings, each round from the beginning. It is short and
// takes quadratic time.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nn/text/byte_pairs.h"
#include "nn/text/pieces.h"

namespace tests {

class ReferenceBpe {
 public:
  explicit ReferenceBpe(const fledge::BytePairs& pairs) : pairs_(pairs) {
    const auto& symbols = pairs.symbols();
    for (const auto& [a, b] : pairs.merges())
      ranks_.emplace(
          std::pair(symbols[static_cast<std::size_t>(a)], symbols[static_cast<std::size_t>(b)]),
          ranks_.size());
  }

  std::vector<fledge::Dim> encode(std::string_view text) {
    std::vector<fledge::Dim> ids;
    for (std::size_t at = 0; at < text.size();) {
      const std::string piece(fledge::piece_at(text, at));
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

  const fledge::BytePairs& pairs_;
  std::map<std::pair<std::string, std::string>, std::size_t> ranks_;
  std::unordered_map<std::string, std::vector<fledge::Dim>> cache_;
};

}  // namespace tests
