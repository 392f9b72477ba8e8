// Names that fall into one bucket of a hash table: 10⁵ of them cost what others cost.
#include <array>
#include <cstring>
#include <functional>
#include <random>
#include <unordered_set>

#include "nn/io/safetensors.h"
#include "tests/support/sanitized.h"
#include "tests/support/stored_file.h"

using namespace fledge;
using namespace tests;

namespace {

constexpr std::size_t name_count = testing::sanitized ? 10'000 : 100'000;

// libstdc++ hashes a string by MurmurHash64A: h = seed ^ length·m, m being its multiplier, then for
// each eight bytes x h = (h ^ f(x))·m with f(x) = s(x·m)·m, s(y) = y ^ y >> 47, all modulo 2⁶⁴. f
// has an inverse: for another x, a y behind it gives the h that was to come. Two such pairs of x
// and y at each of n places make 2ⁿ names of one hash.
constexpr std::uint64_t multiplier = 0xC6A4A7935BD1E995, hash_seed = 0xC70F6907;
constexpr std::size_t name_places = 17;

constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;  // right in 3 bits; each step doubles them
  for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
  return x;
}
constexpr std::uint64_t s(std::uint64_t y) { return y ^ y >> 47; }  // its own inverse: 2·47 > 64
constexpr std::uint64_t f(std::uint64_t x) { return s(x * multiplier) * multiplier; }
constexpr std::uint64_t from_f(std::uint64_t z) {
  return s(z * inverse(multiplier)) * inverse(multiplier);
}

// Bytes that a name may have in JSON as they are.
bool is_plain(std::uint64_t x) {
  for (int i = 0; i < 8; ++i, x >>= 8)
    if (const std::uint64_t c = x & 0xFF; c < 0x20 || c > 0x7E || c == '"' || c == '\\')
      return false;
  return true;
}

std::string bytes_of_pair(std::uint64_t x, std::uint64_t y) {
  std::string bytes(16, ' ');
  std::memcpy(bytes.data(), &x, 8);
  std::memcpy(bytes.data() + 8, &y, 8);
  return bytes;
}

// Two texts of 16 bytes for each place.
std::array<std::array<std::string, 2>, name_places> colliding_parts() {
  std::mt19937_64 draw(1);
  const auto letters = [&] {
    std::uint64_t x = 0;
    for (int i = 0; i < 8; ++i) x = x << 8 | ('a' + draw() % 26);
    return x;
  };
  std::array<std::array<std::string, 2>, name_places> parts;
  std::uint64_t h = hash_seed ^ 16 * name_places * multiplier;
  for (auto& [one, other] : parts) {
    const std::uint64_t x = letters(), y = letters(), h_x = (h ^ f(x)) * multiplier;
    one = bytes_of_pair(x, y);
    while (other.empty()) {
      const std::uint64_t x2 = letters(), y2 = from_f(f(y) ^ h_x ^ (h ^ f(x2)) * multiplier);
      if (x2 != x && is_plain(y2)) other = bytes_of_pair(x2, y2);
    }
    h = (h_x ^ f(y)) * multiplier;
  }
  return parts;
}

std::string name_of(std::size_t n) {
  static const auto parts = colliding_parts();
  std::string name;
  for (std::size_t place = 0; place < name_places; ++place) name += parts[place][n >> place & 1];
  return name;
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
  std::string header = "{";
  for (std::size_t n = 0; n < name_count; ++n)
    header += entry(name_of(n), "U8", "[0]", "[0,0]") + ",";
  header.back() = '}';
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
  std::string header = "{";
  for (std::size_t n = 0; n < name_count; ++n)
    header += entry(common + std::to_string(n), "U8", "[0]", "[0,0]") + ",";
  header.back() = '}';
  CHECK(stored_header(stored_file(header)).tensors.size() == name_count);
}
