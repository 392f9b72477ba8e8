// Writes JSON text (RFC 8259).
//
// The writer keeps a stack of the open objects and arrays and refuses calls that would not give valid
// JSON.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nn/io/utf8.h"

namespace fledge {

namespace detail {

/// Replaces the decimal separator of the locale, which may have several bytes, by a point.
inline std::string with_point(std::string_view digits) {
  std::string text;
  for (const char c : digits) {
    if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == 'e')
      text += c;
    else if (text.empty() || text.back() != '.')
      text += '.';
  }
  return text;
}

template <class T>
concept JsonInteger = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                      !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                      !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

}  // namespace detail

/// The number with the fewest significant digits that read back as the same number: 15 to 17 for a
/// double, 6 to 9 for a float. "null" if it is not finite.
template <std::floating_point T>
std::string json_number(T value) {
  constexpr bool is_double = sizeof(T) == sizeof(double);
  if (!std::isfinite(value)) return "null";
  char text[64] = "";
  for (int digits = is_double ? 15 : 6; digits <= (is_double ? 17 : 9); ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
    if ((is_double ? std::strtod(text, nullptr) : std::strtof(text, nullptr)) == value) break;
  }
  return detail::with_point(text);
}

/// The text as a JSON string, safe on a terminal and inside an HTML page: quotes, backslashes, < > &
/// and misleading characters are escaped; invalid UTF-8 becomes U+FFFD.
inline std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const char32_t c = point.value;
    if (c == '"' || c == '\\') {
      result += '\\';
      result += static_cast<char>(c);
    } else if (is_misleading(c) || c == '<' || c == '>' || c == '&') {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c & 0xFFFF));
      result += escape;
    } else {
      result += point.valid ? text.substr(at, point.bytes) : "\xEF\xBF\xBD";
    }
    at += point.bytes;
  }
  return result += '"';
}

/// Writes one JSON value. Throws std::logic_error for a value without a key in an object, a key twice
/// or outside an object, an end that does not match, and a second value at the top level.
class JsonWriter {
 public:
  enum class Layout { line, indented };  // everything in one line, or two spaces a level

  explicit JsonWriter(Layout layout = Layout::line) : layout_(layout) {}

  JsonWriter& begin_object() { return open('{', '}'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('[', ']'); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name) {
    if (open_.empty() || open_.back().end != '}' || after_key_) fail("a key where none can stand");
    const std::string written = json_string(name);
    if (!open_.back().keys.insert(written).second) fail("a key twice in one object");
    next_item();
    text_ += written;
    text_ += layout_ == Layout::line ? ":" : ": ";
    after_key_ = true;
    return *this;
  }

  JsonWriter& value(bool truth) { return put(truth ? "true" : "false"); }
  JsonWriter& value(double number) { return put(json_number(number)); }
  JsonWriter& value(float number) { return put(json_number(number)); }
  JsonWriter& value(detail::JsonInteger auto number) { return put(std::to_string(number)); }
  JsonWriter& value(std::string_view text) { return put(json_string(text)); }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(std::nullptr_t) { return put("null"); }
  template <class T>
  JsonWriter& value(const T* pointer) = delete;  // would otherwise be written as a bool

  /// A key and its value.
  template <class T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  /// The text, without a newline at its end. Throws std::logic_error if an object or array is open.
  const std::string& text() const {
    if (!open_.empty() || text_.empty()) fail("unfinished text");
    return text_;
  }

 private:
  struct Level {
    char end;                    // '}' or ']'
    bool empty = true;           // no item written yet
    std::set<std::string> keys;  // of an object, in their escaped form
  };

  [[noreturn]] static void fail(const char* what) {
    throw std::logic_error(std::string("json: ") + what);
  }

  void next_line() {
    if (layout_ == Layout::indented) text_.append(1, '\n').append(2 * open_.size(), ' ');
  }

  void next_item() {
    if (!open_.back().empty) text_ += ',';
    open_.back().empty = false;
    next_line();
  }

  void before_value() {
    if (open_.empty() ? !text_.empty() : open_.back().end == '}' && !after_key_)
      fail(open_.empty() ? "a second value at the top" : "a value without a key in an object");
    if (!open_.empty() && !after_key_) next_item();
    after_key_ = false;
  }

  JsonWriter& put(std::string_view text) {
    before_value();
    text_ += text;
    return *this;
  }

  JsonWriter& open(char begin, char end) {
    before_value();
    text_ += begin;
    open_.push_back({end, true, {}});
    return *this;
  }

  JsonWriter& close(char end) {
    if (open_.empty() || open_.back().end != end || after_key_) fail("an end that does not fit");
    const bool empty = open_.back().empty;
    open_.pop_back();
    if (!empty) next_line();
    text_ += end;
    return *this;
  }

  Layout layout_;
  std::string text_;
  std::vector<Level> open_;
  bool after_key_ = false;
};

}  // namespace fledge
