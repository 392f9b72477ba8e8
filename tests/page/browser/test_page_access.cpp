// A page without a mouse and without eyes, on a telephone, in the dark, with little motion, in few
// colours and on paper: keys, focus, names for a screen reader, contrast, widths.
#include <cstdlib>
#include <set>

#include "examples/page/base64.h"
#include "tests/page/browser/pages.h"

namespace testing {

namespace {

/// Keeps the elements that a reader can reach with Tab; defines seenFocus(), which notes the one
/// that has the focus, and focusFaults(): those that were not reached, or show no focus.
constexpr const char* watch_focus = R"js((() => {
  const css = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  const wanted = [...document.querySelectorAll(css)].filter((node) =>
    !node.disabled && node.tabIndex >= 0 && node.checkVisibility({visibilityProperty: true}));
  const reached = new Set(), dim = new Set(), name = (node) => node.outerHTML.slice(0, 80);
  window.seenFocus = () => {
    const node = document.activeElement, style = getComputedStyle(node);
    if (node === document.body || reached.has(node)) return false;
    if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) === 0) dim.add(name(node));
    return reached.add(node);
  };
  window.focusFaults = () =>
    [...wanted.filter((node) => node.isConnected && !reached.has(node)).map(name), ...dim].join();
  return wanted.length;
})())js";

/// The texts whose contrast is too small. WCAG 2.1, success criterion 1.4.3: at least 4.5, and 3
/// for large text; what cannot be used now is left out. A canvas turns colours into bytes.
constexpr const char* weak_texts = R"js((() => {
  const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const light = (colours) => {
    for (const [colour, alpha] of colours) {
      [paint.globalAlpha, paint.fillStyle] = [alpha, colour];
      paint.fillRect(0, 0, 1, 1);
    }
    const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].map((x) => x / 255)
      .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const weak = [], isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  for (const node of document.body.querySelectorAll("*")) {
    const hasText = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!hasText || node.closest("script, noscript, :disabled, option, title, .later, .hidden-word")
      || !node.checkVisibility({opacityProperty: true})) continue;
    const behind = [], style = getComputedStyle(node), svg = node.closest("svg");
    let alpha = 1;
    for (let at = node; at; at = at.parentElement) {
      alpha *= getComputedStyle(at).opacity;
      if (!svg?.contains(at)) behind.unshift([getComputedStyle(at).backgroundColor, 1]);
    }
    behind.unshift([isDark ? "black" : "white", 1]);
    const [b, a] = [light(behind), light([[svg ? style.fill : style.color, alpha]])];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5))
      weak.push(`${ratio.toFixed(2)} ${node.outerHTML.slice(0, 90)}`);
  }
  return weak.slice(0, 8).join("\n");
})())js";

/// What is too wide without a box of its own that scrolls; ids that two elements have.
constexpr const char* too_wide = R"js([...document.querySelectorAll("#page *")]
  .filter((node) => node.getBoundingClientRect().right > innerWidth + 1 && node.checkVisibility() &&
    !node.closest(".scroll, .stage, #stage, #events, svg, math"))
  .map((node) => node.outerHTML.slice(0, 90))
  .concat(document.documentElement.scrollWidth > innerWidth ? ["the page"] : [])
  .concat([...document.querySelectorAll("[id]")].map(({id}) => id)
    .filter((id, i, all) => all.indexOf(id) !== i)).slice(0, 5).join("\n"))js";

/// The parts of the first screen that a reader does not see without scrolling.
constexpr const char* below_the_window = R"js(["h1", ".lede", "#stage", "#next", "#say", "#go",
  "#hide", "#other", "#own", ".curve-box"].filter((css) => {
    const box = document.querySelector(css).getBoundingClientRect();
    return box.height === 0 || box.top < 0 || box.bottom > innerHeight;
  }).join())js";

constexpr const char* moving_things = R"js([...document.querySelectorAll("*")].filter((node) =>
  parseFloat(getComputedStyle(node).transitionDuration) > 0.01 || node.getAnimations().length > 0)
  .map((node) => node.outerHTML.slice(0, 60)).slice(0, 5).join())js";

std::string field(const StrictJson& node, std::string_view key) {
  const bool has_text = node.contains(key) && node[key].contains("value");
  return has_text ? node[key]["value"].string() : "";
}

/// The folder of pictures of the pages; "": none is kept.
std::filesystem::path pictures() {
  const char* folder = std::getenv("FLEDGE_SCREENSHOTS");
  return folder == nullptr ? "" : folder;
}
void keep_picture(Chromium& browser, const std::string& name) {
  std::filesystem::create_directories(pictures());
  const StrictJson picture = browser.call("Page.captureScreenshot", {{"format", "png"}});
  write_file(pictures() / (name + ".png"), fledge::page::base64_decoded(picture["data"].string()));
}

}  // namespace

TEST_CASE("page access: keys reach and work all controls, and the focus is visible") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    opened(browser, path);
    learned(browser);
    const int wanted = static_cast<int>(browser.number(watch_focus));
    CHECK(wanted > 30);
    browser.press("Tab");
    for (int i = 0; i < wanted + 20 && browser.is_true("seenFocus()"); ++i) browser.press("Tab");
    CHECK(browser.text("focusFaults()") == "");
  }
  // The whole story without a mouse: a guess, training, a word that is hidden, another sentence.
  opened(browser, birds_page());
  const auto press = [&](const std::string& selector, const std::string& key,
                         const std::string& then) {
    browser.evaluate("t.one(`" + selector + "`).focus()");
    browser.press(key);
    INFO(selector << " " << key);
    CHECK_NOTHROW(browser.until(then, 60));
    browser.evaluate("t.settled()");
  };
  press("#stage [data-key='1']", "Enter", "learning.guess === 1");
  press("#go", " ", "learning.hasBegun && !learning.isOn && state.step === 500");
  press("#hide", "Enter", "state.hidden.size === 1");
  press("#other", " ", "state.sentence === 'cats sometimes walk'");
  press("#time", "Home", "state.step === 0");
  press("#time", "End", "state.step === 500");
  const std::string cell = "(({query, key}) => query + ' ' + key)";
  press("#grid [tabindex='0']", "ArrowUp", cell + "(document.activeElement.dataset) === '2 1'");
  press("#grid :focus", "ArrowLeft", cell + "(document.activeElement.dataset) === '2 0'");
  press("#grid :focus", "Enter",
        cell +
            "(state) === '2 0' && t.one('#grid [tabindex=\"0\"]') === "
            "document.activeElement");
  press(".term", "Enter", "t.isShown('#meaning')");
  check_quiet(browser);
}

TEST_CASE("page access: a screen reader gets a name for everything") {
  const std::set<std::string> named{"gridcell", "columnheader", "rowheader",  "button", "slider",
                                    "combobox", "image",        "spinbutton", "link",   "heading",
                                    "grid",     "textbox",      "checkbox",   "img",    "region"};
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    opened(browser, path);
    browser.evaluate("t.settled()");
    browser.call("Accessibility.enable");
    std::set<std::string> roles;
    std::string faults;
    double level = 0;
    const StrictJson tree = browser.call("Accessibility.getFullAXTree");
    for (const StrictJson& node : tree["nodes"].array()) {
      const std::string role = field(node, "role"), name = field(node, "name");
      if (node["ignored"].boolean() || !named.contains(role)) continue;
      roles.insert(role);
      const Chromium::Params at{{"backendNodeId", node["backendDOMNodeId"].number()}};
      if (name.empty())
        faults += browser.call("DOM.getOuterHTML", at)["outerHTML"].string().substr(0, 120) + "\n";
      for (const StrictJson& property : node["properties"].array()) {
        if (role != "heading" || property["name"].string() != "level") continue;
        const double to = property["value"]["value"].number();
        if (to > level + 1) faults += "a level is left out before " + name + "\n";
        level = to;
      }
    }
    browser.call("Accessibility.disable");
    CHECK(faults == "");
    for (const char* role : {"gridcell", "button", "slider", "textbox", "checkbox", "heading"})
      CHECK(roles.contains(role));
    CHECK(browser.text("document.documentElement.lang") == "en");
    CHECK(browser.text("document.querySelector('#say').ariaLive") == "polite");
    CHECK_THAT(browser.text("document.querySelector('#time').getAttribute('aria-valuetext')"),
               StartsWith("step "));
  }
}

TEST_CASE("page access: in every width and colour it fits and can be read; pictures of it") {
  const std::vector<std::pair<int, int>> windows{
      {320, 640}, {390, 844}, {768, 1024}, {1280, 800}, {1920, 1080}};
  Chromium browser;
  for (const std::string& path : all_pages()) {
    opened(browser, path);
    for (const std::string when : {"begin", "end"}) {
      if (when == "end") learned(browser);
      for (const auto& [width, height] : windows) {
        INFO(path << " " << width << " " << when);
        browser.window(width, height);
        browser.evaluate("scrollTo({top: 0, behavior: 'instant'}); t.settled()");
        CHECK(browser.text(too_wide) == "");
        if (path == birds_page() && (width == 390 || width == 1280))
          CHECK(browser.text(below_the_window) == "");
        const bool is_kept = !pictures().empty() && width > 320;
        if (width != 1280 && !is_kept) continue;
        browser.window(width, 9000);  // all parts are near the window, so that each is drawn
        for (const std::string scheme : {"light", "dark"}) {
          INFO(scheme);
          browser.media({{"prefers-color-scheme", scheme}});
          browser.evaluate("t.settled()");
          if (width == 1280) CHECK(browser.text(weak_texts) == "");
          if (!is_kept) continue;
          keep_picture(browser, std::filesystem::path(path).stem().string() + "-" + when + "-" +
                                    std::to_string(width) + "-" + scheme);
        }
      }
    }
    check_quiet(browser);
  }
}

TEST_CASE("page access: a lesson fits and can be read in each width and colour; pictures of it") {
  Chromium browser;
  for (const std::string lesson : {"attention/one_head", "attention/what_can_be_raised"})
    for (const int width : {320, 390, 1280, 1920}) {
      browser.window(width, 3000);
      opened(browser, course_page, "#lesson=" + lesson);
      browser.evaluate(
          "t.click('#skip'); document.querySelectorAll('details').forEach((one) => { "
          "one.open = true; }); t.settled()");
      for (const std::string scheme : {"light", "dark"}) {
        INFO(lesson << " " << width << " " << scheme);
        browser.media({{"prefers-color-scheme", scheme}});
        browser.evaluate("t.settled()");
        CHECK(browser.text(too_wide) == "");
        CHECK(browser.text(weak_texts) == "");
        if (!pictures().empty())
          keep_picture(browser, lesson.substr(10) + "-" + std::to_string(width) + "-" + scheme);
      }
      check_quiet(browser);
    }
}

TEST_CASE("page access: colours of the system, little motion, few colours, and paper") {
  Chromium browser;
  const std::string paper = "getComputedStyle(document.body).backgroundColor";
  browser.media({{"prefers-color-scheme", "light"}});
  opened(browser, birds_page());
  const std::string light = browser.text(paper);
  browser.media({{"prefers-color-scheme", "dark"}});
  CHECK(browser.text(paper) != light);
  learned(browser);
  browser.evaluate("t.click('#hide'); t.settled()");
  CHECK(browser.text(moving_things) == "");
  browser.media({{"forced-colors", "active"}});
  // A weight is a number and the size of a dot as well as a colour.
  CHECK(browser.is_true("matchMedia('(forced-colors: active)').matches"));
  CHECK(
      browser.is_true("[...document.querySelectorAll('#grid circle')]"
                      ".some((dot) => Number(dot.getAttribute('r')) > 0.8)"));
  check_quiet(browser);
  browser.media({});
  for (const std::string& path : all_pages()) {  // the numbers and no controls, on so many sheets
    INFO(path);
    opened(browser, path);
    const std::string pdf = fledge::page::base64_decoded(
        browser.call("Page.printToPDF", {{"printBackground", true}})["data"].string());
    int sheets = 0;
    for (std::size_t at = 0; (at = pdf.find("/Type /Page", at)) != pdf.npos; ++at)
      sheets += pdf[at + 11] != 's';
    CHECK((sheets >= 2 && sheets <= 20));
    browser.media({}, "print");
    CHECK(browser.text("['#go', '#hide', '#own', '#learn-text', '#train'].filter((css) => "
                       "document.querySelector(css).checkVisibility()).join()") == "");
    CHECK(browser.is_true("t.isShown('#grid') && t.isShown('#stage')"));
    browser.media({});
  }
}

}  // namespace testing
