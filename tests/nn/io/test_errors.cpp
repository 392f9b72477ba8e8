// builds: f64
#include "nn/io/errors.h"

#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

TEST_CASE("errors: a FormatError says where and what") {
  const FormatError error("line 3, column 7", "expected a value");
  CHECK(error.where == "line 3, column 7");
  CHECK(error.problem == "expected a value");
  CHECK(std::string(error.what()) == "line 3, column 7: expected a value");
  CHECK(std::string(FormatError("no place").what()) == "no place");
}

TEST_CASE("errors: a place in front of another") {
  const auto said = [](const FormatError& error) {
    return refusal<FormatError>([&] { located_at("the header", [&] { throw error; }); });
  };
  CHECK(said(FormatError("line 1, column 2", "not UTF-8")) ==
        "the header, line 1, column 2: not UTF-8");
  CHECK(said(FormatError("too long")) == "the header: too long");
  CHECK(located_at("the header", [] { return 7; }) == 7);
}
