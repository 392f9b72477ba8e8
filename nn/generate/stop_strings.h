// What of a text that comes in pieces may be printed now.
//
// Not here: tokens. Key idea: held back is what may still become a stop string, and a code point of
// which the end has not come; how the text was cut changes nothing.              Next: stop_at.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/real.h"

namespace fledge {

/// The text in front of the stop string that is complete first, piece by piece.
class StopStringFilter {
 public:
  /// Nothing to stop at: only code points are kept whole. Throws ValueError for an empty string.
  explicit StopStringFilter(std::vector<std::string> stops = {});

  /// Takes the next bytes in; returns those that may be printed now: whole code points, if the text
  /// is UTF-8. Once stopped, nothing.
  std::string feed(std::string_view bytes);

  /// At the end of the text: what was held back, as it is.
  std::string rest();

  /// Whether a stop string has come: it and what follows are not printed.
  bool stopped() const { return stopped_; }

 private:
  std::size_t safe_size() const;

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace fledge
