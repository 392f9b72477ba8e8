// Where each word looks: a grid with a row for each word that looks and a column for each word that
// it looks at.

const view = {show: "weight", isTransposed: false, hasNumbers: true, preview: null};

function choice(id, label, names, onChange) {
  const box = element("select", {id, on: {change: () => onChange(Number(box.value))}},
    names.map(([value, name]) => element("option", {value}, name)));
  return {box, row: names.length > 1 ? element("label", {for: id}, label + " ", box) : null};
}

// What a cell shows: [number as text, its share of the darkest colour].
function cellValue(weight, score, query) {
  if (view.show === "score") return [fixed(score, 2), weight];
  if (view.show === "lift") return [fixed(weight / evenShare(query), 1), Math.min(1, weight / evenShare(query) / 4)];
  return [fixed(weight, 2), weight];
}

function rowSums(rows) {
  return rows.map((row) => row.reduce((a, b) => a + b, 0));
}

function gridTable(rows, scores) {
  const ids = idsNow(), T = ids.length, causal = page.run.model.causal;
  const rowOf = (r, c) => (view.isTransposed ? [c, r] : [r, c]);
  const corner = view.isTransposed ? "looked at \u2193, looks \u2192" : "looks \u2193, looked at \u2192";
  const cells = [];
  const cell = (r, c) => {
    const [query, key] = rowOf(r, c);
    const isHidden = causal && key > query;
    const data = element("td", {role: "gridcell", tabindex: -1, "data-q": query, "data-k": key,
      class: isHidden ? "hidden-cell" : "cell", "aria-label": isHidden ? "future word, not allowed" : null,
      on: {
        click: () => select({query, key}), focus: () => preview(isHidden ? null : [query, key]),
        mouseenter: () => preview(isHidden ? null : [query, key]), mouseleave: () => preview(null),
        keydown: (event) => gridKey(event, cells, r, c)}});
    if (!isHidden) {
      data.append(svgElement("svg", {viewBox: "-1 -1 2 2", "aria-hidden": true}, svgElement("circle", {r: 0})), element("span"));
      data.dataset.w = fixed(rows[query][key], 4);
    }
    (cells[r] = cells[r] || []).push(data);
    return data;
  };
  const sums = view.isTransposed ? null : rowSums(rows);
  const table = element("table", {id: "grid", role: "grid", "aria-label": "Attention weights",
      class: T > 24 ? "dense" : null},
    element("tr", {role: "row"}, element("td", {class: "note"}, corner),
      ids.map((id) => element("th", {scope: "col", role: "columnheader"}, element("bdi", {}, labelOf(id)))),
      sums && element("td", {class: "note"}, "sum")),
    ids.map((id, r) => element("tr", {role: "row"}, element("th", {scope: "row", role: "rowheader"},
      element("bdi", {}, labelOf(id))), ids.map((_, c) => cell(r, c)),
      sums && element("td", {class: "note", "data-sum": r}, "= " + fixed(sums[r], 2)))));
  cells.flat().forEach((data) => paintCell(data, rows, scores));
  const chosen = cells.flat().find(({dataset}) => Number(dataset.q) === selection.query && Number(dataset.k) === selection.key);
  (chosen || cells[0][0]).tabIndex = 0;
  chosen?.classList.add("chosen");
  chosen?.setAttribute("aria-selected", "true");
  return table;
}

function paintCell(data, rows, scores) {
  if (data.className.includes("hidden-cell")) return;
  const query = Number(data.dataset.q), key = Number(data.dataset.k), weight = rows[query][key];
  const [text, shade] = cellValue(weight, scores?.[query][key], query);
  data.dataset.w = fixed(weight, 4);
  data.firstChild.firstChild.setAttribute("r", (0.95 * Math.sqrt(weight)).toFixed(3));  // area ~ weight
  data.style.setProperty("--shade", (40 * shade).toFixed(1) + "%");  // so light that the number can be read
  data.lastChild.textContent = view.hasNumbers ? text : "";
  data.setAttribute("aria-label", "reading " + quotedWord(idsNow()[query]) + ", looks at " + quotedWord(idsNow()[key]) +
    ": " + fixed(weight, 2) + ", " + fixed(weight / evenShare(query), 1) + " times an even share");
}

function preview(pair) {
  view.preview = pair;
  sayAttention();
}

// Arrows move, Enter or Space chooses, Escape goes back to the last word; Home and End as in a table.
function gridKey(event, cells, r, c) {
  const last = cells.length - 1, far = event.ctrlKey;
  const to = {ArrowUp: [r - 1, c], ArrowDown: [r + 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1],
    Home: [far ? 0 : r, 0], End: [far ? last : r, last]}[event.key];
  const {q, k} = cells[r][c].dataset;
  if (event.key === "Enter" || event.key === " ") select({query: Number(q), key: Number(k)});
  else if (event.key === "Escape") select({query: idsNow().length - 1, key: 0});
  else if (!to) return;
  event.preventDefault();
  if (!to) return;
  const next = cells[Math.min(Math.max(to[0], 0), last)][Math.min(Math.max(to[1], 0), last)];
  cells.flat().forEach((cell) => { cell.tabIndex = -1; });
  next.tabIndex = 0;
  next.focus();
}

function sayAttention() {
  const [query] = view.preview || [selection.query];
  const text = attentionInWords(snapshotNow(), selection.sentence, selection.layer, selection.head, query, 4);
  const words = document.getElementById("inwords");
  if (words && words.textContent !== text) words.textContent = text;
}

// q.k / sqrt(D) of the chosen head, where this snapshot has the vectors.
function scoreRows() {
  const vectors = vectorsOf(snapshotNow(), selection.sentence);
  if (!vectors || selection.head < 0) return null;
  const {q, k} = vectors(selection.layer);
  return headScores(q, k, selection.head);
}

function thumbnails() {
  const {layers, heads} = page.run.model, size = 56;
  if (layers * heads === 1) return null;
  const box = element("div", {class: "controls thumbnails", role: "group", "aria-label": "All heads"});
  for (let layer = 0; layer < layers; ++layer)
    for (let head = heads > 1 ? -1 : 0; head < heads; ++head) {
      const canvas = element("canvas", {width: size, height: size, "aria-hidden": true});
      box.append(element("button", {type: "button", "data-layer": layer, "data-head": head,
        on: {click: () => select({layer, head})}}, canvas, headName(layer, head)));
    }
  follow((changed) => {
    for (const button of box.children) {
      const layer = Number(button.dataset.layer), head = Number(button.dataset.head);
      button.setAttribute("aria-pressed", layer === selection.layer && head === selection.head);
      if (!changed.has("step") && !changed.has("sentence")) continue;
      const rows = attentionRows(snapshotNow(), selection.sentence, layer, head), cell = size / rows.length;
      const paint = button.firstChild.getContext("2d");
      paint.clearRect(0, 0, size, size);
      rows.forEach((row, i) => row.forEach((weight, j) => {
        paint.fillStyle = `rgba(0,114,178,${weight})`;
        paint.fillRect(j * cell, i * cell, cell, cell);
      }));
    }
  });
  return box;
}

function attentionPart() {
  const {layers, heads} = page.run.model;
  const numbers = (n) => Array.from({length: n}, (_, i) => [i, String(i)]);
  const sentence = choice("sentence", "Sentence", page.run.sentences.map((_, i) => [i, sentenceText(i)]),
    (value) => select({sentence: value}));
  const layer = choice("layer", "Layer", numbers(layers), (value) => select({layer: value}));
  const head = choice("head", "Head", heads > 1 ? [[-1, "mean"], ...numbers(heads)] : numbers(1),
    (value) => select({head: value}));
  const show = element("select", {id: "show", on: {change: () => { view.show = show.value; draw(); }}},
    ["weight", "score", "lift"].map((name) => element("option", {value: name}, name)));
  const toggle = (id, text, name) => element("button", {type: "button", id, "aria-pressed": view[name],
    on: {click: (event) => {
      view[name] = !view[name];
      event.currentTarget.setAttribute("aria-pressed", view[name]);
      draw();
    }}}, text);
  const box = element("div", {class: "figure"});
  const rowsNow = () => attentionRows(snapshotNow(), selection.sentence, selection.layer, selection.head);
  let drawn = "", timer = 0;
  const draw = () => {
    const scores = scoreRows();
    if (!scores && view.show === "score") view.show = "weight";
    show.value = view.show;
    show.options[1].disabled = !scores;
    const hadFocus = box.contains(document.activeElement);
    box.replaceChildren(gridTable(rowsNow(), scores));
    if (hadFocus) box.querySelector("[tabindex='0']").focus();
    drawn = [selection.sentence, view.isTransposed, selection.query, selection.key].join();
    sayAttention();
  };
  follow((changed) => {
    sentence.box.value = selection.sentence;
    layer.box.value = selection.layer;
    head.box.value = selection.head;
    const same = drawn === [selection.sentence, view.isTransposed, selection.query, selection.key].join();
    if (!same || changed.has("layer") || changed.has("head")) return draw();
    box.querySelectorAll(".cell").forEach((data) => {  // colours at once, texts when the slider rests
      const weight = rowsNow()[data.dataset.q][data.dataset.k];
      data.style.setProperty("--shade", (40 * weight).toFixed(1) + "%");
      data.firstChild.firstChild.setAttribute("r", (0.95 * Math.sqrt(weight)).toFixed(3));
      data.dataset.w = fixed(weight, 4);
    });
    clearTimeout(timer);
    timer = setTimeout(draw, 120);
  });
  const csv = () => "query,query_word,key,key_word,weight\n" + rowsNow().flatMap((row, i) => row.map((weight, j) =>
    [i, JSON.stringify(labelOf(idsNow()[i])), j, JSON.stringify(labelOf(idsNow()[j])), weight].join())).join("\n") + "\n";
  const keys = {"[": () => select({head: selection.head - 1}), "]": () => select({head: selection.head + 1}),
    t: () => document.getElementById("transpose").click(), n: () => document.getElementById("numbers").click(),
    "?": () => { help.open = !help.open; }};
  const help = element("details", {}, element("summary", {}, "Keys"), element("p", {}, "In the grid: arrows move, Enter " +
    "chooses a pair, Escape goes back to the last word, [ and ] change the head, t exchanges rows and columns, " +
    "n shows or hides the numbers."));
  const part = section("attention", "Where each word looks",
    element("p", {}, "Each row is a word that looks, each column a word that it looks at. The area of a dot is the " +
      "weight, and the weights of a row add up to 1. " + (page.run.model.causal ? "Hatched cells are later words: " +
      "a word must not see them. " : "") + "Lift is the weight divided by an even share."),
    element("div", {class: "controls"}, sentence.row, layer.row, head.row,
      element("label", {for: "show"}, "Show ", show), toggle("transpose", "Rows \u2194 columns", "isTransposed"),
      toggle("numbers", "Numbers", "hasNumbers")),
    thumbnails(), box, element("p", {id: "inwords", "aria-live": "polite"}), help,
    element("div", {class: "controls"},
      element("button", {type: "button", "data-export": "csv", on: {click: () => download("attention.csv", "text/csv", csv())}},
        "Copy of the table (CSV)"),
      element("button", {type: "button", "data-export": "json", on: {click: () =>
        download("fledge-page.json", "application/json", document.getElementById("data").textContent)}}, "All data (JSON)")),
    sourceNote("attention"));
  part.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT" || event.ctrlKey || event.metaKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  return part;
}
