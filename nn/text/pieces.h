// Cuts a text into pieces before byte pairs are merged: words, numbers, other signs, white space.
// No merge crosses the end of a piece.
#pragma once

#include <cstddef>
#include <string_view>

namespace fledge {

/// The piece that begins at text[at], at < text.size(), after the pattern of GPT-2 (Radford et al.
/// 2019, section 2.2; encoder.py of its program). A byte that is not UTF-8 counts as no white
/// space, no letter and no number:
///
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///
/// The pieces of a text, one after another, are the whole text.
std::string_view piece_at(std::string_view text, std::size_t at);

}  // namespace fledge
