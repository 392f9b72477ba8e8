// The triangle of all rows of attention: a row of three shares is a point, its corners are 'birds',
// 'sometimes' and 'walk'. C++: examples/birds/by_hand.cpp and learning.cpp.

const corners = [[280, 34], [40, 449.7], [520, 449.7]];  // all sides have 480

// Where a row stands in the picture: the mean of the corners, weighted by its shares.
function placeOf(row) {
  return [0, 1].map((axis) => row.reduce((sum, share, j) => sum + share * corners[j][axis], 0));
}

// The row of a point: the inverse, kept inside the triangle.
function rowAt(x, y) {
  const first = (corners[1][1] - y) / (corners[1][1] - corners[0][1]);
  const third = (x - corners[1][0]) / 480 - first / 2;
  const row = [first, 1 - first - third, third].map((share) => Math.max(0, share));
  return row.map((share) => share / row.reduce((a, b) => a + b));
}

// v₃′ = Σ aⱼ vⱼ, and its products with v₁ (birds) and v₂ (sometimes).
function mixedBy(row) {
  const v = page.triangle.vectors, dot = (a, b) => a.reduce((sum, x, c) => sum + x * b[c], 0);
  const mixed = [0, 1, 2].map((c) => row.reduce((sum, share, j) => sum + share * v[j][c], 0));
  return {product: dot(mixed, v[0]), control: dot(mixed, v[1])};
}

const goals = [
  ["walk forgets birds: product at \u22120.09 or below", ({product}) => product <= -0.09 + 1e-9],
  ["the largest product of all", ({product}) => product >= page.triangle.ceiling - 5e-4],
  ["product above 0, yet the product with sometimes stays at \u22120.05 or below",
    ({product, control}) => product > 0 && control <= -0.05 + 1e-9]];

// The line of all points with this product: from one side that it crosses to another.
function contour(level) {
  const ends = [[0, 1], [1, 2], [0, 2]].map(([i, j]) => {
    const between = (share) => [0, 1, 2].map((n) => (n === i ? 1 - share : n === j ? share : 0));
    const [from, to] = [mixedBy(between(0)).product, mixedBy(between(1)).product];
    const share = (level - from) / (to - from);
    return share >= 0 && share <= 1 ? placeOf(between(share)) : null;
  }).filter(Boolean);
  const [x, y] = ends[1];
  return [lineThrough(ends, "level"), plotText(x + 6, y + 4, fixed(level, 2))];
}

function trianglePart() {
  const {words, vectors, ways, ceiling} = page.triangle, [start] = ways[0].rows;
  const inWords = element("p", {class: "in-words", "aria-live": "polite"});
  const items = goals.map(([text]) => element("li", {}, text));
  const svg = svgElement("svg", {viewBox: "0 0 560 480", class: "triangle", role: "group",
    "aria-label": "Triangle of the rows of attention"},
  svgElement("path", {class: "area", d: "M" + corners.join("L") + "Z"}),
  [-0.06, 0, 0.06, 0.12].map(contour),
  words.map((word, j) => plotText(corners[j][0], j === 0 ? 18 : 474, word,
    {class: "corner", "text-anchor": ["middle", "start", "end"][j]})));
  const paths = ways.map(({rows}, n) => lineThrough(rows.map(placeOf), "curve race-" + n));
  const dots = ways.map(({rows}, n) => {
    const [cx, cy] = placeOf(rows.at(-1));
    return svgElement("circle", {class: "race-" + n, r: 6, cx, cy});
  });
  const drag = dragPoint(svg, "Row of attention", (x, y) => setRow(rowAt(x, y)));
  svg.append(...paths, ...dots, drag.point);

  const setRow = (row) => {
    const mixed = mixedBy(row), [x, y] = placeOf(row);
    const shares = words.map((word, j) => word + " " + percent(row[j])).join(", ");
    drag.set(x, y, shares);
    inWords.textContent = `walk takes ${shares}. Product with birds ${fixed(mixed.product)} ` +
      `(at most ${fixed(ceiling, 2)}), with sometimes ${fixed(mixed.control)}.`;
    items.forEach((item, i) => goals[i][1](mixed) && item.classList.add("done"));
  };

  // All ways are drawn; the chosen one stands out.
  const choose = (way) => [paths, dots, buttons].flat().forEach((node, i) => {
    const isChosen = i % ways.length === way;
    if (node.tagName === "BUTTON") node.setAttribute("aria-pressed", isChosen);
    else node.classList.toggle("faint", !isChosen);
  });
  const buttons = ways.map(({learns, rows, goals: products}, n) => {
    const end = `${percent(rows.at(-1)[0])}, product ${fixed(products.at(-1), 2)}`;
    return button([element("i", {class: "swatch race-" + n}), `${learns}: birds ${end}`],
      () => choose(n), {class: "way", "data-way": learns});
  });
  setRow(start);
  choose(0);
  const named = vectors.map((v, j) => `${words[j]} (${v.map((x) => fixed(x, 1)).join(", ")})`);
  return element("div", {id: "triangle"},
    prose(`Take three invented vectors: ${named.join(", ")}. A row of attention has three ` +
      "shares that add up to 1: a point in this triangle. In a corner, walk looks at one word " +
      "only. On a dashed line the product of its new vector with that of birds stays."),
    element("div", {class: "two"}, svg, element("div", {}, inWords,
      element("h3", {}, "Drag the point until"), element("ol", {id: "goals"}, items),
      element("h3", {}, "Five ways to learn"),
      prose("Each way trains some of the three matrices to raise the product with birds. If V " +
        "alone learns, the row stays. If all learn, walk ends up looking at itself: a large " +
        "product does not prove attention."), element("div", {class: "ways"}, buttons))));
}

figures.triangle = figures.worked_example = (node) => node.append(trianglePart());
