#include "examples/support/csv.h"

#include "tests/support/catch.h"

TEST_CASE("csv_row: fields that need quotes get them, and no other") {
  CHECK(support::csv_row({}) == "\n");
  CHECK(support::csv_row({"walk", "0.5", ""}) == "walk,0.5,\n");
  CHECK(support::csv_row({"a,b", "say \"birds\"", "two\nlines", " "}) ==
        "\"a,b\",\"say \"\"birds\"\"\",\"two\nlines\", \n");
  CHECK(support::csv_row({"\xff", "鳥\xe9\xb3", ",\x80"}) == "\\xff,鳥\\xe9\\xb3,\",\\x80\"\n");
}
