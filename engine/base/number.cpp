#include "engine/base/number.h"

#include <charconv>
#include <clocale>
#include <cstdlib>

namespace fledge {

char* write_number(char* to, double number, int digits) {
  return std::to_chars(to, to + longest_number, number, std::chars_format::general, digits).ptr;
}

double number_of(const std::string& text) {
  static const ::locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return ::strtod_l(text.c_str(), nullptr, plain);
}

}  // namespace fledge
