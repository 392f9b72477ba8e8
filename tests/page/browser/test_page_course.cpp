// The page of the course: what it has beside the page of a run.
#include <cmath>

#include "tests/page/browser/chromium.h"
#include "tests/page/browser/page_files.h"
#include "tests/support/catch.h"

namespace testing {

namespace {

/// Opens the page of the course, which make page writes.
void open_course(Chromium& browser) {
  INFO("build/fledge.html is missing: run make page, or make page-test");
  REQUIRE(!course_page().empty());
  browser.open(course_page());
}

/// Types these answers into an exercise (from 0) and sends it; the verdict's class.
std::string verdict(Chromium& browser, int exercise, const std::string& answers) {
  return browser.text(
      "((form, answers) => { form.querySelectorAll('input').forEach((input, i) => { "
      "input.value = answers[i]; }); form.querySelector('button').click(); "
      "return form.querySelector('[role=status]').className; })("
      "document.querySelectorAll('#exercises form')[" +
      std::to_string(exercise) + "], " + answers + ")");
}

}  // namespace

TEST_CASE("page course: the triangle follows the keys, and its products are right", "[page]") {
  Chromium browser;
  open_course(browser);
  CHECK(browser.number("page.triangle.ways.length") == 5);
  const std::string row =
      "document.querySelector('#triangle [role=slider]').getAttribute('aria-valuetext')";
  const std::string before = browser.text(row), words = browser.text_of("#triangle-words");
  browser.evaluate("document.querySelector('#triangle [role=slider]').focus()");
  for (int i = 0; i < 5; ++i) browser.press("ArrowLeft");
  CHECK(browser.text(row) != before);
  CHECK(browser.text_of("#triangle-words") != words);
  // In the corner 'birds' the product is v1·v1 = 0.14; no row is better.
  CHECK(std::abs(browser.number("mixedBy([1, 0, 0]).product") - 0.14) < 1e-6);
  CHECK(
      browser.is_true("[[0, 1, 0], [0, 0, 1], [0.5, 0.5, 0], [0.9, 0.05, 0.05]]"
                      ".every((row) => mixedBy(row).product < 0.14)"));
  // Q and K learn: the corner 'birds'. Q, K and V learn: the corner 'walk'.
  CHECK(
      browser.is_true("page.triangle.ways.find(({learns}) => learns === 'Q and K')"
                      ".rows.at(-1)[0] > 0.95"));
  CHECK(
      browser.is_true("page.triangle.ways.find(({learns}) => learns === 'Q, K and V')"
                      ".rows.at(-1)[2] > 0.95"));
  CHECK(browser.messages().empty());
}

TEST_CASE("page course: the exercises know right answers from wrong ones", "[page]") {
  Chromium browser;
  open_course(browser);
  CHECK(verdict(browser, 0, "['', '', '']") == "bad");
  CHECK(verdict(browser, 0, "[1, 0, 0]") == "bad");
  CHECK(verdict(browser, 0, "[0, 0, 1]") == "ok");
  CHECK(verdict(browser, 0, "[0.6, 0.1, 0.4]") == "bad");
  CHECK(verdict(browser, 1, "[0.14]") == "ok");
  CHECK(verdict(browser, 1, "[0.2]") == "bad");
  CHECK(browser.text("location.protocol") == "file:");
  CHECK(browser.requests().size() == 1);
  CHECK(browser.messages().empty());
}

TEST_CASE("page course: the table of broken models has a row for each, in the data's numbers",
          "[page]") {
  Chromium browser;
  open_course(browser);
  const StrictJson data = strict_json(data_text(read_file(course_page())));
  const auto& rows = data["variants"]["rows"].array();
  REQUIRE(rows.size() > 5);
  const StrictJson cells = browser.evaluate(
      "[...document.querySelectorAll('#variants tbody tr')].map((row) => "
      "[row.cells[0].textContent, row.cells[1].textContent])");
  REQUIRE(cells.array().size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(cells[i][0].string() == rows[i]["name"].string());
    CHECK(std::abs(std::stod(cells[i][1].string()) - rows[i]["loss"].number()) <= 0.5e-3 + 1e-9);
  }
}

}  // namespace testing
