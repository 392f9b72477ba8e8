// The pages under test, made by the programs that readers use, and what readers do first.
#pragma once

#include "tests/page/browser/chromium.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

namespace testing {

inline const std::string build_folder = FLEDGE_BINARY_DIR;

/// What a program of the build prints: the words of a command, as a shell reads them.
inline std::string output_of(const std::string& command) {
  const Result result = run({"sh", "-c", build_folder + "/" + command}, {{"FLEDGE_THREADS", "1"}});
  if (result.status != 0) throw std::runtime_error(command + ": " + result.err);
  return result.out;
}

/// The page of the main job, which trains in front of the reader. One layer, one head. make page-test
/// makes it.
inline std::string birds_page() { return build_folder + "/birds.html"; }

inline std::string poem() {
  std::string text;
  for (int verse = 0; verse < 12; ++verse)
    text +=
        "the cat sat on the mat and the dog sat on the log\n"
        "a bird can sing and a fish can swim in the blue lake\n";
  return text;
}
/// A run of fledge train in FOLDER/run, with its page. Two layers with two heads.
inline const Folder& poem_run() {
  static const Folder folder;
  if (std::filesystem::exists(folder / "poem.txt")) return folder;
  write_file(folder / "poem.txt", poem());
  output_of("fledge train " + folder / "poem.txt" +
            " -q --tokens word --steps 60 --layers 2 --heads 2 --width 16 --context 12 -o " +
            folder / "run" + " --page " + folder / "poem.html");
  return folder;
}
inline std::string poem_page() { return poem_run() / "poem.html"; }

/// A page of a course with two lessons: make page-test builds it.
inline const std::string course_page = build_folder + "/page/course.html";

inline std::vector<std::string> all_pages() { return {birds_page(), course_page, poem_page()}; }

/// What the tests use in a page. t.put(css, value): as a reader who writes or chooses. t.next():
/// the likeliest next words; t.top(): the first. t.settled(): the engine has answered all questions of
/// the page, which has drawn the answers. t.changed("grid cell"): these parts have changed since
/// t.note().
inline constexpr const char* helpers = R"js(window.t = {
  one: (css) => document.querySelector(css),
  text: (css) => t.one(css).textContent,
  click: (css) => t.one(css).click(),
  put(css, value) {
    t.one(css).value = value;
    for (const type of ["input", "change"])
      t.one(css).dispatchEvent(new Event(type, {bubbles: true}));
  },
  isShown: (css) => t.one(css).checkVisibility(),
  next: () => [1, 2, 3, 4, 5].map((i) => t.text(`#next [aria-posinset="${i}"]`)).join(),
  top: () => t.text("#next [aria-posinset='1'] bdi"),
  async settled() {
    let isNew = true;
    const watch = new MutationObserver(() => { isNew = true; });
    watch.observe(document, {subtree: true, childList: true, attributes: true});
    for (let quiet = 0; quiet < 3; quiet = isNew ? 0 : quiet + 1) {
      isNew = false;
      await engine.weights();
      await new Promise((done) => setTimeout(done, 40));
    }
    watch.disconnect();
  },
  shown: () => ({time: t.one("#time").value,
    arcs: [...document.querySelectorAll("#stage .arc")].map((arc) => arc.innerHTML).join(),
    ...Object.fromEntries(["say", "next", "loss", "grid", "cell", "gradient", "lens", "map"]
      .map((id) => [id, t.one("#" + id).innerHTML]))}),
  note() { t.before = t.shown(); },
  changed: (parts) => parts.split(" ").every((part) => t.before[part] !== t.shown()[part])};
)js";

/// Opens a page and waits until the engine has read its sentence.
inline void opened(Chromium& browser, const std::string& path, const std::string& fragment = "") {
  browser.open(path, fragment);
  browser.until("page.isReady", 30);
  browser.evaluate(helpers);
}
struct OpenPage : Chromium {
  explicit OpenPage(const std::string& path, const std::string& fragment = "") {
    opened(*this, path, fragment);
  }
};
/// Trains, or plays a recorded run, to its end.
inline void learned(Chromium& browser) {
  browser.evaluate("t.click('#go')");
  browser.until("learning.isOn");
  browser.until("!learning.isOn");
  browser.evaluate("t.settled()");
}
/// What a reader does, if anything, and what is true when the page has settled.
struct Step {
  std::string does, then;
};
inline void check_steps(Chromium& browser, const std::vector<Step>& steps) {
  for (const auto& [does, then] : steps) {
    INFO(does << " -> " << then);
    if (!does.empty()) browser.evaluate("t.note(); " + does);
    if (!does.empty()) browser.evaluate("t.settled()");
    CHECK(browser.is_true(then));
  }
}

/// No message anywhere, no request but that of the file and of workers, nothing that ran.
inline void check_quiet(Chromium& browser) {
  CHECK(browser.messages() == "");
  CHECK(browser.text("window.fledgeErrors.join()") == "");
  CHECK(browser.is_true("window.__xss === undefined"));
  int files = 0;
  for (const std::string& address : browser.requests()) {
    files += address.starts_with("file:");
    CHECK((address.starts_with("file:") || address.starts_with("blob:")));
  }
  CHECK(files == 1);
}

}  // namespace testing
