// Byte pair encoding: the most frequent pair of neighbouring symbols is merged into a new symbol,
// again and again.
//
// A symbol is a string of bytes with a number. A merge is a pair of symbols; its result is the
// symbol that has the bytes of both. The position of a merge in the list is its rank: the merge
// with the lowest rank is applied first.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/real.h"

namespace fledge {

/// Two symbols that become one.
using Merge = std::pair<Dim, Dim>;

/// The most symbols of a saved tokenizer. Training refuses a text with more symbols, so that every
/// command can read the trained model.
inline constexpr Dim most_symbols = 1'000'000;

/// The symbol numbers of pieces that occurred before: most words repeat.
using KnownPieces = std::unordered_map<std::string_view, std::vector<Dim>>;

class BytePairs {
 public:
  /// The 256 bytes are the symbols; there are no merges.
  BytePairs();
  /// Takes the bytes of symbols 0, 1, 2, …, and merges as add_merge() does. If the bytes are "",
  /// there is no symbol of this number. Throws ValueError for two symbols with the same bytes, for
  /// a symbol of more than 1,024 bytes, and for more than `most_symbols`.
  explicit BytePairs(std::vector<std::string> symbols, const std::vector<Merge>& merges = {});

  /// Learns merges from a text: the most frequent pair becomes a symbol (of equally frequent pairs
  /// the one with the smaller numbers), until there are `symbols` symbols or no pair occurs twice
  /// (Sennrich, Haddow & Birch 2016, algorithm 1, on bytes). All symbols have different bytes.
  /// Pieces are cut into parts of at most 64 bytes for this. Throws ValueError for fewer than 256
  /// symbols.
  static BytePairs learn(std::string_view text, Dim symbols);

  /// Adds a merge, whose rank is the next one. Throws ValueError for a number without a symbol, for
  /// a pair that is merged already, if no symbol has the bytes of both, and for more than
  /// `most_symbols`.
  void add_merge(const Merge& merge);

  /// Symbol numbers of a text: in each piece, all pairs of the lowest rank are merged from left to
  /// right, until no pair has a merge (bpe() of GPT-2's encoder.py). A piece of n bytes takes
  /// n log n time. Throws ValueError for a byte without a symbol.
  std::vector<Dim> encode(std::string_view text) const;
  /// The same, added to `ids`. The text must live as long as `known`.
  void encode(std::string_view text, std::vector<Dim>& ids, KnownPieces& known) const;
  /// The position of the first byte that has no symbol; npos if there is none.
  std::size_t first_unknown_byte(std::string_view text) const;

  /// The number of the symbol with these bytes.
  std::optional<Dim> find(std::string_view bytes) const;
  /// The bytes of every symbol.
  const std::vector<std::string>& symbols() const { return symbols_; }
  const std::vector<Merge>& merges() const { return merges_; }

 private:
  // 32 bits, because tables of a million merges are read from files.
  struct RankedMerge {
    std::int32_t rank, result;
  };

  std::string_view bytes_of(Dim symbol) const { return symbols_[static_cast<std::size_t>(symbol)]; }
  const RankedMerge* merge_of(Dim left, Dim right) const;
  void encode_piece(std::string_view piece, std::vector<Dim>& ids) const;

  std::vector<std::string> symbols_;
  std::map<std::string, Dim, std::less<>> by_bytes_;
  std::vector<Dim> bytes_ = std::vector<Dim>(256, -1);  // the symbol of each byte; −1: none
  std::vector<Merge> merges_;
  // No hash table: pairs in a file may be chosen to have one hash.
  std::map<Merge, RankedMerge> ranked_;
};

}  // namespace fledge
