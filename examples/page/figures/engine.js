// Figures of the lessons on the engine: a graph with its gradients, the step of a check, and bars.

// One query, two keys, two values: y = Σ eⱼvⱼ / z. Each node: its name, what makes it, its value
// from those, and its derivative with respect to each of them.
const tapeNodes = [["q"], ["k\u2081"], ["v\u2081"], ["k\u2082"], ["v\u2082"],
  ["s\u2081 = q\u00b7k\u2081", [0, 1], (q, k) => q * k, (q, k) => [k, q]],
  ["s\u2082 = q\u00b7k\u2082", [0, 3], (q, k) => q * k, (q, k) => [k, q]],
  ["e\u2081 = exp s\u2081", [5], Math.exp, (s) => [Math.exp(s)]],
  ["e\u2082 = exp s\u2082", [6], Math.exp, (s) => [Math.exp(s)]],
  ["z = e\u2081 + e\u2082", [7, 8], (a, b) => a + b, () => [1, 1]],
  ["m\u2081 = e\u2081\u00b7v\u2081", [7, 2], (e, v) => e * v, (e, v) => [v, e]],
  ["m\u2082 = e\u2082\u00b7v\u2082", [8, 4], (e, v) => e * v, (e, v) => [v, e]],
  ["m = m\u2081 + m\u2082", [10, 11], (a, b) => a + b, () => [1, 1]],
  ["y = m / z", [12, 9], (m, z) => m / z, (m, z) => [1 / z, -m / (z * z)]]];
const tapePlaces = [[1, 2], [0, 0.7], [0, 0], [0, 3.3], [0, 4], [2, 1], [2, 3], [3, 1], [3, 3],
  [4, 2], [4, 0.4], [4, 3.6], [5, 1], [6, 2]];

figures.scalar_tape = figures.same_in_fledge = (node) => {
  const inputs = [2, 0.5, 0.1, -0.25, 0.5];
  const svg = svgElement("svg", {class: "graph", viewBox: "0 0 860 400", role: "img",
    "aria-label": "The graph: values, and gradients below them"});
  const inWords = toldLine();
  const redraw = () => {
    const values = [...inputs], gradients = Array(14).fill(0), flows = [];
    for (const [, from, f] of tapeNodes.slice(5)) values.push(f(...from.map((i) => values[i])));
    gradients[13] = 1;
    for (let i = 13; i >= 5; --i) {
      const [, from, , rule] = tapeNodes[i], parts = rule(...from.map((j) => values[j]));
      flows[i] = parts.map((part) => part * gradients[i]);
      from.forEach((j, n) => { gradients[j] += flows[i][n]; });
    }
    const place = (i) => [64 + 122 * tapePlaces[i][0], 36 + 82 * tapePlaces[i][1]];
    const edges = tapeNodes.flatMap(([, from = []], i) => from.map((j, n) => {
      const line = lineThrough([place(j), place(i)], "axis");
      line.style.strokeWidth = 1 + 6 * Math.min(1, Math.abs(flows[i][n]));
      return line;
    }));
    svg.replaceChildren(...edges, ...tapeNodes.flatMap(([name], i) => {
      const [x, y] = place(i);
      return [svgElement("rect",
        {class: "node-box", x: x - 50, y: y - 26, width: 100, height: 54, rx: 10}),
      plotText(x, y - 9, name), plotText(x, y + 7, fixed(values[i]), {class: "plain-ink"}),
      plotText(x, y + 22, "\u2202 " + fixed(gradients[i], 4))];
    }));
    inWords.textContent = `y is ${fixed(values[13], 4)}. If q grows by a little, y changes by ` +
      `${fixed(gradients[0], 4)} of it: ${gradients[0] < 0 ? "down" : "up"}.`;
  };
  node.append(element("div", {class: "scroll"}, svg), element("p", {class: "caption"},
    "Each node has its value and \u2202, the gradient of y, which comes from the right."), inWords,
  panelOf(inputs, inputs.map((_, i) => ({text: tapeNodes[i][0], min: -3, max: 3, step: 0.05,
    show: (number) => fixed(number, 2)})), redraw));
};

// b = a + a, c = b + b: the reader clicks the nodes in the order in which backward visits them.
figures.newest_first = (node) => {
  const names = ["a", "b = a + a", "c = b + b"], inputs = [[], [0, 0], [1, 1]], x = [70, 280, 490];
  const order = [], inWords = toldLine();
  const visit = (i) => {
    if (!order.includes(i)) order.push(i);
    redraw();
  };
  const restart = (...visits) => {
    order.splice(0, 3, ...visits);
    redraw();
  };
  const boxes = names.map((name, i) => {
    const turn = plotText(x[i], 24, ""), sum = plotText(x[i], 96, "");
    const keydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      visit(i);
    };
    const box = svgElement("g", {class: "visit", role: "button", tabindex: 0,
      on: {click: () => visit(i), keydown}},
    svgElement("rect", {class: "node-box", x: x[i] - 60, y: 44, width: 120, height: 64, rx: 10}),
    plotText(x[i], 70, name, {class: "plain-ink"}), turn, sum);
    return {box, turn, sum};
  });
  const edges = [0, 1].flatMap((i) => [-26, 26].map((bend) => svgElement("path", {class: "axis",
    d: `M${x[i] + 60},76q45,${bend} 90,0`})));
  const redraw = () => {
    const sums = [0, 0, 1];
    for (const i of order) for (const j of inputs[i]) sums[j] += sums[i];
    boxes.forEach(({box, turn, sum}, i) => {
      const at = order.indexOf(i);
      turn.textContent = at < 0 ? "not yet" : ["first", "second", "third"][at];
      sum.textContent = "\u2202 " + sums[i];
      box.setAttribute("aria-label", `${names[i]}, ${turn.textContent}, gradient ${sums[i]}`);
      box.setAttribute("aria-pressed", at >= 0);
    });
    const visited = order.map((i) => names[i][0]).join(", then ");
    inWords.textContent = order.length < 3 ?
      (visited ? `So far: ${visited}. ` : "") + "Click the node that has its turn next." :
      `${visited}: the gradient of a is ${sums[0]}. ` + (sums[0] === 4 ? "That is right." :
        "The right one is 4: b had its turn before c, and passed on 0 to a.");
  };
  node.append(svgElement("svg", {class: "cross", viewBox: "0 0 560 116", role: "group",
    "aria-label": "The graph"}, edges, boxes.map(({box}) => box)), inWords,
  element("div", {class: "controls"}, button("Newest first", () => restart(2, 1, 0),
    {class: "small"}), button("Start again", () => restart(), {class: "small"})));
  redraw();
};

// The error of (exp(x + h) - exp(x - h)) / 2h as a share of exp(x), over a hundred places.
function errorOf(h) {
  const squares = Array.from({length: 100}, (_, i) => {
    const x = 0.5 + i / 400, step = x + h - x;  // as much as x can really move
    const slope = (Math.exp(x + step) - Math.exp(x - step)) / 2 / step;
    return (slope / Math.exp(x) - 1) ** 2;
  });
  return Math.sqrt(meanOf(squares));
}

// "10⁻³": no picture has another way to write an exponent.
const raised = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
const tenTo = (p) => "10\u207b" + [...String(p)].map((digit) => raised[digit]).join("");

figures.gradient_check = (node) => {
  const inWords = toldLine();
  const at = {power: -1};
  const plot = makePlot("Error of a derivative over the step", 240, (width) => {
    const x = (p) => 40 + (width - 60) * (12 - p) / 11, y = (error) => 10 - 18 * Math.log10(error);
    const curve = lineThrough(Array.from({length: 56}, (_, i) => 1 + i / 5).map((p) =>
      [x(p), y(errorOf(10 ** -p))]));
    return [[1, 4, 8, 12].map((p) => plotText(x(p), 236, tenTo(p), {"text-anchor": "middle"})),
      [0, 5, 10].map((p) => [plotText(0, y(10 ** -p) + 4, p ? tenTo(p) : "1"),
        lineThrough([[40, y(10 ** -p)], [width, y(10 ** -p)]], "level")]), curve,
      svgElement("circle", {class: "dot", r: 6, cx: x(-at.power), cy: y(errorOf(10 ** at.power))})];
  });
  const show = () => {
    plot.redraw();
    const error = errorOf(10 ** at.power).toExponential(0);
    inWords.textContent = `Step ${tenTo(-at.power)}: the error is ${error}. ` +
      (at.power > -5 ? "Too long: the curve bends." : at.power < -7 ?
        "Too short: rounding is all that is left." : "Near the bottom of the valley.");
  };
  node.append(plot.node, inWords, panelOf(at, {power: {text: "length of the step", min: -12,
    max: -1, step: 1, show: (power) => tenTo(-power)}}, show));
};

// Bars of numbers that follow from a size, a power of 2.
function barsFigure(node, range, power, rows) {
  const list = element("ol", {class: "bars ladder"}), at = {power};
  const redraw = () => {
    const all = rows(2 ** at.power), most = Math.max(...all.map(([, number]) => number));
    list.replaceChildren(...all.map(([name, number]) =>
      barRow(name, number / most, shortCount(number)).node));
  };
  node.append(list, panelOf(at, {power: {...range, step: 1,
    show: (power) => thousands(2 ** power)}}, redraw));
}

const shortCount = (number) => {
  const power = Math.min(4, Math.floor(Math.log10(Math.max(1, number)) / 3));
  return Number((number / 1000 ** power).toPrecision(3)) + ["", " k", " M", " G", " T"][power];
};
// Numbers that are read from memory or a cache in a product of n by n: each tile of 6 by 16 sums
// reads 22 numbers for 96 products.
figures.make_it_fast = (node) =>
  barsFigure(node, {text: "matrices of n by n, n", min: 4, max: 12}, 9, (n) =>
    [["products", n ** 3], ["numbers read, three loops", 2 * n ** 3],
      ["read by tiles of 14 \u00d7 32 (AVX-512)", n ** 3 * 46 / 448], ["numbers in A and B", 2 * n * n]]);
figures.fused_attention = (node) =>
  barsFigure(node, {text: "words, T (4 heads of 32)", min: 6, max: 15}, 10, (n) =>
    [["bytes of the weights", 16 * n * n], ["bytes of q, k and v", 12 * 128 * n],
      ["bytes that the op keeps", 4 * (128 * n + 2 * 4 * n)]]);

// Draws of a row with dropout and their mean; below, the products that a cache saves.
figures.dropout_and_cache = (node) => {
  const weights = [0.5, 0.3, 0.15, 0.05], sums = [0, 0, 0, 0], at = {p: 0.25}, random = drawsOf(1);
  const inWords = toldLine(), counts = element("div");
  const [one, mean] = ["This draw", "Mean of all draws"].map((name) => {
    const rows = weights.map((weight) => barRow("weight " + fixed(weight, 2), 0, ""));
    return {node: element("div", {}, element("p", {class: "caption"}, name),
      element("ol", {class: "bars"}, rows.map((row) => row.node))),
    set: (numbers) => numbers.forEach((number, j) =>
      rows[j].set(number * (1 - at.p) / weights[0], fixed(number)))};
  });
  let draws = 0;
  const more = (count) => {
    let row = [];
    for (let i = 0; i < count; ++i) {
      row = weights.map((weight) => (random() < at.p ? 0 : weight / (1 - at.p)));
      row.forEach((weight, j) => { sums[j] += weight; });
    }
    draws += count;
    one.set(row);
    mean.set(sums.map((sum) => sum / draws));
    inWords.textContent = `Draw ${thousands(draws)} adds up to ` +
      `${fixed(row.reduce((a, b) => a + b), 2)}. The mean of the second weight is ` +
      `${fixed(sums[1] / draws)}, and without dropout it is 0.3.`;
  };
  const restart = () => {
    sums.fill(0);
    draws = 0;
    more(1);
  };
  node.append(element("div", {class: "two"}, one.node, mean.node), inWords,
    panelOf(at, {p: {text: "p, the probability of 0", min: 0, max: 0.9, step: 0.05,
      show: (p) => fixed(p, 2)}}, restart, button("Draw again", () => more(1), {class: "small"}),
    button("1,000 draws", () => more(1000), {class: "small"})), counts);
  barsFigure(counts, {text: "words, T (one head of size 16)", min: 0, max: 8}, 5, (n) => {
    const pairs = n * (n + 1) / 2, C = 16;
    return [["products without a cache", n * C * C + pairs * (2 * C * C + 2 * C)],
      ["products with a cache", 3 * n * C * C + pairs * 2 * C]];
  });
};
