#include "examples/support/painted_text.h"

#include <cmath>

#include "tests/support/catch.h"

using support::Paint;
using support::painted_text;
using support::ShadedPart;

namespace {

const std::vector<ShadedPart> birds{{"but", 0}, {" birds", 0.9}, {" are", 0.1}, {" good", NAN}};

}  // namespace

TEST_CASE("painted_text: without colours the shades stand below the text") {
  CHECK(painted_text(birds, 80, {false}, true) ==
        "but birds are good\n"
        "    █████ ░░░\n");
  CHECK(painted_text(birds, 80, {false}, false) ==
        "but birds are good\n"
        "    @@@@@ ...\n");
  CHECK(painted_text({{"a", 0.01}}, 80, {false}, true) == "a\n");
  CHECK(painted_text({}, 80, {false}, true).empty());
}

TEST_CASE("painted_text: with colours the text itself has a ground") {
  const Paint on{true};
  CHECK(painted_text(birds, 80, on, true) ==
        "but " + on.ground("birds", 0.9) + " " + on.ground("are", 0.1) + " good\n");
}

TEST_CASE("painted_text: lines are broken between words, long words inside") {
  CHECK(painted_text(birds, 10, {false}, true) ==
        "but birds\n"
        "    █████\n"
        "are good\n"
        "░░░\n");
  CHECK(painted_text({{"abcdefgh", 1}, {" i", 0}}, 5, {false}, true) ==
        "abcde\n"
        "█████\n"
        "fgh i\n"
        "███\n");
  CHECK(painted_text({{"鳥が", 1}, {"鳥", 0}}, 4, {false}, true) == "鳥が\n████\n鳥\n");
}

TEST_CASE("painted_text: line breaks are seen and break; nothing reaches the terminal") {
  CHECK(painted_text({{"a", 0}, {"\n", 0.6}, {"b", 0}}, 80, {false}, true) == "a⏎\n ▓\nb\n");
  CHECK(painted_text({{"a\n", 0.6}, {"b", 0}}, 80, {false}, false) == "a\\n\n***\nb\n");
  CHECK(painted_text({{"\x1b", 0}, {"e\u0301", 0.6}}, 80, {false}, true) ==
        "\\x1be\u0301\n    ▓\n");
}
