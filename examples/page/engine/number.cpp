// Numbers as text, in place of engine/base/number.cpp: printf and strtod, or the tables of
// std::to_chars, are a tenth of a module. Here numbers are rounded as there, with exact digits.
#include "engine/base/number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace fledge {

namespace {

/// 0.d₀d₁d₂… · 10^point, without zeros at either end.
struct Decimal {
  std::vector<std::uint64_t> digits{};
  int point = 0;

  void strip() {
    const auto is_digit = [](std::uint64_t digit) { return digit != 0; };
    const auto first = std::find_if(digits.begin(), digits.end(), is_digit);
    point -= static_cast<int>(first - digits.begin());
    digits.erase(digits.begin(), first);
    while (!digits.empty() && digits.back() == 0) digits.pop_back();
  }
};

/// m·2^e, exactly.
Decimal decimal(std::uint64_t m, int e) {
  Decimal d;
  const auto carry_to_front = [&d](std::uint64_t carry) {
    for (; carry > 0; carry /= 10, ++d.point) d.digits.insert(d.digits.begin(), carry % 10);
  };
  carry_to_front(m);
  for (int shift; e > 0; e -= shift) {  // times 2^shift, from the last digit on
    shift = std::min(e, 32);
    std::uint64_t carry = 0;
    for (auto digit = d.digits.rbegin(); digit != d.digits.rend(); ++digit) {
      carry += *digit << shift;
      *digit = carry % 10, carry /= 10;
    }
    carry_to_front(carry);
  }
  for (int shift; e < 0; e += shift) {  // divided by 2^shift, from the first digit on
    shift = std::min(-e, 32);
    std::uint64_t rest = 0;
    const auto divide = [&](std::uint64_t digit) {
      rest = rest * 10 + digit;
      const std::uint64_t quotient = rest >> shift;
      rest -= quotient << shift;
      return quotient;
    };
    for (std::uint64_t& digit : d.digits) digit = divide(digit);
    while (rest > 0) d.digits.push_back(divide(0));
  }
  d.strip();
  return d;
}

/// The number in the middle between the positive double with these bits and the next one; or itself.
Decimal decimal_of(std::uint64_t bits, bool middle) {
  const std::uint64_t exponent = bits >> 52, fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t m = exponent > 0 ? fraction | std::uint64_t{1} << 52 : fraction;
  const int e = static_cast<int>(std::max<std::uint64_t>(exponent, 1)) - 1075;
  return middle ? decimal(2 * m + 1, e - 1) : decimal(m, e);
}

/// To so many digits; in the middle between two numbers to the even one.
void round_to(Decimal& d, std::size_t count) {
  if (d.digits.size() <= count) return;
  const bool is_above =
      d.digits[count] > 5 || (d.digits[count] == 5 && d.digits.size() > count + 1);
  const bool is_up = is_above || (d.digits[count] == 5 && d.digits[count - 1] % 2 == 1);
  d.digits.resize(count);
  if (is_up) {
    while (!d.digits.empty() && d.digits.back() == 9) d.digits.pop_back();
    if (d.digits.empty()) d.digits.push_back(0), ++d.point;
    ++d.digits.back();
  }
  d.strip();
}

}  // namespace

char* write_number(char* to, double number, int count) {
  std::string text = std::signbit(number) ? "-" : "";
  if (!std::isfinite(number) || number == 0) {
    text += std::isnan(number) ? "nan" : number == 0 ? "0" : "inf";
    return std::copy(text.begin(), text.end(), to);
  }
  Decimal d = decimal_of(std::bit_cast<std::uint64_t>(std::abs(number)), false);
  round_to(d, static_cast<std::size_t>(count));
  std::string digits;
  for (const std::uint64_t digit : d.digits) digits += static_cast<char>('0' + digit);
  const int exponent = d.point - 1;
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
  const char* at = text.c_str();
  const bool is_negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  const auto is_digit = [&] { return *at >= '0' && *at <= '9'; };
  Decimal d;
  for (bool fraction = false; is_digit() || (*at == '.' && !fraction); ++at)
    if (*at == '.')
      fraction = true;
    else
      d.digits.push_back(static_cast<std::uint64_t>(*at - '0')), d.point += fraction ? 0 : 1;
  if (*at == 'e' || *at == 'E') {
    const bool is_small = *++at == '-';
    if (*at == '-' || *at == '+') ++at;
    int exponent = 0;
    for (; is_digit(); ++at) exponent = std::min(exponent * 10 + (*at - '0'), 100'000'000);
    d.point += is_small ? -exponent : exponent;
  }
  d.strip();
  const double sign = is_negative ? -1 : 1;
  if (d.digits.empty() || d.point < -400) return sign * 0;
  if (d.point > 400) return sign * std::numeric_limits<double>::infinity();

  // A number near it: exact if digits and power of ten are exact, because then one operation rounds.
  const int used = std::min(static_cast<int>(d.digits.size()), 18), power = d.point - used;
  std::uint64_t first = 0;
  for (int i = 0; i < used; ++i) first = first * 10 + d.digits[static_cast<std::size_t>(i)];
  double near = static_cast<double>(first), ten = 1;
  for (int i = 0; i < std::min(std::abs(power), 22); ++i) ten *= 10;
  near = power < 0 ? near / ten : near * ten;
  if (used <= 15 && std::abs(power) <= 22) return sign * near;
  for (int i = 22; i < std::abs(power); ++i) near = power < 0 ? near / 10 : near * 10;
  // Of doubles that follow each other the bits do too.
  const auto infinite = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  auto bits = std::bit_cast<std::uint64_t>(near);
  const auto is_above = [&d](std::uint64_t below) {  // nearer to the double after these bits
    const Decimal middle = decimal_of(below, true);
    if (d.point != middle.point) return d.point > middle.point;
    return d.digits == middle.digits ? below % 2 == 1 : d.digits > middle.digits;
  };
  while (bits < infinite && is_above(bits)) ++bits;
  while (bits > 0 && !is_above(bits - 1)) --bits;
  return sign * std::bit_cast<double>(bits);
}

}  // namespace fledge
