#include "nn/io/json.h"

#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "nn/io/utf8.h"

namespace fledge {

namespace {

template <class Number>
std::string shortest(Number value, int fewest, int most) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  char* end = text;
  for (int digits = fewest; digits <= most; ++digits) {
    end = std::to_chars(text, std::end(text), value, std::chars_format::general, digits).ptr;
    if (static_cast<Number>(number_of(std::string(text, end))) == value) break;
  }
  return {text, end};
}

}  // namespace

double number_of(const std::string& text) {
  static const ::locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return ::strtod_l(text.c_str(), nullptr, plain);
}

std::string json_number(double value) { return shortest(value, 15, 17); }
std::string json_number(float value) { return shortest(value, 6, 9); }

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const char32_t c = point.value;
    if (c == '"' || c == '\\') {
      result += {'\\', static_cast<char>(c)};
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

Json Json::object(const Members& members) {
  Json result;
  result.text_ = "{";
  for (const auto& [key, value] : members)
    result.text_.append(result.text_.size() > 1 ? "," : "")
        .append(json_string(key))
        .append(":")
        .append(value.text_);
  result.text_ += '}';
  return result;
}

std::string Json::indented() const {
  std::string lines;
  std::size_t depth = 0;
  bool in_string = false;
  const auto next_line = [&] { lines.append(1, '\n').append(2 * depth, ' '); };
  for (std::size_t at = 0; at < text_.size(); ++at) {
    const char c = text_[at], after = text_[at + 1];  // behind the text stands a 0
    if (!in_string && (c == '}' || c == ']')) --depth, next_line();
    lines += c;
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') lines += text_[++at];
    if (in_string) continue;
    if ((c == '{' && after == '}') || (c == '[' && after == ']'))
      lines += text_[++at];
    else if (c == '{' || c == '[')
      ++depth, next_line();
    else if (c == ',')
      next_line();
    else if (c == ':')
      lines += ' ';
  }
  return lines;
}

}  // namespace fledge
