// Names that fall into one bucket of a hash table: 10⁵ of them cost what others cost.
#include <fstream>
#include <functional>
#include <unordered_set>

#include "nn/io/safetensors.h"
#include "tests/support/sanitized.h"
#include "tests/support/stored_file.h"

using namespace fledge;
using namespace tests;

namespace {

constexpr std::size_t name_count = testing::sanitized ? 10'000 : 100'000;

// In each place of a name there is one of two parts, and every choice gives the same hash: 2¹⁷ names.
std::string name_of(std::size_t n) {
  static const auto parts = [] {
    std::ifstream file(FLEDGE_SOURCE_DIR "/tests/nn/io/colliding_parts.txt");
    std::vector<std::pair<std::string, std::string>> read;
    for (std::string line; std::getline(file, line);)
      if (line[0] != '#') read.emplace_back(line.substr(0, 16), line.substr(17));
    return read;
  }();
  REQUIRE(parts.size() == 17);
  std::string name;
  for (const auto& [one, other] : parts) {
    name += n % 2 == 0 ? one : other;
    n /= 2;
  }
  return name;
}

std::string header_of(const std::function<std::string(std::size_t)>& name) {
  std::string header = "{";
  for (std::size_t n = 0; n < name_count; ++n) header += entry(name(n), "U8", "[0]", "[0,0]") + ",";
  header.back() = '}';
  return header;
}

}  // namespace

TEST_CASE("safetensors: 10⁵ names of one hash are read as any others") {
#ifdef __GLIBCXX__
  // They do what they were made for: a table of a hundred of them is one list.
  std::unordered_set<std::string> table;
  for (std::size_t n = 0; n < 100; ++n) table.insert(name_of(n));
  REQUIRE(table.size() == 100);
  CHECK(table.bucket_size(table.bucket(name_of(0))) == 100);
  CHECK(std::hash<std::string>{}(name_of(name_count - 1)) == std::hash<std::string>{}(name_of(0)));
#endif
  std::string header = header_of(name_of);
  const StoredHeader read = stored_header(stored_file(header));
  CHECK(read.tensors.size() == name_count);
  CHECK(read.tensors[name_count - 1].name == name_of(name_count - 1));
  // One of them twice is found among the others.
  header.back() = ',';
  check_refused(stored_file(header + entry(name_of(7), "U8", "[0]", "[0,0]") + "}"),
                " occurs twice");
}

TEST_CASE("safetensors: 10⁵ names that differ in their last bytes are read as well") {
  const std::string common(400, 'x');
  const std::string header = header_of([&](std::size_t n) { return common + std::to_string(n); });
  CHECK(stored_header(stored_file(header)).tensors.size() == name_count);
}
