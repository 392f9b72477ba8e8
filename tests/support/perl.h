// Perl as an independent judge, of Unicode, for which it has tables and regular expressions of its
// own, and of SHA-256. Every machine with git has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "tests/support/process.h"

namespace testing {

/// What a script prints; nullopt on a machine without perl. Throws std::runtime_error with perl's
/// own message if the script fails.
inline std::optional<std::string> perl(const std::string& script, std::string_view input = "") {
  try {
    const Result result = run({"perl", "-e", script}, {}, input);
    if (result.status != 0) throw std::runtime_error("perl: " + result.err);
    return result.out;
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

/// The version of perl's Unicode tables, such as "14.0.0"; "" without perl.
inline std::string unicode_of_perl() {
  return perl("use Unicode::UCD; print Unicode::UCD::UnicodeVersion()").value_or("");
}

/// The 32 bytes of the SHA-256. Throws std::bad_optional_access on a machine without perl.
inline std::string sha256(std::string_view text) {
  return perl(
             "use Digest::SHA 'sha256'; binmode STDIN; binmode STDOUT; local $/; "
             "print sha256(<STDIN> // '')",
             text)
      .value();
}

}  // namespace testing
