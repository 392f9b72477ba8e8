#include "nn/io/little_endian.h"

#include <cstdint>
#include <string>

#include "tests/support/catch.h"

using namespace fledge;

TEST_CASE("the first byte of a number is its lowest, at any address") {
  const std::string bytes("\xff\x01\x02\x03\x04", 5);
  CHECK(load_little_endian<std::uint32_t>(bytes.data() + 1) == 0x04030201u);
  CHECK(load_little_endian<std::uint16_t>(bytes.data() + 1) == 0x0201u);
  std::string written(5, '\xff');
  store_little_endian(std::uint32_t{0x04030201}, written.data() + 1);
  CHECK(written == bytes);
  store_little_endian(1.5f, written.data() + 1);
  CHECK(written == std::string("\xff\0\0\xc0\x3f", 5));
  CHECK(load_little_endian<float>(written.data() + 1) == 1.5f);
}
