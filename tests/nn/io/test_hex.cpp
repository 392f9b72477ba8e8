#include "nn/io/hex.h"

#include "tests/support/catch.h"

using namespace fledge;

TEST_CASE("digits: sixteen of base 16, and back") {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  CHECK(hexadecimal(0) == "0000000000000000");
  CHECK(hexadecimal(0x0123456789abcdef) == "0123456789abcdef");
  CHECK(hexadecimal(most) == "ffffffffffffffff");
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{10},
                                     std::uint64_t{1} << 53, most - 1, most}) {
    CHECK(unsigned_number(hexadecimal(number), 16) == number);
    CHECK(unsigned_number(std::to_string(number), 10) == number);
  }
}

TEST_CASE("digits: what is not a whole number and nothing else is none") {
  for (const char* text :
       {"", " 7", "7 ", "+7", "-7", "0x7", "1e3", "1.5", "7\n", "a", "\xd9\xa1"}) {
    CAPTURE(text);
    CHECK_FALSE(unsigned_number(text, 10).has_value());
  }
  CHECK_FALSE(unsigned_number(std::string("7\0", 2), 10).has_value());
  CHECK(unsigned_number("007", 10) == 7u);
  CHECK(unsigned_number("FF", 16) == 255u);
  CHECK_FALSE(unsigned_number("g", 16).has_value());
  CHECK_FALSE(unsigned_number("18446744073709551616", 10).has_value());
  CHECK_FALSE(unsigned_number("10000000000000000", 16).has_value());
}
