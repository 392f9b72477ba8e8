// How often each pair of neighbouring symbols occurs in a text: what byte pairs are learned from.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/real.h"

namespace fledge {

class PairCounts {
 public:
  /// Counts the pairs of bytes in the pieces of a text (pieces.h). A piece of more than 64
  /// bytes is cut into parts of 64 bytes, because a merge reads all of a piece that has the pair.
  explicit PairCounts(std::string_view text);

  struct Pair {
    std::pair<Dim, Dim> symbols;
    Dim count = 0;
  };

  /// The most frequent pair, of equals the one with the smallest numbers. Without any pair, the
  /// count is 0.
  Pair most_frequent() const;

  /// Replaces a pair by the symbol `both`, from left to right in each piece.
  void merge(std::pair<Dim, Dim> pair, Dim both);

 private:
  struct Piece {
    std::vector<Dim> ids;
    Dim count;
  };

  void count(std::size_t i, Dim sign, Dim fresh);

  std::vector<Piece> pieces_;
  std::vector<Pair> pairs_;                      // all that occur or occurred
  std::vector<std::vector<std::size_t>> where_;  // of each pair: pieces that have or had it
  std::unordered_map<std::uint64_t, std::size_t> places_;  // of a pair: its place in both
};

}  // namespace fledge
