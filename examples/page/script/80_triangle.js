// The triangle of all rows of attention: a row of three weights is a point, its corners are 'birds',
// 'sometimes' and 'walk'. C++: examples/birds/by_hand.cpp and learning.cpp.

const corner = {birds: [60, 400], sometimes: [540, 400], walk: [300, 30]};

// Where a row stands in the picture.
function placeOf(row) {
  const corners = Object.values(corner);
  return [0, 1].map((axis) => row.reduce((sum, weight, j) => sum + weight * corners[j][axis], 0));
}

// The weights of a point: the inverse, kept inside the triangle.
function rowAt(x, y) {
  const [b, s, w] = Object.values(corner);
  const area = (s[1] - w[1]) * (b[0] - w[0]) + (w[0] - s[0]) * (b[1] - w[1]);
  const first = ((s[1] - w[1]) * (x - w[0]) + (w[0] - s[0]) * (y - w[1])) / area;
  const second = ((w[1] - b[1]) * (x - w[0]) + (b[0] - w[0]) * (y - w[1])) / area;
  const row = [first, second, 1 - first - second].map((weight) => Math.max(0, weight));
  const sum = row.reduce((a, entry) => a + entry, 0);
  return row.map((weight) => weight / sum);
}

// v3' = sum_j a_j v_j, and its products with v1 (birds) and v2 (sometimes).
function mixedBy(row) {
  const v = page.triangle.vectors, dot = (a, b) => a.reduce((sum, x, c) => sum + x * b[c], 0);
  const mixed = [0, 1, 2].map((c) => row.reduce((sum, a, j) => sum + a * v[j][c], 0));
  const cosine = dot(mixed, v[0]) / Math.sqrt(dot(mixed, mixed) * dot(v[0], v[0]));
  return {mixed, product: dot(mixed, v[0]), control: dot(mixed, v[1]), cosine};
}

// The line of all points whose product with v1 is `level`, between the two sides that it crosses.
function contour(level) {
  const ends = [[0, 1], [1, 2], [0, 2]].map(([i, j]) => {
    const value = (share) => mixedBy([0, 1, 2].map((n) => (n === i ? 1 - share : n === j ? share : 0))).product;
    const share = (level - value(0)) / (value(1) - value(0));
    return share >= 0 && share <= 1 ? placeOf([0, 1, 2].map((n) => (n === i ? 1 - share : n === j ? share : 0))) : null;
  }).filter(Boolean);
  return ends.length < 2 ? null : "M" + ends[0].map((x) => x.toFixed(1)) + "L" + ends[1].map((x) => x.toFixed(1));
}

function trianglePart() {
  const {words, vectors, hand_row: handRow, ways, ceiling, sources} = page.triangle;
  let row = [1 / 3, 1 / 3, 1 / 3], step = 1, timer = 0;
  const svg = svgElement("svg", {viewBox: "0 0 620 450", class: "plot triangle", role: "img",
    "aria-label": "Triangle of attention rows: corners birds, sometimes, walk"});
  svg.append(svgElement("path", {class: "area", d: "M" + Object.values(corner).map((place) => place.join()).join("L") + "Z"}));
  for (const level of [-0.06, -0.03, 0, 0.03, 0.06, 0.09, 0.12]) {
    const d = contour(level);
    if (!d) continue;
    const [x, y] = d.slice(1).split("L")[0].split(",").map(Number);
    svg.append(svgElement("path", {class: "level", d}), svgElement("text", {x: x + 2, y: y + 14}, fixed(level, 2)));
  }
  Object.entries(corner).forEach(([name, [x, y]]) => svg.append(svgElement("text", {class: "lit", "text-anchor": "middle",
    x, y: name === "walk" ? y - 10 : y + 34}, name)));
  const handSum = handRow.reduce((a, b) => a + b, 0), [hx, hy] = placeOf(handRow.map((a) => a / handSum));
  const lift = 700 * (handSum - 1);  // a row that does not add up to 1 does not lie in the plane of the triangle
  svg.append(svgElement("path", {class: "level", d: `M${hx},${hy}l${-lift},${-lift}`}),
    svgElement("circle", {cx: hx - lift, cy: hy - lift, r: 5}),
    svgElement("text", {x: hx - lift - 4, y: hy - lift - 24, "text-anchor": "middle"}, "the row of note 000,"),
    svgElement("text", {x: hx - lift - 4, y: hy - lift - 10, "text-anchor": "middle"}, "outside"));
  const paths = ways.map((way, n) => {
    const path = svgElement("path", {class: "curve series-" + (n + 1)});
    svg.append(path);
    return path;
  });
  const point = svgElement("circle", {class: "drag", r: 11, tabindex: 0, role: "slider", "aria-label": "Row of attention",
    "aria-valuemin": 0, "aria-valuemax": 1});
  svg.append(point);
  const box = element("div", {class: "figure"}), inWords = element("p", {id: "triangle-words", "aria-live": "polite"});
  const inputs = words.map((word, j) => element("input", {type: "number", min: 0, max: 1, step: 0.05, "aria-label": "weight of " + word,
    on: {change: (event) => setWeight(j, Number(event.target.value))}}));
  const setWeight = (j, weight) => {
    const kept = Math.min(Math.max(weight || 0, 0), 1), rest = 1 - row[j];
    setRow(row.map((a, i) => (i === j ? kept : rest > 1e-9 ? a * (1 - kept) / rest : (1 - kept) / 2)));
  };
  const setRow = (next) => {
    row = next;
    const {mixed, product, control, cosine} = mixedBy(row), [x, y] = placeOf(row);
    point.setAttribute("cx", x.toFixed(1));
    point.setAttribute("cy", y.toFixed(1));
    point.setAttribute("aria-valuenow", fixed(row[0], 2));
    point.setAttribute("aria-valuetext", words.map((word, j) => word + " " + fixed(row[j], 2)).join(", "));
    inputs.forEach((input, j) => { if (input !== document.activeElement) input.value = row[j].toFixed(2); });
    box.replaceChildren(tableOf("the nine products a \u00d7 v, and their sums", ["", "number 1", "number 2", "number 3"],
      [...words.map((word, j) => [fixed(row[j], 2) + " of '" + word + "'", ...vectors[j].map((entry) => fixed(row[j] * entry, 3))]),
        ["v3' (sum)", ...mixed.map((entry) => fixed(entry, 3))]]));
    inWords.textContent = "'walk' looks at: " + words.map((word, j) => "'" + word + "' " + fixed(row[j], 2)).join(", ") + ". v3'\u00b7v1 = " +
      fixed(product, 4) + " (before attention \u22120.09; at most " + fixed(ceiling, 2) + "). Cosine with 'birds': " + fixed(cosine, 3) +
      ". The control v3'\u00b7v2, with 'sometimes': " + fixed(control, 4) + " (before attention \u22120.39).";
  };
  const toRow = (event) => {
    const at = svg.getBoundingClientRect();
    setRow(rowAt((event.clientX - at.left) / at.width * 620, (event.clientY - at.top) / at.height * 450));
  };
  point.addEventListener("pointerdown", (event) => point.setPointerCapture(event.pointerId));
  point.addEventListener("pointermove", (event) => point.hasPointerCapture(event.pointerId) && toRow(event));
  svg.addEventListener("click", toRow);
  point.addEventListener("keydown", (event) => {
    const by = {ArrowLeft: [-8, 0], ArrowRight: [8, 0], ArrowUp: [0, -8], ArrowDown: [0, 8]}[event.key];
    if (!by) return;
    event.preventDefault();
    const [x, y] = placeOf(row);
    setRow(rowAt(x + by[0], y + by[1]));
  });
  const show = element("input", {type: "range", id: "ways", min: 0, max: 100, value: 100, "aria-label": "How far the five ways have learned",
    on: {input: () => drawPaths(Number(show.value) / 100)}});
  const drawPaths = (share) => {
    step = share;
    ways.forEach(({rows}, n) => {
      const shown = rows.slice(0, Math.max(1, Math.round(share * rows.length)));
      paths[n].setAttribute("d", shown.map((place, i) => (i ? "L" : "M") + placeOf(place).map((x) => x.toFixed(1)).join()).join(""));
    });
  };
  const play = button("Play", () => {
    clearInterval(timer);
    if (step >= 1) drawPaths(0);
    timer = setInterval(() => {
      drawPaths(Math.min(1, step + 0.02));
      show.value = 100 * step;
      if (step >= 1) clearInterval(timer);
    }, 60);
  });
  setRow(row);
  drawPaths(1);
  return section("triangle", "Where can 'walk' look?",
    paragraph("First a small example, with three invented vectors: 'birds' v1 = (0.1, 0.2, 0.3), 'sometimes' v2 = (\u22120.8, 0.3, " +
      "\u22120.1), 'walk' v3 = (0.5, \u22120.1, \u22120.4). In 'birds sometimes walk', 'walk' looks at the three words with weights a1, a2, a3 " +
      "that add up to 1: one point in a triangle. In a corner it looks at one word only. Its new vector is v3' = a1 v1 + a2 v2 + a3 v3."),
    paragraph("The dashed lines join points with the same product v3'\u00b7v1. As long as the vectors stay, it is largest in the corner " +
      "'birds': 0.14, the ceiling. Drag the orange point, use the arrow keys, or type weights."),
    element("div", {class: "figure"}, svg),
    element("div", {class: "controls"}, words.map((word, j) => element("label", {}, "'" + word + "' ", inputs[j]))), inWords, box,
    paragraph("Of the notes that this course retells, note 000 sets the row (" + handRow.map((a) => fixed(a, 1)).join(", ") + ") by hand. " +
      "It adds up to " + fixed(handSum, 1) + ", and a softmax gives 1: so it is no point of this plane. It is drawn beside the triangle; a line " +
      "joins it with the row divided by " + fixed(handSum, 1) + "."),
    element("h3", {}, "Five ways to learn"),
    paragraph("W_Q makes queries, W_K keys, W_V values. They learn to raise v3'\u00b7v1; a path shows the row meanwhile. Q alone and K " +
      "alone (orange) and both (dotted) run to 'birds'. With V alone the row stays. If all learn (purple), the values change, and " +
      "'walk' ends looking at itself: a large product does not prove attention."),
    element("div", {class: "controls"}, play, show),
    element("div", {class: "figure"}, tableOf("after learning", ["learns", "steps", "'birds'", "'sometimes'", "'walk'", "v3'\u00b7v1"],
      ways.map((way) => [way.learns, String(way.steps), ...way.rows.at(-1).map((a) => fixed(a, 4)), fixed(way.goals.at(-1), 4)]))),
    element("p", {class: "note"}, "Computed by " + Object.values(sources).join("; ") + "."));
}
