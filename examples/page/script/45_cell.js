// Every number of the chosen cell: the products, the score, the shares, and the part of the value.

function cellPart() {
  const ask = element("p", {class: "in-words"}), dims = element("div"), value = element("div");
  const now = element("p", {class: "caption", id: "dimension-now", "aria-live": "polite"});
  const formula = element("p", {class: "formula"}), caption = element("p", {class: "caption"});
  const slider = element("input", {type: "range", id: "dimension", min: 1, value: 1,
    "aria-label": "Dimension", on: {input: () => drawProducts()}});
  const shares = sharesTable();
  let cell = null;
  const drawProducts = () => {
    const {q, k, products} = cell, c = Number(slider.value) - 1;
    const sum = products.slice(0, c + 1).reduce((a, b) => a + b);
    dims.replaceChildren(dimensionBars(
      [["query", q, "query"], ["key", k, "key"], ["product", products, "product"]], c));
    now.textContent = `dimension ${c + 1}: ${fixed(q[c], 2)} \u00d7 ${fixed(k[c], 2)} = ` +
      `${fixed(products[c], 2)}, sum so far ${fixed(sum, 2)}`;
  };
  const part = section("cell", "Every number of one look", ask,
    element("h3", {}, "1. Query times key: the score"),
    prose("In each dimension the *query* is multiplied with the *key*. The sum of the products, " +
      "divided by a fixed number, is the *score*."), dims, slider, now, formula,
    element("h3", {}, "2. Scores become shares"), shares.node,
    element("h3", {}, "3. What travels: the share of the value"), value, caption);
  return follow(async () => {
    const {layer, head, query, key} = state, {tokens} = seen;
    cell = await engine.cell(question(), layer, head, query, key);
    const share = percent(cell.weights[key]), looker = bdi(tokens[query], {class: "query-ink"});
    ask.replaceChildren("How much does ", looker, " look at ",
      bdi(tokens[key], {class: "key-ink"}), "? ", share, ". Choose another pair in the grid.");
    slider.max = cell.q.length;
    drawProducts();
    formula.replaceChildren(cell.score === null ?
      `score = \u2212\u221e: the ${unit()} is hidden` : scoreFormula(cell));
    shares.draw(cell);
    value.replaceChildren(dimensionBars([["value", cell.v, "value"],
      ["its part", cell.part, "value"], ["all parts", cell.output, "value"]]));
    caption.replaceChildren(share, " of the value of ", bdi(tokens[key]),
      ", added to the parts of the others.");
  }, part);
}

// score = q·k / √16 = 11.50 / 4.00 = 2.88; without the division: score = q·k = 11.50
function scoreFormula({dot, divisor, score}) {
  const number = (x) => math("mn", fixed(x, 2)), equals = () => math("mo", "=");
  const product = math("mrow", math("mi", "q"), math("mo", "\u00b7"), math("mi", "k"));
  const root = math("msqrt", math("mn", Math.round(divisor * divisor)));
  const steps = divisor === 1 ? [product, equals(), number(dot)] :
    [math("mfrac", product, root), equals(), math("mfrac", number(dot), number(divisor)), equals(),
      number(score)];
  return math("math", math("mrow", math("mtext", "score"), equals(), steps));
}

// A row for each word that is seen: its score, e to the score, and its share, which can be dragged.
function sharesTable() {
  const body = element("tbody");
  const exponent = math("mrow", math("mi", "s"), math("mo", "\u2212"), math("mtext", "max"));
  const power = math("math", math("msup", math("mi", "e"), exponent));
  const head = (name, spoken) => element("th", {scope: "col", "aria-label": spoken}, name);
  const table = element("table", {class: "shares"},
    element("caption", {}, "Share: e to the score, divided by the sum of these (",
      term("softmax"), "). Subtracting the largest score first changes no share."),
    element("thead", {}, element("tr", {}, element("td"), head("score s"),
      head(power, "e to the power of s minus the largest"), head("share: drag it"), element("td"))),
    body);
  let shown = "", rows = [];
  const draw = (cell) => {
    const scores = cell.scores.filter((score) => score !== null), most = Math.max(...scores);
    const text = [state.layer, state.head, state.query, ...seen.tokens].join("\u0000");
    if (text !== shown) rows = seen.tokens.map(shareRow);
    if (text !== shown) body.replaceChildren(...rows.map(({line}) => line));
    shown = text;
    rows.forEach(({line, score, power: e, slider, share}, j) => {
      const number = cell.scores[j];
      line.hidden = number === null;
      if (number === null) return;
      score.textContent = fixed(number, 2);
      e.textContent = fixed(Math.exp(number - most), 3);
      share.textContent = percent(cell.weights[j]);
      slider.disabled = scores.length < 2;
      slider.oninput = () => setShare(cell, j, Number(slider.value));
      if (slider !== document.activeElement) slider.value = cell.weights[j];
    });
  };
  return {node: element("div", {class: "scroll"}, table), draw};
}

function shareRow(token, j) {
  const slider = element("input", {type: "range", min: 0, max: 1, step: 0.01,
    "aria-label": "share of " + label(token)});
  const [score, power, share] = [1, 2, 3].map(() => element("td"));
  const line = element("tr", {"data-key": j}, element("th", {scope: "row", class: "key-ink"},
    bdi(token)), score, power, element("td", {}, slider), share);
  return {line, score, power, slider, share};
}

// Sets one share by hand; the others keep their proportions, and all add up to 1.
function setShare({weights, scores}, j, share) {
  const rest = 1 - weights[j], others = scores.filter((score) => score !== null).length - 1;
  const scaled = (weight) => rest > 1e-9 ? weight * (1 - share) / rest : (1 - share) / others;
  const row = weights.map((weight, i) =>
    (i === j ? share : scores[i] === null ? 0 : scaled(weight)));
  change({rows: {...state.rows, [[state.layer, state.head, state.query]]: row}});
}
