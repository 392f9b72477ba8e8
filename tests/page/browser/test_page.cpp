// What a reader does first: the model learns before their eyes, and everything follows: hide, type,
// drag, tap, go back, train without a part. Without a network, and without JavaScript.
#include <cstdio>

#include "tests/page/browser/pages.h"

namespace testing {

TEST_CASE("page: the model learns to look at birds, in time, without a network") {
  // When the first word of the picture was there, and when the first step had been taken.
  constexpr const char* watch_times = R"js(
    window.times = {};
    new MutationObserver(() => {
      if (document.querySelector("#stage .word")) times.picture ??= performance.now();
      if (/step [1-9]/.test(document.querySelector("#step")?.textContent))
        times.step ??= performance.now();
    }).observe(document, {subtree: true, childList: true, characterData: true});)js";
  Chromium browser;
  browser.media({{"prefers-reduced-motion", "no-preference"}});
  browser.call("Page.addScriptToEvaluateOnNewDocument", {{"source", watch_times}});
  browser.call(
      "Network.emulateNetworkConditions",
      {{"offline", true}, {"latency", 0}, {"downloadThroughput", 0}, {"uploadThroughput", 0}});
  opened(browser, birds_page());
  check_steps(browser, {{"", "state.step === 0 && Math.max(...row()) < 0.6"},
                        {"t.click('#stage [data-key=\"1\"]')",
                         "learning.guess === 1 && t.text('#say').includes('birds')"}});
  browser.evaluate("times.begin = performance.now()");
  learned(browser);
  check_steps(browser, {{"times.end = performance.now()", "row()[1] > 0.9 && t.top() === 'slowly'"},
                        {"", "/birds.*slowly.*As you said.*hide birds/.test(t.text('#say'))"},
                        {"", "t.text('#step') === 'step 500 of 500'"},
                        {"", "learning.losses.length === 500"},
                        {"t.click('#events .event')", "state.step > 0 && state.step < 500"}});
  const double picture = browser.number("times.picture"),
               step = browser.number("times.step - times.begin"),
               all = browser.number("times.end - times.begin");
  const auto bytes = static_cast<double>(std::filesystem::file_size(birds_page()));
  std::printf(
      "page: %.0f kB; first picture after %.0f ms (500 on an idle laptop), first step "
      "%.0f ms after the click (1500), all steps %.0f ms (3000)\n",
      bytes / 1000, picture, step, all);
  CHECK(bytes < 900'000);
  CHECK(picture < 5'000);
  CHECK(step < 15'000);
  CHECK(all < 60'000);
  check_quiet(browser);
}

TEST_CASE("page: every part follows each change") {
  Chromium browser;
  browser.window(1280, 9000);  // all parts are near the window, so that each is drawn
  opened(browser, birds_page());
  learned(browser);
  const std::string all = "say arcs next grid cell gradient lens";
  const auto changed = [](const std::string& parts) { return " && t.changed('" + parts + "')"; };
  check_steps(
      browser,
      {{"showStep(0)",
        "t.top() !== 'slowly' && state.key === strongest(row())" + changed(all + " loss map time")},
       {"showStep(500)", "t.top() === 'slowly'" + changed(all + " loss map time")},
       {"t.click('#hide')",
        "row()[1] === 0 && t.text('#say').includes('wrong, for no animal is left')" + changed(all)},
       {"t.click('#undo')", "row()[1] > 0.9" + changed(all)},
       {"learning.guess = 2; send({query: 1})", "!t.text('#say').includes('said')"},
       {"send({query: 3})", "t.text('#say').includes('sometimes”: no animal. Now')"},
       // What stood against another sentence goes with it.
       {"t.put('#own', 'dragons walk ')", "t.isShown('#trouble')"},
       {"showStep(500)", "!t.isShown('#trouble') && t.one('#text').value === page.text"},
       {"t.click('#other')", "t.top() === 'quietly'" + changed("say next grid cell lens")},
       {"t.put('#own', 'dogs sometimes walk')", "t.top() === 'proudly'" + changed("grid cell map")},
       // A word that it has never read changes nothing.
       {"t.put('#own', 'dragons walk ')",
        "/^[^\u2423]*\u201cdragons\u201d[^\u2423]*$/.test(t.text('#trouble'))"},
       {"", "t.isShown('#trouble') && t.one('.stale') && t.top() === 'proudly'"},
       // The text has no such line, so there is no slope; and no capitals.
       {"t.put('#own', 'Cats often walk')",
        "!t.isShown('#trouble') && t.top() === 'quietly' && state.sentence === 'cats often walk' && "
        "!t.one('.stale') && !t.one('.pulls li')"},
       {"t.put('#own', 'my cats walk ')", "t.text('#trouble').includes('cats sometimes walk')"},
       {"t.put('#own', '')", "!t.one('.stale') && state.sentence === 'cats often walk'"},
       {"t.put('#own', 'birds sometimes walk')", "t.one('.pulls li')"},
       {"t.put('#time', 0)", "state.step === 0 && !t.one('.stale')"},
       {"t.click('#stage [data-key=\"2\"]')", "state.key === 2"},
       {"t.click('#stage [data-key=\"1\"]')", "state.key === 1" + changed("cell gradient")},
       {"t.click('#grid [data-query=\"2\"][data-key=\"0\"]')",
        "state.query === 2 && state.key === 0" + changed("arcs next grid cell gradient lens")}});
  check_quiet(browser);
}

TEST_CASE("page: a finger taps words, buttons and cells; a mouse drags a share and the triangle") {
  Chromium browser;
  browser.window(390, 844);
  browser.call("Emulation.setTouchEmulationEnabled", {{"enabled", true}});
  opened(browser, course_page);
  const auto taps = [&](const std::string& selector, const std::string& then) {
    browser.tap(selector);
    INFO(selector);
    CHECK_NOTHROW(browser.until(then, 60));
    browser.evaluate("t.settled()");
  };
  taps("#stage [data-key='2']", "learning.guess === 2");
  taps("#go", "learning.hasBegun && !learning.isOn && row()[1] > 0.9");
  taps("#hide", "state.hidden.size === 1");
  taps("#other", "state.sentence.includes('cats')");
  taps("#grid [data-query='2'][data-key='1']", "state.query === 2 && state.key === 1");
  // The mouse: the share of a word follows, the row still adds up to 1, what it says changes.
  browser.call("Emulation.setTouchEmulationEnabled", {{"enabled", false}});
  check_steps(browser, {{"change({query: 3, key: 1}); t.one('#cell').scrollIntoView()",
                         "t.one('#cell .shares [data-key=\"2\"] input')"}});
  browser.evaluate("t.note()");
  browser.drag("#cell .shares [data-key='2'] input", 20, 0);
  browser.evaluate("t.settled()");
  CHECK(browser.is_true("row()[2] > 0.5 && Math.abs(row().reduce((a, b) => a + b) - 1) < 1e-5"));
  CHECK(browser.is_true("t.changed('next arcs grid cell')"));
  browser.evaluate("openLesson('attention/what_can_be_raised'); t.click('#skip')");
  const std::string told = "t.one('.drag').getAttribute('aria-valuetext')";
  const std::string before = browser.text(told);
  browser.drag("#triangle .drag", 0, -60);
  CHECK(browser.text(told) != before);
  check_quiet(browser);
}

TEST_CASE("page: it learns without a part, beside the first model") {
  OpenPage browser(birds_page());
  learned(browser);
  browser.evaluate("t.one('#switches').scrollIntoView({behavior: 'instant'}); t.settled()");
  const auto trained = [&](const std::string& change, const std::string& end) {
    browser.evaluate(
        "document.querySelectorAll('#switches input').forEach((input) => { "
        "input.checked = false; input.value = ''; }); " +
        change + "; t.click('#train')");
    browser.until("t.text('#switches').includes('" + end + "') && t.text('#train') !== 'Stop'");
    return browser.text("t.text('#rival h3')");
  };
  const auto without = [&](const std::string& part) {
    const std::string title =
        trained("t.one('#switches [name=" + part + "]').checked = true", part + ": step 500");
    return title.ends_with("it cheats");
  };
  CHECK(without("mask"));
  CHECK_FALSE(without("attention"));
  // It looks at nothing, and reads the next sentence too.
  check_steps(browser, {{"t.click('#other')",
                         "t.text('#rival-stage').includes('cats') && "
                         "[...document.querySelectorAll('#rival-stage .share')].every((share) => "
                         "/^0/.test(share.textContent))"}});
  trained(
      "for (const name of ['mlp', 'tied_qk']) t.one(`#switches [name=${name}]`).checked = true; "
      "t.one('#set-heads').value = 2",
      "without mlp, Q = K, heads 2: step 500");
  // A rate that is too large is told in a sentence, and the page goes on.
  trained("t.one('#set-rate').value = 1e30", "not-a-number");
  check_steps(browser, {{"", "row()[1] > 0.9"}, {"t.click('#hide')", "row()[1] === 0"}});
  check_quiet(browser);
}

TEST_CASE("page: a recorded run is played, back and forth, and trained anew") {
  OpenPage browser(poem_page());
  CHECK(browser.is_true("state.step === 0 && learning.kept.length > 10"));
  learned(browser);
  check_steps(browser, {{"window.last = t.next()", "state.step === 60"},
                        {"t.put('#time', 0)", "state.step === 0 && t.next() !== last"},
                        {"t.put('#time', 60)", "state.step === 60 && t.next() === last"}});
  browser.evaluate("t.click('#anew')");
  browser.until("!learning.isRecorded && learning.last > 2");
  check_quiet(browser);
}

TEST_CASE("page: the address keeps what is shown; a wrong one does no harm") {
  OpenPage browser(birds_page());
  check_steps(browser, {{"t.put('#own', 'cats often walk')", "seen.tokens.length === 4"},
                        {"t.click('#hide')", "state.hidden.size === 1"}});
  const std::string address = browser.text("location.hash");
  opened(browser, birds_page(), address);
  CHECK(browser.is_true("seen.tokens[1] === 'cats' && state.hidden.size === 1"));
  for (const char* odd :
       {"l=-4&h=1e9&x=99+-1+0.5", "t=<script>&l=%00", "%%%", "t=dragons", "t=", "x=NaN&h=0.5"}) {
    INFO(odd);
    opened(browser, birds_page(), std::string("#") + odd);
    check_steps(browser, {{"", "document.querySelectorAll('#stage .word').length > 1"},
                          {"t.click('#hide')", "state.hidden.size === 1"}});
    check_quiet(browser);
  }
}

TEST_CASE("page: without JavaScript the story and a picture stand there") {
  Chromium browser;
  browser.call("Emulation.setScriptExecutionDisabled", {{"value", true}});  // of pages
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    CHECK(browser.number("document.querySelectorAll('h1').length") == 1);
    CHECK_THAT(browser.text("document.body.innerText"), ContainsSubstring("needs JavaScript"));
    CHECK(browser.number("document.body.innerText.length") > 300);
    CHECK(browser.number("document.querySelector('svg').getBoundingClientRect().width") > 200);
    CHECK(browser.messages() == "");
  }
}

TEST_CASE("page course: the triangle is that of the lessons") {
  OpenPage browser(course_page, "#lesson=attention/what_can_be_raised");
  browser.evaluate("t.click('#skip')");
  // In the corner 'birds' the product is v1·v1 = 0.14.
  CHECK(browser.is_true("Math.abs(mixedBy([1, 0, 0]).product - 0.14) < 1e-6"));
  browser.evaluate("t.one('.drag').focus()");
  for (int i = 0; i < 60; ++i) browser.press("ArrowUp");
  CHECK_THAT(browser.text("t.one('.drag').getAttribute('aria-valuetext')"),
             StartsWith("birds 100"));
  const std::string done = "[...t.one('#goals').children].map((item) => item.className).join()";
  CHECK(browser.text(done).starts_with(",done,"));  // a point may pass the third on its way
  check_quiet(browser);
}

}  // namespace testing
