// A page without a mouse and without eyes, on a telephone, in the dark, with little motion, in few
// colours and on paper: keys, focus, names for a screen reader, contrast, widths.
#include <cstdlib>
#include <set>

#include "examples/page/base64.h"
#include "tests/page/browser/pages.h"

namespace testing {

namespace {

/// Keeps the elements that a reader can reach with Tab; defines seen(), which notes the one that
/// has the focus, and faults(), which lists those that were not reached, or show no focus.
constexpr const char* watch_focus = R"js((() => {
  const wanted = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
    .filter((node) => !node.disabled && node.tabIndex >= 0 && node.checkVisibility({visibilityProperty: true}));
  const reached = new Set(), dim = new Set(), name = (node) => node.outerHTML.slice(0, 80);
  window.seen = () => {
    const node = document.activeElement, style = getComputedStyle(node);
    if (node === document.body) return false;
    if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) === 0) dim.add(name(node));
    const isNew = !reached.has(node);
    reached.add(node);
    return isNew;
  };
  window.faults = () =>
    [...wanted.filter((node) => !reached.has(node)).map(name), ...dim].join("\n");
  return wanted.length;
})())js";

/// The texts whose contrast is too small. WCAG 2.1, success criterion 1.4.3: at least 4.5, and 3
/// for large text. A canvas turns any notation of a colour into bytes.
constexpr const char* weak_texts = R"js((() => {
  const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const over = (colours) => {
    for (const colour of colours) {
      paint.fillStyle = colour;
      paint.fillRect(0, 0, 1, 1);
    }
    return [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (bytes) => {
    const [r, g, b] = bytes.map((x) => x / 255)
      .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const weak = new Set();
  for (const node of document.body.querySelectorAll("*")) {
    const hasText = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!hasText || node.closest("svg, script, :disabled, option") || !node.checkVisibility()) continue;
    const backgrounds = [];
    for (let at = node; at; at = at.parentElement)
      backgrounds.unshift(getComputedStyle(at).backgroundColor);
    backgrounds.unshift(isDark ? "black" : "white");
    const style = getComputedStyle(node);
    const [a, b] = [light(over([...backgrounds, style.color])), light(over(backgrounds))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5))
      weak.add(ratio.toFixed(2) + " " + node.tagName + "." + node.className + " in " +
        (node.closest("section")?.id ?? "") + ": " + node.textContent.slice(0, 20));
  }
  return [...weak].slice(0, 10).join("\n");
})())js";

/// What is too wide without a box of its own that scrolls.
constexpr const char* too_wide = R"js((() => [...document.querySelectorAll("main *, header *")]
  .filter((node) => node.getBoundingClientRect().right > innerWidth + 1 && !node.closest(".figure, svg"))
  .map((node) => node.outerHTML.slice(0, 80))
  .concat(document.documentElement.scrollWidth > innerWidth ? ["the page"] : [])
  .slice(0, 5).join("\n"))())js";

constexpr const char* moving_things = R"js((() => [...document.querySelectorAll("*")]
  .filter((node) => parseFloat(getComputedStyle(node).transitionDuration) > 0.01 ||
                    parseFloat(getComputedStyle(node).animationDuration) > 0.01)
  .map((node) => node.outerHTML.slice(0, 60)).concat(document.getAnimations()).slice(0, 5).join())())js";

/// Presses the keys, and finds the same text as this script gives, after each.
void check_keys(Chromium& browser, const std::string& script,
                const std::vector<std::pair<const char*, std::string>>& keys) {
  for (const auto& [key, expected] : keys) {
    if (*key != '\0') browser.press(key);
    INFO("after " << key);
    CHECK(browser.text(script) == expected);
  }
}

std::string field(const StrictJson& node, std::string_view key) {
  const bool has_text = node.contains(key) && node[key].contains("value");
  return has_text ? node[key]["value"].string() : "";
}

}  // namespace

TEST_CASE("page access: keys reach and work all controls, and the focus is visible", "[page]") {
  Chromium browser;
  const std::string focused =
      "document.activeElement.dataset.q + ' ' + document.activeElement.dataset.k + ' ' + "
      "document.querySelectorAll('#grid [tabindex=\"0\"]').length";
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    const int wanted = static_cast<int>(browser.number(watch_focus));
    CHECK(wanted > 20);
    browser.press("Tab");
    CHECK(browser.is_true("document.activeElement.className === 'skip'"));
    for (int i = 0; i < wanted + 20 && browser.is_true("seen()"); ++i) browser.press("Tab");
    CHECK(browser.text("faults()") == "");
    // And back: no trap for the keyboard.
    browser.evaluate("document.querySelector('#play').focus()");
    browser.press("Tab", true);
    CHECK(browser.text("document.activeElement.id") == "forward");
    // Arrows move in the grid, Enter chooses, Escape goes back.
    browser.evaluate("select({query: 2, key: 1})");
    browser.evaluate("document.querySelector('#grid [tabindex=\"0\"]').focus()");
    check_keys(
        browser, focused,
        {{"", "2 1 1"}, {"ArrowUp", "1 1 1"}, {"ArrowLeft", "1 0 1"}, {"ArrowLeft", "1 0 1"}});
    CHECK_THAT(browser.text_of("#inwords"),
               ContainsSubstring(browser.text("wordName(selection.sentence, 1)")));
    check_keys(browser, "selection.query + ' ' + selection.key", {{"Enter", "1 0"}});
    check_keys(browser, focused, {{"", "1 0 1"}, {"ArrowDown", "2 0 1"}, {"ArrowRight", "2 1 1"}});
    browser.press("Escape");
    CHECK(browser.is_true("selection.query === idsNow().length - 1"));
  }
  // Single letters act inside the attention part alone.
  browser.open(poem_page());
  browser.evaluate("select({head: 0})");
  const std::string pressed =
      "document.querySelector('#numbers').getAttribute('aria-pressed') + selection.head";
  browser.evaluate("document.querySelector('#play').focus()");
  check_keys(browser, pressed, {{"n", "true0"}, {"]", "true0"}, {"t", "true0"}});
  browser.evaluate("document.querySelector('#grid [tabindex=\"0\"]').focus()");
  check_keys(browser, pressed, {{"n", "false0"}, {"]", "false1"}});
  // The slider and the buttons.
  browser.open(birds_page());
  const auto last = static_cast<int>(browser.number("selection.step"));
  const std::string step = "String(selection.step)",
                    told = "document.querySelector('#step').ariaValueText";
  browser.evaluate("document.querySelector('#step').focus()");
  check_keys(browser, step, {{"ArrowLeft", std::to_string(last - 1)}});
  const std::string words = browser.text(told);
  CHECK_THAT(words, StartsWith("step ") && ContainsSubstring(", loss "));
  check_keys(browser, step, {{"Home", "0"}});
  CHECK(browser.text(told) != words);
  check_keys(browser, step, {{"End", std::to_string(last)}});
  browser.evaluate("document.querySelector('#back').focus()");
  check_keys(browser, step, {{"Enter", std::to_string(last - 1)}, {" ", std::to_string(last - 2)}});
}

TEST_CASE("page access: a screen reader gets a name for everything", "[page]") {
  const std::set<std::string> named{"gridcell", "columnheader", "rowheader",  "button", "slider",
                                    "combobox", "image",        "spinbutton", "link",   "heading",
                                    "grid",     "textbox",      "checkbox",   "img",    "region"};
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    browser.call("Accessibility.enable");
    double cells = 0, level = 0;
    bool has_slider = false;
    std::string faults;
    const StrictJson tree = browser.call("Accessibility.getFullAXTree");
    for (const StrictJson& node : tree["nodes"].array()) {
      if (node["ignored"].boolean()) continue;
      const std::string role = field(node, "role");
      if (role == "gridcell") ++cells;
      if (!named.contains(role)) continue;
      const std::string name = field(node, "name");
      if (name.empty())
        faults += role + ": " +
                  browser
                      .call("DOM.getOuterHTML",
                            {{"backendNodeId", node["backendDOMNodeId"].number()}})["outerHTML"]
                      .string()
                      .substr(0, 120) +
                  "\n";
      has_slider = has_slider || (role == "slider" && name == "Step of training");
      if (role != "heading") continue;
      for (const StrictJson& property : node["properties"].array()) {
        if (property["name"].string() != "level") continue;
        const double to = property["value"]["value"].number();
        if (to > level + 1) faults += "a level is left out before " + name + "\n";
        level = to;
      }
    }
    browser.call("Accessibility.disable");
    CHECK(cells >= browser.number("document.querySelectorAll('#grid [role=gridcell]').length"));
    CHECK(faults == "");
    // For an input, Chromium's tree has the number and not the text that it tells a screen reader.
    CHECK(has_slider);
    CHECK(browser.is_true(
        "document.querySelector('#step').getAttribute('aria-valuetext') === stepInWords()"));
    CHECK(browser.text("document.documentElement.lang") == "en");
    CHECK(browser.text("document.querySelector('#inwords').ariaLive") == "polite");
  }
}

TEST_CASE("page access: in every width and colour it fits and can be read; pictures of it",
          "[page]") {
  const char* pictures = std::getenv("FLEDGE_SCREENSHOTS");
  Chromium browser;
  int number = 0;
  for (const std::string& path : all_pages()) {
    ++number;
    for (const int width : {320, 360, 768, 1280})
      for (const std::string scheme : {"light", "dark"}) {
        INFO(path << " " << width << " " << scheme);
        browser.call(
            "Emulation.setDeviceMetricsOverride",
            {{"width", width}, {"height", 800}, {"deviceScaleFactor", 1}, {"mobile", false}});
        browser.media({{"prefers-color-scheme", scheme}});
        browser.open(path);
        CHECK(browser.text(too_wide) == "");
        if (width == 1280) {
          CHECK(browser.text(weak_texts) == "");
          browser.evaluate("select({step: 0})");
          CHECK(browser.text(weak_texts) == "");
        }
        if (pictures == nullptr || *pictures == '\0' || width == 320) continue;
        const StrictJson picture = browser.call(
            "Page.captureScreenshot", {{"format", "png"}, {"captureBeyondViewport", true}});
        std::filesystem::create_directories(pictures);
        write_file(std::string(pictures) + "/" + std::to_string(number) + "-" +
                       std::to_string(width) + "-" + scheme + ".png",
                   fledge::page::base64_decoded(picture["data"].string()));
      }
  }
}

TEST_CASE("page access: colours of the system, little motion, few colours, and paper", "[page]") {
  Chromium browser;
  const std::string paper = "getComputedStyle(document.body).backgroundColor";
  const auto pressed = [&] {
    browser.evaluate("document.querySelector('#theme').click()");
    return browser.text(paper);
  };
  browser.media({{"prefers-color-scheme", "light"}});
  browser.open(birds_page());
  const std::string light = browser.text(paper);
  browser.media({{"prefers-color-scheme", "dark"}});
  const std::string dark = browser.text(paper);
  CHECK(light != dark);
  CHECK(pressed() == light);  // the button overrides the system
  CHECK(pressed() == dark);
  browser.media({{"prefers-color-scheme", "light"}});
  CHECK(browser.text(paper) == dark);
  CHECK(pressed() == light);

  browser.media({{"prefers-reduced-motion", "reduce"}});
  browser.open(birds_page());
  CHECK(browser.text(moving_things) == "");
  CHECK(browser.messages() == "");

  browser.media({{"forced-colors", "active"}});
  browser.open(birds_page());
  CHECK(browser.is_true("matchMedia('(forced-colors: active)').matches"));
  // A weight is a dot as well as a colour, and a check has a sign: colour alone carries nothing.
  CHECK(
      browser.is_true("[...document.querySelectorAll('#grid .cell circle')]"
                      ".some((dot) => Number(dot.getAttribute('r')) > 0.5)"));
  CHECK_THAT(browser.text_of("#check"), StartsWith("\u2713"));
  CHECK(browser.messages() == "");

  browser.media({});
  for (const std::string& path : all_pages()) {  // the numbers and no controls, on so many sheets
    INFO(path);
    browser.open(path);
    const std::string pdf = fledge::page::base64_decoded(
        browser
            .call("Page.printToPDF",
                  {{"paperWidth", 8.27}, {"paperHeight", 11.69}, {"printBackground", true}})["data"]
            .string());
    CHECK_THAT(pdf.substr(0, 5), Equals("%PDF-"));
    CHECK(pdf.size() > 10'000);
    int sheets = 0;
    for (std::size_t at = 0; (at = pdf.find("/Type /Page", at)) != pdf.npos; ++at)
      sheets += pdf[at + 11] != 's';
    CHECK((sheets >= 2 && sheets <= 40));
    browser.media({}, "print");
    CHECK(browser.text(
              "[...document.querySelectorAll('#time button, #play, #theme, .controls button')]"
              ".filter((node) => node.checkVisibility()).map((node) => node.textContent)"
              ".join()") == "");
    CHECK(browser.is_true("document.querySelector('#grid').checkVisibility()"));
    browser.media({});
  }
}

}  // namespace testing
