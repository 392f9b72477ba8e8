#include "engine/base/errors.h"

#include <cmath>

#include "engine/base/number.h"

namespace fledge::message {

void append(std::string& text, std::string_view part) { text += part; }
void append(std::string& text, const char* part) { text += part; }
void append(std::string& text, double part, int digits) {
  char number[longest_number];
  if (part != part) part = std::abs(part);  // the sign of a NaN means nothing
  text.append(number, write_number(number, part, digits));
}
std::string digits(double number, int count) {
  std::string text;
  append(text, number, count);
  return text;
}
void append(std::string& text, std::int64_t part) { text += std::to_string(part); }
void append(std::string& text, std::uint64_t part) { text += std::to_string(part); }

std::string beginning(std::string_view op) { return std::string(op) + ": "; }

}  // namespace fledge::message
