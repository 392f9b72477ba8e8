// The driver itself, on files written by hand: what the tests of pages rely on to see faults.
#include "tests/page/browser/chromium.h"
#include "tests/support/catch.h"

namespace testing {

TEST_CASE("chromium: messages, requests, values, exceptions, keys and time limits", "[page]") {
  const Folder folder;
  const std::string bad = folder / "bad.html", good = folder / "good.html";
  write_file(bad,
             "<!DOCTYPE html><meta http-equiv=Content-Security-Policy content=\"img-src 'none'\">"
             "<title>t</title><script>console.error('seen', 3);"
             "setTimeout(() => { throw new Error('thrown'); });</script>"
             "<img src=http://127.0.0.1:9/a.png><script src=missing.js></script>");
  write_file(good, "<!DOCTYPE html><title>t</title><input id=i><p>text</p>");
  Chromium browser;
  browser.open(bad);
  for (const char* part :
       {"\"seen\"", "Error: thrown", "Content Security Policy", "ContentSecurityPolicyIssue"})
    CHECK_THAT(browser.messages(), ContainsSubstring(part));
  const auto& requests = browser.requests();
  CHECK(std::count(requests.begin(), requests.end(), "file://" + (folder / "missing.js")) == 1);
  browser.open(good, "part");
  CHECK(browser.messages() == "");
  CHECK(browser.requests().size() == 1);
  CHECK(browser.text("location.hash") == "#part");
  CHECK(browser.evaluate("({a: [1, 'x\\u0000\\u2028\"']})")["a"][1].string() ==
        std::string("x\0\u2028\"", 6));
  CHECK(browser.number("Promise.resolve(4)") == 4);
  CHECK(browser.evaluate("undefined").is_null());
  CHECK_THROWS_WITH(browser.evaluate("nothing.there"), ContainsSubstring("nothing is not defined"));
  CHECK_THROWS_WITH(browser.call("Page.noSuchMethod"), ContainsSubstring("wasn't found"));
  browser.press("Tab");
  for (const char* key : {"a", " ", "b"}) browser.press(key);
  CHECK(browser.text("document.activeElement.value") == "a b");
  CHECK_THROWS_WITH(browser.call("Runtime.evaluate", {{"expression", "for (;;);"}}, 0.5),
                    ContainsSubstring("no answer in time"));
}

}  // namespace testing
