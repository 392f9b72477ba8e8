// A page on a telephone, in the dark, with little motion, in few colours and on paper.
#include <cstdlib>
#include <filesystem>

#include "tests/page/browser/chromium.h"
#include "tests/page/browser/page_files.h"
#include "tests/support/catch.h"

namespace testing {

namespace {

/// Where the environment variable FLEDGE_SCREENSHOTS wants pictures; "" for nowhere.
std::string screenshot_folder() {
  const char* folder = std::getenv("FLEDGE_SCREENSHOTS");
  if (folder == nullptr || *folder == '\0') return "";
  std::filesystem::create_directories(folder);
  return folder;
}

std::string name_of(const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem();
  return stem == "trained" ? "poem" : stem == "fledge" ? "course" : stem;
}

int pages_of(const std::string& pdf) {
  int count = 0;
  for (std::size_t at = pdf.find("/Type /Page"); at != pdf.npos;
       at = pdf.find("/Type /Page", at + 1))
    if (pdf[at + 11] != 's') ++count;
  return count;
}

}  // namespace

TEST_CASE("page media: no width scrolls the page sideways, light or dark", "[page]") {
  const std::string folder = screenshot_folder();
  Chromium browser;
  for (const std::string& path : all_pages())
    for (const int width : {320, 360, 768, 1280})
      for (const std::string scheme : {"light", "dark"}) {
        INFO(path << " " << width << " " << scheme);
        browser.size(width, 800);
        browser.media({{"prefers-color-scheme", scheme}});
        browser.open(path);
        CHECK(browser.number("document.documentElement.scrollWidth") <= width);
        // What is too wide without a box of its own that scrolls.
        CHECK(browser.text("[...document.querySelectorAll('main *, header *')].filter((node) => "
                           "node.getBoundingClientRect().right > innerWidth + 1 && "
                           "!node.closest('.figure, svg')).slice(0, 5)"
                           ".map((node) => node.outerHTML.slice(0, 80)).join('\\n')") == "");
        if (!folder.empty() && width != 320)
          browser.screenshot(folder + "/" + name_of(path) + "-" + std::to_string(width) + "-" +
                             scheme + ".png");
      }
}

TEST_CASE("page media: the colours follow the system, and the button overrides it", "[page]") {
  Chromium browser;
  const std::string paper = "getComputedStyle(document.body).backgroundColor";
  browser.media({{"prefers-color-scheme", "light"}});
  browser.open(birds_page());
  const std::string light = browser.text(paper);
  browser.media({{"prefers-color-scheme", "dark"}});
  const std::string dark = browser.text(paper);
  CHECK(light != dark);
  const auto press = [&] { browser.evaluate("document.querySelector('#theme').click()"); };
  press();
  CHECK(browser.text(paper) == light);
  press();
  CHECK(browser.text(paper) == dark);
  browser.media({{"prefers-color-scheme", "light"}});
  CHECK(browser.text(paper) == dark);
  press();
  CHECK(browser.text(paper) == light);
}

TEST_CASE("page media: with little motion nothing moves by itself", "[page]") {
  Chromium browser;
  browser.media({{"prefers-reduced-motion", "reduce"}});
  browser.open(birds_page());
  CHECK(browser.text("[...document.querySelectorAll('*')].filter((node) => "
                     "parseFloat(getComputedStyle(node).transitionDuration) > 0.01 || "
                     "parseFloat(getComputedStyle(node).animationDuration) > 0.01)"
                     ".map((node) => node.outerHTML.slice(0, 60)).slice(0, 5).join()") == "");
  CHECK(browser.number("document.getAnimations().length") == 0);
  CHECK(browser.messages().empty());
}

TEST_CASE("page media: the system's own few colours", "[page]") {
  Chromium browser;
  browser.media({{"forced-colors", "active"}});
  browser.open(birds_page());
  CHECK(browser.is_true("matchMedia('(forced-colors: active)').matches"));
  // A weight is a dot as well as a colour, and a check has a sign: colour alone carries nothing.
  CHECK(
      browser.is_true("[...document.querySelectorAll('#grid .cell circle')]"
                      ".some((dot) => Number(dot.getAttribute('r')) > 0.5)"));
  CHECK_THAT(browser.text_of("#check"), StartsWith("\u2713"));
  CHECK(browser.messages().empty());
}

TEST_CASE("page media: paper has the numbers and no controls, on a bounded number of sheets",
          "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    const std::string pdf = browser.pdf();
    CHECK_THAT(pdf.substr(0, 5), Equals("%PDF-"));
    CHECK(pdf.size() > 10'000);
    const int sheets = pages_of(pdf);
    CHECK(sheets >= 2);
    CHECK(sheets <= 40);
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
