// Words on a terminal: made harmless, measured in columns, cut and padded to fit.
//
// Not here: colours, which are terminal.h's. Key idea: whatever a user gave (a file, an argument)
// passes through printable() before it is shown; widths are counted in terminal cells, not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace support {

/// The text with every byte of what could command or mislead a terminal written as \x1b: control
/// characters (C0, DEL, C1), what is not UTF-8, and the marks that turn the direction of writing.
std::string printable(std::string_view text);

/// Columns a terminal uses: combining marks 0, East Asian wide characters and pictures 2, others 1.
/// Colours made by Paint count 0.
int display_width(std::string_view text);

/// The text when it fits into `columns`, else its beginning and the ellipsis. Never cuts within a
/// character; towers of combining marks are cut too. For text without colours.
std::string cut(std::string_view text, int columns, std::string_view ellipsis = "…");

/// Spaces before or after the text up to `columns`; longer text stays as it is.
std::string pad_left(std::string_view text, int columns);
std::string pad_right(std::string_view text, int columns);

/// A user's text in a message: printable, at most 80 columns, between quotes.
std::string quoted(std::string_view text);

/// printable(text) for a message: of each run of more than 300 bytes without a space, the beginning
/// and the end stay, 120 bytes each, so that a file is still known by its name.
std::string message_text(std::string_view text);

/// printable(text) as a shell reads it: in single quotes where it needs them.
std::string shell_word(std::string_view text);

/// The known word that `word` was most likely meant to be, or "" when none is near: at most one
/// slip in three letters (one more, less, other, or two exchanged), or a beginning of two at least.
/// A hint costs at most about 50 ms: words over 100 bytes are not compared, and after some eight
/// million comparisons of letters the best word so far is the answer.
std::string closest(std::string_view word, const std::vector<std::string>& known);

}  // namespace support
