#include "nn/io/checksum.h"

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/refuses.h"

using namespace fledge;
using tests::refusal;

TEST_CASE("hashes are FNV-1a's") {
  CHECK(hash_of("") == 0xcbf29ce484222325u);
  CHECK(hash_of("a") == 0xaf63dc4c8601ec8cu);
  CHECK(hash_of("foobar") == 0x85944171f73967e8u);
  CHECK(hash_of("bar", hash_of("foo")) == hash_of("foobar"));
}

TEST_CASE("digits: sixteen of base 16, and back") {
  CHECK(hexadecimal(0x0123456789abcdef) == "0123456789abcdef");
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1} << 53, ~std::uint64_t{0}}) {
    CHECK(hexadecimal(number).size() == 16);
    CHECK(unsigned_number(hexadecimal(number), 16) == number);
  }
}

TEST_CASE("a checksum stands in the text that it is computed from") {
  const std::string text = R"({"quote": "\"checksum\":", "checksum": "0000000000000000", "x": 1})";
  const std::string sealed = with_checksum(text);
  CHECK(sealed.size() == text.size());
  CHECK(sealed.find(require_checksum(sealed)) == text.find("0000000000000000"));
  CHECK(with_checksum(text) == sealed);
  for (std::size_t at = 0; at < sealed.size() * 8; ++at) {  // each bit
    std::string changed = sealed;
    changed[at / 8] = static_cast<char>(changed[at / 8] ^ 1 << at % 8);
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

TEST_CASE("a checksum sees what was swapped, moved or lost, and those of earlier files are known") {
  std::string text = R"({"checksum": "0000000000000000"})" + std::string(8, ' ');
  for (int i = 0; i < 40; ++i)
    text += "word " + hexadecimal(7u * static_cast<unsigned>(i)).substr(13);
  const std::string sealed = with_checksum(text), head = sealed.substr(0, 40),
                    tail = sealed.substr(40);
  for (const std::size_t step : {8u, 64u})  // neighbours, and two that are in one sum
    for (std::size_t at = 40; at + step + 8 <= sealed.size(); at += 8) {
      std::string swapped = sealed;
      std::swap_ranges(&swapped[at], &swapped[at + 8], &swapped[at + step]);
      CHECK_THROWS_AS(require_checksum(swapped), FormatError);
    }
  for (const std::string& other : {head + '\0' + tail, head + tail + '\0', head + tail.substr(8),
                                   head + tail.substr(0, tail.size() - 1)})
    CHECK_THROWS_AS(require_checksum(other), FormatError);
  const std::string before = hexadecimal(hash_of(text));  // FNV-1a of all bytes
  CHECK(require_checksum(std::string(text).replace(14, 16, before)) == before);
}
