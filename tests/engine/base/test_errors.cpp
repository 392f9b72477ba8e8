#include "engine/base/errors.h"

#include <clocale>

#include "engine/array.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace fledge;
using tests::refusal;

namespace {

struct Costly {
  int* built;
  friend std::string to_string(const Costly& part) { return ++*part.built, "built"; }
};

template <class... Parts>
std::string message_of(const Parts&... parts) {
  return refusal<ShapeError>([&] { require(false, "op", parts...); });
}

}  // namespace

TEST_CASE("a message is the op, a colon and its parts: words, numbers, shapes and arrays") {
  const double quiet_nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(message_of() == "op: ");
  CHECK(message_of("literal ", std::string("word"), " ", std::string_view("view")) ==
        "op: literal word view");
  CHECK(message_of(-1, " ", std::size_t{7}, " ", std::numeric_limits<Dim>::max()) ==
        "op: -1 7 9223372036854775807");
  CHECK(message_of(0.5, " ", 1e-5, " ", -infinity) == "op: 0.5 1e-05 -inf");
  CHECK(message_of(quiet_nan, " ", -quiet_nan) == "op: nan nan");
  CHECK(message_of(Shape{2, 3}, " and ", Shape{}) == "op: (2, 3) and ()");
  CHECK(message_of(Array({2}, {1, 2})) == "op: [1, 2]");
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

TEST_CASE("require throws the type asked for; arguments, graphs and numbers are caught apart") {
  CHECK(refusal<ValueError>([] { require<ValueError>(false, "op", "x"); }) == "op: x");
  CHECK(refusal<GraphError>([] { require<GraphError>(false, "op", "x"); }) == "op: x");
  CHECK(refusal<NumericError>([] { require<NumericError>(false, "op", "x"); }) == "op: x");
  CHECK_THROWS_AS(require<ShapeError>(false, "op"), std::invalid_argument);
  CHECK_THROWS_AS(require<ValueError>(false, "op"), std::invalid_argument);
  CHECK_THROWS_AS(require<GraphError>(false, "op"), std::logic_error);
  CHECK_THROWS_AS(require<NumericError>(false, "op"), std::runtime_error);
  CHECK_FALSE(std::is_base_of_v<ShapeError, ValueError>);
  CHECK_FALSE(std::is_base_of_v<ValueError, ShapeError>);
  CHECK_FALSE(std::is_base_of_v<std::invalid_argument, GraphError>);
}

TEST_CASE("nothing is thrown, and no sentence built, when the condition holds") {
  int built = 0;
  require(true, "op", Costly{&built});
  require<ValueError>(true, "op");
  CHECK(built == 0);
  CHECK(message_of(Costly{&built}) == "op: built");
  CHECK(built == 1);
}
