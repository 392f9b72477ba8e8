// The page as a file: its policy and hashes, what the script may not do, and texts that stay texts;
// the numbers in it as base64.
#include "examples/page/page_file.h"

#include <algorithm>
#include <cmath>

#include "engine/base/errors.h"
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
  using Words = std::vector<std::string>;
  using List = std::vector<Json>;
  const auto object = [](const Json::Members& members) { return Json::object(members); };
  const Json numbers = object(
      {{"loss", 0.5}, {"attention", base64(std::vector<std::uint16_t>{65535})}, {"top", ""}});
  Json::Members model{{"causal", true}, {"without", Words()}, {"width", 2}};
  for (const char* one : {"layers", "heads", "context", "vocabulary"}) model.emplace_back(one, 1);
  const Json::Members run{
      {"title", word},
      {"in_words", word},
      {"seed", 1},
      {"notices", Words{word}},
      {"model", object(model)},
      {"words", Words{word}},
      {"losses", object({{"train", List()}})},
      {"sentences", List{object({{"ids", std::vector<Dim>{0}}, {"next", nullptr}})}},
      {"prompts", Words{word}},
      {"snapshots", List{object({{"step", 0},
                                 {"continuations", Words{word}},
                                 {"sentences", List{numbers}},
                                 {"watch", List()}})}}};
  return object({{"kind", "run"}, {"run", object(run)}});
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
  std::string rows;
  for (const std::string& line : testing::lines_in(testing::source_root / "examples/GLOSSARY.md"))
    rows += "\n" + line;
  for (const auto& [name, meaning] : glossary)
    CHECK_THAT(
        rows, ContainsSubstring("\n| " + std::string(name) + " | " + std::string(meaning) + " | "));
}

TEST_CASE("base64: the examples of RFC 4648, numbers in little-endian, and refusals") {
  const std::string letters = "foobar";
  const char* encoded[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (std::size_t i = 0; i <= 6; ++i) {
    CHECK(base64(letters.substr(0, i)) == encoded[i]);
    CHECK(base64_decoded(encoded[i]) == letters.substr(0, i));
  }
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  CHECK(base64_decoded(base64(all)) == all);
  CHECK(base64_decoded(base64(std::vector<std::uint16_t>{0x0201, 0xFFFF})) == "\x01\x02\xff\xff");
  CHECK(base64_decoded(base64(std::vector<float>{1.0F})) == std::string("\0\0\x80\x3f", 4));
  const std::vector<double> numbers{0, -1.5, 3.25e10F, 0.1F};
  CHECK(floats_of_base64(base64(numbers)) == numbers);
  for (const char* wrong : {"Zg=", "Z!==", "Zg==Zg=="})
    CHECK_THROWS_AS(base64_decoded(wrong), fledge::ValueError);
  for (const double share : {0.0, 0.1, 1.0 / 3, 0.99999, 1.0})
    CHECK(std::abs(share_in_16_bits(share) / 65535.0 - share) <= 0.5 / 65535 + 1e-12);
  CHECK(share_in_16_bits(-1) == 0);
  CHECK(share_in_16_bits(2) == 65535);
}
