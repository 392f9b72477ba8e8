// A place in JSON text (RFC 8259), moved over it piece by piece; whatever is not JSON throws.
//
// Not here: a tree of values (json_reader.h), writing (json.h). Key idea: the caller knows its
// grammar and asks for what must come next, so nothing is built that it does not keep and nothing
// recurses that it does not call.   Next: json_reader.h, safetensors_header.cpp.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "engine/real.h"

namespace fledge {

/// Text that is not JSON, or not the JSON that must stand there: "line 3, column 7: ...". Columns
/// count code points.
struct JsonError : std::runtime_error {
  JsonError(std::string_view text, std::size_t where, const std::string& what_is_wrong);
  std::size_t at;  // the byte
  std::string problem;
};

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  /// The quote that begins the last key which members() read.
  std::size_t key_at() const { return key_at_; }
  [[noreturn]] void fail(const std::string& problem) const { throw JsonError(text_, at_, problem); }

  /// The byte that comes next, white space skipped; '\0' at the end (and for a zero, which no JSON
  /// has outside strings).
  char next() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return peek();
  }
  /// Moves over c when it comes next.
  bool take(char c) {
    if (next() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  /// Moves over "true", "false" or "null" when it comes next.
  bool take_word(std::string_view word) {
    next();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  /// Whether some value seems to begin here: then what is wrong is its kind.
  bool at_value() {
    const char c = next();
    return c != '\0' && std::string_view("{[\"-0123456789tfn").find(c) != std::string_view::npos;
  }

  /// An object: f(key) for each member, the cursor at its value, which f moves over.
  template <class F>
  void members(F f) {
    if (!take('{')) fail("expected an object");
    if (take('}')) return;
    do {
      if (next() != '"') fail("expected a key in double quotes");
      key_at_ = at_;
      const std::string key = string();
      if (!take(':')) fail("expected ':' after a key");
      f(key);
    } while (take(','));
    if (!take('}')) fail("expected ',' or '}'");
  }
  /// An array: f() for each element, the cursor at it.
  template <class F>
  void elements(F f) {
    if (!take('[')) fail("expected an array");
    if (take(']')) return;
    do f();
    while (take(','));
    if (!take(']')) fail("expected ',' or ']'");
  }

  /// The text of a string, its escapes undone. The bytes between are taken as they are: whether
  /// they are UTF-8 is to be checked before.
  std::string string();
  /// A number as it is written: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
  std::string_view number();
  /// Throws unless only white space follows.
  void end() {
    next();
    if (at_ != text_.size()) fail("nothing may follow the value");
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void digits();
  char32_t four_hex_digits();
  void escape(std::string& to);

  std::string_view text_;
  std::size_t at_ = 0, key_at_ = 0;
};

}  // namespace fledge
