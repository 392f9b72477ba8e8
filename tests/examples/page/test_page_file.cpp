// The page as a file: its policy and hashes, what the script may not do, and texts that stay texts;
// the numbers in it as base64.
#include "examples/page/page_file.h"

#include <algorithm>

#include "examples/page/base64.h"
#include "nn/io/errors.h"
#include "tests/examples/lessons/course.h"
#include "tests/support/perl.h"

using namespace fledge;
using namespace fledge::page;
using testing::has;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// A page with this word in all places of a user's text.
Page page_of(const std::string& word) {
  Page page;
  page.title = page.text = word;
  page.settings = Json::object({{"name", word}});
  page.story = {
      .title = word, .lede = word, .sentence = word, .told = word, .pairs = {{word, word}}};
  page.look = {{word, word}, {0.25, 0.75}, word, 0.5};
  page.notices = {word};
  return page;
}

}  // namespace

TEST_CASE("page_file: the policy comes first and has the hashes of style and script") {
  const std::string file = page_file(page_of("a & b"));
  CHECK(style_hash == "sha256-" + base64(testing::sha256(style)));
  CHECK(script_hash == "sha256-" + base64(testing::sha256(script)));
  CHECK(has(file, std::string("script-src '") + script_hash + "'"));
  CHECK(has(file, "'wasm-unsafe-eval'; worker-src blob:;"));
  CHECK(has(file, std::string("style-src '") + style_hash + "'"));
  CHECK(has(file, "<style>" + style + "</style>"));
  CHECK(has(file, "<script>" + script + "</script>"));
  CHECK(file.find("Content-Security-Policy") < file.find("<title>"));
  CHECK(has(file, "<title>a &amp; b</title>"));
  CHECK(has(file.substr(0, 200), "<!-- a page made by fledge -->"));
}

TEST_CASE("page_file: style and script are small, ASCII, and parse no HTML") {
  CHECK(style.size() + script.size() <= 160'000);
  for (const std::string* text : {&style, &script})
    CHECK(std::all_of(text->begin(), text->end(), [](char c) { return c >= ' ' || c == '\n'; }));
  for (const char* part : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                           "eval(", "Function(", "fetch(", "XMLHttpRequest", "import(",
                           "localStorage", "</script", "<!--", "Math.random", "Date"}) {
    CAPTURE(part);
    CHECK_FALSE(has(script, part));
  }
  CHECK_FALSE(has(style, "url("));
  CHECK(script.starts_with("\"use strict\";"));
}

TEST_CASE("page_file: a user's text stays a text") {
  const std::string honest = page_file(page_of("birds"));
  using namespace std::string_literals;
  for (const std::string& word :
       {"</script><script>window.__xss=1</script>"s, "<!--"s, "</noscript></section>"s,
        "<img src=x onerror=alert(1)>"s, "\" onload=\"x"s, "]]>"s, "\u2028"s, "a\0b\x1b[2J"s,
        "\u202Eabc"s, "\xED\xA0\x80 \xED\xBF\xBF"s, "\u05E9\u05DC\u05D5\u05DD"s, "\xFF\xFE"s,
        std::string(100'000, 'x')}) {
    CAPTURE(word.substr(0, 40));
    const std::string file = page_file(page_of(word));
    for (const char* tag : {"<script", "</script", "<!--", "<img", "noscript>", "</section", "<"})
      CHECK(count(file, tag) == count(honest, tag));
    CHECK(first_not_utf8(file) == file.npos);
    CHECK(std::none_of(file.begin(), file.end(),
                       [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == '\x7f'; }));
    CHECK_FALSE(has(file, "\xE2\x80\xAE"));
    // The text is the same again, but for bytes that are not UTF-8.
    const std::string begin = "id=\"data\">";
    const std::size_t at = file.find(begin) + begin.size();
    const JsonValue data = read_json(file.substr(at, file.find("</script>", at) - at));
    if (first_not_utf8(word) == word.npos) CHECK(data["text"].string() == word);
    CHECK(data["notices"].is_array());
  }
}

TEST_CASE("page_file: without JavaScript the story stands there, with a picture") {
  Page page = page_of("a & b");
  page.look = {{"birds", "walk"}, {0.25, 0.75}, "slowly", 0.5};
  const std::string file = page_file(page);
  const std::size_t begin = file.find("<section id=\"static\">"), end = file.find("</section>");
  REQUIRE(begin < end);
  CHECK(end < file.find("<script"));
  const std::string story = file.substr(begin, end - begin);
  CHECK(has(story, "<h1>a &amp; b</h1>"));
  CHECK(has(story, "aria-label=\"birds 0.25, walk 0.75\""));
  CHECK(count(story, "<path ") == 1);
  CHECK(has(story, "stroke-width=\"4.0\""));
  CHECK(has(story, "\u201cslowly\u201d: 0.50."));
  CHECK(has(file, "<noscript>") == !engine_module.empty());
  CHECK(has(story, engine_module.empty() ? "without its live part" : "needs JavaScript"));
}

TEST_CASE("page_file: the engine stands there compressed, and the page with it is small") {
  Page page;
  page.text = std::string(10'000, 'x');
  CHECK(page_file(page).size() <= 600'000);
  if (!engine_module.empty()) CHECK(base64_decoded(engine_module).starts_with("\x1f\x8b"));
}

TEST_CASE("base64: the examples of RFC 4648, all bytes, and refusals") {
  const std::string letters = "foobar";
  const char* encoded[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (std::size_t i = 0; i <= 6; ++i) {
    CHECK(base64(letters.substr(0, i)) == encoded[i]);
    CHECK(base64_decoded(encoded[i]) == letters.substr(0, i));
  }
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  CHECK(base64_decoded(base64(all)) == all);
  for (const char* wrong : {"Zg=", "Z!==", "Zg==Zg=="})
    CHECK_THROWS_AS(base64_decoded(wrong), FormatError);
}
