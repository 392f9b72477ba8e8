#include "nn/io/dtypes.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "nn/io/little_endian.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

// The number nearest to x of all finite numbers of a 16-bit type, in increasing order of their bits;
// of two equally near ones the one with even bits.
std::uint16_t nearest_bits(const std::vector<double>& numbers, double x) {
  const double size = std::abs(x);
  const auto above = std::lower_bound(numbers.begin(), numbers.end(), size);
  auto bits = static_cast<unsigned>(above - numbers.begin());
  if (bits == numbers.size() || (bits > 0 && size - numbers[bits - 1] < numbers[bits] - size) ||
      (bits > 0 && size - numbers[bits - 1] == numbers[bits] - size && bits % 2 == 1))
    --bits;
  return static_cast<std::uint16_t>(bits | (std::signbit(x) ? 0x8000u : 0u));
}

// All numbers of a 16-bit type that are finite and not negative, in the order of their bits.
std::vector<double> numbers_of(const Dtype& type) {
  std::vector<double> numbers;
  for (unsigned bits = 0; bits < 0x8000; ++bits) {
    char bytes[2];
    store_little_endian(static_cast<std::uint16_t>(bits), bytes);
    Real number;
    if (type.read(bytes, 1, type.most, &number) == 0) break;
    numbers.push_back(value_of(number));
  }
  return numbers;
}

std::uint16_t written_bits(const Dtype& type, double x) {
  char bytes[2];
  type.write(Real(x), bytes);
  return load_little_endian<std::uint16_t>(bytes);
}

}  // namespace

TEST_CASE("16-bit numbers are written as they were read, others rounded, a tie to the even one") {
  for (const char* name : {"F16", "BF16"}) {
    const Dtype& type = *find_dtype(name);
    const std::vector<double> numbers = numbers_of(type);
    CHECK(numbers.size() == (type.name == "F16" ? 0x7C00u : 0x7F80u));
    for (std::size_t bits = 0; bits < numbers.size(); ++bits)
      for (const double sign : {1.0, -1.0})
        if (written_bits(type, sign * numbers[bits]) != (bits | (sign < 0 ? 0x8000u : 0u)))
          FAIL_CHECK(name << ": " << sign * numbers[bits]);
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
      const auto low = static_cast<float>(numbers[i]), high = static_cast<float>(numbers[i + 1]);
      const float middle = low + (high - low) / 2;
      for (const float x : {middle, std::nextafter(middle, low), std::nextafter(middle, high)})
        if (written_bits(type, x) != nearest_bits(numbers, x)) FAIL_CHECK(name << ": " << x);
    }
  }
}

TEST_CASE("what is too large for a type becomes infinite, and rounding_of() counts it") {
  const Dtype &half = *find_dtype("F16"), &bfloat16 = *find_dtype("BF16");
  CHECK(written_bits(half, 65519) == 0x7BFF);
  CHECK(written_bits(half, 65520) == 0x7C00);
  CHECK(written_bits(half, -1e30) == 0xFC00);
  CHECK(written_bits(bfloat16, std::numeric_limits<float>::max()) == 0x7F80);
  const Real numbers[] = {1, -0.5f, 0, 1 + 0x1p-11f, 1e5f, -1e-30f};
  const Rounding found = rounding_of(numbers, 6, half);
  CHECK(found.changed == 3);
  CHECK(found.infinite == 1);
  CHECK(found.largest == 0x1p-11);
  CHECK(rounding_of(numbers + 5, 1, half).largest == 1e-30f);  // it becomes 0
  CHECK(rounding_of(numbers, 6, *find_dtype("F32")).changed == 0);
}

TEST_CASE("types by name: three of them can be written") {
  for (const char* name : {"F32", "F16", "BF16"}) CHECK(find_dtype(name)->write != nullptr);
  for (const char* name : {"F64", "I64", "I32", "I16", "I8", "U8", "BOOL"})
    CHECK(find_dtype(name)->write == nullptr);
  for (const char* name : {"", "f32", "F8_E4M3", "U16"}) CHECK(find_dtype(name) == nullptr);
}

TEST_CASE("the first byte of a number is its lowest, at any address") {
  const std::string bytes("\xff\x01\x02\x03\x04", 5);
  CHECK(load_little_endian<std::uint32_t>(bytes.data() + 1) == 0x04030201u);
  CHECK(load_little_endian<std::uint16_t>(bytes.data() + 1) == 0x0201u);
  std::string written(5, '\xff');
  store_little_endian(std::uint32_t{0x04030201}, written.data() + 1);
  CHECK(written == bytes);
  store_little_endian(1.5f, written.data() + 1);
  CHECK(written == std::string("\xff\0\0\xc0\x3f", 5));
  CHECK(load_little_endian<float>(written.data() + 1) == 1.5f);
}
