// Prints a text that comes in pieces, up to a stop string.
//
// Bytes are held back while they may become a stop string or an incomplete code point. The printed text
// does not depend on how it was cut into pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/real.h"

namespace fledge {

/// Returns the text before the first stop string, piece by piece.
class StopStringFilter {
 public:
  /// Without stop strings, only incomplete code points are held back. Throws ValueError for an empty
  /// stop string.
  explicit StopStringFilter(std::vector<std::string> stops = {});

  /// Adds bytes. Returns the bytes that can be printed now: whole code points, if the text is UTF-8.
  /// After a stop string, returns nothing.
  std::string feed(std::string_view bytes);

  /// At the end of the text: the bytes that were held back.
  std::string rest();

  /// Whether a stop string has occurred. The stop string and the text after it are not returned.
  bool stopped() const { return stopped_; }

 private:
  std::size_t safe_size() const;

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace fledge
