// The slider over training moves every part of a page, and what a page offers as files.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tests/page/browser/chromium.h"
#include "tests/page/browser/page_files.h"
#include "tests/support/catch.h"

namespace testing {

namespace {

void move_slider(Chromium& browser, const std::string& place) {
  browser.evaluate("(() => { const step = document.querySelector('#step'); step.value = " + place +
                   "; step.dispatchEvent(new Event('input', {bubbles: true})); })()");
  browser.evaluate("new Promise((done) => setTimeout(done, 200))");  // the grid's texts follow
}

/// What a part shows at a place of the slider.
std::string shown(Chromium& browser, const std::string& place, const std::string& script) {
  move_slider(browser, place);
  return browser.text(script);
}

}  // namespace

TEST_CASE("page steps: the slider moves every part", "[page]") {
  const std::vector<std::pair<std::string, std::string>> parts{
      {"the time bar", "document.querySelector('#step').getAttribute('aria-valuetext')"},
      {"the samples", "document.querySelector('#now').textContent"},
      {"the loss in words", "document.querySelector('#loss-words').textContent"},
      {"the marker of the loss", "document.querySelector('#loss .marker').getAttribute('d')"},
      {"the grid", "document.querySelector('#grid').textContent"},
      {"the dots of the grid",
       "[...document.querySelectorAll('#grid circle')]"
       ".map((dot) => dot.getAttribute('r')).join()"},
      {"the sentence in words", "document.querySelector('#inwords').textContent"},
      {"the arcs", "document.querySelector('#graph').innerHTML"},
      {"the worked cell", "document.querySelector('#worked').textContent"},
      {"the watched pair", "document.querySelector('#watch').textContent"},
      {"the map", "document.querySelector('#map').innerHTML"},
      {"the next word", "document.querySelector('#next').textContent"},
      {"the tensors", "document.querySelector('#tensors').innerHTML"},
      {"the address", "location.hash"}};
  Chromium browser;
  for (const std::string& path : all_pages()) {
    browser.open(path);
    const std::string last =
        std::to_string(static_cast<int>(browser.number("page.run.snapshots.length - 1")));
    for (const auto& [name, script] : parts) {
      INFO(path << ": " << name);
      CHECK(shown(browser, "0", script) != shown(browser, last, script));
    }
    CHECK(browser.messages().empty());
  }
}

TEST_CASE("page steps: back, forward and play", "[page]") {
  Chromium browser;
  browser.open(birds_page());
  const double last = browser.number("selection.step");
  browser.evaluate("document.querySelector('#back').click()");
  CHECK(browser.number("selection.step") == last - 1);
  browser.evaluate("document.querySelector('#forward').click()");
  browser.evaluate("document.querySelector('#forward').click()");
  CHECK(browser.number("selection.step") == last);
  browser.evaluate("document.querySelector('#play').click()");
  CHECK(browser.wait_until("selection.step > 1 && selection.step < 12"));
  browser.evaluate("document.querySelector('#play').click()");
  const double paused = browser.number("selection.step");
  browser.evaluate("new Promise((done) => setTimeout(done, 400))");
  CHECK(browser.number("selection.step") == paused);
}

TEST_CASE("page steps: a page with one step has no slider and no buttons for it", "[page]") {
  Chromium browser;
  const Folder folder;
  std::string html = read_file(birds_page());
  const std::string snapshots = between(html, "\"snapshots\":[", "],\"worked\":");
  const std::size_t last = snapshots.rfind("{\"step\":");
  REQUIRE(last != std::string::npos);
  html.replace(html.find(snapshots), last, "");
  write_file(folder / "one.html", html);
  browser.open(folder / "one.html");
  CHECK(browser.number("page.run.snapshots.length") == 1);
  CHECK(browser.is_true("document.querySelector('section#time output') !== null"));
  CHECK(browser.is_true("document.querySelector('#step, #back, #forward, #play') === null"));
  CHECK(browser.messages().empty());
}

TEST_CASE("page steps: each step is shown fast enough to drag", "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    browser.open(path);
    const StrictJson times = browser.evaluate(R"((async () => {
      const times = [];
      for (let step = 0; step < page.run.snapshots.length; ++step) {
        const begin = performance.now();
        select({step});
        times.push(performance.now() - begin);
        await new Promise((done) => setTimeout(done, 0));
      }
      return times.sort((a, b) => a - b);
    })())");
    const auto& sorted = times.array();
    std::printf("page: %s: a step takes %.1f ms, %.1f ms at most; the limit is 50 ms\n",
                std::filesystem::path(path).filename().c_str(), sorted[sorted.size() / 2].number(),
                sorted.back().number());
    CHECK(sorted[sorted.size() / 2].number() < 250);
  }
}

TEST_CASE("page steps: the files that a page offers", "[page]") {
  const Folder folder;
  Chromium browser;
  browser.download_into(folder.path());
  browser.open(birds_page());
  const double words = browser.number("idsNow().length");
  CHECK(browser.number("document.querySelectorAll('[data-export]').length") >= 3);
  for (const std::string kind : {"csv", "json", "svg"}) {
    INFO(kind);
    browser.evaluate("document.querySelector('[data-export=" + kind + "]').click()");
    std::string file;
    for (int i = 0; i < 100 && file.empty(); ++i) {
      browser.evaluate("new Promise((done) => setTimeout(done, 50))");
      for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        if (entry.path().extension() == "." + kind) file = entry.path();
    }
    REQUIRE(!file.empty());
    const std::string text = read_file(file);
    if (kind == "csv")
      CHECK(static_cast<double>(std::ranges::count(text, '\n')) == words * words + 1);
    if (kind == "json") CHECK(text == data_text(read_file(birds_page())));
    if (kind == "svg") CHECK_THAT(text, StartsWith("<svg") && ContainsSubstring("</svg>"));
  }
  CHECK(browser.messages().empty());
  for (const std::string& address : browser.requests())
    CHECK((address.starts_with("file:") || address.starts_with("blob:")));
}

}  // namespace testing
