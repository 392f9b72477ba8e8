// Safetensors files: the bytes before the header, what is large, and every change of a byte. Headers
// with one error each are in tests/formats/safetensors.txt.
#include "nn/io/safetensors.h"

#include <algorithm>
#include <array>
#include <set>

#include "tests/support/json_reader.h"
#include "tests/support/sanitized.h"
#include "tests/support/stored_file.h"

using namespace fledge;
using namespace tests;

TEST_CASE("safetensors: what a file must have before its header, and what it is instead") {
  for (std::size_t size = 0; size < 8; ++size)
    check_refused(std::string(size, '\0'), "the file has " + std::to_string(size) + " bytes");
  const std::string follows = "the header would have ", rest(100, 'x');
  for (const std::uint64_t n : {~std::uint64_t{0}, ~std::uint64_t{0} - 7, std::uint64_t{1} << 63,
                                std::uint64_t{1} << 32, std::uint64_t{100'000'001}})
    check_refused(length_bytes(n) + "{}", follows + std::to_string(n));
  for (const auto& [bytes, part] :
       {std::pair<std::string, std::string>{length_bytes(60), follows + "60"},
        {length_bytes(100'000'000) + std::string(1000, ' '), follows + "100000000"},
        {length_bytes(3) + "{}", follows + "3"},
        {length_bytes(1) + "{}", "the header: line 1, column "},
        {length_bytes(0), "the header: line 1, column "},
        {std::string("\0\0\0\0\0\0\0\2{}", 10), follows},
        {"version https://git-lfs.github.com/spec/v1\n", "Git LFS"},
        {"<!DOCTYPE html>" + rest, "a web page"},
        {"PK\x03\x04" + rest, "PyTorch's .pt"},
        {std::string("GGUF\3\0\0\0", 8) + rest, "GGUF"},
        {"\x80\x02}q" + rest, "pickle"},
        {one_tensor("[1]", "[0,4]"), "JSON alone"}})
    check_refused(bytes, part);
}

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
  check_refused(stored_file(one_tensor(ones + "]", "[0,4]"), 4), "t.shape");
  const std::string whole = one_tensor("[1]", "[0,4]");
  for (std::size_t size = 0; size < whole.size(); ++size)
    check_refused(stored_file(whole.substr(0, size)),
                  "the header: line 1, column " + std::to_string(1 + size) + ": ");
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
  const StrictJson header = testing::read_json(text);
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
