// What a page asks of a browser: nothing but its own file; what it shows, and offers as files.
#include <algorithm>
#include <cstdio>

#include "tests/page/browser/pages.h"

namespace testing {

namespace {

/// The parts of a page that the slider over training moves.
constexpr const char* slider_moves_all = R"js((async () => {
  const parts = {
    "the time bar": () => document.querySelector("#step").getAttribute("aria-valuetext"),
    "the samples": () => document.querySelector("#now").textContent,
    "the loss in words": () => document.querySelector("#loss-words").textContent,
    "the marker of the loss": () => document.querySelector("#loss .marker").getAttribute("d"),
    "the grid": () => document.querySelector("#grid").textContent,
    "the dots of the grid": () =>
      [...document.querySelectorAll("#grid circle")].map((dot) => dot.getAttribute("r")).join(),
    "the sentence in words": () => document.querySelector("#inwords").textContent,
    "the arcs": () => document.querySelector("#graph").innerHTML,
    "the worked cell": () => document.querySelector("#worked").textContent,
    "the watched pair": () => document.querySelector("#watch").textContent,
    "the map": () => document.querySelector("#map").innerHTML,
    "the next word": () => document.querySelector("#next").textContent,
    "the tensors": () => document.querySelector("#tensors").innerHTML,
    "the address": () => location.hash};
  const shown = async (place) => {
    const step = document.querySelector("#step");
    step.value = place;
    step.dispatchEvent(new Event("input", {bubbles: true}));
    await new Promise((done) => setTimeout(done, 200));  // the grid's texts follow
    return Object.values(parts).map((part) => part());
  };
  const first = await shown(0), last = await shown(page.run.snapshots.length - 1);
  return Object.keys(parts).filter((_, i) => first[i] === last[i]).join();
})())js";

/// The median time of a step, if it is too long to drag.
constexpr const char* steps_are_fast = R"js((async () => {
  const times = [];
  for (let step = 0; step < page.run.snapshots.length; ++step) {
    const begin = performance.now();
    select({step});
    times.push(performance.now() - begin);
    await new Promise((done) => setTimeout(done, 0));
  }
  const median = times.sort((a, b) => a - b)[times.length >> 1];
  return median < 250 ? "" : `${median} ms`;
})())js";

}  // namespace

TEST_CASE("page: it loads without a message, shows all parts, and the slider moves each",
          "[page]") {
  check_pages(
      all_pages(),
      {{"no errors", "window.fledgeErrors.join()"},
       {"its parts",
        "['time', 'now', 'loss', 'attention', 'graph', 'worked', 'whatif', 'gradient', 'map', "
        "'next', 'tensors', 'glossary'].filter((id) => !document.querySelector('section#' + id))"
        ".concat(document.querySelector('#static') ? ['static'] : []).join()"},
       {"the slider", slider_moves_all},
       {"its speed", steps_are_fast}});
}

TEST_CASE("page: no request but that of its own file, also without a network", "[page]") {
  Chromium browser;
  browser.call(
      "Network.emulateNetworkConditions",
      {{"offline", true}, {"latency", 0}, {"downloadThroughput", 0}, {"uploadThroughput", 0}});
  for (const std::string& path : all_pages()) {
    INFO(path);
    const double seconds = browser.open(path);
    std::printf("page: %s loads in %.2f s; the limit is 1 s\n", path.c_str(), seconds);
    CHECK(seconds < 5);
    for (int step = 0; step < 3; ++step)
      browser.evaluate("document.querySelector('#back').click()");
    CHECK(browser.is_true("document.querySelectorAll('#grid [role=gridcell]').length > 0"));
    CHECK(browser.requests().size() == 1);
    CHECK(browser.messages() == "");
  }
}

TEST_CASE("page: without JavaScript the final table stands there", "[page]") {
  Chromium browser;
  browser.call("Emulation.setScriptExecutionDisabled", {{"value", true}});  // of pages
  for (const std::string& path : all_pages()) {
    INFO(path);
    browser.open(path);
    // The first table holds the samples; the second one the first head.
    CHECK(browser.text(R"js((() => {
      const {run} = JSON.parse(document.querySelector("#data").textContent);
      const bytes = atob(run.snapshots.at(-1).sentences[0].attention), T = run.sentences[0].ids.length;
      const cells = [...document.querySelectorAll("#static table")[1].querySelectorAll("td")];
      let at = 0;
      return cells.map((cell, n) => {
        if (run.model.causal && n % T > Math.floor(n / T)) return [cell.textContent, ""];
        const weight = (bytes.charCodeAt(at) + 256 * bytes.charCodeAt(at + 1)) / 65535;
        at += 2;
        return [cell.textContent, weight.toFixed(2)];
      }).concat(cells.length === T * T ? [] : [["cells", "other cells"]])
        .filter(([shown, wanted]) => shown !== wanted).join("; ");
    })())js") == "");
  }
}

TEST_CASE("page: the address keeps the selection", "[page]") {
  Chromium browser;
  browser.open(poem_page());
  browser.evaluate("select({step: 2, sentence: 0, layer: 1, head: 1, query: 3, key: 2})");
  const std::string address = browser.text("location.hash"),
                    chosen = browser.text("JSON.stringify(selection)"),
                    words = browser.text_of("#inwords");
  browser.open(poem_page(), address.substr(1));
  CHECK(browser.text("JSON.stringify(selection)") == chosen);
  CHECK(browser.text_of("#inwords") == words);
  for (const char* odd : {"s=999999&q=-4&k=1e9", "s=NaN&t=x&l=%00", "%%%", "q=<script>"}) {
    INFO(odd);
    browser.open(poem_page(), odd);
    CHECK(browser.messages() == "");
    CHECK(browser.is_true("document.querySelector('#grid') !== null"));
  }
}

TEST_CASE("page: back, forward and play; a page with one step has none of them", "[page]") {
  const Folder folder;
  Chromium browser;
  browser.open(birds_page());
  const double last = browser.number("selection.step");
  const auto step_after = [&](const std::string& button) {
    browser.evaluate("document.querySelector('#" + button + "').click()");
    return browser.number("selection.step");
  };
  CHECK(step_after("back") == last - 1);
  step_after("forward");
  CHECK(step_after("forward") == last);
  step_after("play");
  for (int i = 0; i < 200 && !browser.is_true("selection.step > 1 && selection.step < 12"); ++i)
    browser.wait(20);
  const double paused = step_after("play");
  CHECK((paused > 1 && paused < 14));
  browser.wait(400);
  CHECK(browser.number("selection.step") == paused);
  browser.open(changed_page(browser, folder, birds_page(),
                            "data.run.snapshots = data.run.snapshots.slice(-1)"));
  CHECK(browser.number("page.run.snapshots.length") == 1);
  CHECK(browser.is_true("document.querySelector('section#time output') !== null"));
  CHECK(browser.is_true("document.querySelector('#step, #back, #forward, #play') === null"));
  CHECK(browser.messages() == "");
}

TEST_CASE("page: the files that it offers", "[page]") {
  const Folder folder;
  Chromium browser;
  browser.call("Browser.setDownloadBehavior",
               {{"behavior", "allow"}, {"downloadPath", folder.path()}});
  browser.open(birds_page());
  const double words = browser.number("idsNow().length");
  CHECK(browser.number("document.querySelectorAll('[data-export]').length") >= 3);
  for (const std::string kind : {"csv", "json", "svg"}) {
    INFO(kind);
    browser.evaluate("document.querySelector('[data-export=" + kind + "]').click()");
    std::string file;
    for (int i = 0; i < 100 && file.empty(); ++i) {
      browser.wait(50);
      for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        if (entry.path().extension() == "." + kind) file = entry.path();
    }
    REQUIRE(!file.empty());
    const std::string text = read_file(file);
    if (kind == "csv")
      CHECK(static_cast<double>(std::count(text.begin(), text.end(), '\n')) == words * words + 1);
    if (kind == "json") CHECK(text == browser.text_of("#data"));
    if (kind == "svg") CHECK_THAT(text, StartsWith("<svg") && ContainsSubstring("</svg>"));
  }
  CHECK(browser.messages() == "");
  for (const std::string& address : browser.requests())
    CHECK((address.starts_with("file:") || address.starts_with("blob:")));
}

TEST_CASE("page course: the triangle, the exercises and the table of broken models", "[page]") {
  INFO("build/fledge.html is missing: run make page, or make page-test");
  REQUIRE(all_pages().size() == 3);
  Chromium browser;
  browser.open(all_pages()[2]);
  CHECK(browser.number("page.triangle.ways.length") == 5);
  const std::string row =
      "document.querySelector('#triangle [role=slider]').getAttribute('aria-valuetext')";
  const std::string before = browser.text(row), words = browser.text_of("#triangle-words");
  browser.evaluate("document.querySelector('#triangle [role=slider]').focus()");
  for (int i = 0; i < 5; ++i) browser.press("ArrowLeft");
  CHECK(browser.text(row) != before);
  CHECK(browser.text_of("#triangle-words") != words);
  // In the corner 'birds' the product is v1·v1 = 0.14; no row is better. Where Q and K learn, that
  // is where they go; where Q, K and V learn, to 'walk'.
  CHECK(browser.text(R"js((() => {
    const last = (name) => page.triangle.ways.find(({learns}) => learns === name).rows.at(-1);
    return [
      Math.abs(mixedBy([1, 0, 0]).product - 0.14) < 1e-6,
      [[0, 1, 0], [0, 0, 1], [0.5, 0.5, 0], [0.9, 0.05, 0.05]]
        .every((row) => mixedBy(row).product < 0.14),
      last("Q and K")[0] > 0.95, last("Q, K and V")[2] > 0.95].join();
  })())js") == "true,true,true,true");
  // The exercises know right answers from wrong ones.
  const auto verdict = [&](int exercise, const std::string& answers) {
    return browser.text(
        "((form, answers) => { form.querySelectorAll('input').forEach((input, i) => { "
        "input.value = answers[i]; }); form.querySelector('button').click(); "
        "return form.querySelector('[role=status]').className; })("
        "document.querySelectorAll('#exercises form')[" +
        std::to_string(exercise) + "], " + answers + ")");
  };
  for (const char* wrong : {"['', '', '']", "[1, 0, 0]", "[0.6, 0.1, 0.4]"})
    CHECK(verdict(0, wrong) == "bad");
  CHECK(verdict(0, "[0, 0, 1]") == "ok");
  CHECK(verdict(1, "[0.14]") == "ok");
  CHECK(verdict(1, "[0.2]") == "bad");
  CHECK(browser.text("location.protocol") == "file:");
  CHECK(browser.requests().size() == 1);
  CHECK(browser.text(R"js((() => {
    const {rows} = page.variants, shown = [...document.querySelectorAll("#variants tbody tr")];
    return rows.length > 5 && shown.length === rows.length ? shown.filter(({cells}, i) =>
      cells[0].textContent !== rows[i].name ||
      Math.abs(Number(cells[1].textContent) - rows[i].loss) > 0.5e-3 + 1e-9)
      .map((row) => row.textContent).join() : "other rows";
  })())js") == "");
  CHECK(browser.messages() == "");
}

}  // namespace testing
