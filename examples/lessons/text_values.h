// A text with {{names}}, and their values.
#pragma once

#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/base/errors.h"
#include "examples/support/table.h"

namespace support {

/// The number as printf prints it.
inline std::string printed(double number, const char* format) { return formatted(format, number); }

/// A number, which the text formats, or a text: a table, or words.
class TextValue {
 public:
  template <class Number>
  requires std::is_arithmetic_v<Number> TextValue(Number number)
      : number_(static_cast<double>(number)) {}
  TextValue(std::string text) : text_(std::move(text)) {}
  TextValue(const char* text) : text_(text) {}
  TextValue(const Table& table) : text_(table.text()) {}

  /// The number in this format of printf, "" for %g. Throws ValueError for a text with a format.
  std::string as_text(const std::string& format,
                      std::string (*print)(double, const char*) = printed) const {
    fledge::require<fledge::ValueError>(number_ || format.empty(), "text", "'", text_,
                                        "' is no number, and is to be printed as ", format);
    return number_ ? print(*number_, format.empty() ? "%g" : format.c_str()) : text_;
  }

 private:
  std::optional<double> number_;
  std::string text_;
};

using TextValues = std::map<std::string, TextValue>;

/// Names with their values: values_of("sum", x, "mean", x / n).
template <class Value, class... Others>
TextValues values_of(const char* name, const Value& value, const Others&... others) {
  TextValues values;
  if constexpr (sizeof...(others) > 0) values = values_of(others...);
  values.emplace(name, value);
  return values;
}

/// The text with f(name, format) in the place of each {{name|format}}; the format may be "".
template <class F>
std::string with_names(const std::string& text, F f) {
  std::string result;
  std::size_t from = 0;
  for (std::size_t begin = 0; (begin = text.find("{{", from)) != std::string::npos;) {
    const std::size_t end = text.find("}}", begin);
    if (end == std::string::npos) break;
    const std::string name = text.substr(begin + 2, end - begin - 2);
    const std::size_t bar = std::min(name.find('|'), name.size());
    result += text.substr(from, begin - from);
    result += f(name.substr(0, bar), name.substr(std::min(bar + 1, name.size())));
    from = end + 2;
  }
  return result + text.substr(from);
}

/// The text with these values in the places of its names.
inline std::string filled(const std::string& text, const TextValues& values) {
  return with_names(text, [&](const std::string& name, const std::string& format) {
    return values.at(name).as_text(format);
  });
}

}  // namespace support
