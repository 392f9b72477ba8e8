// Where each word looks, one row for each; all heads as small pictures that can be switched off.

const mostCells = 14;  // more words than this are a picture without numbers

function gridPart() {
  const box = element("div", {class: "scroll"}), inWords = element("p", {class: "in-words"});
  const picture = element("canvas", {class: "grid-picture", width: 640, height: 640, role: "img",
    "aria-label": "All weights; the sentence below has the chosen row", on: {click: choose}});
  let cells = [], shown = "";
  function choose({offsetX, offsetY}) {
    const place = (at) => Math.floor(at / picture.clientWidth * seen.tokens.length);
    const [key, query] = [place(offsetX), place(offsetY)];
    change(isCausal() && key > query ? {query: key, key} : {query, key});
  }
  const part = section("grid", "Where each # looks",
    prose("Each row is a # that looks. It takes a share of each # in the columns; a row adds up " +
      "to 100 %. Hatched: what comes later, which it must not see (the *causal mask*)."),
    box, inWords, headsPart());
  return follow(() => {
    const {tokens} = seen, rows = seen.attention[state.layer][state.head];
    const isPicture = tokens.length > mostCells, text = isPicture ? "" : tokens.join("\u0000");
    inWords.textContent = lookInWords(tokens, row(), state.query, 4) + ".";
    if (text !== shown || !box.firstChild) {
      const line = (_, query) => tokens.map((_, key) => gridCell(query, key));
      cells = isPicture ? [] : tokens.map(line);
      box.replaceChildren(isPicture ? picture : gridTable(tokens, cells));
      shown = text;
    }
    if (isPicture) paintRows(picture, rows);
    cells.forEach((line, query) => line.forEach((cell, key) =>
      paintCell(cell, query, key, rows[query][key])));
  }, part);
}

function gridTable(tokens, cells) {
  const head = (token, scope, name) => element("th", {scope, class: name}, bdi(token));
  return element("table", {class: tokens.length > 6 ? "grid many" : "grid", role: "grid",
    "aria-label": "Attention weights"},
  element("tr", {}, element("td", {class: "corner"}, "looks \u2193 at \u2192"),
    tokens.map((token) => head(token, "col", "key-ink"))),
  cells.map((line, j) => element("tr", {}, head(tokens[j], "row", "query-ink"), line)));
}

function gridCell(query, key) {
  const choose = () => change({query, key});
  const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
  const keydown = (event) => {
    const [down, right] = moves[event.key] ?? [0, 0], isMove = event.key in moves;
    if (!isMove && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (!isMove) return choose();
    event.currentTarget.closest("table").rows[1 + query + down]?.cells[1 + key + right]?.focus();
  };
  return element("td", {role: "gridcell", "data-query": query, "data-key": key,
    on: {click: choose, keydown}},
  svgElement("svg", {viewBox: "-1 -1 2 2", "aria-hidden": true}, svgElement("circle")),
  element("span"));
}

function paintCell(cell, query, key, weight) {
  const isLater = isCausal() && key > query, isChosen = query === state.query && key === state.key;
  cell.classList.toggle("later-cell", isLater);
  cell.classList.toggle("chosen-row", query === state.query);
  cell.tabIndex = isChosen ? 0 : -1;
  cell.setAttribute("aria-selected", isChosen);
  cell.setAttribute("aria-label", isLater ? "later, not seen" :
    `${quoted(seen.tokens[query])} looks at ${quoted(seen.tokens[key])}: ${percent(weight)}`);
  cell.querySelector("circle").setAttribute("r", isLater ? 0 : 0.95 * Math.sqrt(weight));
  cell.lastChild.textContent = isLater ? "" : Math.round(100 * weight);
}

// A picture of all rows: the darker, the larger the weight; later words are left out.
function paintRows(canvas, rows) {
  const paint = canvas.getContext("2d"), cell = canvas.width / rows.length;
  const inside = cell > 6 ? cell - 1 : cell;
  paint.clearRect(0, 0, canvas.width, canvas.width);
  paint.fillStyle = getComputedStyle(canvas).color;
  rows.forEach((weights, i) => weights.forEach((weight, j) => {
    paint.globalAlpha = isCausal() && j > i ? 0 : 0.08 + 0.92 * weight;
    paint.fillRect(j * cell, i * cell, inside, inside);
  }));
}

function headsPart() {
  const box = element("div", {class: "heads"});
  let heads = [];
  return follow(() => {
    const all = allHeads();
    if (heads.length !== all.length) heads = all.map(headPicture);
    if (box.children.length !== all.length) box.replaceChildren(...heads.map(({node}) => node));
    heads.forEach(({choose, off, canvas}, i) => {
      const {layer, head, at} = all[i];
      choose.setAttribute("aria-pressed", layer === state.layer && head === state.head);
      off.setAttribute("aria-pressed", state.off.has(at));
      paintRows(canvas, seen.attention[layer][head]);
    });
  }, box);
}

function headPicture({layer, head, at, name}) {
  const canvas = element("canvas", {width: 72, height: 72, "aria-hidden": true});
  const choose = button([canvas, name], () => change({layer, head}), {class: "head-choice"});
  const off = button("head off", () => send({off: toggled(state.off, at)}),
    {class: "small", "aria-label": "head off: " + name});
  const node = element("div", {class: "head-box", "data-head": at}, choose, off);
  return {node, canvas, choose, off};
}
