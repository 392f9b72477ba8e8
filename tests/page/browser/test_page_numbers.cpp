// The numbers that a page shows are those of its data, the page's own arithmetic agrees with the
// program's, and each change of what-if gives another sentence.
#include "tests/page/browser/pages.h"

namespace testing {

namespace {

/// Three snapshots, every head: the cells of the grid and the weights of the data, which are read
/// here by other code than the page's; the rows, which add up to 1.
constexpr const char* grid_has_the_data = R"js((() => {
  const {run} = page, {layers, heads, causal} = run.model, wrong = [];
  const T = run.sentences[0].ids.length, last = run.snapshots.length - 1;
  for (const step of [0, last >> 1, last]) {
    const bytes = atob(run.snapshots[step].sentences[0].attention);
    let at = 0;
    for (let layer = 0; layer < layers; ++layer)
      for (let head = 0; head < heads; ++head) {
        select({step, sentence: 0, layer, head});
        const cells = [...document.querySelectorAll("#grid [role=gridcell]")];
        if (cells.length !== T * T) wrong.push(`${cells.length} cells`);
        for (const {dataset, ariaLabel} of cells) {
          const isHidden = causal && Number(dataset.k) > Number(dataset.q);
          const weight = (bytes.charCodeAt(at) + 256 * bytes.charCodeAt(at + 1)) / 65535;
          if (!isHidden) at += 2;
          if (isHidden ? ariaLabel !== "future word, not allowed"
                       : !(Math.abs(Number(dataset.w) - weight) <= 0.5e-4 + 1e-9))
            wrong.push(`step ${step}, ${layer}.${head}, ${dataset.q} to ${dataset.k}`);
        }
      }
    if (at !== bytes.length) wrong.push("another number of weights");
  }
  const sums = run.snapshots.flatMap((snapshot) => run.sentences.flatMap((_, s) =>
    attentionRows(snapshot, s, 0, 0).map((row) => Math.abs(1 - row.reduce((a, b) => a + b, 0)))));
  if (!(Math.max(...sums) <= 1e-3)) wrong.push("a row that does not add up to 1");
  for (const cell of document.querySelectorAll("#grid [data-sum]"))
    if (cell.textContent !== "= 1.00") wrong.push("a sum that is shown: " + cell.textContent);
  return wrong.slice(0, 5).join("\n");
})())js";

/// Each weight, and each gradient, that the page recomputes.
constexpr const char* checks_are_ok = R"js((() => {
  const seen = [], gradients = [], {layers, heads} = page.run.model;
  page.run.snapshots.forEach((snapshot, step) => page.run.sentences.forEach((_, sentence) => {
    for (let layer = 0; layer < layers; ++layer)
      for (let head = 0; head < heads; ++head) {
        select({step, sentence, layer, head});
        select({query: idsNow().length - 1, key: 0});
        if (vectorsOf(snapshot, sentence)) seen.push(document.querySelector("#check").className);
        if (snapshot.gradients?.[sentence] && layer === layers - 1)
          gradients.push(document.querySelector("#gradient-check").className);
      }
  }));
  return seen.length > 0 && gradients.length > 1 ?
    [...seen, ...gradients].filter((name) => name !== "ok").join() : "nothing was recomputed";
})())js";

/// The loss and the probabilities of the worked step, and the smoothed loss.
constexpr const char* worked_step_is_recomputed = R"js((() => {
  let worst = 0;
  const snapshot = page.run.snapshots[workedPlace()];
  if (!page.run.worked.weights) return "no weights";
  page.run.sentences.forEach((_, s) => {
    if (!snapshot.gradients?.[s]) return;  // nothing is predicted in it
    const found = forwardLast(page.run.worked, s);
    worst = Math.max(worst, Math.abs(found.loss - snapshot.sentences[s].loss));
    topWords(snapshot, s, 0).likeliest.forEach(([token, p]) => {
      const [, share] = choicesOf(found.logits[0]).find(([other]) => other === token);
      worst = Math.max(worst, Math.abs(share - p));
    });
  });
  const lag = Math.max(...smoothed(Array.from({length: 40}, (_, i) => [i, 5 - i / 10]))
    .map(([i, loss]) => Math.abs(loss - (5 - i / 10))));
  return worst < 1e-4 && lag < 1e-12 ? "" : `${worst} ${lag}`;
})())js";

/// The gradient as the page opens, and the steepest one, predict the loss that is recomputed.
constexpr const char* gradient_predicts = R"js((() => {
  const wrong = [];
  const numberAfter = (text, words) =>
    Number.parseFloat(text.slice(text.indexOf(words) + words.length).replace("\u2212", "-"));
  const check = (share, least) => {
    const words = document.querySelector("#gradient-words").textContent;
    const predicted = numberAfter(words.slice(words.indexOf("Predicted")), " = ");
    const recomputed = numberAfter(words, "Recomputed: it changes by ");
    if (!(Math.abs(recomputed - predicted) <= share * Math.abs(predicted) + least)) wrong.push(words);
    return predicted;
  };
  select({step: workedPlace(), layer: page.run.model.layers - 1});
  check(0.2, 0);
  select({sentence: 0, head: 0, query: idsNow().length - 1, key: 0});
  let best = {size: 0};
  for (let query = 0; query < idsNow().length; ++query)
    gradientOfRow(snapshotNow(), selection.sentence, selection.head, query).ds.forEach((ds, key) => {
      if (Math.abs(ds) > best.size) best = {size: Math.abs(ds), query, key};
    });
  if (!(best.size > 1e-6)) wrong.push("no gradient");
  select({query: best.query, key: best.key});
  if (document.querySelector("#gradient-check").className !== "ok") wrong.push("another gradient");
  const nudge = document.querySelector("#nudge");
  for (const by of [-0.05, 0.05]) {
    nudge.value = by;
    nudge.dispatchEvent(new Event("input"));
    if (check(0.1, 2e-6) === 0) wrong.push("nothing is predicted");
  }
  return wrong.join("\n");
})())js";

/// Each change of the last layer gives another sentence, and undoing it restores the first one.
constexpr const char* what_if_changes = R"js((() => {
  select({step: workedPlace(), sentence: 0, layer: page.run.model.layers - 1, head: 0,
          query: page.run.sentences[0].ids.length - 1, key: 0});
  const words = () => document.querySelector("#whatif-words").textContent;
  const press = (button) => document.querySelector("#whatif " + button).click();
  const set = (name, value) => {
    const input = document.querySelector("#whatif " + name);
    input.value = value;
    input.dispatchEvent(new Event("input", {bubbles: true}));
  };
  const unchanged = words(), different = new Set([unchanged]), wrong = [];
  const isNew = (change) => {
    if (different.has(words())) wrong.push(change + " changes nothing");
    different.add(words());
  };
  const isUndone = (change) => words() === unchanged || wrong.push(change + " is not undone");
  if (!unchanged.startsWith("Nothing is changed yet.")) wrong.push(unchanged);
  press("[data-hide='1']"), isNew("a hidden word");
  if (!forwardLast(page.run.worked, 0, {hidden: new Set([1])})
    .weights[0].every((row, i) => i === 1 || row[1] === 0)) wrong.push("a hidden word is seen");
  press("[data-hide='1']"), isUndone("a hidden word");
  press("button[data-head='0']"), isNew("a head");
  press("#whatif-reset"), isUndone("a head");
  set("input[data-vector=q]", 3), isNew("a number of q");
  press("#whatif-reset"), isUndone("a number of q");
  set("input[data-key='0']", 0.37), isNew("a weight");
  if (!words().includes("0.37")) wrong.push("the weight is not named");
  for (const weight of [1, 0.4]) {  // a slider shows two decimals
    set("input[data-key='0']", weight);
    const sum = [...document.querySelectorAll("[data-key]")].reduce((a, {value}) => a + Number(value), 0);
    if (!(Math.abs(sum - 1) < 0.1)) wrong.push(`a row that adds up to ${sum}`);
  }
  return wrong.join("\n");
})())js";

/// A token without text is no likeliest word.
constexpr const char* hides_tokens_without_text = R"js((() => {
  select({step: workedPlace(), sentence: 0, layer: page.run.model.layers - 1, head: 0,
          query: idsNow().length - 1, key: 0});
  const logits = forwardLast(page.run.worked, 0).logits[selection.query];
  const [[first]] = choicesOf(logits);
  page.run.model.without_text = [first];
  const heat = document.querySelector("#temperature");
  heat.value = 0.9;
  heat.dispatchEvent(new Event("input"));
  const shown = [...document.querySelectorAll("#next th bdi")].map((word) => word.textContent);
  return choicesOf(logits).every(([token]) => token !== first) && shown.length > 1 &&
    !shown.includes(labelOf(first)) ? "" : shown.join();
})())js";

}  // namespace

TEST_CASE("page numbers: what is shown and recomputed is what the program wrote", "[page]") {
  check_pages(all_pages(), {{"the grid", grid_has_the_data},
                            {"the checks", checks_are_ok},
                            {"the worked step", worked_step_is_recomputed},
                            {"the gradient", gradient_predicts},
                            {"what if", what_if_changes}});
  check_pages({poem_page()}, {{"tokens without text", hides_tokens_without_text}});
}

TEST_CASE("page numbers: a weight that the program wrote wrong turns the check bad", "[page]") {
  const Folder folder;
  Chromium browser;
  const std::string check = "document.querySelector('#check').className",
                    ink = "getComputedStyle(document.querySelector('#check')).color";
  for (const std::string& page : {birds_page(), poem_page()}) {
    browser.open(changed_page(browser, folder, page, R"js(
      const numbers = data.run.snapshots.at(-1).sentences[0];
      const bytes = Uint8Array.from(atob(numbers.attention), (c) => 255 - c.charCodeAt(0));
      numbers.attention = btoa(String.fromCharCode(...bytes)))js"));  // 1 - w
    CHECK(browser.text(check) == "bad");
    CHECK_THAT(browser.text_of("#check"), ContainsSubstring("They differ!"));
    const std::string bad = browser.text(ink);
    browser.open(page);
    CHECK(browser.text(check) == "ok");
    CHECK(browser.text(ink) != bad);
  }
}

}  // namespace testing
