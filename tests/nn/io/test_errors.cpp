#include "nn/io/errors.h"

#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

TEST_CASE("errors: located_at puts the place before the message") {
  CHECK(refusal<FormatError>([] {
          located_at("the header", [] { throw FormatError("line 1, column 2: not UTF-8"); });
        }) == "the header: line 1, column 2: not UTF-8");
  CHECK(located_at("the header", [] { return 7; }) == 7);
}
