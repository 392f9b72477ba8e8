#include "nn/text/lines.h"

#include <string>

#include "tests/support/catch.h"

using namespace fledge;

TEST_CASE("lines_of: \\n and \\r\\n end a line, blank lines are none, the last may lack its end") {
  using Lines = std::vector<std::string_view>;
  using namespace std::string_view_literals;
  CHECK(lines_of("").empty());
  CHECK(lines_of("\n\r\n \t\v\f\n\n").empty());
  CHECK(lines_of("a\nb") == Lines{"a", "b"});
  CHECK(lines_of("a\r\n\r\n b \r\nc\r\n") == Lines{"a", " b ", "c"});
  CHECK(lines_of("a\rb\nc\r") == Lines{"a\rb", "c\r"});
  CHECK(lines_of("\xEF\xBB\xBF"
                 "a\0\n\0"sv) == Lines{"\xEF\xBB\xBF"
                                       "a\0"sv,
                                       "\0"sv});
}
