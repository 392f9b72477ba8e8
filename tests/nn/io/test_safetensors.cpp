// Safetensors files: what is large, every change of a byte, and numbers. Headers and beginnings with
// one error each, and numbers of every type, are in tests/formats/safetensors.txt.
#include "nn/io/safetensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "nn/io/checksum.h"
#include "tests/support/arrays.h"
#include "tests/support/json_reader.h"
#include "tests/support/refuses.h"
#include "tests/support/sanitized.h"
#include "tests/support/stored_file.h"

using namespace fledge;
using namespace tests;

TEST_CASE("safetensors: the header says names, shapes, places and metadata") {
  const StoredHeader header = stored_header(stored_file(
      R"({"__metadata__":{"b":"\u00e9\ud83d\udc26","a":"\n"},)" +
          entry("\\u0074", "F32", "[]", "[4,8]") + "," + entry("a", "U8", "[2,2]", "[0,4]") + "}",
      8));
  CHECK(header.text("a") == "\n");
  CHECK(header.text("b") == "é🐦");
  CHECK(header.text("c").empty());
  CHECK(stored_header(stored_file("{}")).metadata.is_null());
  CHECK(stored_header(stored_file("{}")).text("a").empty());
  REQUIRE(header.tensors.size() == 2);
  CHECK(header.tensors[0].name == "a");
  CHECK(header.tensors[0].shape == Shape{2, 2});
  CHECK(header.tensors[1].name == "t");
  CHECK(header.tensors[1].shape == Shape{});
  CHECK(header.tensors[1].begin == header.end + 4);
}

TEST_CASE("safetensors: tensors without numbers, in every order of the header") {
  // Each stands where a full one ends.
  std::vector<std::array<std::string, 3>> rows{{"a", "[0]", "[0,0]"},
                                               {"b", "[1]", "[0,4]"},
                                               {"c", "[2,0]", "[4,4]"},
                                               {"d", "[1]", "[4,8]"},
                                               {"e", "[0]", "[8,8]"}};
  do {
    std::string header, names;
    for (const auto& [name, shape, range] : rows)
      header += (header.empty() ? "{" : ",") + entry(name, "F32", shape, range);
    for (const StoredTensor& tensor : stored_header(stored_file(header + "}", 8)).tensors)
      names += tensor.name;
    if (names != "abcde") FAIL_CHECK(header << " gives " << names);
  } while (std::next_permutation(rows.begin(), rows.end()));
  CHECK(rows[0][0] == "a");
}

TEST_CASE("safetensors: much of what is allowed is read, too much is refused in one look") {
  const std::size_t much = testing::sanitized ? 1'000'000 : 10'000'000;
  const auto named = [](const std::string& name) {
    return stored_file("{" + entry(name, "U8", "[0]", "[0,0]") + "}");
  };
  CHECK(stored_header(named(std::string(1024, 'x'))).tensors.at(0).name.size() == 1024);
  for (const std::size_t size : {std::size_t{1025}, much})
    check_refused(named(std::string(size, 'x')), "1 to 1,024 bytes");
  const std::string text(much, 'x'), deep(much, '[');
  CHECK(stored_header(stored_file(R"({"__metadata__":{"a":")" + text + "\"}}")).text("a") == text);
  for (const char* before :
       {"", "{\"t\":", "{\"__metadata__\":{\"a\":", R"({"t":{"shape":[)", R"({"t":{"x":)"})
    check_refused(stored_file(before + deep), "64 levels");
  std::string ones = "[1";
  for (int i = 1; i < 100'000; ++i) ones += ",1";
  check_refused(stored_file("{" + entry("t", "F32", ones + "]", "[0,4]") + "}", 4), "t.shape");
  // Many names that begin alike are read in n log n time, and one of them twice is found.
  const int names = testing::sanitized ? 10'000 : 100'000;
  const auto name_of = [](int n) { return std::string(400, 'x') + std::to_string(n); };
  std::string header = "{";
  for (int n = 0; n < names; ++n) header += entry(name_of(n), "U8", "[0]", "[0,0]") + ",";
  check_refused(stored_file(header + entry(name_of(7), "U8", "[0]", "[0,0]") + "}"),
                " occurs twice");
  header.back() = '}';
  CHECK(std::ssize(stored_header(stored_file(header)).tensors) == names);
  if (testing::sanitized) return;
  header = R"({"__metadata__":{},)";
  for (int n = 0; n < 1'000'000; ++n)
    header += entry(std::to_string(n), "U8", "[0]", "[0,0]") + ",";
  check_refused(stored_file(header + entry("x", "U8", "[0]", "[0,0]") + "}"), "1,000,000 tensors");
  header.back() = '}';
  CHECK(stored_header(stored_file(header)).tensors.size() == 1'000'000);
}

namespace {

using testing::StrictJson;

// The format once more, from its description and by other means: a tree, and sums of doubles, which
// are exact for what a small file may hold.
bool is_safetensors(const std::string& bytes) try {
  std::size_t length = 0;
  for (std::size_t i = 8; i > 0; --i) {
    if (length > 1'000'000) return false;
    length = length * 256 + static_cast<unsigned char>(bytes.at(i - 1));
  }
  const std::string text = bytes.substr(8, length);
  if (text.size() != length) return false;
  const StrictJson header = testing::strict_json(text);
  std::vector<std::pair<double, double>> ranges;
  for (const auto& [name, tensor] : header.object()) {
    if (name == "__metadata__") {
      for (const auto& [key, value] : tensor.object()) (void)value.string();
      continue;
    }
    static const std::map<std::string, double> widths{
        {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"I16", 2}, {"F16", 2},
        {"BF16", 2}, {"I32", 4}, {"F32", 4}, {"I64", 8}, {"F64", 8}};
    const bool harmless = std::none_of(name.begin(), name.end(),
                                       [](char c) { return (c >= 0 && c < 32) || c == 127; });
    if (name.empty() || !harmless || tensor.object().size() != 3) return false;
    const auto whole = [](const StrictJson& number) {
      const double n = number.number();
      return n >= 0 && n == static_cast<double>(static_cast<std::int64_t>(n))
                 ? n
                 : throw testing::JsonError("");
    };
    double size = widths.at(tensor["dtype"].string());
    for (const StrictJson& n : tensor["shape"].array()) size *= whole(n);
    const StrictJson& offsets = tensor["data_offsets"];
    if (offsets.array().size() != 2 || whole(offsets[1]) - whole(offsets[0]) != size) return false;
    ranges.emplace_back(whole(offsets[0]), whole(offsets[1]));
  }
  std::sort(ranges.begin(), ranges.end());
  double end = 0;
  for (const auto& [begin, until] : ranges)
    if (std::exchange(end, until) != begin) return false;
  return end == static_cast<double>(bytes.size() - 8 - length);
} catch (const std::exception&) {
  return false;
}

bool accepted_header(const std::string& bytes) {
  try {
    std::size_t numbers = 0;
    const StoredHeader header = stored_header(bytes);
    for (const StoredTensor& tensor : header.tensors) try {
        numbers += static_cast<std::size_t>(stored_array(bytes, tensor).size());
      } catch (const FormatError&) {  // a number that is not finite, or beyond 2^53
      }
    return numbers <= bytes.size();
  } catch (const FormatError&) {
    return false;
  }
}

std::vector<std::string> small_files() {
  return {
      stored_file("{}"),
      stored_bytes({{"a", Array({2}, {1, -2})}, {"b", Array({1, 3}, {0, 1, 2})}}, {{"k", "v"}}),
      stored_file(R"({"__metadata__":{"\u0061":"ß\n"},)" + entry("x", "F16", "[2, 1]", "[2,6]") +
                      "," + entry("y\\\"", "BOOL", "[2]", "[0,2]") + "," +
                      entry("z", "I8", "[0]", "[6,6]") + "}  ",
                  6)};
}

// The numbers of one tensor of this type, behind a header of an odd length: no number is aligned.
std::vector<double> numbers_read(const std::string& dtype, std::size_t width,
                                 const std::string& data) {
  const std::string shape = "[" + std::to_string(data.size() / width) + "]",
                    range = "[0," + std::to_string(data.size()) + "]",
                    header = "{" + entry("t", dtype, shape, range) + "}";
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

TEST_CASE("every byte of three files changed to every value: what is accepted is the format") {
  constexpr int step = testing::sanitized ? 15 : 1;  // 255 is among them
  std::size_t disagree = 0, taken = 0;
  for (const std::string& good : small_files()) {
    REQUIRE((accepted_header(good) && is_safetensors(good)));
    std::string bytes = good;
    for (char& byte : bytes) {
      const char before = byte;
      for (int value = 0; value < 256; value += step) {
        byte = static_cast<char>(value);
        const bool ours = accepted_header(bytes);
        taken += ours;
        if (ours != is_safetensors(bytes) && ++disagree < 5)
          FAIL_CHECK((ours ? "only ours accepts " : "only ours refuses ")
                     << escaped_name(bytes.substr(8)));
      }
      byte = before;
    }
  }
  CHECK(disagree == 0);
  CHECK(taken > 256 / step * 5 * sizeof(Real));  // whatever is changed in the numbers
}

TEST_CASE("a file cut short anywhere, or longer, is refused") {
  for (const std::string& good : small_files()) {
    for (std::size_t size = 0; size < good.size(); ++size)
      CHECK_FALSE(accepted_header(good.substr(0, size)));
    CHECK_FALSE(accepted_header(good + '\0'));
  }
}

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
  CHECK(header.tensors[0].begin % 64 == 0);
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
  for (std::string name = "x"; name.size() <= 64; name += 'x') {
    std::string header = R"({"__metadata__":{"checksum":"0000000000000000"},")" + name +
                         R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    while (header.size() % 64 != 56) header += ' ';
    const std::string bytes = length_bytes(header.size()) + header + number;
    CHECK(stored_bytes({{name, Array({1}, {-2.5})}}) == with_checksum(bytes));
  }
}

TEST_CASE("a number that no Real holds is named, and others are rounded") {
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

TEST_CASE("16-bit types: all numbers as IEEE 754 defines them") {
  for (const auto& [name, exponents] : {std::pair{"F16", 5}, {"BF16", 8}}) {
    const Dtype& type = *find_dtype(name);
    int wrong = 0;
    for (unsigned bits = 0; bits < 65536; ++bits) {
      const char bytes[]{static_cast<char>(bits & 0xFF), static_cast<char>(bits >> 8)};
      const double number = number_by_definition(bits, exponents, 15 - exponents);
      Real x;
      const bool is_read = type.read(bytes, 1, type.most, &x) == 1;
      wrong += is_read != std::isfinite(number);
      if (!is_read) continue;
      wrong += value_of(x) != number || std::signbit(value_of(x)) != (bits >= 0x8000);
    }
    CHECK(wrong == 0);
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

TEST_CASE("a tensor that is read in several pieces comes back, and a bad number in it is named") {
  Array x = uniform({70'000}, 3), y(x.shape());
  const auto read = [&y](const Array& numbers) {
    const std::string bytes = stored_bytes({{"x", numbers}});
    read_numbers(bytes, stored_header(bytes).tensors.at(0), y.write());
  };
  read(x.clone());
  CHECK(same_bits(x, y));
  x.write()[66'000] = Real(std::numeric_limits<double>::quiet_NaN());
  CHECK(refuses<FormatError>([&] { read(x); }, "number 66000 is not"));
}
