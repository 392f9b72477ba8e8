// What if: each change of the last layer gives another sentence in words, and undoing it restores the
// first one.
#include <set>

#include "tests/page/browser/chromium.h"
#include "tests/page/browser/page_files.h"
#include "tests/support/catch.h"

namespace testing {

TEST_CASE("page what-if: a word is hidden, a head is off or a number differs", "[page]") {
  Chromium browser;
  const auto words = [&] { return browser.text_of("#whatif-words"); };
  const auto press = [&](const std::string& button) {
    browser.evaluate("document.querySelector('#whatif " + button + "').click()");
  };
  const auto set = [&](const std::string& input, const std::string& value) {
    browser.evaluate("(() => { const input = document.querySelector('#whatif " + input +
                     "'); input.value = " + value +
                     "; input.dispatchEvent(new Event('input', {bubbles: true})); })()");
  };
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    browser.evaluate(
        "select({step: workedPlace(), sentence: 0, layer: page.run.model.layers - 1, head: 0, "
        "query: page.run.sentences[0].ids.length - 1, key: 0})");
    const std::string unchanged = words();
    CHECK_THAT(unchanged, StartsWith("Nothing is changed yet."));
    std::set<std::string> different{unchanged};
    const auto is_new = [&] { return different.insert(words()).second; };
    press("[data-hide=\"1\"]");
    CHECK(is_new());
    CHECK(
        browser.is_true("forwardLast(page.run.worked, 0, {hidden: new Set([1])})"
                        ".weights[0].every((row, i) => i === 1 || row[1] === 0)"));
    press("[data-hide=\"1\"]");
    CHECK(words() == unchanged);
    press("button[data-head=\"0\"]");
    CHECK(is_new());
    browser.evaluate("document.querySelector('#whatif-reset').click()");
    CHECK(words() == unchanged);
    set("input[data-vector=q]", "3");
    CHECK(is_new());
    browser.evaluate("document.querySelector('#whatif-reset').click()");
    set("input[data-key=\"0\"]", "0.37");
    CHECK(is_new());
    CHECK_THAT(words(), ContainsSubstring("0.37"));
    // A row adds up to 1 wherever it is dragged; a slider shows two decimals.
    for (const char* weight : {"1", "0.4"}) {
      set("input[data-key=\"0\"]", weight);
      CHECK(
          browser.is_true("Math.abs([...document.querySelectorAll('[data-key]')].reduce((sum, "
                          "slider) => sum + Number(slider.value) - 1 / document.querySelectorAll("
                          "'[data-key]').length, 0)) < 0.1"));
    }
  }
}

}  // namespace testing
