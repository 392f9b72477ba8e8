// Pages of one's own runs.
#include "tests/page/browser/pages.h"

namespace testing {

namespace {

const std::string prose =
    "The old keeper counted the lamps. He \u2013 left.\nNobody ever read these long notes of hers!\n";

/// Opens the page of a run over a text with these options.
void open_run(Chromium& browser, const std::string& text, const std::string& options) {
  const Folder folder;
  write_file(folder / "text.txt", text);
  output_of("fledge train " + folder / "text.txt" + " -q --no-save --page " +
            folder / "page.html " + options);
  opened(browser, folder / "page.html");
}

/// The names of units, other than this one, that a reader sees or hears on the page.
std::string other_units(Chromium& browser, const std::string& unit) {
  return browser.text(R"js([...document.querySelectorAll(".term")].map((node) =>
    node.dispatchEvent(new Event("focus")) && t.text("#meaning"))
    .concat([...document.querySelectorAll("#page [aria-label]")].map((node) => node.ariaLabel))
    .join("\n").concat(t.one("#page").innerText).replace(t.one("#own-text").innerText, "")
    .match(/\b(word|letter|character|byte|token)s?\b/gi)?.filter((name) =>
      !name.toLowerCase().startsWith(")js" +
                      unit + "\")).join() ?? \"\"");
}

}  // namespace

TEST_CASE("page runs: excerpts are whole, units named, what if possible; one step has no slider") {
  Chromium browser;
  const std::string whole = "The old keeper counted the lamps.";
  for (const auto& [unit, text, options, kept, sentence] :
       {std::tuple{"character", prose, "char --context 40 --width 16", 3, whole},
        {"character", prose, "char --context 8 --width 16", 3, "The old"},
        {"word", prose, "word --context 10 --layers 2 --width 256", 1, whole},
        {"byte", "\xFF\n" + prose + "\xFF", "byte --context 40 --width 16", 3, whole},
        {"token", prose, "bpe --symbols 270 --context 8 --width 16", 3, "The old"}}) {
    INFO(options);
    browser.window(1280, 9000);  // all parts are near the window, so that each is drawn
    open_run(browser, text + prose, std::string("--steps 2 --batch 2 --tokens ") + options);
    CHECK(browser.text("state.sentence") == sentence);
    CHECK(browser.is_true("t.text('#stage').endsWith('\u2026')") == (sentence != whole));
    CHECK(other_units(browser, unit) == "");
    CHECK(browser.number("learning.kept.length") == kept);
    for (const char* part : {"#time", "#go"})
      CHECK(browser.is_true("t.isShown('" + std::string(part) + "')") == (kept > 1));
    if (kept > 1) browser.evaluate("t.click('#go')");
    browser.until("learning.hasBegun && !learning.isOn");
    // The first token is one like others.
    check_steps(browser, {{"t.put('#own', 'The old keeper')", "seen.tokens.length > 2"},
                          {"change({key: 0, query: 2}).then(() => t.click('#hide'))",
                           "state.hidden.has(0) && row()[0] === 0"}});
    browser.evaluate("t.put('#set-layers', 1); t.put('#set-steps', 3); t.click('#train')");
    browser.until("t.text('#train') === 'Train it beside this one'");
    check_steps(browser, {{"", "rivals.at(-1).losses.length === 3"}});
    // Another one, begun from an earlier step, while the first is still shown.
    browser.evaluate("showStep(0).then(() => { t.put('#set-steps', 2); t.click('#train'); })");
    browser.until("rivals.length === 2 && t.text('#train') === 'Train it beside this one'");
    check_steps(browser, {{"", "rivals.at(-1).losses.length === 2 && !t.isShown('#trouble')"}});
    CHECK(other_units(browser, unit) == "");
    check_quiet(browser);
    browser.evaluate("change({query: -1})");
    browser.window(200, 900);  // turned, a screen still shows what looks, the last token
    browser.until(
        "(({scrollLeft, clientWidth}, {offsetLeft}) => offsetLeft > scrollLeft && "
        "offsetLeft < scrollLeft + clientWidth)(t.one('#stage'), t.one('#stage .looks'))");
  }
}

}  // namespace testing
