// Splits text into words and punctuation marks, so that the words can be joined to the same text.
//
// Key idea: a mark without a blank beside it says so itself, by a tab at that side: "walk, (then"
// has the pieces "walk", "\t,", "(\t" and "then". No word has a tab, because tabs are blanks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fledge {

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
