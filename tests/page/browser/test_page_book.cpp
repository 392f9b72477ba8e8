// The book in the page: a lesson opens by its address, takes a guess and says what it means; its
// figure moves by keys, and its numbers are those of the engine.
#include "tests/page/browser/pages.h"

namespace testing {

TEST_CASE("page book: a lesson by its address, a guess, a figure, the next lesson", "[page]") {
  Chromium browser;
  opened(browser, course_page, "#lesson=attention/one_head");
  CHECK(browser.text("t.text('#lesson h1')") == "One head: query, key and value");
  CHECK(browser.is_true("document.activeElement === t.one('#lesson h1')"));
  CHECK(browser.is_true("!t.isShown('#first') && !t.isShown('#grid') && !t.one('.verdict p')"));

  // A wrong guess, by keys: what it would have meant, and the address keeps it.
  const auto guess = [&](const std::string& number) {
    browser.evaluate("t.one('#guess-0').focus(); t.one('#guess-0').value = ''");
    for (const char key : number) browser.press({key});
    browser.evaluate("t.put('#guess-0', '" + number + "')");
    browser.press("Enter");
    browser.evaluate("t.settled()");
    return browser.text("t.text('.verdict')");
  };
  CHECK_THAT(guess("0.5"), StartsWith("you guessed 0.5; it is 0.986: that is an even split"));
  CHECK_THAT(guess("0.7"), StartsWith("you guessed 0.7; it is 0.986: the scores of the adj"));
  CHECK(guess("0,98") == "you guessed 0,98, and it is 0.986.");
  CHECK(browser.is_true("location.hash.includes('attention/one_head=0%2C98')"));

  // Keys make 'blue' no adjective: its weight falls, and all weights are those of fledge_head().
  const std::string bar = "t.one('[aria-label=\"blue, adjective\"]')",
                    weights =
                        "[...document.querySelectorAll('.head-table tbody tr:not(.result)')]"
                        ".map((row) => Number(row.lastChild.textContent))";
  CHECK(browser.number(weights + "[2]") == 0.493);
  browser.evaluate(bar + ".focus()");
  for (int i = 0; i < 10; ++i) browser.press("ArrowDown");
  browser.evaluate("t.settled()");
  CHECK(browser.number("Number(" + bar + ".getAttribute('aria-valuenow'))") == 0);
  CHECK(browser.number(weights + "[2]") < 0.05);
  CHECK(browser.is_true("document.activeElement === " + bar));
  CHECK(browser.is_true(
      "engine.head({x: [[0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]], causal: true, "
      "wq: headSpecs.one_head.wq, wk: headSpecs.one_head.wk}).then((out) => "
      "out.weights[3].every((weight, j) => Math.abs(weight - " +
      weights + "[j]) < 6e-4))"));

  // Claims are folded; a text is a text; a link leads to the lesson.
  CHECK(
      browser.is_true("!t.one('#lesson details').open && !t.one('#lesson p b b') && "
                      "t.text('#lesson').includes('<b>Not a tag</b>, and 2 * 3 * 4 is')"));
  CHECK(browser.text("t.text('.claims summary')") == "FALSE: 1 of 2 claims");
  CHECK(browser.text("t.one('#lesson p a[href$=raised]').hash") ==
        "#lesson=attention/what_can_be_raised");
  browser.evaluate("t.one('.turn a').focus()");
  browser.press("Enter");
  browser.until("book.open?.name === 'attention/what_can_be_raised'");
  browser.evaluate("[...document.querySelectorAll('.guess button')].at(0).focus()");
  browser.press("Enter");
  CHECK(browser.text("t.text('.verdict')") ==
        "you guessed Q; it is V: Q only chooses among the values that there are.");
  CHECK(browser.is_true("t.isShown('#triangle .drag')"));
  browser.evaluate("t.one('.crumbs a').click()");
  browser.until("t.isShown('#first')");
  CHECK(browser.number("document.querySelectorAll('.chapters .value-ink').length") == 2);
  check_quiet(browser);
}

TEST_CASE("page book: every figure draws its numbers, and ends without a message", "[page]") {
  Chromium browser;
  opened(browser, course_page);
  browser.evaluate("window.box = document.createElement('div'); t.one('#book').append(box)");
  const StrictJson names = browser.evaluate("Object.keys(figures)");
  for (const StrictJson& name : names.array()) {
    INFO(name.string());
    browser.evaluate("box.replaceChildren(); window.ends = figures['" + name.string() +
                     "'](box, page.book[0]); t.settled()");
    CHECK(
        browser.is_true("box.querySelector('.in-words, [role=status]') || "
                        "box.querySelectorAll('.bars li').length > 2"));
    CHECK(browser.is_true("!/NaN|undefined|Infinity/.test(box.innerHTML)"));
    browser.evaluate("window.ends?.()");
  }
  check_quiet(browser);
}

}  // namespace testing
