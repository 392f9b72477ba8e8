#include "engine/base/errors.h"

#include <clocale>
#include <vector>

#include "engine/array.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

struct Costly {
  int* built;
  friend std::string to_string(const Costly& part) { return ++*part.built, "built"; }
};

}  // namespace

TEST_CASE("a message is the op, a colon and its parts") {
  CHECK(refusal<ShapeError>([] { require(false, "matmul", "inner sizes differ"); }) ==
        "matmul: inner sizes differ");
  CHECK(refusal<ShapeError>([] { require(false, "op"); }) == "op: ");
}

TEST_CASE("nothing is thrown when the condition holds") {
  CHECK_NOTHROW(require(true, "op", "parts"));
  CHECK_NOTHROW(require<ValueError>(true, "op"));
}

TEST_CASE("parts are words, whole numbers, numbers, shapes and arrays") {
  const std::string word = "word";
  const std::string_view view = "view";
  CHECK(refusal<ShapeError>([&] { require(false, "op", "literal ", word, " ", view); }) ==
        "op: literal word view");
  CHECK(refusal<ShapeError>([] {
          require(false, "op", -1, " ", std::size_t{7}, " ", std::numeric_limits<Dim>::max());
        }) == "op: -1 7 9223372036854775807");
  CHECK(refusal<ShapeError>([] { require(false, "op", 0.5, " ", 1e-5, " ", -infinity); }) ==
        "op: 0.5 1e-05 -inf");
  const double quiet_nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal<ShapeError>([&] { require(false, "op", quiet_nan, " ", -quiet_nan); }) ==
        "op: nan nan");
  CHECK(refusal<ShapeError>([] {
          require(false, "op", Shape{2, 3}, " and ", Shape{});
        }) == "op: (2, 3) and ()");
  CHECK(refusal<ShapeError>([] { require(false, "op", Array({2}, {1, 2})); }) == "op: [1, 2]");
}

TEST_CASE("a number has the digits asked for, and a decimal point in every locale") {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C"})
    if (std::setlocale(LC_NUMERIC, name) != nullptr) break;  // a machine may have none of these
  std::string text = "1,5: ";
  message::append(text, 2.0 / 3, 3);
  message::append(text, -1e300, 17);
  message::append(text, 0.5);
  std::setlocale(LC_NUMERIC, before.c_str());
  CHECK(text == "1,5: 0.667-1.0000000000000001e+3000.5");
}

TEST_CASE("require throws the type asked for") {
  CHECK(refusal<ValueError>([] { require<ValueError>(false, "op", "x"); }) == "op: x");
  CHECK(refusal<GraphError>([] { require<GraphError>(false, "op", "x"); }) == "op: x");
  CHECK(refusal<NumericError>([] { require<NumericError>(false, "op", "x"); }) == "op: x");
}

TEST_CASE("wrong arguments, wrong use of a graph and bad numbers are caught apart") {
  CHECK_THROWS_AS(require<ShapeError>(false, "op"), std::invalid_argument);
  CHECK_THROWS_AS(require<ValueError>(false, "op"), std::invalid_argument);
  CHECK_THROWS_AS(require<GraphError>(false, "op"), std::logic_error);
  CHECK_THROWS_AS(require<NumericError>(false, "op"), std::runtime_error);
  CHECK_FALSE(std::is_base_of_v<ShapeError, ValueError>);
  CHECK_FALSE(std::is_base_of_v<ValueError, ShapeError>);
  CHECK_FALSE(std::is_base_of_v<std::invalid_argument, GraphError>);
}

TEST_CASE("the sentence is built only when it is needed") {
  int built = 0;
  require(true, "op", Costly{&built});
  CHECK(built == 0);
  CHECK(refusal<ShapeError>([&] { require(false, "op", Costly{&built}); }) == "op: built");
  CHECK(built == 1);
}
