// Writes JSON text (RFC 8259). A value is its text.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/real.h"  // which build this is

namespace fledge {

/// The double that is nearest to this decimal number, infinity beyond all of them. In every locale.
double number_of(const std::string& text);

/// The number with the fewest significant digits that read back as the same number: 15 to 17 for a
/// double, 6 to 9 for a float. "null" if it is not finite. With a point in every locale.
std::string json_number(double value);
std::string json_number(float value);

/// The text as a JSON string, safe on a terminal and inside an HTML page: quotes, backslashes,
/// < > & and misleading characters are escaped; invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

/// A value as text, in a line: Json::object({{"step", 3}, {"loss", 0.5f}, {"words", words}}).text()
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

}  // namespace fledge
