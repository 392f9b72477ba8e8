// Text for a terminal: escaped, measured in columns, cut and padded.
//
// Not here: colours (terminal.h). Key idea: text from a user (a file, an argument) passes through
// printable() before it is shown. Widths are counted in terminal cells, not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace support {

/// The text with every byte that could control or mislead a terminal written like \x1b: control
/// characters (C0, DEL, C1), bytes that are not UTF-8, and marks that change the writing direction.
std::string printable(std::string_view text);

/// Columns a terminal uses: combining marks 0, East Asian wide characters and pictures 2, others 1.
/// Colours made by Paint count 0.
int display_width(std::string_view text);

/// The text if it fits into `columns`, else its beginning and the ellipsis. Never cuts inside a
/// character, and shortens long runs of combining marks. For text without colours.
std::string cut(std::string_view text, int columns, std::string_view ellipsis = "…");

/// Spaces before or after the text up to `columns`; longer text stays as it is.
std::string pad_left(std::string_view text, int columns);
std::string pad_right(std::string_view text, int columns);

/// A user's text in a message: printable, at most 80 columns, between quotes.
std::string quoted(std::string_view text);

/// printable(text) for a message: of each run of more than 300 bytes without a space, the beginning
/// and the end stay, 120 bytes each, so that the name of a file can be recognised.
std::string message_text(std::string_view text);

/// printable(text) as a shell reads it: in single quotes where it needs them.
std::string shell_word(std::string_view text);

/// The known word that is nearest to a misspelt one, or "" when none is near. Near means: at most
/// one error in three letters (a letter added, missing or changed, or two exchanged), or the first
/// two or more letters of the word. Words over 100 bytes are not compared. After about eight
/// million comparisons of letters the best word so far is returned, so a call takes at most about
/// 50 ms.
std::string closest(std::string_view word, const std::vector<std::string>& known);

}  // namespace support
