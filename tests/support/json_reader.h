// A strict reader of JSON for tests: it throws on whatever RFC 8259 forbids or leaves open, so that
// a text it accepts is JSON for everybody.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "nn/io/utf8.h"

namespace testing {

struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A value, and the values in it. Asking for what is not there, or is of another kind, throws
/// JsonError.
class StrictJson {
 public:
  using Array = std::vector<StrictJson>;
  using Object = std::vector<std::pair<std::string, StrictJson>>;
  using Value = std::variant<std::nullptr_t, bool, double, std::string, Array, Object>;

  explicit StrictJson(Value content) : value_(std::move(content)) {}

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool boolean() const { return as<bool>("a boolean"); }
  double number() const { return as<double>("a number"); }
  const std::string& string() const { return as<std::string>("a string"); }
  const Array& array() const { return as<Array>("an array"); }
  const Object& object() const { return as<Object>("an object"); }

  const StrictJson& operator[](std::size_t index) const {
    if (index >= array().size()) throw JsonError("json: no item " + std::to_string(index));
    return array()[index];
  }
  const StrictJson& operator[](std::string_view key) const {
    if (const StrictJson* found = find(key)) return *found;
    throw JsonError("json: no key '" + std::string(key) + "'");
  }
  bool contains(std::string_view key) const { return find(key) != nullptr; }

 private:
  template <class T>
  const T& as(const char* kind) const {
    if (const T* value = std::get_if<T>(&value_)) return *value;
    throw JsonError(std::string("json: not ") + kind);
  }
  const StrictJson* find(std::string_view key) const {
    for (const auto& member : object())
      if (member.first == key) return &member.second;
    return nullptr;
  }

  Value value_;
};

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  StrictJson whole_text() {
    StrictJson result = value(0);
    space();
    if (at_ < text_.size()) fail("text after the value");
    return result;
  }

 private:
  static constexpr int deepest = 200;

  [[noreturn]] void fail(const char* what) const {
    throw JsonError(std::string("json: ") + what + " at byte " + std::to_string(at_));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void expect(const char* word) {
    if (!take(word)) fail((std::string("no ") + word).c_str());
  }
  void space() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

  StrictJson value(int depth) {
    if (depth > deepest) fail("too deep");
    space();
    if (take("{")) return StrictJson(object(depth));
    if (take("[")) return StrictJson(array(depth));
    if (take("\"")) return StrictJson(string());
    if (take("true")) return StrictJson(true);
    if (take("false")) return StrictJson(false);
    if (take("null")) return StrictJson(nullptr);
    return StrictJson(number());
  }

  /// Reads what commas part, up to `end`.
  template <class Read>
  void each_item(const char* end, Read read) {
    space();
    if (take(end)) return;
    do {
      space();
      read();
      space();
    } while (take(","));
    expect(end);
  }

  StrictJson::Array array(int depth) {
    StrictJson::Array items;
    each_item("]", [&] { items.push_back(value(depth + 1)); });
    return items;
  }

  StrictJson::Object object(int depth) {
    StrictJson::Object members;
    each_item("}", [&] {
      expect("\"");
      std::string key = string();
      for (const auto& member : members)
        if (member.first == key) fail("a key twice");
      space();
      expect(":");
      members.emplace_back(std::move(key), value(depth + 1));
    });
    return members;
  }

  void digits() {
    const std::size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    if (at_ == begin) fail("no digit");
  }

  double number() {
    const std::size_t begin = at_;
    take("-");
    if (!take("0")) digits();
    if (take(".")) digits();
    if (take("e") || take("E")) {
      if (!take("-")) take("+");
      digits();
    }
    double result = 0;
    const auto parsed = std::from_chars(text_.data() + begin, text_.data() + at_, result);
    if (parsed.ec != std::errc()) fail("a number that no double holds");
    return result;
  }

  unsigned four_hex_digits() {
    unsigned result = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), result, 16);
    if (digits.size() != 4 || parsed.ptr != digits.data() + 4) fail("no four hexadecimal digits");
    at_ += 4;
    return result;
  }

  char32_t escaped_code_point() {
    const char32_t high = four_hex_digits();
    if (high >= 0xDC00 && high <= 0xDFFF) fail("half a surrogate pair");
    if (high < 0xD800 || high > 0xDBFF) return high;
    if (!take("\\u")) fail("half a surrogate pair");
    const char32_t low = four_hex_digits();
    if (low < 0xDC00 || low > 0xDFFF) fail("half a surrogate pair");
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  std::string string() {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    std::string result;
    while (!take("\"")) {
      if (at_ >= text_.size()) fail("a string without an end");
      if (take("\\u")) {
        result += fledge::utf8_of(escaped_code_point());
      } else if (take("\\")) {
        const std::size_t letter = at_ < text_.size() ? letters.find(text_[at_]) : letters.npos;
        if (letter == letters.npos) fail("an unknown escape");
        result += meanings[letter];
        ++at_;
      } else {
        const fledge::CodePoint point = fledge::code_point_at(text_, at_);
        if (!point.valid) fail("not UTF-8");
        if (point.value < 0x20) fail("a control character in a string");
        result += text_.substr(at_, point.bytes);
        at_ += point.bytes;
      }
    }
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Reads one JSON value, which must be the whole text. Throws JsonError.
inline StrictJson strict_json(std::string_view text) { return JsonReader(text).whole_text(); }

}  // namespace testing
