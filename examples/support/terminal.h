// What stands behind a stream: a person at a terminal, with or without colours, or a file.
//
// Not here: progress lines. Key idea: each stream is asked on its own, the user's wish (NO_COLOR,
// FORCE_COLOR) comes first, and no colour carries a meaning that the words beside it do not.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "examples/support/text.h"

namespace support {

bool is_terminal(std::FILE* stream);

/// NO_COLOR (not empty) says no; then FORCE_COLOR (not empty) says yes; otherwise yes on a terminal
/// whose TERM is neither missing nor "dumb". See no-color.org and force-color.org.
bool colour_wanted(std::FILE* stream);

/// Whether the first of LC_ALL, LC_CTYPE, LANG that is not empty names UTF-8.
bool unicode_wanted();

/// Columns of the terminal behind the stream, else COLUMNS, else 80; within 20 … 200.
int terminal_width(std::FILE* stream);

/// Text in colours for a stream that wants them, the same text for one that does not. The colours
/// stay apart for colour-blind eyes, on dark and on light: blue, vermillion and purple of Okabe &
/// Ito 2008, nearest of 256. Each ends only itself, so that bold and a colour nest.
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

}  // namespace support
