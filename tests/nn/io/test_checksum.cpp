#include "nn/io/checksum.h"

#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

const std::vector<NamedArray> arrays{{"a", Array({2}, {1, 2})}, {"b", Array({1}, {3})}};

std::string checksum(const std::string& bytes) {
  return require_checksum(bytes, stored_header(bytes));
}
std::string refused(const std::string& bytes) {
  return refusal<FormatError>([&] { checksum(bytes); });
}

}  // namespace

TEST_CASE("checksum: follows from the contents, and is kept in the metadata") {
  const std::string bytes = bytes_with_checksum(arrays, {{"step", "7"}});
  CHECK(checksum(bytes).size() == 16);
  CHECK(stored_header(bytes).metadata.at("step") == "7");
  CHECK(bytes_with_checksum(arrays, {{"step", "7"}}) == bytes);
  CHECK(checksum(bytes_with_checksum(arrays, {{"step", "8"}})) != checksum(bytes));
  CHECK(checksum(bytes_with_checksum({arrays[0]}, {{"step", "7"}})) != checksum(bytes));
  CHECK(checksum(stored_bytes(arrays, {{"step", "7"}})).empty());
}

TEST_CASE("checksum: any other number, name or note is damage") {
  const std::string good = bytes_with_checksum(arrays, {{"step", "7"}});
  const std::string said = "the file is damaged: its checksum does not match its contents";
  for (std::size_t at = stored_header(good).data; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK(refused(changed) == said);
  }
  for (const auto& [from, to] : {std::pair{"\"7\"", "\"8\""}, {"\"a\"", "\"A\""}}) {
    std::string changed = good;
    const std::size_t at = changed.find(from);
    REQUIRE(at != changed.npos);
    CHECK(refused(changed.replace(at, 3, to)) == said);
  }
}
