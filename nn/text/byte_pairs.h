// Byte pair encoding: the most frequent pair of neighbouring symbols is merged into a new symbol,
// again and again.
//
// The list of merges, in the order in which they were learned, describes everything: symbol 256 + i
// is the result of merge i. Every byte is a symbol, so any text can be encoded.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/real.h"

namespace fledge {

/// Two symbols that become one.
using Merge = std::pair<Dim, Dim>;

class BytePairs {
 public:
  /// No merges: the 256 bytes are the symbols.
  BytePairs() = default;
  /// Takes these merges. Throws ValueError for a merge of a symbol that does not exist before it,
  /// for a pair that is merged twice, and for a symbol of more than 64 bytes.
  explicit BytePairs(const std::vector<Merge>& merges);

  /// Learns merges from a text: the most frequent pair becomes a symbol (of equally frequent pairs
  /// the one with the smaller numbers), until there are `symbols` symbols or no pair occurs twice
  /// (Sennrich, Haddow & Birch 2016, algorithm 1, on bytes). Throws ValueError for fewer than 256
  /// symbols.
  static BytePairs learn(std::string_view text, Dim symbols);

  /// Symbol numbers of a text, in linear time.
  std::vector<Dim> encode(std::string_view text) const;
  /// The bytes of every symbol.
  std::vector<std::string> symbols() const;
  const std::vector<Merge>& merges() const { return merges_; }

 private:
  void add(Merge merge);
  std::vector<Dim> encode_piece(std::string_view piece) const;

  std::vector<Merge> merges_;
  std::vector<std::size_t> lengths_;               // bytes of the symbol that each merge makes
  std::unordered_map<std::uint64_t, Dim> merged_;  // from a pair to the symbol that it becomes
};

/// The piece that begins at text[at], at < text.size(): a run of letters, of digits, of other signs
/// or of white space, with one space before it, at most 64 bytes (Radford et al. 2019, section
/// 2.2). No merge crosses the end of a piece. Bytes over 127 count as letters.
std::string_view piece_at(std::string_view text, std::size_t at);

}  // namespace fledge
