// A place in JSON text (RFC 8259), moved over it piece by piece; what is not JSON throws.
//
// Not here: the tree of values, which json_reader.cpp builds with it.
#pragma once

#include <string>
#include <string_view>

#include "engine/real.h"
#include "nn/io/errors.h"

namespace fledge {

class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  /// Throws FormatError with the line and the column of this place; columns count code points.
  [[noreturn]] void fail(const std::string& problem) const;

  /// The byte that comes next, white space skipped; '\0' at the end.
  char next();
  /// Moves over c when it comes next.
  bool take(char c);
  /// Moves over "true", "false" or "null" when it comes next.
  bool take_word(std::string_view word);
  /// Moves over an array or the members of an object; f() moves over each of them.
  template <class F>
  void list(char begin, char end, F f) {
    take(begin);
    if (take(end)) return;
    do f();
    while (take(','));
    if (!take(end)) fail(std::string("expected ',' or '") + end + "'");
  }
  /// The text of a string, its escapes decoded. The bytes between are taken as they are: the caller
  /// has checked that they are UTF-8.
  std::string string();
  /// A number as it is written: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
  std::string_view number();
  /// Throws unless only white space follows.
  void require_end();

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void digits();
  char32_t four_hex_digits();
  void escape(std::string& to);

  std::string_view text_;
  std::size_t at_;
};

}  // namespace fledge
