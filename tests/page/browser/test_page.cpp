// What a page asks of a browser: nothing but its own file; and what it is without JavaScript.
#include <algorithm>
#include <cstdio>

#include "examples/page/base64.h"
#include "tests/page/browser/chromium.h"
#include "tests/page/browser/page_files.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"
#include "tests/support/sha256.h"

namespace testing {

namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string policy_hash(std::string_view text) {
  return "'sha256-" + fledge::page::base64(sha256(text)) + "'";
}

}  // namespace

TEST_CASE("page: a page loads without a message, an exception or a policy violation", "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    CHECK(joined(browser.messages()) == "");
    CHECK(browser.text("window.fledgeErrors.join()") == "");
    CHECK(browser.is_true("document.querySelector('#static') === null"));
    const std::string missing = browser.text(
        "['time', 'now', 'loss', 'attention', 'graph', 'worked', 'whatif', 'gradient', 'map', 'next', "
        "'tensors', 'glossary'].filter((id) => !document.querySelector('section#' + id)).join()");
    CHECK(missing == "");
  }
}

TEST_CASE("page: no request but that of its own file", "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    for (int step = 0; step < 3; ++step)
      browser.evaluate("document.querySelector('#back').click()");
    INFO(joined(browser.requests()));
    CHECK(std::ranges::count_if(browser.requests(), [](const std::string& address) {
            return !address.starts_with("file:") && !address.starts_with("blob:");
          }) == 0);
    CHECK(browser.requests().size() == 1);
  }
}

TEST_CASE("page: a page works without a network", "[page]") {
  Chromium browser;
  browser.go_offline();
  browser.open(birds_page());
  CHECK(browser.is_true("document.querySelectorAll('#grid [role=gridcell]').length > 0"));
  CHECK(joined(browser.messages()) == "");
}

TEST_CASE("page: the birds' page has at most 200,000 bytes and loads in time", "[page]") {
  const std::string html = read_file(birds_page());
  Chromium browser;
  const double seconds = browser.open(birds_page());
  std::printf(
      "page: the birds' page has %zu bytes and loads in %.2f s; the limits are 200000 and 1 s\n",
      html.size(), seconds);
  CHECK(html.size() <= 200'000);
  CHECK(seconds < 5);
  const std::string style = between(html, "<style>", "</style>");
  const std::string script = between(html, "<script>", "</script>");
  std::printf("page: style and script have %zu bytes; the limit is 80000\n",
              style.size() + script.size());
  CHECK(style.size() + script.size() <= 80'000);
}

TEST_CASE("page: the hashes of the policy are those of the style and the script", "[page]") {
  for (const std::string& path : all_pages()) {
    INFO(path);
    const std::string html = read_file(path);
    const std::string policy = between(html, "Content-Security-Policy\" content=\"", "\"");
    const std::string style = between(html, "<style>", "</style>");
    const std::string script = between(html, "<script>", "</script>");
    REQUIRE(style.size() > 100);
    REQUIRE(script.size() > 1000);
    CHECK_THAT(policy, ContainsSubstring("style-src " + policy_hash(style) + ";"));
    CHECK_THAT(policy, ContainsSubstring("script-src " + policy_hash(script) + ";"));
    CHECK_THAT(policy, StartsWith("default-src 'none';"));
    CHECK(policy_hash("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
  }
}

TEST_CASE("page: the same run gives the same bytes", "[page]") {
  const Folder folder;
  const std::string again = folder / "birds.html";
  const Result result = run({FLEDGE_BINARY_DIR "/birds", "--page", again});
  REQUIRE(result.status == 0);
  // The command that made the page stands in it, with the name of the file.
  std::string first = read_file(birds_page()), second = read_file(again);
  for (std::string* html : {&first, &second})
    for (const std::string& name : {birds_page(), again})
      for (std::size_t at; (at = html->find(name)) != html->npos;) html->erase(at, name.size());
  CHECK(first == second);
}

TEST_CASE("page: without JavaScript the final table stands there", "[page]") {
  Chromium browser;
  browser.disable_script();
  for (const std::string& path : all_pages()) {
    INFO(path);
    const StrictJson run = run_of(path);
    const std::vector<double> weights = weights_of(run["snapshots"].array().back(), 0);
    browser.open(path);
    REQUIRE(browser.is_true("document.querySelector('#static') !== null"));
    // The first table holds the samples; the second one the first head.
    std::string cells;
    const std::size_t words = run["sentences"][0]["ids"].array().size();
    for (std::size_t i = 0, at = 0; i < words; ++i)
      for (std::size_t j = 0; j < words; ++j) {
        char text[16] = "";
        const bool is_hidden = run["model"]["causal"].boolean() && j > i;
        if (!is_hidden) std::snprintf(text, sizeof text, "%.2f", weights.at(at++));
        cells += std::string(text) + ",";
      }
    CHECK(browser.text("[...document.querySelectorAll('#static table')[1].querySelectorAll('td')]"
                       ".map((cell) => cell.textContent + ',').join('')") == cells);
  }
}

TEST_CASE("page: the address keeps the selection", "[page]") {
  Chromium browser;
  browser.open(poem_page());
  browser.evaluate("select({step: 2, sentence: 0, layer: 1, head: 1, query: 3, key: 2})");
  const std::string address = browser.text("location.hash");
  const std::string chosen = browser.text("JSON.stringify(selection)");
  const std::string words = browser.text_of("#inwords");
  browser.open(poem_page(), address.substr(1));
  CHECK(browser.text("JSON.stringify(selection)") == chosen);
  CHECK(browser.text_of("#inwords") == words);
  for (const char* odd : {"s=999999&q=-4&k=1e9", "s=NaN&t=x&l=%00", "%%%", "q=<script>"}) {
    INFO(odd);
    browser.open(poem_page(), odd);
    CHECK(joined(browser.messages()) == "");
    CHECK(browser.is_true("document.querySelector('#grid') !== null"));
  }
}

}  // namespace testing
