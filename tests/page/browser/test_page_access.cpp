// A page without a mouse and without eyes: keys, focus, names for a screen reader, contrast.
#include <set>

#include "tests/page/browser/chromium.h"
#include "tests/page/browser/page_files.h"
#include "tests/support/catch.h"

namespace testing {

namespace {

/// Keeps the elements that a reader can reach with Tab; defines seen(), which notes the one that has
/// the focus, and left(), which lists those that were not reached.
constexpr const char* watch_focus = R"((() => {
  const wanted = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
    .filter((node) => !node.disabled && node.tabIndex >= 0 && node.checkVisibility({visibilityProperty: true}));
  const reached = new Set(), dim = new Set();
  window.seen = () => {
    const node = document.activeElement, style = getComputedStyle(node);
    if (node === document.body) return false;
    if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) === 0) dim.add(node.outerHTML.slice(0, 80));
    const isNew = !reached.has(node);
    reached.add(node);
    return isNew;
  };
  window.left = () => wanted.filter((node) => !reached.has(node)).map((node) => node.outerHTML.slice(0, 80)).join("\n");
  window.dim = () => [...dim].join("\n");
  return wanted.length;
})())";

const std::string focused_cell =
    "document.activeElement.dataset.q + ' ' + document.activeElement.dataset.k";

std::string field(const StrictJson& node, std::string_view key) {
  if (!node.contains(key) || !node[key].contains("value")) return "";
  const StrictJson& value = node[key]["value"];
  try {
    return value.string();
  } catch (const JsonError&) {
    return "(not a text)";
  }
}

/// The first bytes of the element that a node stands for.
std::string markup_of(Chromium& browser, const StrictJson& node) {
  return browser
      .call("DOM.getOuterHTML", {{"backendNodeId", node["backendDOMNodeId"].number()}})["outerHTML"]
      .string()
      .substr(0, 120);
}

/// A property of a node, such as "level"; null if the node does not have it.
StrictJson property_of(const StrictJson& node, std::string_view name) {
  for (const StrictJson& property : node["properties"].array())
    if (property["name"].string() == name) return property["value"]["value"];
  return StrictJson(nullptr);
}

}  // namespace

TEST_CASE("page access: Tab reaches each control, and the focus is visible", "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    const int wanted = static_cast<int>(browser.number(watch_focus));
    CHECK(wanted > 20);
    browser.press("Tab");
    CHECK(browser.is_true("document.activeElement.className === 'skip'"));
    for (int i = 0; i < wanted + 20 && browser.is_true("seen()"); ++i) browser.press("Tab");
    CHECK(browser.text("left()") == "");
    CHECK(browser.text("dim()") == "");
    // And back: no trap for the keyboard.
    browser.evaluate("document.querySelector('#play').focus()");
    browser.press("Tab", true);
    CHECK(browser.text("document.activeElement.id") == "forward");
  }
}

TEST_CASE("page access: the slider and the buttons answer to keys", "[page]") {
  Chromium browser;
  browser.open(birds_page());
  const double last = browser.number("selection.step");
  browser.evaluate("document.querySelector('#step').focus()");
  browser.press("ArrowLeft");
  CHECK(browser.number("selection.step") == last - 1);
  const std::string words = browser.text("document.querySelector('#step').ariaValueText");
  CHECK_THAT(words, StartsWith("step ") && ContainsSubstring(", loss "));
  browser.press("Home");
  CHECK(browser.number("selection.step") == 0);
  CHECK(browser.text("document.querySelector('#step').ariaValueText") != words);
  browser.press("End");
  CHECK(browser.number("selection.step") == last);
  browser.evaluate("document.querySelector('#back').focus()");
  browser.press("Enter");
  browser.press(" ");
  CHECK(browser.number("selection.step") == last - 2);
}

TEST_CASE("page access: arrows move in the grid, Enter chooses, Escape goes back", "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    browser.evaluate("select({query: 2, key: 1})");
    browser.evaluate("document.querySelector('#grid [tabindex=\"0\"]').focus()");
    CHECK(browser.number("document.querySelectorAll('#grid [tabindex=\"0\"]').length") == 1);
    REQUIRE(browser.text(focused_cell) == "2 1");
    browser.press("ArrowUp");
    CHECK(browser.text(focused_cell) == "1 1");
    browser.press("ArrowLeft");
    CHECK(browser.text(focused_cell) == "1 0");
    browser.press("ArrowLeft");
    CHECK(browser.text(focused_cell) == "1 0");
    CHECK_THAT(browser.text_of("#inwords"),
               ContainsSubstring(browser.text("wordName(selection.sentence, 1)")));
    browser.press("Enter");
    CHECK(browser.text("selection.query + ' ' + selection.key") == "1 0");
    CHECK(browser.text(focused_cell) == "1 0");
    browser.press("ArrowDown");
    browser.press("ArrowRight");
    CHECK(browser.text(focused_cell) == "2 1");
    CHECK(browser.number("document.querySelectorAll('#grid [tabindex=\"0\"]').length") == 1);
    browser.press("Escape");
    CHECK(browser.is_true("selection.query === idsNow().length - 1"));
  }
}

TEST_CASE("page access: single letters act inside the attention part alone", "[page]") {
  Chromium browser;
  browser.open(poem_page());
  browser.evaluate("select({head: 0})");
  const std::string pressed =
      "document.querySelector('#numbers').getAttribute('aria-pressed') + selection.head";
  browser.evaluate("document.querySelector('#play').focus()");
  for (const char* key : {"n", "]", "t"}) browser.press(key);
  CHECK(browser.text(pressed) == "true0");
  browser.evaluate("document.querySelector('#grid [tabindex=\"0\"]').focus()");
  browser.press("n");
  browser.press("]");
  CHECK(browser.text(pressed) == "false1");
}

TEST_CASE("page access: a screen reader gets a name for everything", "[page]") {
  const std::set<std::string> named{"gridcell", "columnheader", "rowheader",  "button", "slider",
                                    "combobox", "image",        "spinbutton", "link",   "heading",
                                    "grid",     "textbox",      "checkbox",   "img",    "region"};
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    std::size_t cells = 0;
    double level = 0, to = 0;
    bool has_slider = false;
    std::string nameless, skipped;
    for (const StrictJson& node : browser.accessibility()) {
      const std::string role = field(node, "role"), name = field(node, "name");
      if (role == "gridcell") ++cells;
      if (named.contains(role) && name.empty())
        nameless += role + ": " + markup_of(browser, node) + "\n";
      if (role == "heading") {
        to = property_of(node, "level").number();
        if (to > level + 1) skipped += name + "\n";
        level = to;
      }
      has_slider = has_slider || (role == "slider" && name == "Step of training");
    }
    CHECK(static_cast<double>(cells) >=
          browser.number("document.querySelectorAll('#grid [role=gridcell]').length"));
    CHECK(nameless == "");
    CHECK(skipped == "");
    // For an input, Chromium's tree has the number and not the text that it tells a screen reader.
    CHECK(has_slider);
    CHECK(browser.is_true(
        "document.querySelector('#step').getAttribute('aria-valuetext') === stepInWords()"));
    CHECK(browser.text("document.documentElement.lang") == "en");
    CHECK(browser.text("document.querySelector('#inwords').ariaLive") == "polite");
  }
}

}  // namespace testing
