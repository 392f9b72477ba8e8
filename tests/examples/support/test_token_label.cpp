#include "examples/support/token_label.h"
#include "tests/support/catch.h"

using support::token_label;

TEST_CASE("token_label: line breaks, blanks and tabs are visible, in UTF-8 and in ASCII") {
  CHECK(token_label("\n", true) == "⏎");
  CHECK(token_label(" ", true) == "␣");
  CHECK(token_label("\t", true) == "⇥");
  CHECK(token_label("\n", false) == "\\n");
  CHECK(token_label(" ", false) == "_");
  CHECK(token_label("\t", false) == "\\t");
  CHECK(token_label(" the\n\n", true) == "␣the⏎⏎");
  CHECK(token_label(" the\n\n", false) == "_the\\n\\n");
}

TEST_CASE("token_label: other text as it is, harmless on a terminal, never empty") {
  CHECK(token_label("birds", true) == "birds");
  CHECK(token_label("鳥", false) == "鳥");
  CHECK(token_label("\x1b[2J x", true) == "\\x1b[2J␣x");
  CHECK(token_label("\xff", true) == "\\xff");
  CHECK(token_label("", true) == "''");
}
