// The built-in text: short sentences about what animals do and how they do it.
#pragma once

#include <string_view>

namespace support {

/// One sentence a line, each line with its end. The words are in lower case, with a space between
/// two words; the last word of each sentence is ".".
///
/// The word that follows "sometimes walk" or "are good at" depends on the animal at the beginning of
/// the sentence: birds walk slowly, cats quietly. To predict it, a model must look back at the animal.
inline std::string_view built_in_text() {
  return
#include "examples/support/built_in_text.inc"
      ;
}

}  // namespace support
