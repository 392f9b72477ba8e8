// Where each word looks: a grid with a row for each word that looks and a column for each that it sees.

const view = {show: "weight", isTransposed: false, hasNumbers: true, preview: null};

function choice(id, label, names, onChange) {
  const box = element("select", {id, on: {change: () => onChange(Number(box.value))}},
    names.map(([value, name]) => element("option", {value}, name)));
  return {box, row: names.length > 1 ? element("label", {for: id}, label + " ", box) : null};
}

// What a cell shows: [number as text, its share of the darkest colour]. A step without stored
// vectors has no scores: it shows the weight.
function cellValue(weight, score, query) {
  if (view.show === "score" && score !== undefined) return [fixed(score, 2), weight];
  if (view.show === "lift") return [fixed(weight / evenShare(query), 1), Math.min(1, weight / evenShare(query) / 4)];
  return [fixed(weight, 2), weight];
}

// More words than this are a picture, with the cells of the chosen row.
const mostCells = 32;

function gridTable(rows, scores) {
  const ids = idsNow(), T = ids.length, causal = page.run.model.causal;
  const isLarge = T > mostCells, isTransposed = view.isTransposed && !isLarge;
  const rowOf = (r, c) => (isTransposed ? [c, r] : [r, c]);
  const corner = isTransposed ? "looked at \u2193\nlooks \u2192" : "looks \u2193\nlooked at \u2192";
  const cells = [];
  const cell = (r, c) => {
    const [query, key] = rowOf(r, c);
    const isHidden = causal && key > query, show = () => preview(query), hide = () => preview(null);
    const data = element("td", {role: "gridcell", tabindex: -1, "data-q": query, "data-k": key,
      class: isHidden ? "hidden-cell" : "cell", "aria-label": isHidden ? "future word, not allowed" : null,
      on: {
        click: () => select({query, key}), focus: show, mouseenter: show, blur: hide, mouseleave: hide,
        keydown: (event) => gridKey(event, cells, r, c)}});
    if (!isHidden) data.append(
      svgElement("svg", {viewBox: "-1 -1 2 2", "aria-hidden": true}, svgElement("circle")), element("span"));
    (cells[r] = cells[r] || []).push(data);
    return data;
  };
  const sums = rows.map((row, i) => element("td", {class: "note", "data-sum": i}, "= " +
    fixed(row.reduce((a, b) => a + b), 2)));
  const header = (scope, role, id) => element("th", {scope, role}, element("bdi", {}, labelOf(id)));
  const table = element("table", {id: "grid", role: "grid", "aria-label": "Attention weights",
      class: (T > 12 ? "dense" : "") + (view.hasNumbers ? "" : " bare")},
    element("tr", {}, element("td", {class: "note"}, corner), ids.map((id) => header("col", "columnheader", id)),
      isTransposed ? null : element("td", {class: "note"}, "sum")),
    ids.map((id, r) => (isLarge && r !== selection.query ? null : element("tr", {}, header("row", "rowheader", id),
      ids.map((_, c) => cell(r, c)), isTransposed ? null : sums[r]))),
    isTransposed ? element("tr", {}, element("td", {class: "note"}, "sum"), sums) : null);
  cells.flat().forEach((data) => paintCell(data, rows, scores));
  const chosen = cells.flat().find(({dataset: {q, k}}) => q == selection.query && k == selection.key);
  chosen.tabIndex = 0;
  chosen.classList.add("chosen");
  chosen.setAttribute("aria-selected", "true");
  return table;
}

// The colours alone while the slider moves; the texts too when it rests.
function paintCell(data, rows, scores, hasTexts = true) {
  if (data.className.includes("hidden-cell")) return;
  const query = Number(data.dataset.q), key = Number(data.dataset.k), weight = rows[query][key];
  const [text, shade] = cellValue(weight, scores?.[query][key], query);
  data.dataset.w = fixed(weight, 4);
  // The area of the dot is the weight. The colour stays light: the number can be read.
  data.firstChild.firstChild.setAttribute("r", (0.95 * Math.sqrt(weight)).toFixed(3));
  data.style.setProperty("--shade", (40 * shade).toFixed(1) + "%");
  if (!hasTexts) return;
  data.lastChild.textContent = text;
  data.setAttribute("aria-label", "reading " + quotedWord(idsNow()[query]) + ", looks at " + quotedWord(idsNow()[key]) +
    ": " + fixed(weight, 2) + ", " + fixed(weight / evenShare(query), 1) + " times an even share");
}

// The row of another word is read out; the chosen pair stays.
function preview(query) {
  view.preview = query;
  sayAttention();
}

// Arrows move, Enter or Space chooses, Escape goes back to the last word.
function gridKey(event, cells, r, c) {
  const last = idsNow().length - 1, far = event.ctrlKey;
  const to = {ArrowUp: [r - 1, c], ArrowDown: [r + 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1],
    Home: [far ? 0 : r, 0], End: [far ? last : r, last]}[event.key];
  const {q, k} = cells[r][c].dataset;
  if (event.key === "Enter" || event.key === " ") select({query: Number(q), key: Number(k)});
  else if (event.key === "Escape") select({query: idsNow().length - 1, key: 0});
  else if (!to) return;
  event.preventDefault();
  if (!to) return;
  const [row, column] = to.map((place) => Math.min(Math.max(place, 0), idsNow().length - 1));
  // A row that is not shown yet.
  if (!cells[row]) return select({query: row, key: column});
  const next = cells[row][column];
  cells.flat().forEach((cell) => { cell.tabIndex = -1; });
  next.tabIndex = 0;
  next.focus();
}

function sayAttention() {
  const text = attentionInWords(snapshotNow(), selection.sentence, selection.layer, selection.head,
    view.preview ?? selection.query, 4);
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

// The weights as a picture; later words are grey.
function paintRows(canvas, rows) {
  const paint = canvas.getContext("2d"), size = canvas.width, cell = size / rows.length;
  const box = (i, j, width, share, colour) => {
    paint.fillStyle = colour;
    paint.globalAlpha = share;
    paint.fillRect(j * cell, i * cell, width, cell);
  };
  paint.clearRect(0, 0, size, size);
  rows.forEach((row, i) => {
    row.forEach((weight, j) => weight > 0.004 && box(i, j, cell, weight, "#0072b2"));
    if (page.run.model.causal) box(i, i + 1, size, 0.2, "#888");
  });
}

function thumbnails() {
  const {layers, heads} = page.run.model;
  if (layers * heads === 1) return null;
  const box = element("div", {class: "controls thumbnails", role: "group", "aria-label": "All heads"});
  for (let layer = 0; layer < layers; ++layer)
    for (let head = heads > 1 ? -1 : 0; head < heads; ++head) {
      const canvas = element("canvas", {width: 56, height: 56, "aria-hidden": true});
      const one = button([canvas, headName(layer, head)], () => select({layer, head}));
      box.append(one);
      follow((changed) => {
        one.setAttribute("aria-pressed", layer === selection.layer && head === selection.head);
        if (changed.has("step") || changed.has("sentence"))
          paintRows(canvas, attentionRows(snapshotNow(), selection.sentence, layer, head));
      });
    }
  return box;
}

// The grid as a picture to save: dots and numbers.
function gridPicture() {
  const ids = idsNow(), side = 40 * ids.length + 90, {causal} = page.run.model;
  const text = (x, y, words) => svgElement("text", {x, y, "text-anchor": "middle"}, words);
  return svgElement("svg", {viewBox: `0 0 ${side} ${side}`}, ids.map((id, i) => [
    text(45, 40 * i + 114, labelOf(id)), text(40 * i + 110, 60 + 16 * (i % 2), labelOf(id)),
    rowsNow()[i].map((weight, j) => (causal && j > i ? null : [
      svgElement("circle", {cx: 40 * j + 110, cy: 40 * i + 110, r: 18 * Math.sqrt(weight)}),
      text(40 * j + 110, 40 * i + 114, fixed(weight, 2))]))]));
}

function attentionPart() {
  const {layers, heads} = page.run.model;
  const numbers = (n) => Array.from({length: n}, (_, i) => [i, i]);
  const sentence = choice("sentence", "Sentence", page.run.sentences.map((_, i) => [i, sentenceText(i)]),
    (value) => select({sentence: value}));
  const layer = choice("layer", "Layer", numbers(layers), (value) => select({layer: value}));
  const head = choice("head", "Head", heads > 1 ? [[-1, "mean"], ...numbers(heads)] : numbers(1),
    (value) => select({head: value}));
  const show = element("select", {id: "show", on: {change: () => { view.show = show.value; draw(); }}},
    ["weight", "score", "lift"].map((name) => element("option", {value: name}, name)));
  const toggle = (id, text, name) => button(text, (event) => {
    view[name] = !view[name];
    event.currentTarget.setAttribute("aria-pressed", view[name]);
    draw();
  }, {id, "aria-pressed": view[name]});
  const transpose = toggle("transpose", "Rows \u2194 columns", "isTransposed");
  const box = element("div", {class: "figure"});
  const picture = element("canvas", {width: 640, height: 640, role: "img", "aria-label":
    "All weights; the table has the chosen row", on: {click: (event) => {
    const [key, query] = [event.offsetX, event.offsetY].map((at) => Math.floor(at / 640 * idsNow().length));
    select({query, key});
  }}});
  let timer = 0;
  const draw = () => {
    const scores = scoreRows();
    show.value = !scores && view.show === "score" ? "weight" : view.show;
    show.options[1].disabled = !scores;
    const hadFocus = box.contains(document.activeElement);
    view.preview = null;
    box.replaceChildren(gridTable(rowsNow(), scores));
    transpose.disabled = idsNow().length > mostCells;
    if (transpose.disabled) {
      box.prepend(picture);
      paintRows(picture, rowsNow());
    }
    if (hadFocus) box.querySelector("[tabindex='0']").focus();
    sayAttention();
  };
  follow((changed) => {
    sentence.box.value = selection.sentence;
    layer.box.value = selection.layer;
    head.box.value = selection.head;
    clearTimeout(timer);
    if (changed.size > 1 || !changed.has("step")) return draw();
    box.querySelectorAll(".cell").forEach((data) => paintCell(data, rowsNow(), null, false));
    if (picture.parentNode) paintRows(picture, rowsNow());
    timer = setTimeout(draw, 120);
  });
  const word = (i) => '"' + labelOf(idsNow()[i]).replaceAll('"', '""') + '"';
  const csv = () => "query,query_word,key,key_word,weight\n" + rowsNow().flatMap((row, i) =>
    row.map((weight, j) => [i, word(i), j, word(j), weight] + "\n")).join("");
  const turn = (by) => heads > 1 && select({head: selection.head + by});
  const keys = {"[": () => turn(-1), "]": () => turn(1),
    t: () => transpose.click(), n: () => document.getElementById("numbers").click(),
    "?": () => { help.open = !help.open; }};
  const help = element("details", {}, element("summary", {}, "Keys"), paragraph("In the grid: arrows move, " +
    "Enter chooses a pair, Escape goes back to the last word, [ and ] change the head, t exchanges rows and " +
    "columns, n shows or hides the numbers."));
  const part = section("attention", "Where each word looks",
    paragraph("Each row is a word that looks, each column a word that it looks at. The area of a dot is the " +
      "weight, and the weights of a row add up to 1. " + (page.run.model.causal ? "Hatched or grey cells are " +
      "later words: a word must not see them. " : "") + "Lift is the weight divided by an even share."),
    element("div", {class: "controls"}, sentence.row, layer.row, head.row,
      element("label", {for: "show"}, "Show ", show), transpose, toggle("numbers", "Numbers", "hasNumbers")),
    thumbnails(), box, element("p", {id: "inwords", "aria-live": "polite"}), help,
    element("div", {class: "controls"},
      button("Save this picture (SVG)", () => saveSvg("grid.svg", gridPicture()), {"data-export": "svg"}),
      button("Copy of the table (CSV)", () => download("attention.csv", "text/csv", csv()), {"data-export": "csv"}),
      button("All data (JSON)", () => download("fledge-page.json", "application/json",
        document.getElementById("data").textContent), {"data-export": "json"})),
    sourceNote("attention"));
  part.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT" || event.ctrlKey || event.metaKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  return part;
}
