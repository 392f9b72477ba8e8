// Numbers as text, in place of engine/base/number.cpp: printf and strtod, or the tables of
// std::to_chars, are a tenth of a module. A page has both.
#include "engine/base/number.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "examples/page/engine/interface.h"

namespace fledge {

char* write_number(char* to, double number, int count) {
  std::string text = std::signbit(number) ? "-" : "";
  if (!std::isfinite(number) || number == 0) {
    text += std::isnan(number) ? "nan" : number == 0 ? "0" : "inf";
    return std::copy(text.begin(), text.end(), to);
  }
  std::string digits(static_cast<std::size_t>(count), '0');
  const int exponent = write_digits(std::abs(number), count, digits.data());
  digits.resize(digits.find_last_not_of('0') + 1);
  const bool is_short = exponent >= -4 && exponent < count;
  if (is_short && exponent < 0) digits.insert(0, static_cast<std::size_t>(-exponent), '0');
  const auto before = static_cast<std::size_t>(is_short && exponent > 0 ? exponent + 1 : 1);
  if (digits.size() > before) digits.insert(before, 1, '.');
  if (digits.size() < before) digits.append(before - digits.size(), '0');
  text += digits;
  if (!is_short) {
    text += exponent < 0 ? "e-" : "e+";
    text += (std::abs(exponent) < 10 ? "0" : "") + std::to_string(std::abs(exponent));
  }
  return std::copy(text.begin(), text.end(), to);
}

double number_of(const std::string& text) {
  return read_number(text.data(), static_cast<std::uint32_t>(text.size()));
}

}  // namespace fledge
