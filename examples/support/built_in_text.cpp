#include "examples/support/built_in_text.h"

namespace support {

// The word that follows "sometimes walk" or "are good at" depends on the animal at the beginning of
// the sentence: birds walk slowly, cats quietly. To predict it, a model must look back at the
// animal.
std::string_view built_in_text() {
  return
#include "examples/support/built_in_text.inc"
      ;
}

}  // namespace support
