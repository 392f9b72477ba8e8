// Text for a terminal: escaped, measured in columns, cut and padded; hints for misspelt words.
//
// Not here: colours (terminal.h). Key idea: text from a user (a file, an argument) passes through
// printable() before it is shown. Widths are counted in terminal cells, not bytes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "nn/io/utf8.h"

namespace support {

/// The text that printf would print.
template <class... Values>
std::string formatted(const char* format, Values... values) {
  const int length = std::snprintf(nullptr, 0, format, values...);
  std::string text(length < 0 ? 0 : static_cast<std::size_t>(length), '\0');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

/// "1,115,394"
std::string thousands(std::int64_t number);
/// "1 line", "1,200 lines"
std::string counted(std::int64_t number, std::string_view noun);

/// A share from 0 to 1 in percent: "12.6 %", "0.07 %", "<0.01 %".
std::string percent(double share);

/// The text with every byte that could control or mislead a terminal written like \x1b: control
/// characters (C0, DEL, C1), bytes that are not UTF-8, and marks that change the writing direction.
inline std::string printable(std::string_view text) { return fledge::escaped_text(text); }

/// A user's text in a message: printable, at most 80 of its bytes, between quotes.
inline std::string quoted(std::string_view text) { return fledge::in_quotes(text); }

/// The text inside HTML and SVG: & < > " as entities, and what printable() escapes. It is safe between
/// tags, and in an attribute between double quotes.
std::string markup_escaped(std::string_view text);

/// The text as a shell reads it as one word: in single quotes where it needs them, or like
/// $'a\x0ab' if it has bytes that printable() escapes.
std::string shell_word(std::string_view text);

/// Columns a terminal uses: combining marks 0, East Asian wide characters and pictures 2, others 1.
/// Colours made by Paint count 0.
int display_width(std::string_view text);

/// The text if it fits into `columns`, else its beginning and the ellipsis. Never cuts inside a
/// character, and shortens long runs of combining marks. For text without colours.
std::string cut(std::string_view text, int columns, std::string_view ellipsis = "…");

/// Spaces before or after the text up to `columns`; longer text stays as it is.
std::string pad_left(std::string_view text, int columns);
std::string pad_right(std::string_view text, int columns);

/// Whether this is a letter of ASCII, in every locale.
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The text broken between words, so that no line has more than `columns` columns. Later lines begin
/// with `indent` spaces, which count. Line ends in the text stay. A word that is wider than a line
/// stands alone, unbroken. Colours made by Paint count 0. No line end at the end is added.
std::string wrapped(std::string_view text, int columns, int indent = 0);

/// The known word that is nearest to a misspelt one, or "" when none is near. Near means: at most
/// one error in three letters (a letter added, missing or changed, or two exchanged), or the first
/// two or more letters of the word. Words over 100 bytes are not compared. After eight million
/// comparisons of letters the best word so far is returned, so a call takes at most about 50 ms.
std::string closest(std::string_view word, const std::vector<std::string>& known);

}  // namespace support
