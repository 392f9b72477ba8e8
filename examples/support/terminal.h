// Whether a stream is a terminal, how wide it is, and whether it gets colours; how tokens are shown.
//
// Key idea: each stream has its own answer. The user's wish (NO_COLOR, FORCE_COLOR) comes first.
// The text means the same without its colours.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "examples/support/text.h"

namespace support {

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
  /// Black on a ground of yellow to orange, the darker the larger `share` is (0 … 1). Below 0.05 and
  /// for NaN the text has no ground. The steps are those of shade() in attention_map.h.
  std::string ground(std::string_view text, double share) const;

 private:
  std::string painted(std::string_view begin, std::string_view text, std::string_view end) const;
};

/// How a token is shown where a line break or a blank must be visible: "⏎" for a line break, "␣" for a
/// blank, "⇥" for a tab; in ASCII "\n", "_" and "\t". The rest is printable(). A text without a
/// character is shown as ''.
std::string token_label(std::string_view token, bool unicode = unicode_wanted());

}  // namespace support
