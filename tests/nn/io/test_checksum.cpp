#include "nn/io/checksum.h"

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

TEST_CASE("hashes are FNV-1a's") {
  CHECK(hash_of("") == 0xcbf29ce484222325u);
  CHECK(hash_of("a") == 0xaf63dc4c8601ec8cu);
  CHECK(hash_of("foobar") == 0x85944171f73967e8u);
  CHECK(hash_of("bar", hash_of("foo")) == hash_of("foobar"));
}

TEST_CASE("digits: whole numbers of 64 bits and nothing else") {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  CHECK(hexadecimal(0) == "0000000000000000");
  CHECK(hexadecimal(0x0123456789abcdef) == "0123456789abcdef");
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1} << 53, most - 1, most}) {
    CHECK(unsigned_number(hexadecimal(number), 16) == number);
    CHECK(unsigned_number(std::to_string(number), 10) == number);
  }
  CHECK(unsigned_number("007", 10) == 7u);
  CHECK(unsigned_number("FF", 16) == 255u);
  for (const std::string& text :
       {std::string("7\0", 2), std::string(), std::string(" 7"), std::string("7 "),
        std::string("+7"), std::string("-7"), std::string("0x7"), std::string("1e3"),
        std::string("1.5"), std::string("a"), std::string("\xd9\xa1"),
        std::string("18446744073709551616")})
    CHECK_FALSE(unsigned_number(text, 10).has_value());
  CHECK_FALSE(unsigned_number("g", 16).has_value());
  CHECK_FALSE(unsigned_number("10000000000000000", 16).has_value());
}

TEST_CASE("a checksum stands in the text that it is computed from") {
  const std::string text = R"({"quote": "\"checksum\":", "checksum": "0000000000000000", "x": 1})";
  const std::string sealed = with_checksum(text);
  CHECK(sealed.size() == text.size());
  CHECK(sealed.find(require_checksum(sealed)) == text.find("0000000000000000"));
  CHECK(with_checksum(text) == sealed);
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = changed[at] == '1' ? '2' : '1';
    CHECK_THROWS_AS(require_checksum(changed), FormatError);
  }
  for (const char* none : {"", "{}", R"("checksum":)", R"("checksum": "000000000000000)"})
    CHECK(refusal<FormatError>([&] { require_checksum(none); }) ==
          "it has no checksum: it was not written by fledge");
}

TEST_CASE("the checksum of a large file is that of its bytes, and its key is near the beginning") {
  const testing::Folder folder;
  const std::string path = folder / "large";
  std::string text = R"({"checksum": "0000000000000000"})" + std::string(3 << 20, 'x');
  text = with_checksum(text);
  testing::write_file(path, text);
  const auto file = [&] { return ByteSource(Descriptor(-100, path, 0), path); };
  CHECK(require_checksum(file()) == require_checksum(text));
  CHECK(require_checksum(file(), 40) == require_checksum(text));
  CHECK_THROWS_AS(require_checksum(file(), 20), FormatError);
  text.back() = 'y';
  testing::write_file(path, text);
  CHECK_THROWS_AS(require_checksum(file(), 40), FormatError);
}
