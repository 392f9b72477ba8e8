#include <cmath>
#include <limits>

#include "nn/io/checksum.h"
#include "nn/io/dtypes.h"
#include "tests/support/arrays.h"
#include "tests/support/refusal.h"
#include "tests/support/stored_file.h"

using namespace tests;

namespace {

// The numbers of one tensor of this type, behind a header of an odd length: no number is aligned.
std::vector<double> numbers_read(const std::string& dtype, std::size_t width,
                                 const std::string& data) {
  const std::string size = std::to_string(data.size()),
                    header = "{" +
                             entry("t", dtype, "[" + std::to_string(data.size() / width) + "]",
                                   "[0," + size + "]") +
                             "}";
  const std::string file = stored_file(header + (header.size() % 2 == 0 ? " " : ""), data);
  const StoredHeader found = stored_header(file);
  return to_vector(stored_array(file, found.tensors.at(0)));
}

// A floating number by its definition: 1 sign, `exponents` exponent and `fractions` fraction bits.
double number_by_definition(unsigned bits, int exponents, int fractions) {
  const int bias = (1 << (exponents - 1)) - 1,
            exponent = static_cast<int>(bits >> fractions) & (2 * bias + 1);
  const double fraction = (bits & ((1u << fractions) - 1)) / std::pow(2.0, fractions);
  const double sign = (bits >> (exponents + fractions)) != 0 ? -1 : 1;
  if (exponent == 2 * bias + 1) return fraction == 0 ? sign * infinity : NAN;
  return sign * (exponent == 0 ? std::pow(2.0, 1 - bias) * fraction
                               : std::pow(2.0, exponent - bias) * (1 + fraction));
}

}  // namespace

TEST_CASE("what is stored is read again, to the bit, and stored as the same bytes") {
  const Array odd({4}, {std::numeric_limits<float>::max(), -1e-45, -0.0, 1e-310});
  const std::vector<NamedArray> arrays{
      {"b", uniform({2, 3}, 1)},     {"a", uniform({4}, 2)}, {"scalar", Array({}, {0.1})},
      {"empty", Array(Shape{0, 2})}, {"odd", odd},           {"ß<\"", Array({1}, {1})}};
  const std::map<std::string, std::string> metadata{{"format", "fledge"}, {"name", "ß \"\n"}};
  const std::string bytes = stored_bytes(arrays, metadata);
  const StoredHeader header = stored_header(bytes);
  for (const auto& [key, value] : metadata) CHECK(header.text(key) == value);
  CHECK(header.text("checksum") == require_checksum(bytes));
  CHECK(header.tensors[0].begin % 8 == 0);
  CHECK(header.tensors.size() == arrays.size());
  std::vector<NamedArray> again;
  for (const NamedArray& array : arrays) {
    const StoredTensor* found = find(header, array.name);
    REQUIRE(found != nullptr);
    again.push_back({array.name, stored_array(bytes, *found)});
    CHECK(same_bits(again.back().array, array.array));
  }
  std::reverse(again.begin(), again.end());
  CHECK(stored_bytes(again, metadata) == bytes);
}

TEST_CASE("the bytes of a small file, one by one") {
  const std::string number("\0\0\x20\xc0", 4);
  for (std::string name = "x"; name.size() <= 8; name += 'x') {
    std::string header = R"({"__metadata__":{"checksum":"0000000000000000"},")" + name +
                         R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    while (header.size() % 8 != 0) header += ' ';
    const std::string bytes = length_bytes(header.size()) + header + number;
    CHECK(stored_bytes({{name, Array({1}, {-2.5})}}) == with_checksum(bytes));
  }
}

TEST_CASE("the types of other libraries' files") {
  struct Row {
    const char* dtype;
    std::size_t width;
    std::string data;
    std::vector<double> numbers;
  };
  for (const Row& row :
       {Row{"F32", 4, std::string("\0\0\x80\x3f\0\0\0\xc0", 8), {1, -2}},
        {"F64", 8, std::string("\0\0\0\0\0\0\xf0\x3f", 8), {1}},
        {"BF16", 2, std::string("\x80\x3f\0\xc0", 4), {1, -2}},
        {"I8", 1, "\xff\x01\x80", {-1, 1, -128}},
        {"I16", 2, "\xff\xff\x01\x80", {-1, -32767}},
        {"I32", 4, std::string("\0\0\0\x80\xff\xff\xff\x7f", 8), {-2147483648.0, 2147483647}},
        {"I64",
         8,
         std::string(8, '\xff') + std::string(6, '\xff') + std::string("\x1f\0", 2),
         {-1, 9007199254740991.0}},
        {"U8", 1, "\xff", {255}},
        {"BOOL", 1, std::string("\0\1", 2), {0, 1}}}) {
    INFO(row.dtype);
    std::vector<double> rounded;
    for (const double number : row.numbers) rounded.push_back(value_of(Real(number)));
    CHECK(numbers_read(row.dtype, row.width, row.data) == rounded);
  }
  const auto check_number = [](const char* dtype, const std::string& data, const char* number) {
    CHECK_THAT(refusal<FormatError>([&] { numbers_read(dtype, find_dtype(dtype)->bytes, data); }),
               StartsWith("'t' must ") && EndsWith(number));
  };
  check_number("BOOL", "\1\2", "at most 1: number 1 is not");
  for (const std::string& most :
       {std::string(6, '\0') + std::string("\x20\0", 2), std::string(7, '\0') + "\x80"})
    check_number("I64", most, "at most 9007199254740991: number 0 is not");
  check_number("F64", std::string(6, '\0') + "\xf0\x7f", "finite: number 0 is not");
  if (sizeof(Real) == 4)  // it is finite as a double
    check_number("F64", std::string(6, '\0') + "\xef\x7f", "finite: number 0 is not");
  const std::string third("\x55\x55\x55\x55\x55\x55\xd5\x3f", 8);  // it is rounded
  CHECK(numbers_read("F64", 8, third) == std::vector<double>{value_of(Real(1.0 / 3))});
}

TEST_CASE("all 65,536 numbers of the two 16-bit types") {
  for (const auto& [dtype, exponents] : {std::pair{"F16", 5}, {"BF16", 8}}) {
    std::string data;
    std::vector<double> expected;
    for (unsigned bits = 0; bits < 65536; ++bits) {
      const std::string bytes{static_cast<char>(bits & 0xFF), static_cast<char>(bits >> 8)};
      const double number = number_by_definition(bits, exponents, 15 - exponents);
      if (std::isfinite(number)) {
        data += bytes;
        expected.push_back(number);
      } else if (bits % 16 < 2) {  // infinity, and every eighth NaN
        CHECK_THROWS_AS(numbers_read(dtype, 2, bytes), FormatError);
      }
    }
    const std::vector<double> found = numbers_read(dtype, 2, data);
    CHECK(found == expected);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (std::signbit(found[i]) != std::signbit(expected[i]))
        FAIL_CHECK("the sign of number " << i);
  }
}

TEST_CASE("what could not be read again is not stored") {
  const Array x = Array::ones({1});
  const auto refused = [](const std::vector<NamedArray>& arrays) {
    return refusal<FormatError>([&] { stored_bytes(arrays); });
  };
  for (const std::string& bad : {std::string(), std::string("a\n"), std::string(1025, 'x')})
    CHECK_THAT(refused({{bad, x}}), ContainsSubstring("1 to 1,024 bytes"));
  CHECK_THAT(refused({{"a", x}, {"b", x}, {"a", x}}), ContainsSubstring("'a' occurs twice"));
  CHECK_THAT(refused({{"__metadata__", x}}), ContainsSubstring("'__metadata__' occurs twice"));
}

TEST_CASE("any other number, name or note of a stored file is damage") {
  const std::vector<NamedArray> arrays{{"a", Array({2}, {1, 2})}, {"b", Array({1}, {3})}};
  const std::string good = stored_bytes(arrays, {{"step", "7"}});
  CHECK(require_checksum(good) != require_checksum(stored_bytes(arrays, {{"step", "8"}})));
  for (std::size_t at = stored_header(good).tensors[0].begin; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK_THROWS_AS(require_checksum(changed), FormatError);
  }
  for (const auto& [from, to] : {std::pair{"\"7\"", "\"8\""}, {"\"a\"", "\"A\""}}) {
    std::string changed = good;
    const std::size_t at = changed.find(from);
    REQUIRE(at != changed.npos);
    CHECK_THROWS_AS(require_checksum(changed.replace(at, 3, to)), FormatError);
  }
}
