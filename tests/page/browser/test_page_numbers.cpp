// The numbers that a page shows are those of its data, and the page's own arithmetic agrees with the
// program's.
#include <cmath>
#include <cstdlib>

#include "tests/page/browser/chromium.h"
#include "tests/page/browser/page_files.h"
#include "tests/support/catch.h"

namespace testing {

namespace {

/// A number of the page's text after these words; its minus sign is U+2212.
double number_after(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  if (at == text.npos) throw std::runtime_error("no '" + words + "' in: " + text);
  std::string number = text.substr(at + words.size(), 20);
  const bool is_negative = number.starts_with("\u2212");
  if (is_negative) number.erase(0, 3);
  return (is_negative ? -1 : 1) * std::strtod(number.c_str(), nullptr);
}

/// Chooses the word and the score whose gradient is largest.
constexpr const char* select_steepest = R"((() => {
  let best = null;
  for (let query = 0; query < idsNow().length; ++query)
    gradientOfRow(snapshotNow(), selection.sentence, selection.head, query).ds.forEach((ds, key) => {
      if (!best || Math.abs(ds) > best.size) best = {size: Math.abs(ds), query, key};
    });
  select({query: best.query, key: best.key});
  return best.size;
})())";

constexpr const char* select_worked = R"(select({step: workedPlace(), sentence: 0,
  layer: page.run.model.layers - 1, head: 0, query: idsNow().length - 1, key: 0}))";

constexpr const char* check_class = "document.querySelector('#check').className";

void move_nudge(Chromium& browser, const std::string& by) {
  browser.evaluate("(() => { const nudge = document.querySelector('#nudge'); nudge.value = " + by +
                   "; nudge.dispatchEvent(new Event('input')); })()");
}

}  // namespace

TEST_CASE("page numbers: the cells of the grid are the weights of the data", "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    const StrictJson run = run_of(path);
    const auto& snapshots = run["snapshots"].array();
    const bool is_causal = run["model"]["causal"].boolean();
    const std::size_t words = run["sentences"][0]["ids"].array().size();
    const std::size_t heads = static_cast<std::size_t>(run["model"]["heads"].number());
    const std::size_t tables = heads * static_cast<std::size_t>(run["model"]["layers"].number());
    browser.open(path);
    for (const std::size_t place : {std::size_t{0}, snapshots.size() / 2, snapshots.size() - 1}) {
      const std::vector<double> weights = weights_of(snapshots[place], 0);
      std::size_t at = 0;
      for (std::size_t table = 0; table < tables; ++table) {
        browser.evaluate("select({step: " + std::to_string(place) +
                         ", sentence: 0, layer: " + std::to_string(table / heads) +
                         ", head: " + std::to_string(table % heads) + "})");
        const StrictJson cells = browser.evaluate(
            "[...document.querySelectorAll('#grid [role=gridcell]')].map((cell) => "
            "[cell.dataset.q, cell.dataset.k, cell.dataset.w ?? cell.getAttribute('aria-label')])");
        REQUIRE(cells.array().size() == words * words);
        for (const StrictJson& cell : cells.array()) {
          const bool is_hidden =
              is_causal && std::stoi(cell[1].string()) > std::stoi(cell[0].string());
          INFO("snapshot " << place << ", table " << table << ", query " << cell[0].string()
                           << ", key " << cell[1].string());
          if (is_hidden) {
            CHECK(cell[2].string() == "future word, not allowed");
          } else {
            REQUIRE(at < weights.size());
            CHECK(std::abs(std::stod(cell[2].string()) - weights[at++]) <= 0.5e-4 + 1e-9);
          }
        }
      }
      CHECK(at == weights.size());
    }
  }
}

TEST_CASE("page numbers: the mean of the training loss does not lag behind a falling loss",
          "[page]") {
  Chromium browser;
  browser.open(all_pages().front());
  CHECK(browser.number(R"(Math.max(...smoothed(Array.from({length: 40}, (_, i) => [i, 5 - i / 10]))
    .map(([i, loss]) => Math.abs(loss - (5 - i / 10)))))") < 1e-12);
}

TEST_CASE("page numbers: each row sums to 1", "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    const double worst = browser.number(
        "Math.max(...page.run.snapshots.flatMap((snapshot) => page.run.sentences.flatMap((_, s) => "
        "attentionRows(snapshot, s, 0, 0).map((row) => "
        "Math.abs(1 - row.reduce((a, b) => a + b, 0))))))");
    CHECK(worst <= 1e-3);
    CHECK(browser.text("[...new Set([...document.querySelectorAll('#grid [data-sum]')]"
                       ".map((cell) => cell.textContent))].join()") == "= 1.00");
  }
}

TEST_CASE("page numbers: each weight that the page recomputes is the program's", "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    const StrictJson checks = browser.evaluate(std::string(R"((() => {
      const seen = [];
      page.run.snapshots.forEach((snapshot, step) => page.run.sentences.forEach((_, sentence) => {
        if (!vectorsOf(snapshot, sentence)) return;
        select({step, sentence});
        const {layers, heads} = page.run.model;
        for (let layer = 0; layer < layers; ++layer)
          for (let head = 0; head < heads; ++head) {
            select({layer, head, query: idsNow().length - 1, key: 0});
            seen.push()") + check_class + R"();
          }
      }));
      return seen;
    })())");
    REQUIRE(!checks.array().empty());
    for (const StrictJson& check : checks.array()) CHECK(check.string() == "ok");
  }
}

TEST_CASE("page numbers: a weight that the program wrote wrong turns the check bad", "[page]") {
  const Folder folder;
  Chromium browser;
  for (const std::string& page : {birds_page(), poem_page()}) {
    const std::string wrong = folder / "wrong.html";
    write_file(wrong, with_wrong_weights(read_file(page)));
    browser.open(wrong);
    CHECK(browser.text(check_class) == "bad");
    CHECK_THAT(browser.text_of("#check"), ContainsSubstring("They differ!"));
    const std::string ink = "getComputedStyle(document.querySelector('#check')).color";
    const std::string bad = browser.text(ink);
    browser.open(page);
    CHECK(browser.text(check_class) == "ok");
    CHECK(browser.text(ink) != bad);
  }
}

TEST_CASE("page numbers: as a page opens, its gradient predicts the loss", "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    browser.evaluate("select({step: workedPlace(), layer: page.run.model.layers - 1})");
    const std::string words = browser.text_of("#gradient-words");
    INFO(words);
    REQUIRE(words.find("Recomputed") != words.npos);
    const double predicted = number_after(words.substr(words.find("Predicted")), " = ");
    const double recomputed = number_after(words, "Recomputed: it changes by ");
    CHECK(std::abs(recomputed - predicted) <= 0.2 * std::abs(predicted));
  }
}

TEST_CASE("page numbers: the page's gradient is the program's, and it predicts the loss",
          "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    browser.evaluate(select_worked);
    CHECK(browser.number(select_steepest) > 1e-6);
    CHECK(browser.text("document.querySelector('#gradient-check').className") == "ok");
    for (const std::string by : {"-0.05", "0.05"}) {
      move_nudge(browser, by);
      const std::string words = browser.text_of("#gradient-words");
      INFO(words);
      const std::size_t end = words.find(". Recomputed");
      REQUIRE(end != words.npos);
      const double predicted = number_after(words.substr(words.find("Predicted")), " = ");
      const double recomputed = number_after(words, "Recomputed: it changes by ");
      CHECK(predicted != 0);
      CHECK(std::abs(recomputed - predicted) <= 0.1 * std::abs(predicted) + 2e-6);
    }
  }
}

TEST_CASE("page numbers: the gradient agrees at each step that has one", "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    const StrictJson checks = browser.evaluate(R"((() => {
      const seen = [];
      page.run.snapshots.forEach((snapshot, step) => page.run.sentences.forEach((_, sentence) => {
        if (!snapshot.gradients?.[sentence]) return;
        for (let head = 0; head < page.run.model.heads; ++head) {
          select({step, sentence, layer: page.run.model.layers - 1, head});
          select({query: idsNow().length - 1, key: 0});
          seen.push(document.querySelector('#gradient-check').className);
        }
      }));
      return seen;
    })())");
    REQUIRE(checks.array().size() > 1);
    for (const StrictJson& check : checks.array()) CHECK(check.string() == "ok");
  }
}

TEST_CASE("page numbers: the loss and the probabilities of the worked step are recomputed",
          "[page]") {
  Chromium browser;
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    REQUIRE(browser.is_true("Boolean(page.run.worked.weights)"));
    const double worst = browser.number(R"((() => {
      let worst = 0;
      const snapshot = page.run.snapshots[workedPlace()];
      page.run.sentences.forEach((_, s) => {
        if (!snapshot.gradients?.[s]) return;  // nothing is predicted in it
        const found = forwardLast(page.run.worked, s);
        worst = Math.max(worst, Math.abs(found.loss - snapshot.sentences[s].loss));
        topWords(snapshot, s, 0).likeliest.forEach(([token, p]) => {
          const [, share] = choicesOf(found.logits[0]).find(([other]) => other === token);
          worst = Math.max(worst, Math.abs(share - p));
        });
      });
      return worst;
    })())");
    CHECK(worst < 1e-4);
  }
}

TEST_CASE("page numbers: a token without text is no likeliest word", "[page]") {
  Chromium browser;
  browser.open(poem_page());
  browser.evaluate(select_worked);
  CHECK(browser.is_true(R"((() => {
    const logits = forwardLast(page.run.worked, 0).logits[selection.query];
    const [[first]] = choicesOf(logits);
    page.run.model.without_text = [first];
    const heat = document.querySelector('#temperature');
    heat.value = 0.9;
    heat.dispatchEvent(new Event('input'));
    const shown = [...document.querySelectorAll('#next th bdi')].map((word) => word.textContent);
    return choicesOf(logits).every(([token]) => token !== first) && shown.length > 1 &&
      !shown.includes(labelOf(first));
  })())"));
}

}  // namespace testing
