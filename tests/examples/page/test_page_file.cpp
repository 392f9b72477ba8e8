// The page as a file: its policy and hashes, what the script may not do, and texts that stay texts.
#include "examples/page/page_file.h"

#include <algorithm>

#include "examples/page/base64.h"
#include "examples/page/glossary.h"
#include "tests/examples/lessons/course.h"
#include "tests/support/catch.h"
#include "tests/support/sha256.h"

using namespace fledge;
using namespace fledge::page;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The smallest data that a page needs, with this word in all places of a user's text.
Json data_with(const std::string& word) {
  const Json sentence = Json::object({{"ids", std::vector<Dim>{0}}, {"next", nullptr}});
  const Json numbers = Json::object(
      {{"loss", 0.5}, {"attention", base64(std::vector<std::uint16_t>{65535})}, {"top", ""}});
  const Json snapshot = Json::object({{"step", 0},
                                      {"continuations", std::vector<std::string>{word}},
                                      {"sentences", std::vector<Json>{numbers}},
                                      {"watch", std::vector<Json>()}});
  const Json run = Json::object({{"title", word},
                                 {"in_words", word},
                                 {"seed", 1},
                                 {"notices", std::vector<std::string>{word}},
                                 {"model", Json::object({{"layers", 1},
                                                         {"heads", 1},
                                                         {"width", 2},
                                                         {"context", 1},
                                                         {"vocabulary", 1},
                                                         {"causal", true},
                                                         {"without", std::vector<std::string>()}})},
                                 {"words", std::vector<std::string>{word}},
                                 {"losses", Json::object({{"train", std::vector<Json>()}})},
                                 {"sentences", std::vector<Json>{sentence}},
                                 {"prompts", std::vector<std::string>{word}},
                                 {"snapshots", std::vector<Json>{snapshot}}});
  return Json::object({{"kind", "run"}, {"run", run}});
}

}  // namespace

TEST_CASE("page_file: the policy comes first and has the hashes of style and script") {
  const std::string file = page_file("a & b", data_with("birds"));
  CHECK(style_hash == "sha256-" + base64(testing::sha256(style)));
  CHECK(script_hash == "sha256-" + base64(testing::sha256(script)));
  CHECK(has(file, std::string("script-src '") + script_hash + "'"));
  CHECK(has(file, std::string("style-src '") + style_hash + "'"));
  CHECK(has(file, "<style>" + style + "</style>"));
  CHECK(has(file, "<script>" + script + "</script>"));
  CHECK(file.find("Content-Security-Policy") < file.find("<title>"));
  CHECK(has(file, "<title>a &amp; b</title>"));
  CHECK(has(file.substr(0, 200), std::string(page_kind.mark)));
}

TEST_CASE("page_file: style and script are small, ASCII, and parse no HTML") {
  CHECK(style.size() + script.size() <= 80'000);
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
  const std::string honest = page_file("page", data_with("birds"));
  for (const std::string& word :
       {std::string("</script><script>window.__xss=1</script>"), std::string("<!--"),
        std::string("<img src=x onerror=alert(1)>"), std::string("\" onload=\"x"),
        std::string("]]>"), std::string("\xE2\x80\xA8"), std::string("a\0b", 3),
        std::string("\xE2\x80\xAE"
                    "abc"),
        std::string("\xFF\xFE"), std::string(100'000, 'x')}) {
    CAPTURE(word.substr(0, 40));
    const std::string file = page_file(word, data_with(word));
    for (const char* tag : {"<script", "</script", "<!--", "<img"})
      CHECK(count(file, tag) == count(honest, tag));
    CHECK_FALSE(has(file, "\xE2\x80\xAE"));
    CHECK_FALSE(has(file, std::string(1, '\0')));
  }
}

TEST_CASE("page_file: without JavaScript the tables of the last snapshot stand there") {
  const std::string file = page_file("page", data_with("birds"));
  CHECK(has(file, "<section id=\"static\">"));
  CHECK(has(file, "<td>1.00</td>"));
  CHECK(file.find("id=\"static\"") < file.find("<script"));
}

TEST_CASE("page: the meanings of the glossary are those of GLOSSARY.md") {
  const testing::Lines lines = testing::lines_in(testing::source_root / "examples/GLOSSARY.md");
  for (const auto& [name, meaning] : glossary) {
    CAPTURE(name);
    const std::string row = "| " + std::string(name) + " | " + meaning + " | ";
    CHECK(std::any_of(lines.begin(), lines.end(),
                      [&](const std::string& line) { return line.starts_with(row); }));
  }
}
