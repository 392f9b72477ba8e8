// The pages under test. Each is made once, by the programs that readers use.
#pragma once

#include "tests/page/browser/chromium.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

namespace testing {

inline const std::string build_folder = FLEDGE_BINARY_DIR;

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A page that this program writes to the file FOLDER/page.html.
inline std::string made_page(const Folder& folder, std::vector<std::string> argv) {
  argv.insert(argv.end(), {"--page", folder / "page.html"});
  const Result result = run(argv, {{"FLEDGE_THREADS", "1"}});
  if (result.status != 0) throw std::runtime_error(argv[0] + ": " + result.err);
  return folder / "page.html";
}
/// A page of fledge train over this text.
inline std::string trained_page(const Folder& folder, const std::string& text,
                                const std::vector<std::string>& options,
                                const std::string& text_name) {
  write_file(folder / text_name, text);
  std::vector<std::string> argv{
      build_folder + "/fledge", "train", folder / text_name, "-q", "--no-save", "--steps", "60"};
  argv.insert(argv.end(), options.begin(), options.end());
  return made_page(folder, argv);
}

/// The page of the main job: birds --page. One layer, one head.
inline const std::string& birds_page() {
  static const Folder folder;
  static const std::string path = made_page(folder, {build_folder + "/birds"});
  return path;
}
/// The page of a poem: fledge train --page. Two layers with two heads.
inline const std::string& poem_page() {
  static const Folder folder;
  static const std::string path = [] {
    std::string text;
    for (int verse = 0; verse < 12; ++verse)
      text +=
          "the cat sat on the mat and the dog sat on the log\n"
          "a bird can sing and a fish can swim in the blue lake\n";
    return trained_page(folder, text,
                        {"--tokens", "word", "--layers", "2", "--heads", "2", "--width", "16",
                         "--context", "12", "--watch", "sat:cat"},
                        "poem.txt");
  }();
  return path;
}
/// All of these and, if it was built, the page of the course.
inline std::vector<std::string> all_pages() {
  std::vector<std::string> paths{birds_page(), poem_page()};
  if (std::filesystem::exists(build_folder + "/fledge.html"))
    paths.push_back(build_folder + "/fledge.html");
  return paths;
}

/// A copy of a page whose data a script has changed: it may change `data`, which has `run`.
inline std::string changed_page(Chromium& browser, const Folder& folder, const std::string& page,
                                const std::string& script) {
  browser.open(page);
  const std::string data = browser.text(
      "(() => { const data = JSON.parse(document.querySelector('#data').textContent); " + script +
      "; return JSON.stringify(data).replace(/[<>&\\u2028\\u2029]/g, (c) => "
      "'\\\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')); })()");
  std::string html = read_file(page);
  const std::string mark = "id=\"data\">";
  const std::size_t begin = html.find(mark) + mark.size();
  write_file(folder / "changed.html",
             html.replace(begin, html.find("</script>", begin) - begin, data));
  return folder / "changed.html";
}

/// A page in a browser, and what must hold on each: scripts that return "" or what is wrong.
struct Check {
  const char *name, *script;
};
inline void check_pages(const std::vector<std::string>& paths, const std::vector<Check>& checks) {
  Chromium browser;
  for (const std::string& path : paths)
    for (const auto& [name, script] : checks) {
      INFO(path << ": " << name);
      browser.open(path);
      CHECK(browser.text(script) == "");
      CHECK(browser.messages() == "");
    }
}

}  // namespace testing
