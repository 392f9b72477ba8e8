// Cuts a text into pieces before byte pairs are merged: words, numbers, other signs, white space.
// No merge crosses the end of a piece.
#pragma once

#include <cstddef>
#include <string_view>

namespace fledge {

/// How a text is cut.
enum class PieceRule {
  /// A run of letters, digits, other signs or white space of ASCII, with one space before it, at
  /// most 64 bytes. Bytes over 127 count as letters. Models of older versions have this rule.
  ascii,
  /// The pattern of GPT-2 (Radford et al. 2019, section 2.2; encoder.py of its program). A byte that
  /// is not UTF-8 counts as no white space, no letter and no number:
  ///
  ///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
  gpt2
};

/// The piece that begins at text[at], at < text.size(). The pieces of a text, one after another,
/// are the whole text.
std::string_view piece_at(std::string_view text, std::size_t at, PieceRule rule);

}  // namespace fledge
