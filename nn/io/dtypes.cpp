#include "nn/io/dtypes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "nn/io/little_endian.h"

namespace fledge {

namespace {

template <class T>
double as_double(T number) {
  return static_cast<double>(number);
}

// A bfloat16 is the upper half of a float.
double from_bfloat16(std::uint16_t bits) {
  char bytes[4];
  store_little_endian(static_cast<std::uint32_t>(bits) << 16, bytes);
  return as_double(load_little_endian<float>(bytes));
}

// The float plus half of the last bit that stays; a tie is rounded to an even last bit.
std::uint16_t to_bfloat16(Real number) {
  char bytes[4];
  store_little_endian(static_cast<float>(value_of(number)), bytes);
  const auto bits = load_little_endian<std::uint32_t>(bytes);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// IEEE 754 half precision: 1 sign, 5 exponent, 10 fraction bits.
double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 0   ? std::ldexp(fraction, -24)
                      : exponent < 31 ? std::ldexp(1024 + fraction, exponent - 25)
                                      : infinity;  // or not a number: neither is read
  return (bits >> 15) != 0 ? -size : size;
}

// |x| = units·2^(exponent − 11), where units has at most 11 bits. Below 2^−14 the exponent stays, and
// units has fewer bits.
std::uint16_t to_half(Real number) {
  const double x = value_of(number), size = std::abs(x);
  const unsigned sign = std::signbit(x) ? 0x8000 : 0;
  if (!(size < 65520))
    return static_cast<std::uint16_t>(sign | 0x7C00);  // half way to 2^16; NaN too
  int exponent = -13;
  if (size >= 0x1p-14) std::frexp(size, &exponent);
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 11 - exponent)));
  return static_cast<std::uint16_t>(sign | (static_cast<unsigned>(exponent + 13) * 1024 + units));
}

template <class T, double (*number_of)(T) = as_double<T>>
std::size_t read_all(const char* from, std::size_t count, double most, Real* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const double number = number_of(load_little_endian<T>(from + i * sizeof(T)));
    to[i] = Real(number);
    if (!(std::abs(number) <= most) || !isfinite(to[i])) return i;
  }
  return count;
}

void write_float(Real number, char* to) {
  store_little_endian(static_cast<float>(value_of(number)), to);
}
template <std::uint16_t (*bits_of)(Real)>
void write_bits(Real number, char* to) {
  store_little_endian(bits_of(number), to);
}

constexpr double any_size = std::numeric_limits<double>::max();
constexpr Dtype types[] = {
    {"F64", 8, read_all<double>, any_size},
    {"F32", 4, read_all<float>, any_size, write_float},
    {"F16", 2, read_all<std::uint16_t, from_half>, any_size, write_bits<to_half>},
    {"BF16", 2, read_all<std::uint16_t, from_bfloat16>, any_size, write_bits<to_bfloat16>},
    {"I64", 8, read_all<std::int64_t>, 9007199254740991.0},
    {"I32", 4, read_all<std::int32_t>, any_size},
    {"I16", 2, read_all<std::int16_t>, any_size},
    {"I8", 1, read_all<std::int8_t>, any_size},
    {"U8", 1, read_all<std::uint8_t>, any_size},
    {"BOOL", 1, read_all<std::uint8_t>, 1}};

}  // namespace

const Dtype* find_dtype(std::string_view name) {
  const auto found = std::find_if(std::begin(types), std::end(types),
                                  [&](const Dtype& type) { return type.name == name; });
  return found == std::end(types) ? nullptr : found;
}

Rounding rounding_of(const Real* numbers, Dim count, const Dtype& type) {
  Rounding rounding;
  char bytes[8];
  for (Dim i = 0; i < count; ++i) {
    Real stored = Real(0);
    type.write(numbers[i], bytes);
    const bool is_finite = type.read(bytes, 1, type.most, &stored) == 1;
    const double before = value_of(numbers[i]), after = value_of(stored);
    if (is_finite && before == after) continue;
    ++rounding.changed;
    if (!is_finite)
      ++rounding.infinite;
    else
      rounding.largest = std::max(rounding.largest, std::abs(after - before));
  }
  return rounding;
}

}  // namespace fledge
