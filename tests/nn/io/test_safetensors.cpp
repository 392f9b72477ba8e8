// builds: f32 f64
#include "nn/io/safetensors.h"

#include <cmath>

#include "engine/errors.h"
#include "engine/random.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

std::string length_of(std::size_t n) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(n >> (8 * i) & 0xFF);
  return bytes;
}

// The numbers of one tensor of this type.
std::vector<double> read(const std::string& dtype, std::size_t width, const std::string& data) {
  const std::string header = R"({"t":{"dtype":")" + dtype + R"(","shape":[)" +
                             std::to_string(data.size() / width) + R"(],"data_offsets":[0,)" +
                             std::to_string(data.size()) + "]}}";
  const std::string file = length_of(header.size()) + header + data;
  const StoredHeader found = stored_header(file);
  return stored_numbers(file, found, found.tensors.at(0));
}

}  // namespace

TEST_CASE("what is stored is read again, to the bit, and stored as the same bytes") {
  const std::vector<NamedArray> arrays{{"b", uniform({2, 3}, 1)},
                                       {"a", uniform({4}, 2)},
                                       {"scalar", Array({}, {0.1})},
                                       {"empty", Array(Shape{0, 2})}};
  const std::map<std::string, std::string> metadata{{"format", "fledge"}, {"name", "ß \"\n"}};
  const std::string bytes = stored_bytes(arrays, metadata);
  const StoredHeader header = stored_header(bytes);
  CHECK(header.metadata == metadata);
  CHECK(header.data % 8 == 0);
  REQUIRE(header.tensors.size() == 4);
  std::vector<NamedArray> again;
  for (const StoredTensor& tensor : header.tensors) {
    const std::vector<Dim> sizes(tensor.sizes.begin(), tensor.sizes.end());
    again.push_back({tensor.name, Array(Shape(sizes), stored_numbers(bytes, header, tensor))});
  }
  for (const NamedArray& array : arrays) {
    const auto same = std::find_if(again.begin(), again.end(),
                                   [&](const NamedArray& a) { return a.name == array.name; });
    REQUIRE(same != again.end());
    CHECK(same_bits(same->array, array.array));
  }
  CHECK(stored_bytes(again, metadata) == bytes);
}

TEST_CASE("the types of other libraries' files") {
  CHECK(read("F32", 4, std::string("\0\0\x80\x3f\0\0\0\xc0", 8)) == std::vector<double>{1, -2});
  CHECK(read("F64", 8, std::string("\0\0\0\0\0\0\xf0\x3f", 8)) == std::vector<double>{1});
  CHECK(read("BF16", 2, std::string("\x80\x3f\0\xc0", 4)) == std::vector<double>{1, -2});
  CHECK(read("I8", 1, "\xff\x01") == std::vector<double>{-1, 1});
  CHECK(read("I16", 2, "\xff\xff\x01\x80") == std::vector<double>{-1, -32767});
  CHECK(read("I64", 8, std::string(8, '\xff')) == std::vector<double>{-1});
  CHECK(read("U8", 1, "\xff") == std::vector<double>{255});
  CHECK(read("BOOL", 1, std::string("\0\1", 2)) == std::vector<double>{0, 1});
  CHECK_THROWS_WITH(read("BOOL", 1, "\2"), ContainsSubstring("holds a BOOL of 2"));
  CHECK_THROWS_WITH(read("I64", 8, std::string(7, '\xff') + "\x7f"), ContainsSubstring("not exact"));
  CHECK_THROWS_WITH(read("U16", 2, "ab"), ContainsSubstring("dtype U16, which is not read here"));
}

TEST_CASE("all 65,536 numbers of half precision") {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const std::string data{static_cast<char>(bits & 0xFF), static_cast<char>(bits >> 8)};
    const double found = read("F16", 2, data).at(0);
    const unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = (bits >> 15) != 0 ? -1 : 1;
    if (exponent == 31 && fraction != 0) {
      REQUIRE(std::isnan(found));
    } else {
      const double size = exponent == 31  ? HUGE_VAL
                          : exponent == 0 ? fraction / 16777216.0
                                          : std::pow(2.0, static_cast<int>(exponent) - 15) *
                                                (1 + fraction / 1024.0);
      REQUIRE(found == sign * size);
      REQUIRE(std::signbit(found) == ((bits >> 15) != 0));
    }
  }
}

TEST_CASE("names that cannot be stored are refused") {
  const Array x = Array::ones({1});
  for (const std::string& bad : {std::string(), std::string("__metadata__"), std::string("a\n"),
                                 std::string("\xff"), std::string(1025, 'x')})
    CHECK_THROWS_WITH(stored_bytes({{bad, x}}), ContainsSubstring("cannot be stored as"));
  CHECK_THROWS_WITH(stored_bytes({{"a", x}, {"a", x}}), ContainsSubstring("two tensors"));
}

TEST_CASE("every byte changed to every value: refused, or as good as before", "[FF70]") {
  const std::string good = stored_bytes({{"a", uniform({2}, 1)}, {"b", uniform({3}, 2)}});
  std::size_t accepted = 0;
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(value);
      try {
        const StoredHeader header = stored_header(bytes);
        std::size_t total = 0;
        for (const StoredTensor& tensor : header.tensors)
          total += stored_numbers(bytes, header, tensor).size();
        ++accepted;
        REQUIRE(total <= good.size());
      } catch (const StoredError&) {
      }
    }
  CHECK(accepted > 256 * 5 * sizeof(Real));  // whatever is changed in the numbers
}
