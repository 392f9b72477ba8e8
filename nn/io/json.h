// Writes and reads JSON text (RFC 8259).
//
// A value that is written is its text. A text that is read is checked once, as a whole. A value is
// then a position in the text, and its children are found by reading it again: no tree is built.
// Errors name line, column and key:
//   "line 3, column 13: n_layer must be a whole number from 1 to 64: got 0"
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/real.h"
#include "nn/io/errors.h"

namespace fledge {

/// The number with the fewest significant digits that read back as the same number: 15 to 17 for a
/// double, 6 to 9 for a float. "null" if it is not finite. With a point in every locale.
std::string json_number(double value);
std::string json_number(float value);

/// The text as a JSON string, safe on a terminal and inside an HTML page: quotes, backslashes,
/// < > & and misleading characters are escaped; invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

/// A value that is written, as text in a line:
///   Json::object({{"step", 3}, {"loss", 0.5f}, {"words", words}}).text()
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

/// A value in a text, which it keeps alive. A function for one kind of value throws FormatError for
/// the other kinds.
class JsonValue {
 public:
  /// null, without a text.
  JsonValue() = default;

  bool is_null() const { return first() == 'n'; }
  bool is_object() const { return first() == '{'; }
  bool is_array() const { return first() == '['; }
  bool boolean() const;
  /// Throws for a number that is too large for a double, such as 1e400.
  double number() const;
  /// A number without point and exponent, exact. Throws unless low ≤ number ≤ high.
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  std::string string() const;

  /// Calls f(element) for each element of an array.
  void each_item(const std::function<void(const JsonValue&)>& f) const;
  /// f(key, value) for each member of an object, in the order of the text.
  void each_member(const std::function<void(const std::string&, const JsonValue&)>& f) const;

  bool has(std::string_view key) const { return find(key).text_ != nullptr; }
  /// The value of this key; throws if there is none.
  JsonValue operator[](std::string_view key) const;
  /// The value of this key; null if there is none.
  JsonValue find(std::string_view key) const;
  /// Throws if the object has a key that is not in this list.
  void allow_only(const std::vector<std::string_view>& keys) const;

  /// The value as it stands in the text, escaped, in one line, and cut if it is long.
  std::string shown() const;
  /// The keys that lead to the value: "fledge.corpus.files[2]"; "the text" for the whole text.
  std::string path() const { return path_.empty() ? "the text" : path_; }
  /// Throws FormatError with line, column, path and this problem:   value.fail("must be even")
  [[noreturn]] void fail(const std::string& problem) const;
  /// The same, and what the value is:   value.refuse("must be even") adds ": got 3"
  [[noreturn]] void refuse(const std::string& problem) const { fail(problem + ": got " + shown()); }

 private:
  friend JsonValue read_json(std::string text, std::size_t most_bytes);
  JsonValue(std::shared_ptr<const std::string> text, std::size_t at, std::string path)
      : text_(std::move(text)), at_(at), path_(std::move(path)) {}
  char first() const { return text_ ? (*text_)[at_] : 'n'; }
  void require_kind(std::string_view firsts, const char* name) const;
  JsonValue member(std::string_view key, std::size_t at) const;

  std::shared_ptr<const std::string> text_;
  std::size_t at_ = 0;  // of its first byte
  std::string path_;
};

/// The largest JSON text in bytes that is read by default.
inline constexpr std::size_t most_json_bytes = std::size_t{64} << 20;

/// Reads the whole text as one value. The text must be strict JSON in UTF-8: no comments, no byte
/// order mark, no key twice in an object, at most 64 levels. Takes n log n time and at most 8 bytes
/// of memory per byte of text. Throws FormatError with line and column; columns count code points.
JsonValue read_json(std::string text, std::size_t most_bytes = most_json_bytes);

}  // namespace fledge
