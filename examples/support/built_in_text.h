// The built-in text: short sentences about what animals do and how they do it.
//
// Not here: tokens and batches (nn/text/corpus.h).
#pragma once

#include <string_view>

namespace support {

/// One sentence a line, each line with its end. The words are in lower case, with a space between
/// two words; the last word of each sentence is ".".
std::string_view built_in_text();

}  // namespace support
