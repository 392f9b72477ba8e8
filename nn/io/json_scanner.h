// Moves over JSON text (RFC 8259) token by token, and throws where the text is not JSON.
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

  /// Skips white space and returns the next byte; '\0' at the end.
  char next();
  /// Moves over c if it is next; returns whether it was.
  bool take(char c);
  /// Moves over the word ("true", "false", "null") if it is next; returns whether it was.
  bool take_word(std::string_view word);
  /// Moves over an array or object. f() is called to move over each element or member.
  template <class F>
  void list(char begin, char end, F f) {
    take(begin);
    if (take(end)) return;
    do f();
    while (take(','));
    if (!take(end)) fail(std::string("expected ',' or '") + end + "'");
  }
  /// Moves over a string and returns it with its escapes decoded. Other bytes are copied: the caller
  /// has checked that they are UTF-8.
  std::string string();
  /// Moves over a number and returns its text: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
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
