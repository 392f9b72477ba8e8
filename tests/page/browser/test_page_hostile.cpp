// Text of users stays text, whatever it looks like; and the policy stops a script that is not ours.
#include <sstream>

#include "tests/page/browser/pages.h"

namespace testing {

namespace {

/// Texts that end a context, run a script, turn the direction or take much room somewhere.
std::vector<std::string> hostile_words() {
  std::vector<std::string> words{"\t\n\r",
                                 std::string("a\0b", 3),
                                 std::string(100'000, 'w'),
                                 "\\",
                                 "\" onmouseover=\"window.__xss=1",
                                 "\u202Eright to left\u202C"};
  std::istringstream lines(R"(</script>
</script><script>window.__xss = 1</script>|</SCRIPT >|<script>window.__xss = 1</script>
<!--|-->|<!--<script>|]]>|<![CDATA[|</title><title>changed</title>|</style>|</main>|"|'|&
<img src=x onerror=window.__xss=1>|<svg onload=window.__xss=1>|javascript:window.__xss=1
<iframe srcdoc='<script>parent.__xss=1</script>'>|' onfocus='window.__xss=1|%s%n|=1+1
`${window.__xss = 1}`|${window.__xss = 1}|{{constructor.constructor('window.__xss=1')()}}
\u003cscript\u003e|&lt;b&gt;&amp;&#60;|__proto__|constructor|<base href=https://example.com/>
<meta http-equiv=refresh content=0>)");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line);
    for (std::string word; std::getline(parts, word, '|');) words.push_back(word);
  }
  for (const char* word :
       {"\u2028\u2029", "\u2066\u05D0\u05D1\u2069", "\u0645\u0631\u062D\u0628\u0627",
        "\u200B\u200D\uFEFF", "e\u0301\u0302\u0303", "\U0010FFFF", "\uFFFD",
        "\U0001F426\U0001F468\u200D\U0001F469\u200D\U0001F467"})
    words.emplace_back(word);
  return words;
}

void check_harmless(Chromium& browser) {
  CHECK(browser.is_true("window.__xss === undefined"));
  CHECK(browser.text("window.fledgeErrors.join()") == "");
  CHECK(browser.messages() == "");
  CHECK(browser.requests().size() == 1);
  CHECK(browser.number("document.scripts.length") == 2);
  CHECK(browser.number("document.querySelectorAll('img, iframe, base, object, embed').length") ==
        0);
}

}  // namespace

TEST_CASE("page hostile: labels stay text in every part", "[page]") {
  const Folder folder;
  Chromium browser;
  const std::string words = fledge::Json(hostile_words()).text();
  browser.open(birds_page());
  const std::string title = browser.text("document.title");
  browser.open(changed_page(browser, folder, birds_page(),
                            "const hostile = " + words +
                                "; data.run.words = data.run.words.map((_, i) => "
                                "hostile[i % hostile.length])"));
  CHECK(browser.text("document.title") == title);
  CHECK(
      browser.is_true("((hostile) => page.run.words.length > hostile.length / 2 && "
                      "page.run.words.every((word, i) => word === hostile[i % hostile.length]))(" +
                      words + ")"));
  check_harmless(browser);
  // Each of them in turn as every word of the sentence, at two steps.
  CHECK(browser.text(words + R"js(.map((word) => {
    page.run.words.fill(word);
    select({step: 0, query: 0, key: 0});
    select({step: page.run.snapshots.length - 1, query: idsNow().length - 1, key: 1});
    const texts = [...document.querySelectorAll("#grid [role=rowheader], #grid [role=columnheader]")];
    return texts.length === 2 * idsNow().length && texts.every(({textContent}) => textContent === word) &&
      document.querySelector("#inwords").textContent.length > 0 ? "" : word.slice(0, 100);
  }).join(""))js") == "");
  check_harmless(browser);
}

TEST_CASE("page hostile: a text, its file's name and the watched words stay text", "[page]") {
  std::string text, with_long_word;
  for (const std::string& word : hostile_words())
    if (word.size() < 1000) text += word + " birds walk\n";
  for (int i = 0; i < 20; ++i) with_long_word += "birds walk and birds fly\n";
  with_long_word += std::string(100'000, 'w') + " birds walk\n";
  Chromium browser;
  for (const auto& [tokens, read] : {std::pair{"char", text},
                                     {"byte", text + "\xFF\xFE\xC0\x80\xED\xA0\x80 birds walk\n"},
                                     {"word", text},
                                     {"word", with_long_word}}) {
    INFO(tokens);
    const Folder folder;
    browser.open(
        trained_page(folder, read,
                     {"--tokens", tokens, "--layers", "1", "--heads", "1", "--width", "8",
                      "--context", read == with_long_word ? "8" : "48", "--probe",
                      read == with_long_word ? "birds" : "<script> ${window.__xss = 1} \" '"},
                     "<img src=x onerror=window.__xss=1>\"'.txt"));
    const std::string title = browser.text("document.title");
    CHECK(title == browser.text("page.run.title"));
    CHECK(browser.text_of("h1") == title);
    for (const char* step : {"0", "page.run.snapshots.length - 1"})
      browser.evaluate("select({step: " + std::string(step) + "})");
    check_harmless(browser);
    CHECK(browser.text("document.title") == title);
    CHECK(browser.is_true("document.querySelector('#grid') !== null"));
    CHECK(browser.is_true("document.documentElement.scrollWidth <= innerWidth"));
  }
}

TEST_CASE("page hostile: the policy blocks a script that somebody adds", "[page]") {
  const Folder folder;
  Chromium browser;
  write_file(folder / "injected.js", "window.__xss = 1");
  for (const std::string injected :
       {"<script>window.__xss = 1</script>", "<img src=x onerror='window.__xss = 1'>",
        "<script src=injected.js></script>",
        "<iframe srcdoc='<script>parent.__xss = 1</script>'></iframe>",
        "<style>body { --injected: 1 }</style>", "<body onload='window.__xss = 1'>"}) {
    INFO(injected);
    std::string html = read_file(birds_page());
    html.insert(html.find("<script type="), injected);
    write_file(folder / "injected.html", html);
    browser.open(folder / "injected.html");
    CHECK(browser.is_true("window.__xss === undefined"));
    CHECK(browser.text("getComputedStyle(document.body).getPropertyValue('--injected')") == "");
    CHECK(browser.messages() != "");
    CHECK(browser.is_true("document.querySelector('#grid') !== null"));
  }
  // And one that the page itself would insert.
  browser.open(birds_page());
  CHECK_THROWS_WITH(browser.evaluate("document.body.innerHTML = '<b>text</b>'"),
                    ContainsSubstring("TrustedHTML"));
}

}  // namespace testing
