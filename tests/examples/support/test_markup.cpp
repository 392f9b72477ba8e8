#include "examples/support/markup.h"

#include "tests/support/catch.h"

TEST_CASE("markup_escaped: a text stays a text") {
  using support::markup_escaped;
  CHECK(markup_escaped("birds sometimes walk") == "birds sometimes walk");
  CHECK(markup_escaped("</script><b a=\"&\">") == "&lt;/script&gt;&lt;b a=&quot;&amp;&quot;&gt;");
  CHECK(markup_escaped("a\x1b[1m\xff") == "a\\x1b[1m\\xff");
}
