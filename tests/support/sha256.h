// SHA-256, by perl: an implementation that is not ours.
#pragma once

#include <string>
#include <string_view>

#include "tests/support/perl.h"

namespace testing {

/// The 32 bytes of the hash. Throws std::bad_optional_access on a machine without perl.
inline std::string sha256(std::string_view text) {
  return perl(
             "use Digest::SHA 'sha256'; binmode STDIN; binmode STDOUT; local $/; "
             "print sha256(<STDIN> // '')",
             text)
      .value();
}

}  // namespace testing
