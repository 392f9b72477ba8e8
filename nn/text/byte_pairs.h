// Byte pairs: symbols made by merging, again and again, the commonest two neighbours.
//
// Not here: other kinds of symbols (tokenizer.h). Key idea: the merges, in the order they were
// learned, are all there is; symbol 256 + i is what merge i makes, and no bytes are unknown.
// Next: tokenizer.h.
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
  /// No merges: one symbol a byte.
  BytePairs() = default;
  /// Merges that were learned. Throws ValueError for a symbol that is not there yet when it is
  /// merged, for a pair that is merged twice, and for symbols over 64 bytes.
  explicit BytePairs(const std::vector<Merge>& merges);

  /// Sennrich, Haddow & Birch 2016, algorithm 1, on bytes: the commonest pair becomes a symbol, the
  /// first by number among equals, until there are `symbols` or no pair stands twice.
  /// Throws ValueError for fewer than 256 symbols.
  static BytePairs learned(std::string_view text, Dim symbols);

  /// The symbols of any bytes, in time linear in their number.
  std::vector<Dim> encode(std::string_view text) const;
  /// The bytes of every symbol.
  std::vector<std::string> symbols() const;
  const std::vector<Merge>& merges() const { return merges_; }

 private:
  void add(Merge merge);
  std::vector<Dim> merged(std::string_view piece) const;

  std::vector<Merge> merges_;
  std::vector<std::size_t> lengths_;               // of what each merge makes, in bytes
  std::unordered_map<std::uint64_t, Dim> merged_;  // of a pair: the symbol that it becomes
};

/// The piece that begins at text[at], at < text.size(). Merges stay within it: a run of letters,
/// of digits, of other signs or of white space, with one space before it (Radford et al. 2019,
/// section 2.2), 64 bytes at most. Bytes over 127 count as letters.
std::string_view piece_at(std::string_view text, std::size_t at);

}  // namespace fledge
