// The book in the page: a lesson opens by its address, takes a guess and says what it means; its
// figure moves by keys, and its numbers are those of the engine.
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include "tests/page/browser/pages.h"

namespace testing {

TEST_CASE("page book: a lesson by its address, a guess, a figure, the next lesson") {
  OpenPage browser(course_page, "#lesson=attention/one_head");
  CHECK(browser.text("t.text('#lesson h1')") == "One head: query, key and value");
  CHECK(browser.is_true("document.activeElement === t.one('#lesson h1')"));
  CHECK(browser.is_true("!t.isShown('#first') && !t.isShown('#grid') && !t.one('.verdict p')"));

  // A wrong guess, by keys: what it would have meant, and the address keeps it.
  const auto guess = [&](const std::string& number) {
    browser.evaluate("t.one('#guess-0').focus(); t.one('#guess-0').value = ''");
    for (const char key : number) browser.press({key});
    browser.evaluate("t.put('#guess-0', '" + number + "')");
    browser.press("Enter");
    browser.evaluate("t.settled()");
    return browser.text("t.text('.verdict')");
  };
  CHECK_THAT(guess("0.5"), StartsWith("you guessed 0.5; it is 0.986: that is an even split"));
  CHECK_THAT(guess("0.7"), StartsWith("you guessed 0.7; it is 0.986: the scores of the adj"));
  CHECK(guess("98 %") == "you guessed 98 %, and it is 0.986.");
  CHECK(guess("0,98") == "you guessed 0,98, and it is 0.986.");
  CHECK(browser.is_true("location.hash.includes('attention/one_head=0%2C98')"));

  // Keys make 'blue' no adjective: its weight falls, and all weights are those of fledge_head().
  const std::string bar = "t.one('[aria-label=\"blue, adjective\"]')",
                    weights =
                        "[...document.querySelectorAll('.head-table tbody tr:not(.result)')]"
                        ".map((row) => Number(row.lastChild.textContent))";
  CHECK(browser.number(weights + "[2]") == 0.493);
  browser.evaluate(bar + ".focus()");
  for (int i = 0; i < 10; ++i) browser.press("ArrowDown");
  browser.evaluate("t.settled()");
  CHECK(browser.number("Number(" + bar + ".getAttribute('aria-valuenow'))") == 0);
  CHECK(browser.number(weights + "[2]") < 0.05);
  CHECK(browser.is_true("document.activeElement === " + bar));
  CHECK(browser.is_true(
      "engine.head({x: [[0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]], causal: true, "
      "wq: headSpecs.one_head.wq, wk: headSpecs.one_head.wk}).then((out) => "
      "out.weights[3].every((weight, j) => Math.abs(weight - " +
      weights + "[j]) < 6e-4))"));

  // Claims are folded; a text is a text; a link leads to the lesson.
  CHECK(
      browser.is_true("!t.one('#lesson details').open && !t.one('#lesson p b b') && "
                      "t.text('#lesson').includes('<b>Not a tag</b>, and 2 * 3 * 4 is')"));
  CHECK(browser.text("t.text('.claims summary')") == "FALSE: 1 of 2 claims");
  CHECK(browser.text("t.one('#lesson p a[href$=raised]').hash") ==
        "#lesson=attention/what_can_be_raised");
  browser.evaluate("t.one('.turn a').focus()");
  browser.press("Enter");
  browser.until("book.open?.name === 'attention/what_can_be_raised'");
  browser.evaluate("[...document.querySelectorAll('.guess button')].at(0).focus()");
  browser.press("Enter");
  CHECK(browser.text("t.text('.verdict')") ==
        "you guessed Q; it is V: Q only chooses among the values that there are.");
  CHECK(browser.is_true("t.isShown('#triangle .drag')"));
  CHECK(browser.text("t.text('#lesson pre')") == "birds  ====\n\u2500\u2500\nwalk   ==");
  browser.evaluate("t.one('.crumbs a').click()");
  browser.until("t.isShown('#first')");
  CHECK(browser.number("document.querySelectorAll('.chapters .value-ink').length") == 2);
  check_quiet(browser);
}

TEST_CASE("page book: every formula of every lesson is MathML, with all that the text has") {
  OpenPage browser(course_page);
  // Lines of four blanks, one below the other, in the lessons' files. A name stands for a number.
  const std::string places = R"js((lines) => {
    const plain = (text) => text.replace(/(?<=\d) x (?=\d)|sqrt(?=\()/g, "")
      .replace(/alpha/g, "\u03b1").replace(/beta/g, "\u03b2").replace(/[^\p{L}\p{N}]/gu, "");
    const [node] = blocksOf({name: page.book[0].name, blocks:
      lines.map((text) => ({kind: "line", text}))});
    document.querySelector("#book").append(node);
    const {height} = node.firstElementChild?.getBoundingClientRect() ?? {};
    const isSame = plain(node.textContent) === plain(lines.join(" "));
    node.remove();
    return node.querySelector("math") ? isSame && height > 10 ? "math" : "WRONG" : "plain";
  })js";
  const std::regex name(R"(\{\{[^}]*\}\})");
  int formulas = 0;
  std::map<std::string, int> plain;  // lessons with lines of numbers, words or a drawing
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(FLEDGE_SOURCE_DIR "/examples/lessons")) {
    if (file.path().extension() != ".md") continue;
    std::istringstream text(text_of(file.path()) + "\nend");
    std::vector<std::string> lines;
    std::string words;  // of a paragraph
    for (std::string line; std::getline(text, line);) {
      if (!line.empty() && !line.starts_with("    ")) words += line + " ";
      if (line.empty() && !words.empty()) {
        INFO(file.path() << ": " << words);
        const std::string shown =
            "element('p', {}, rich(" + fledge::Json(words).text() + ", page.book[0])).textContent";
        CHECK(browser.is_true("!" + shown + ".replaceAll(' * ', '').includes('*')"));
        words.clear();
      }
      if (line.starts_with("    ")) {
        lines.push_back(std::regex_replace(line.substr(4), name, "0.123"));
      } else if (!line.empty() && !lines.empty()) {
        INFO(file.path() << ": " << lines[0]);
        const std::string as = browser.text("(" + places + ")(" + fledge::Json(lines).text() + ")");
        CHECK(as != "WRONG");
        std::string all;
        for (const std::string& one : lines) all += one;
        const bool has_sign = all.find_first_of("=^<*") != std::string::npos;
        CHECK((as == "math" || !has_sign || all.find("--") != std::string::npos));
        formulas += as == "math";
        plain[file.path().stem()] += as == "plain";
        lines.clear();
      }
    }
  }
  CHECK(formulas >= 50);
  // The two drawings stay as they are.
  CHECK(plain["why_q_and_k"] == 1);
  CHECK(plain["attention_and_mlp"] == 1);
  check_quiet(browser);
}

TEST_CASE("page book: every figure draws its numbers, and ends without a message") {
  OpenPage browser(course_page);
  browser.evaluate("window.box = document.createElement('div'); t.one('#book').append(box)");
  const StrictJson names = browser.evaluate("Object.keys(figures)");
  for (const StrictJson& name : names.array()) {
    INFO(name.string());
    browser.evaluate("box.replaceChildren(); window.ends = figures['" + name.string() +
                     "'](box, page.book[0]); t.settled()");
    CHECK(
        browser.is_true("box.querySelector('.in-words, [role=status]') || "
                        "box.querySelectorAll('.bars li').length > 2"));
    CHECK(browser.is_true("!/NaN|undefined|Infinity/.test(box.innerHTML)"));
    browser.evaluate("window.ends?.()");
  }
  check_quiet(browser);
}

TEST_CASE("page book: what exclusive and linear attention bring is what a pen finds") {
  OpenPage browser(course_page);
  browser.evaluate("window.box = document.createElement('div'); t.one('#book').append(box)");
  const auto draw = [&](const std::string& name) {
    browser.evaluate("box.replaceChildren(); figures." + name + "(box); t.settled()");
  };
  const auto told = [&](const std::string& does) {
    if (!does.empty()) browser.evaluate(does + "; t.settled()");
    return browser.text("box.querySelector('.in-words').textContent");
  };
  // y = (1.5, 1); the value of walk is (2, 0).
  draw("exclusive_attention");
  CHECK_THAT(told(""), ContainsSubstring("gets (0, 1), of which 0.00 is along its own value"));
  CHECK_THAT(told("t.click('#book .figure-controls [type=checkbox]')"),
             ContainsSubstring("gets (1.5, 1), of which 1.50 is along"));
  draw("linear_attention");
  CHECK(told("") == "Asked for birds, the sum reads (1, 0, 1), and the delta rule (0, 0, 1).");
  // Cosine 0.6. The delta rule by hand, asked for cats: −0.384, 0.64 and 0.6.
  browser.evaluate("t.put('#book .figure-controls [type=range]', 0.6)");
  CHECK(told("[...box.querySelectorAll('button')].at(1).click()") ==
        "Asked for cats, the sum reads (0.6, 1, 0.6), and the delta rule (\u22120.38, 0.64, 0.6): "
        "below 0, so these are no shares.");
  check_quiet(browser);
}

}  // namespace testing
