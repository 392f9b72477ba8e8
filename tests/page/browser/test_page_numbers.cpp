// Each number that a page shows is that of the engine, compiled for this machine, with the weights
// of the page: arcs, next words, grid, cell, gradient, loss, baselines, map, and words about them.
#include "examples/page/base64.h"
#include "tests/page/browser/pages.h"

namespace testing {

namespace {

/// What to ask the engine (tests/page/engine/calls.cpp) about the state of the page, in the order
/// in which `wrong_numbers` reads the answers; and the files that the questions name.
constexpr const char* questions_of_the_page = R"js((async () => {
  const bytes = new Uint8Array(await engine.weights()), {layer, query, key, sentence} = state;
  const head = Math.max(0, state.head), {hidden, off} = question();
  const place = (at) => {
    const [layer, head, query] = at.split(",").map(Number);
    return {layer, head, ...query === undefined ? {} : {query}};
  };
  const rows = Object.entries(state.rows).map(([at, weights]) => ({...place(at), weights}));
  const changes = {hidden, rows, off: off.map(place)}, nudge = {layer, head, query, key, by: 0.5};
  const next = model.words.indexOf(seen.said[0]);
  const lines = ["new @text |" + JSON.stringify(page.settings), "baselines", "step 10",
    page.run ? "load @run @text" : "loss 0 1", "show @weights", "read |" + sentence,
    "change |" + JSON.stringify(changes), "attention", `next -1 0 ${query} 8`,
    `next ${layer} 0 ${query} 3`, `next ${layer} 1 ${query} 3`, `next ${layer} 2 ${query} 3`,
    `cell ${layer} ${head} ${query} ${key}`, "gradient " + next, "sentence_loss " + next, "map",
    "change |" + JSON.stringify({...changes, nudges: [nudge]}), "sentence_loss " + next];
  return {text: page.text, run: page.run ?? "", list: lines.join("\n") + "\n",
    weights: btoa([...bytes].map((byte) => String.fromCharCode(byte)).join(""))};
})())js";

/// The answers in base64 → what is shown wrong, a line each. A number may differ by half of the
/// last digit that is shown, and by 1e-4, because another processor adds in another order.
constexpr const char* wrong_numbers = R"js((base64) => {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  let place = 0;
  const answer = () => {
    const size = view.getUint32(place + 8, true), result = view.getFloat64(place, true);
    place += 12 + size;
    return {result, bytes: bytes.slice(place - size, place)};
  };
  const json = () => JSON.parse(new TextDecoder().decode(answer().bytes));
  answer();  // the run
  const baselines = json(), losses = new Float64Array(answer().bytes.buffer);
  answer(), answer();
  const {words} = json();
  answer();
  const attention = new Float32Array(answer().bytes.buffer), next = json();
  const lens = [json(), json(), json()], cell = json();
  const slopes = new Float32Array(answer().bytes.buffer), loss = answer().result;
  const map = new Float64Array(answer().bytes.buffer);
  answer();
  const nudged = answer().result;

  const wrong = [], checked = {}, {layer, query, key} = state, head = Math.max(0, state.head);
  const one = (css) => document.querySelector(css);
  const all = (css) => [...document.querySelectorAll(css)];
  const text = (node) => node?.textContent ?? "nothing";
  const number = (shown) => typeof shown === "number" ? shown :
    Number.parseFloat(shown.replace("\u2212", "-").replace("<1", "0"));
  const near = (what, shown, x, half, more = 1e-4) => {
    checked[what] = true;
    if (!(Math.abs(number(shown) - x) <= half * 1.001 + more))
      wrong.push(`${what}: ${shown}, not ${x}`);
  };
  const same = (what, shown, x) => shown === x || wrong.push(`${what}: ${shown}, not ${x}`);
  const share = (what, shown, p) => near(what, shown, 100 * p, 0.5, 0.01);
  const T = words.length, at = (q, k) => ((layer * model.heads + head) * T + q) * T + k;
  const weight = (q, k) => attention[at(q, k)], slope = (k) => slopes[at(query, k)];
  const isLater = (q, k) => !model.without.includes("mask") && k > q;
  same("tokens", seen.tokens.join("|"), words.join("|"));

  // The picture: words, shares, arcs as thick as the weights.
  const thick = [];
  all("#stage .word").forEach((word) => {
    const j = Number(word.dataset.key), shown = text(word.querySelector(".share"));
    if (isLater(query, j)) return;
    if (/\d/.test(shown)) share("picture", shown, weight(query, j));
    share("aloud", word.ariaLabel.match(/(<?\d+)\u00a0%/)?.[1] ?? "", weight(query, j));
    const width = Number.parseFloat(all("#stage .arc path")[j].style.strokeWidth);
    if (weight(query, j) > 0.02) thick.push((width - 1) / weight(query, j));
  });
  if (!(Math.max(...thick) < 1.1 * Math.min(...thick))) wrong.push("arcs: " + thick);

  // The likeliest next words, of the model and of its parts; the story has no other numbers.
  const list = (what, rows, expected) => rows.forEach((row, i) => {
    same(what, text(row.querySelector("bdi")), nextLabel(expected[i].word));
    share(what, text(row.querySelector(".share")), expected[i].p);
  });
  const order = (row) => Number(row.getAttribute("aria-posinset"));
  list("next", all("#next li").sort((a, b) => order(a) - order(b)), next);
  all("#lens ol").forEach((box, part) => list("lens", [...box.children], lens[part]));
  const known = [...words.map((_, j) => weight(query, j)), ...next.map(({p}) => p)];
  for (const [said] of text(one("#say")).matchAll(/<?\d+\u00a0%/g))
    if (!known.some((p) => Math.abs(number(said) - 100 * p) < 0.51)) wrong.push("story: " + said);

  all("#grid [role=gridcell]").forEach((node) => {
    const [q, k] = [Number(node.dataset.query), Number(node.dataset.key)];
    if (isLater(q, k)) return same("later", text(node).trim(), "");
    near("grid", text(node), 100 * weight(q, k), 0.5, 0.01);
    const radius = number(node.querySelector("circle").getAttribute("r"));
    near("dots", radius, 0.95 * Math.sqrt(weight(q, k)), 5e-4);
  });

  // The cell: bars, a text for each dimension, the shares, the formula.
  const lanes = [cell.q, cell.k, cell.products, cell.v, cell.part, cell.output], D = cell.q.length;
  const up = all("#cell .dims rect:not(.pick)").map((rect) => Number(rect.getAttribute("height")));
  lanes.forEach((numbers, lane) => {
    const most = Math.max(...numbers.map(Math.abs)) || 1, some = up.slice(lane * D, (lane + 1) * D);
    const high = Math.max(...some);
    numbers.forEach((x, c) =>
      near("bars", some[c] / high, Math.max(Math.abs(x) / most, 0.5 / high), 0.02));
  });
  cell.q.forEach((_, c) => {
    one("#dimension").value = c + 1;
    one("#dimension").dispatchEvent(new Event("input", {bubbles: true}));
    const sum = cell.products.slice(0, c + 1).reduce((a, b) => a + b, 0);
    const shown = text(one("#dimension-now")).match(/[\u2212\d.]+/g)?.slice(-4) ?? [];
    [cell.q[c], cell.k[c], cell.products[c], sum].forEach((x, i) =>
      near("dimensions", shown[i] ?? "", x, 0.005));
  });
  const largest = Math.max(...cell.scores.filter((x) => x !== null));
  near("formula", text(all("#cell math mn").at(-1)), cell.score, 0.005);
  all("#cell .shares tr[data-key]").forEach((row) => {
    const j = Number(row.dataset.key), [score, power, , shown] = [...row.cells].slice(-4);
    if (cell.scores[j] === null) return same("unseen", row.checkVisibility(), false);
    near("scores", text(score), cell.scores[j], 0.005);
    near("powers", text(power), Math.exp(cell.scores[j] - largest), 5e-4);
    near("sliders", number(row.querySelector("input").value), cell.weights[j], 0.005);
    share("shares", text(shown), cell.weights[j]);
  });

  // The gradient: the sign of each slope; what it foretells, and what the engine finds.
  all("#gradient .pull").forEach((row) => {
    const s = slope(Number(row.dataset.key)), shown = row.ariaLabel.match(/\S+e[-+]\d+/)?.[0] ?? "";
    near("slopes", shown, s, 0.05 * Math.abs(s), 1e-6);
    same("sign", text(row).includes(Math.abs(s) < 5e-4 ? "near" : s < 0 ? "more" : "less"), true);
  });
  for (const [id, x] of [["#foretold", 0.5 * slope(key)], ["#found", nudged - loss]]) {
    const shown = seen.said.length ? text(one(id)) : "";
    if (shown === "" || Math.abs(x) < 1e-5) continue;
    near(id, number(shown) * (shown.includes("less") ? -1 : 1), x, 5e-4, 1e-5 + 0.01 * Math.abs(x));
  }

  // The loss: its first steps, its levels. The map, whatever its turn and its scale.
  const {guessing, tables, floor} = page.baselines ?? baselines, V = (map.length - 1) / 2;
  const levels = [guessing, tables[0], ...tables.slice(1).slice(-1), floor]
    .filter((x) => x !== null).sort((a, b) => b - a);
  const ladder = all("#loss .ladder li").map((row) =>
    [text(row.querySelector("bdi")), text(row.querySelector(".share"))]);
  const shownLevels = ladder.filter(([name]) => /blind|count|best|floor/.test(name));
  levels.forEach((x, i) => near("levels", shownLevels[i]?.[1] ?? "", x, 0.005));
  if (!learning.isRecorded) learning.losses.slice(0, 10).forEach((step, i) =>
    near("losses", step.loss, losses[4 * i + 1], 0));
  share("plane", text(one("#map")).match(/(\d+)\u00a0%/)?.[1] ?? "", map[0]);
  const points = all("#map g[data-token]").map((dot) => {
    const id = Number(dot.dataset.token), [x, y] = ["cx", "cy"].map((axis) =>
      Number(dot.querySelector("circle").getAttribute(axis)));
    return [map[1 + id], map[1 + V + id], x, y];
  });
  // Three words say how the plane is turned and scaled; then the others are where they must be.
  const [first, ...others] = points, from = (point, i) => point[i] - first[i];
  const cross = (p, q, i, j) => from(p, i) * from(q, j) - from(p, j) * from(q, i);
  const [p, q] = others, det = cross(p, q, 0, 1);
  for (const axis of [2, 3]) for (const point of others) {
    const a = cross(p, q, axis, 1) / det, b = cross(p, q, 0, axis) / det;
    near("map", from(point, axis), a * from(point, 0) + b * from(point, 1), 0.5);
  }
  for (const what of ["picture", "aloud", "next", "lens", "grid", "dots", "bars", "dimensions",
    "formula", "scores", "powers", "sliders", "shares", "slopes", "levels", "plane", "map"])
    if (!checked[what]) wrong.push(what + ": nothing was found");
  return wrong.slice(0, 12).join("\n");
})js";

void check_numbers(Chromium& browser, const std::string& change) {
  INFO(change);
  check_steps(browser, {{change, "true"}, {"t.put('#nudge', 0.5)", "true"}});
  const Folder folder;
  const StrictJson asked = browser.evaluate(questions_of_the_page);
  write_file(folder / "text", asked["text"].string());
  for (const char* name : {"run", "weights"})
    write_file(folder / name, fledge::page::base64_decoded(asked[name].string()));
  const Result answers = run(
      {"sh", "-c", "cd '" + folder.path() + "' && exec '" + build_folder + "/tests/page_calls'"},
      {}, asked["list"].string());
  REQUIRE(answers.err == "");
  CHECK(browser.text("(" + std::string(wrong_numbers) + ")('" + fledge::page::base64(answers.out) +
                     "')") == "");
}

}  // namespace

TEST_CASE("page numbers: every part shows the numbers of the engine") {
  for (const std::string& path : {birds_page(), poem_page()}) {
    INFO(path);
    Chromium browser;
    browser.window(1280, 9000);  // all parts are near the window, so that each is drawn
    opened(browser, path);
    check_numbers(browser, "0");
    learned(browser);
    for (const char* change :
         {"change({query: 2, key: 1})",
          "change({query: seen.tokens.length - 1, key: 1, hidden: new Set([2])})",
          "change({hidden: new Set(), layer: model.layers - 1, head: model.heads - 1})",
          "change({rows: {[[state.layer, state.head, state.query]]: "
          "seen.tokens.map((_, j) => j === 1 ? 0.75 : j === 0 ? 0.25 : 0)}})",
          "change({rows: {}, off: new Set(['0,0'])})",
          "change({off: new Set()}).then(() => showStep(Math.round(model.steps / 3)))"})
      check_numbers(browser, change);
    check_quiet(browser);
  }
}

}  // namespace testing
