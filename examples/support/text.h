// Text for a terminal: escaped, measured in columns, cut, padded and coloured; hints for misspelt
// words; whether a stream is a terminal, and how wide.
//
// Text from a user (a file, an argument) passes through printable() before it is shown. Widths are
// counted in terminal cells, not bytes. Each stream has its own answer about colours; the text
// means the same without them.
#pragma once

#include <algorithm>
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

/// The parts of a text between separators; none of an empty text.
std::vector<std::string> split(std::string_view text, char separator);

inline bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A share from 0 to 1 in percent: "12.6 %", "0.07 %", "<0.01 %".
std::string percent(double share);

/// The text with every byte that could control or mislead a terminal written like \x1b: control
/// characters (C0, DEL, C1), bytes that are not UTF-8, and marks that change the writing direction.
inline std::string printable(std::string_view text) { return fledge::escaped_text(text); }

/// A line of a user's text, printable; tabs become blanks up to the next column that 8 divides. What
/// stands before it ends in `column`.
std::string printable_line(std::string_view line, std::size_t column = 0);

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

/// The text broken between words and behind |, so that no line has more than `columns` columns. Later
/// lines begin with `indent` spaces, which count. Line ends in the text stay. A word that is wider than
/// a line stands alone, unbroken. Colours made by Paint count 0. No line end at the end is added.
std::string wrapped(std::string_view text, int columns, int indent = 0);

/// The known word that is nearest to a misspelt one, or "" when none is near. Near means: at most
/// one error in three letters (a letter added, missing or changed, or two exchanged), or the first
/// two or more letters of the word. Words over 100 bytes are not compared. After eight million
/// comparisons of letters the best word so far is returned, so a call takes at most about 50 ms.
std::string closest(std::string_view word, const std::vector<std::string>& known);

bool is_terminal(std::FILE* stream);

/// Whether the stream is a terminal that obeys escape sequences: TERM is set, and is not "dumb".
bool obeys_escapes(std::FILE* stream);

/// No if NO_COLOR is set and not empty; else yes if FORCE_COLOR is; else obeys_escapes(stream). See
/// no-color.org and force-color.org.
bool colour_wanted(std::FILE* stream);

/// Whether the first of LC_ALL, LC_CTYPE, LANG that is not empty names UTF-8.
bool unicode_wanted();

/// Columns of the stream's terminal, else COLUMNS, else 80; within 20 … 200.
int terminal_width(std::FILE* stream);

/// Columns of sentences on this stream: terminal_width(), within 40 … 80.
inline int text_width(std::FILE* stream) { return std::clamp(terminal_width(stream), 40, 80); }

/// Prints the text in lines of text_width() columns, all but the first indented.
void say(std::FILE* stream, std::string_view text, int indent = 0);

/// The text in lines of text_width(stdout) columns, after `lead`, below which the lines are indented.
std::string paragraph(const std::string& text, const std::string& lead = "");

/// Lines of the stream's terminal, else LINES, else 24; within 2 … 500.
int terminal_height(std::FILE* stream);

/// Text in colours if `on`, else the text alone. Colour-blind people can tell the colours apart, on
/// dark and on light ground: blue, vermillion and purple of Okabe & Ito 2008, the nearest of 256.
/// The end of a colour does not end bold, so they nest.
struct Paint {
  bool on = false;

  std::string bold(std::string_view text) const { return painted("1", text, "22"); }
  std::string dim(std::string_view text) const { return painted("2", text, "22"); }
  std::string good(std::string_view text) const { return painted("38;5;32", text, "39"); }
  std::string bad(std::string_view text) const { return painted("38;5;166", text, "39"); }
  std::string accent(std::string_view text) const { return painted("38;5;175", text, "39"); }

 private:
  std::string painted(std::string_view begin, std::string_view text, std::string_view end) const;
};

/// How a token is shown where a line break or a blank must be visible: "⏎" for a line break, "␣" for a
/// blank, "⇥" for a tab; in ASCII "\n", "_" and "\t". The rest is printable(). A text without a
/// character is shown as ''.
std::string token_label(std::string_view token, bool unicode = unicode_wanted());
/// The same, cut to some columns.
std::string short_label(std::string_view token, int columns);

}  // namespace support
