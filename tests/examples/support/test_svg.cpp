#include "examples/support/svg.h"

#include <cmath>

#include "tests/support/catch.h"

using support::Svg;

namespace {

bool has(const Svg& picture, const std::string& part) {
  return picture.file().find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a picture is an SVG file of its size") {
  const Svg empty(120, 40.5);
  CHECK(empty.file().starts_with(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40.5")"));
  CHECK(empty.file().ends_with("</svg>\n"));
}

TEST_CASE("a user's text cannot become a tag") {
  Svg picture(10, 10);
  picture.text(1, 2, "<script>\"a\" & b</script>\x1b");
  CHECK(has(picture, R"(>&lt;script&gt;&quot;a&quot; &amp; b&lt;/script&gt;\x1b</text>)"));
  picture.box(0, 0, 1, 1, "red\"/><x");
  CHECK(has(picture, "fill=\"red&quot;/&gt;&lt;x\""));
}

TEST_CASE("shapes have their coordinates, with two decimals") {
  Svg picture(10, 10);
  picture.box(1, 2, 3, 4, "#0072b2", 0.5);
  CHECK(has(picture,
            R"(<rect x="1" y="2" width="3" height="4" fill="#0072b2" fill-opacity="0.5"/>)"));
  picture.line(0, 1, 2, 3.14159, "black", 1, true);
  CHECK(has(picture, R"(y2="3.14" stroke="black" stroke-width="1" stroke-dasharray="4 3"/>)"));
  picture.arc(10, 0, 20, "black", 2, 0.25);
  CHECK(has(picture, R"(d="M10 20 C10 15 0 15 0 20")"));
  picture.text(5, 6, "end", Svg::Anchor::end);
  CHECK(has(picture, R"(text-anchor="end")"));
}

TEST_CASE("a curve has a gap where a point is not finite") {
  Svg picture(10, 10);
  picture.curve({{0, 1}, {1, 2}, {2, NAN}, {3, 4}, {4, 5}}, "black");
  CHECK(has(picture, R"(d="M0 1 L1 2 M3 4 L4 5")"));
  const std::string before = picture.file();
  picture.curve({{NAN, 1}}, "black");
  CHECK(picture.file() == before);
}

TEST_CASE("the colours of a picture are eight different ones") {
  REQUIRE(support::svg_colours().size() == 8);
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < i; ++j)
      CHECK(support::svg_colours()[i] != support::svg_colours()[j]);
}
