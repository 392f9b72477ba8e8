// Figures of single lessons: scores over d, noisy keys, rock, paper and scissors, three memories.

// Even random numbers from 0 to 1, the same for the same seed.
function drawsOf(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const normalOf = (draw) =>
  Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
const meanOf = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
const spreadOf = (all) => Math.sqrt(meanOf(all.map((a) => (a - meanOf(all)) ** 2)));

// How many of the numbers lie in each of 40 parts between two ends. set(numbers) shows others.
function histogram(name, [low, high], ink) {
  let numbers = [];
  const plot = makePlot(name, 120, (width) => {
    const counts = Array(40).fill(0);
    for (const number of numbers)
      counts[Math.max(0, Math.min(39, Math.floor(40 * (number - low) / (high - low))))] += 1;
    const most = Math.max(1, ...counts), wide = width / 40;
    return [counts.map((count, i) => svgElement("rect", {class: ink + "-ink", x: i * wide + 1,
      width: wide - 2, y: 96 - 90 * count / most, height: 90 * count / most})),
    lineThrough([[0, 96], [width, 96]], "axis"),
    [low, (low + high) / 2, high].map((at, i) => plotText(i * width / 2, 114, fixed(at, 1)
      .replace(".0", ""), {"text-anchor": ["start", "middle", "end"][i]}))];
  });
  return {node: element("figure", {}, element("figcaption", {class: "caption"}, name), plot.node),
    set(next) {
      numbers = next;
      plot.redraw();
    }};
}

figures.softmax = (node) => {
  const scores = histogram("Scores of 20 queries with ten keys", [-100, 100], "plain");
  const largest = histogram("The largest of the ten weights", [0, 1], "key");
  const inWords = toldLine(), at = {power: 10, scale: false};
  const redraw = latest(() => {
    const draw = drawsOf(1), rows = (count) => Array.from({length: count}, () =>
      Array.from({length: 2 ** at.power}, () => Number((3.464 * draw() - 1.732).toFixed(4))));
    return engine.head({q: rows(20), k: rows(10), v: Array(10).fill([1]), scale: at.scale});
  }, (out) => {
    const all = out.scores.flat(), most = out.weights.map((weights) => Math.max(...weights));
    scores.set(all);
    largest.set(most);
    inWords.textContent = `d = ${2 ** at.power}: scores spread by ${fixed(spreadOf(all), 1)}, ` +
      `and the largest of ten weights is ${fixed(meanOf(most), 2)} on average.`;
  });
  node.append(element("div", {class: "two"}, scores.node, largest.node), inWords,
    panelOf(at, {power: {text: "numbers in a key, d", min: 0, max: 10, step: 1,
      show: (power) => String(2 ** power)}, scale: "divide scores by \u221ad"}, redraw));
};

// Scores become weights in the engine: a draw is a query, and the keys are the identity matrix.
figures.noisy_keys = (node) => {
  const [one, two] = ["One head asks for both", "Two heads, one for each"]
    .map((name) => histogram(name + ": weight of a", [0, 1], "key"));
  const inWords = toldLine(), at = {variance: 0.5};
  const redraw = latest(() => {
    const draw = drawsOf(1), draws = Array.from({length: 250}, () => {
      const length = 1 + Math.sqrt(at.variance) * normalOf(draw);
      return Array.from({length: 6}, (_, j) =>
        0.1 * normalOf(draw) + 10 * (j === 0 ? length : j === 1));
    });
    const without = (at) => draws.map((row) => row.with(at, 0));
    return Promise.all([draws, without(1), without(0)].map(async (q) => {
      const k = identityRows(6), {weights} = await engine.head({q, k, v: k, scale: false});
      return weights.map(([a]) => a);
    }));
  }, ([both, first, second]) => {
    const mean = first.map((a, i) => (a + second[i]) / 2);
    one.set(both);
    two.set(mean);
    inWords.textContent = `The weight of a spreads by ${fixed(spreadOf(both), 2)} with one head, ` +
      `by ${fixed(spreadOf(mean), 2)} with two.`;
  });
  node.append(element("div", {class: "two"}, one.node, two.node), inWords, panelOf(at, {variance:
    {text: "variance of a key's length", min: 0, max: 1, step: 0.01}}, redraw));
};

// A point of an SVG picture that a pointer drags and arrow keys move: onMove(x, y) in its units.
function dragPoint(svg, name, onMove) {
  const [, , wide] = svg.getAttribute("viewBox").split(" ").map(Number);
  const point = svgElement("circle", {class: "drag", r: 11, tabindex: 0, role: "slider",
    "aria-label": name, "aria-valuenow": 0});
  const at = () => ["cx", "cy"].map((axis) => Number(point.getAttribute(axis)));
  point.addEventListener("pointerdown", (event) => point.setPointerCapture(event.pointerId));
  point.addEventListener("pointermove", ({pointerId, clientX, clientY}) => {
    if (!point.hasPointerCapture(pointerId)) return;
    const box = svg.getBoundingClientRect(), scale = wide / box.width;
    onMove((clientX - box.left) * scale, (clientY - box.top) * scale);
  });
  point.addEventListener("keydown", (event) => {
    const moves = {ArrowLeft: [-8, 0], ArrowRight: [8, 0], ArrowUp: [0, -8], ArrowDown: [0, 8]};
    if (!moves[event.key]) return;
    event.preventDefault();
    onMove(...at().map((value, axis) => value + moves[event.key][axis]));
  });
  return {point, set(x, y, text) {
    fill(point, {cx: x, cy: y, "aria-valuetext": text});
  }};
}

figures.why_q_and_k = (node) => {
  const players = ["rock", "paper", "scissors"], beats = [2, 0, 1], size = 400, unit = 50;
  const at = {isOne: true, q: [[2, 0.5], [-0.5, 2], [-1.5, -1.5]], k: [[-2, 0], [1.5, -1], [0, 2]]};
  const svg = svgElement("svg", {viewBox: `0 0 ${size} ${size}`, class: "plane", role: "group",
    "aria-label": "Arrows of queries and keys"});
  const list = element("ul", {class: "plain"}), inWords = toldLine();
  const arrows = ["q", "k"].flatMap((kind) => players.map((player, i) => {
    const ink = kind === "q" ? "query" : "key", line = lineThrough([], `arrow-line ${ink}-line`);
    const text = plotText(0, 0, player, {class: ink + "-ink"});
    const drag = dragPoint(svg, `${ink} of ${player}`, (x, y) => {
      at[kind][i] = [x, size - y].map((value) =>
        Math.round(10 * Math.max(-3.6, Math.min(3.6, (value - size / 2) / unit))) / 10);
      redraw();
    });
    drag.point.classList.add(ink + "-drag");
    return {kind, i, line, text, drag};
  }));
  svg.append(svgElement("path", {class: "axis", d: `M200,10v380M10,200h380`}),
    ...arrows.flatMap(({line, text, drag}) => [line, text, drag.point]));
  const redraw = latest(() => engine.head({q: at.q, k: at.isOne ? at.q : at.k, v: identityRows(3),
    scale: false}), ({weights}) => {
    for (const {kind, i, line, text, drag} of arrows) {
      const [x, y] = [size / 2 + unit * at[kind][i][0], size / 2 - unit * at[kind][i][1]];
      for (const one of [line, text, drag.point])
        one.style.display = kind === "k" && at.isOne ? "none" : "";
      line.setAttribute("d", `M200,200L${x},${y}`);
      fill(text, {x: x + 14, y: y + (kind === "q" ? -10 : 20)});
      drag.set(x, y, vectorText(at[kind][i], 1));
    }
    const right = weights.filter((row, i) => strongest(row) === beats[i]).length;
    list.replaceChildren(...weights.map((row, i) => element("li", {},
      `${players[i]} looks at ${players[strongest(row)]} ${percent(Math.max(...row))}`,
      strongest(row) === beats[i] && element("b", {class: "value-ink"}, " \u2713 beats it"))));
    inWords.textContent = `${right} of 3 look most at the one that they beat.` +
      (at.isOne && right === 2 ? " Can you get all three?" : "");
  });
  node.append(element("div", {class: "two"}, svg, element("div", {}, inWords, list,
    panelOf(at, {isOne: "one matrix: a key is the query itself"}, redraw))));
};

// XOR from c1·a + c2·b + c0, and with what two numbers of an MLP add.
figures.attention_and_mlp = (node) => {
  const cases = [[0, 0], [0, 1], [1, 0], [1, 1]], at = {c1: 0.5, c2: 0.5, c0: 0, m: 0};
  const gelu = (x) => x / (1 + Math.exp(-1.702 * x));
  const rows = cases.map(([a, b]) => barRow(`a = ${a}, b = ${b}: ${a ^ b}`, 0, ""));
  const inWords = toldLine();
  const redraw = () => {
    const answers = cases.map(([a, b]) => at.c1 * a + at.c2 * b + at.c0 +
      at.m * (gelu(4 * a - 4 * b) + gelu(4 * b - 4 * a)));
    answers.forEach((answer, i) => rows[i].set(Math.max(0, Math.min(1, answer)), fixed(answer, 2)));
    const error = meanOf(answers.map((answer, i) => (answer - (cases[i][0] ^ cases[i][1])) ** 2));
    inWords.textContent = `The mean of the squared errors is ${fixed(error)}. ` + (at.m !== 0 ?
      "The MLP bends." : error < 0.2501 ? "No three numbers do better." : "Can it be lower?");
  };
  const range = {min: -1, max: 1, step: 0.05, show: (value) => fixed(value, 2)};
  node.append(element("ol", {class: "bars ladder"}, rows.map((row) => row.node)), inWords,
    panelOf(at, {c1: {text: "c1, for a", ...range}, c2: {text: "c2, for b", ...range},
      c0: {text: "c0", ...range}, m: {text: "two numbers of an MLP", ...range, min: 0}}, redraw));
};

// "birds walk, cats sleep, birds fly", asked in three ways. Each verb has a number of its own.
figures.linear_attention = (node) => {
  const verbs = ["walk", "sleep", "fly"], v = identityRows(3), at = {cosine: 0, asked: 0};
  const ways = ["sum of pairs", "softmax", "delta rule"].map((name) => ({name,
    bars: vectorBars(`${name}: ${verbs.join(", ")}`, "value", {limit: 1})}));
  const inWords = toldLine();
  const redraw = latest(async () => {
    const birds = [1, 0], cats = [at.cosine, Math.sqrt(1 - at.cosine ** 2)];
    const k = [birds, cats, birds], q = [k[at.asked]];
    const read = async (head) =>
      (await engine.head({q, k, v, scale: false, linear: true, ...head})).output[0];
    // The delta rule writes what a value has and the memory does not yet say for its key.
    const written = [v[0]];
    for (const j of [1, 2]) {
      const said = await read({q: [k[j]], k: k.slice(0, j), v: written});
      written.push(v[j].map((number, c) => number - said[c]));
    }
    return Promise.all([read({}), read({q: [q[0].map((number) => 10 * number)], linear: false}),
      read({v: written})]);
  }, (all) => {
    all.forEach((numbers, i) => ways[i].bars.set(numbers));
    const [sum, , delta] = all.map((numbers) => vectorText(numbers));
    inWords.textContent = `Asked for ${at.asked ? "cats" : "birds"}, the sum reads ${sum}, and ` +
      `the delta rule ${delta}` + (delta.includes("\u2212") ? ": below 0, so these are no shares." :
      ".");
  });
  node.append(element("p", {class: "caption"}, "Written: birds walk, cats sleep, birds fly. " +
    `Read: the numbers of ${verbs.join(", ")}.`),
  element("div", {class: "scroll"}, element("table", {class: "head-table"}, ways.map(
    ({name, bars}) => element("tr", {}, element("th", {scope: "row"}, name),
      element("td", {}, bars.node))))), inWords,
  panelOf(at, {asked: ["ask for birds", "ask for cats"],
    cosine: {text: "cosine of the keys of birds and cats", min: 0, max: 0.95, step: 0.05,
      show: (number) => fixed(number, 2)}}, redraw));
};
