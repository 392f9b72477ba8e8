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
  const mixed = [0, 1, 2].map((c) =>
    row.reduce((sum, share, j) => sum + share * birdVectors[j][c], 0));
  return {product: dotOf(mixed, birdVectors[0]), control: dotOf(mixed, birdVectors[1])};
}

const goals = [
  ["walk forgets birds: product at \u22120.09 or below", ({product}) => product <= -0.09 + 1e-9],
  ["the largest product of all", ({product}) => product >= mixedBy([1, 0, 0]).product - 5e-4],
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

// Its area, and the words at its corners.
function triangleBack(words) {
  return [svgElement("path", {class: "area", d: "M" + corners.join("L") + "Z"}),
    ...words.map((word, j) => plotText(corners[j][0], j === 0 ? 18 : 474, word,
      {class: "corner", "text-anchor": ["middle", "start", "end"][j]}))];
}

figures.worked_example = (node) => {
  const inWords = element("p", {class: "in-words", "aria-live": "polite"});
  const items = goals.map(([text]) => element("li", {}, text));
  const svg = svgElement("svg", {viewBox: "0 0 560 480", class: "triangle", role: "group",
    "aria-label": "Triangle of the rows of attention"},
  triangleBack(birdWords), [-0.06, 0, 0.06, 0.12].map(contour));
  const drag = dragPoint(svg, "Row of attention", (x, y) => setRow(rowAt(x, y)));
  svg.append(drag.point);

  const setRow = (row) => {
    const mixed = mixedBy(row), [x, y] = placeOf(row);
    const shares = birdWords.map((word, j) => word + " " + percent(row[j])).join(", ");
    drag.set(x, y, shares);
    inWords.textContent = `walk takes ${shares}. Product with birds ${fixed(mixed.product)} ` +
      `(at most ${fixed(mixedBy([1, 0, 0]).product, 2)}), with sometimes ${fixed(mixed.control)}.`;
    items.forEach((item, i) => goals[i][1](mixed) && item.classList.add("done"));
  };

  setRow([1 / 3, 1 / 3, 1 / 3]);
  const named = birdWords.map((word, j) => `${word} ${vectorText(birdVectors[j], 1)}`);
  node.append(element("div", {id: "triangle"},
    prose(`Take three invented vectors: ${named.join(", ")}. A row of attention has three ` +
      "shares that add up to 1: a point in this triangle. In a corner, walk looks at one word " +
      "only. On a dashed line the product of its new vector with that of birds stays the same."),
    element("div", {class: "two"}, svg, element("div", {}, inWords,
      element("h3", {}, "Drag the point until"), element("ol", {id: "goals"}, items)))));
};
