// Writes JSON text (RFC 8259). A value is its text.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fledge {

/// The number with the fewest significant digits that read back as the same number: 15 to 17 for a
/// double, 6 to 9 for a float. "null" if it is not finite. With a point in every locale.
std::string json_number(double value);
std::string json_number(float value);

/// The text as a JSON string, safe on a terminal and inside an HTML page: quotes, backslashes, < > &
/// and misleading characters are escaped; invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

/// A value as text in one line:   Json::object({{"step", 3}, {"loss", 0.5f}, {"words", words}}).text()
class Json {
 public:
  using Members = std::vector<std::pair<std::string_view, Json>>;

  Json(std::nullptr_t = nullptr) : text_("null") {}
  Json(std::same_as<bool> auto truth) : text_(truth ? "true" : "false") {}
  Json(std::floating_point auto number) : text_(json_number(number)) {}
  Json(std::integral auto number) requires(sizeof(number) > 1) : text_(std::to_string(number)) {}
  Json(const char* text) : text_(json_string(text)) {}
  Json(std::string_view text) : text_(json_string(text)) {}
  Json(const std::string& text) : text_(json_string(text)) {}
  template <class T>
  Json(const std::optional<T>& value) : text_(value ? Json(*value).text_ : "null") {}
  /// An array of the elements of a range.
  template <class Range>
  requires requires(const Range& range) { range.begin() != range.end(); }
  Json(const Range& range) : text_("[") {
    for (const auto& item : range) text_.append(text_.size() > 1 ? "," : "") += Json(item).text_;
    text_ += ']';
  }
  /// The keys must be different.
  static Json object(const Members& members);

  const std::string& text() const { return text_; }
  /// The same with line ends, and two spaces a level.
  std::string indented() const;

 private:
  std::string text_;
};

namespace detail {

template <class T>
concept JsonInteger = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                      !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                      !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

}  // namespace detail

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

  JsonWriter& insert(const Json& json) {
    std::string text;
    for (const char c : layout_ == Layout::line ? json.text() : json.indented()) {
      text += c;
      if (c == '\n') text.append(2 * open_.size(), ' ');
    }
    return put(text);
  }

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
