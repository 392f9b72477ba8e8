// How a token is shown where a line break or a blank must be visible: in maps, tables and bars.
#pragma once

#include <string>
#include <string_view>

#include "examples/support/terminal.h"

namespace support {

/// The text with visible marks: "⏎" for a line break, "␣" for a blank, "⇥" for a tab; in ASCII
/// "\n", "_" and "\t". The rest is printable(). A text without a character is shown as ''.
std::string token_label(std::string_view token, bool unicode = unicode_wanted());

}  // namespace support
