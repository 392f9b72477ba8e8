// Text can be read: its colour differs enough from what is behind it.
#include "tests/page/browser/chromium.h"
#include "tests/page/browser/page_files.h"
#include "tests/support/catch.h"

namespace testing {

namespace {

/// The texts whose contrast is too small. WCAG 2.1, success criterion 1.4.3: at least 4.5, and 3 for
/// large text. A canvas turns any notation of a colour into bytes.
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

}  // namespace

TEST_CASE("page contrast: text has a contrast of 4.5 to its background, light and dark", "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages())
    for (const std::string scheme : {"light", "dark"}) {
      INFO(path << " " << scheme);
      browser.media({{"prefers-color-scheme", scheme}});
      browser.open(path);
      CHECK(browser.text(weak_texts) == "");
      browser.evaluate("select({step: 0})");
      CHECK(browser.text(weak_texts) == "");
    }
}

}  // namespace testing
