#include "examples/page/base64.h"

#include <cmath>

#include "engine/base/errors.h"
#include "tests/support/catch.h"

using namespace fledge::page;

TEST_CASE("base64: the examples of RFC 4648") {
  const std::pair<const char*, const char*> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    CHECK(base64(std::string(bytes)) == text);
    CHECK(base64_decoded(text) == bytes);
  }
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  CHECK(base64_decoded(base64(all)) == all);
}

TEST_CASE("base64: numbers are little-endian") {
  CHECK(base64_decoded(base64(std::vector<std::uint16_t>{0x0201, 0xFFFF})) == "\x01\x02\xff\xff");
  CHECK(base64_decoded(base64(std::vector<float>{1.0F})) == std::string("\0\0\x80\x3f", 4));
  const std::vector<double> numbers{0, -1.5, 3.25e10, 0.1};
  const std::vector<double> read = floats_of_base64(base64(numbers));
  REQUIRE(read.size() == numbers.size());
  for (std::size_t i = 0; i < read.size(); ++i)
    CHECK(read[i] == static_cast<double>(static_cast<float>(numbers[i])));
}

TEST_CASE("base64: refuses what it does not write") {
  CHECK_THROWS_AS(base64_decoded("Zg="), fledge::ValueError);
  CHECK_THROWS_AS(base64_decoded("Z!=="), fledge::ValueError);
  CHECK_THROWS_AS(base64_decoded("Zg==Zg=="), fledge::ValueError);
}

TEST_CASE("share_in_16_bits: an error of at most half a unit") {
  for (const double share : {0.0, 0.1, 1.0 / 3, 0.99999, 1.0})
    CHECK(std::abs(share_in_16_bits(share) / 65535.0 - share) <= 0.5 / 65535 + 1e-12);
  CHECK(share_in_16_bits(-1) == 0);
  CHECK(share_in_16_bits(2) == 65535);
}
