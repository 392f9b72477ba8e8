// Cuts a text into pieces: as GPT-2 does before byte pairs are merged, and into words and
// punctuation marks, so that the words can be joined to the same text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fledge {

/// The piece that begins at text[at], at < text.size(), after the pattern of GPT-2 (Radford et al.
/// 2019, section 2.2; encoder.py of its program): words, numbers, other signs, white space. No
/// merge crosses the end of a piece. A byte that is not UTF-8 counts as no white space, no letter
/// and no number:
///
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///
/// The pieces of a text, one after another, are the whole text.
std::string_view piece_at(std::string_view text, std::size_t at);

/// A word or a mark. A mark without a blank beside it says so itself, by a tab at that side: "walk,
/// (then" has the pieces "walk", "\t,", "(\t" and "then". No word has a tab, because tabs are
/// blanks.
struct WordPiece {
  std::string symbol;  // with its tabs
  std::size_t at;      // the position of its first byte
  bool is_mark;        // not a word
};

/// The pieces of a text without blanks and line ends. Marks are quotation marks, brackets, dashes
/// of two hyphens or more and of Unicode, ; ! ? … and the marks of Chinese and Japanese. The marks
/// . , : count only where no letter or digit follows or precedes, so 3.14 is one word. Equal marks
/// in a row are one piece. Apostrophes and single hyphens belong to their words.
std::vector<WordPiece> word_pieces(std::string_view text);

/// The symbol without its tabs.
std::string_view without_joins(std::string_view symbol);
/// Whether a blank stands between two pieces: unless the first ends or the second begins with a
/// tab.
bool are_apart(std::string_view first, std::string_view second);
/// Whether word_pieces() can give this symbol.
bool is_word_piece(std::string_view symbol);

}  // namespace fledge
