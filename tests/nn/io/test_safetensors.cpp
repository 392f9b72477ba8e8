// Whether a header is true of the file's bytes. The tags are the rows of a catalogue of attacks on
// the format.
#include "nn/io/safetensors.h"

#include <algorithm>
#include <array>
#include <set>

#include "tests/support/json_reader.h"
#include "tests/support/sanitized.h"
#include "tests/support/stored_file.h"

using namespace fledge;
using namespace tests;

TEST_CASE("safetensors: what a file must have before its header") {
  for (std::size_t size = 0; size < 8; ++size)
    check_refused(std::string(size, '\0'),
                  "which follows: the file has " + std::to_string(size) + " bytes");
  check_refused(length_bytes(60), "the file has 8 bytes, the header would have 60");
  for (const std::uint64_t n : {~std::uint64_t{0}, ~std::uint64_t{0} - 7, std::uint64_t{1} << 63,
                                std::uint64_t{1} << 32, std::uint64_t{100'000'001}})
    check_refused(length_bytes(n) + "{}", "the header would have " + std::to_string(n));
  check_refused(length_bytes(100'000'000) + std::string(1000, ' '), "the header would have ");
  check_refused(length_bytes(3) + "{}", "the header would have ");
  check_refused(length_bytes(1) + "{}", "the header: line 1, column ");
  check_refused(length_bytes(0), "the header: line 1, column ");
  check_refused(std::string("\0\0\0\0\0\0\0\2{}", 10), "the header would have ");
}

TEST_CASE("safetensors: what a file is instead") {
  const std::string rest(100, 'x');
  for (const auto& [bytes, part] :
       {std::pair<std::string, const char*>{"version https://git-lfs.github.com/spec/v1\n",
                                            "a pointer of Git LFS"},
        {"<!DOCTYPE html>" + rest, "a web page"},
        {"PK\x03\x04" + rest, "PyTorch's .pt"},
        {std::string("GGUF\3\0\0\0", 8) + rest, "GGUF"},
        {"\x80\x02}q" + rest, "pickle"},
        {one_tensor("[1]", "[0,4]"), "JSON alone"}})
    check_refused(bytes, part);
}

TEST_CASE("safetensors: sizes that overflow, with a 0 among them or not") {
  for (const char* shape : {"[2,9223372036754775799]", "[4611686018427387904,2,0]",
                            "[0,4611686018427387904,4611686018427387904]",
                            "[4194305,4194305,211106198978564]", "[9223372036754775799]"})
    check_refused(stored_file(one_tensor(shape, "[0,16]"), 16),
                  "'t' has more bytes than a file can");
  for (const char* shape : {"[2,18446744073709551614]", "[9223372036854775808,2,0]"})
    check_refused(stored_file(one_tensor(shape, "[0,16]"), 16),
                  "must be a whole number from 0 to 9223372036754775799: got ");
  const auto scalar = stored_header(stored_file(one_tensor("[]", "[0,4]"), 4));
  CHECK(scalar.tensors.at(0).shape == Shape{});
  const auto empty = stored_header(stored_file(one_tensor("[2,0]", "[0,0]")));
  CHECK(empty.tensors.at(0).shape == Shape{2, 0});
}

TEST_CASE("safetensors: ranges lie end to end and end with the file") {
  check_refused(stored_file(one_tensor("[1]", "[4,0]"), 4),
                "t.data_offsets must be two offsets, 4 bytes apart: got [4,0]");
  check_refused(stored_file(one_tensor("[1]", "[4,8]"), 8), ", and must begin at");
  check_refused(stored_file(one_tensor("[2,2]", "[0,4]"), 4),
                "t.data_offsets must be two offsets, 16 bytes apart: got [0,4]");
  check_refused(stored_file(one_tensor("[1000000]", "[0,4000000]"), 1),
                "4000000 bytes of numbers, and the file has 1");
  for (const std::size_t data : {2u, 3u, 5u, 100u})  // short, or with another file behind it
    check_refused(stored_file(one_tensor("[1]", "[0,4]"), data),
                  "bytes of numbers, and the file has");

  const auto two = [](const std::string& b, const std::string& a) {
    return stored_file("{" + entry("b", "F32", "[1]", b) + "," + entry("a", "F32", "[1]", a) + "}",
                       8);
  };
  for (const auto& [b, a] : {std::pair{"[0,4]", "[5,9]"}, {"[0,4]", "[3,7]"}, {"[0,4]", "[0,4]"}})
    check_refused(two(b, a), ", and must begin at");
  const StoredHeader sorted = stored_header(two("[4,8]", "[0,4]"));
  CHECK(sorted.tensors.at(0).name == "a");
  CHECK(sorted.tensors.at(1).name == "b");

  // Tensors without numbers, in every order of the header: each stands where a full one ends.
  std::vector<std::array<std::string, 3>> rows{{"a", "[0]", "[0,0]"},
                                               {"b", "[1]", "[0,4]"},
                                               {"c", "[2,0]", "[4,4]"},
                                               {"d", "[1]", "[4,8]"},
                                               {"e", "[0]", "[8,8]"}};
  std::sort(rows.begin(), rows.end());
  do {
    std::string header;
    for (const auto& [name, shape, range] : rows)
      header += (header.empty() ? "{" : ",") + entry(name, "F32", shape, range);
    std::string names;
    for (const StoredTensor& tensor : stored_header(stored_file(header + "}", 8)).tensors)
      names += tensor.name;
    if (names != "abcde") FAIL_CHECK(header << " gives " << names);
  } while (std::next_permutation(rows.begin(), rows.end()));
  check_refused(stored_file("{" + entry("b", "F32", "[2]", "[0,8]") + "," +
                                entry("c", "F32", "[0]", "[4,4]") + "}",
                            8),
                "'c' begins at 4, and must begin at 8");

  // Ends that climb to 2^64 - 1, where the end of the file would wrap round.
  std::string climbing = "{";
  std::uint64_t end = 0;
  for (int i = 0; i < 9; ++i) {
    const std::uint64_t size = i < 8 ? (std::uint64_t{1} << 61) - 1 : 7;
    climbing += entry(std::to_string(i), "U8", "[" + std::to_string(size) + "]",
                      "[" + std::to_string(end) + "," + std::to_string(end + size) + "]") +
                ",";
    end += size;
  }
  CHECK(end == ~std::uint64_t{0});
  climbing.back() = '}';
  check_refused(stored_file(climbing),
                "must be a whole number from 0 to 9223372036754775799: got ");
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
