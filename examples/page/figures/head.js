// One attention head with numbers that the reader drags. The engine computes it (fledge_head); a
// spec of head_specs.js says what is shown and what may be changed.

// A bar for each number of a vector, from the middle up or down. With onInput(c, number) each is a
// slider, for a pointer and for the arrow keys. set(numbers) shows others.
function vectorBars(name, ink, {parts = [], limit = 2, onInput} = {}) {
  const node = element("div", {class: `vector ${ink}-bars`, role: "group", "aria-label": name});
  let shown = [];
  const move = (c, to) => {
    const number = Math.round(10 * Math.max(-limit, Math.min(limit, to))) / 10;
    if (number === shown[c]) return;
    shown = shown.with(c, number);  // the next key goes on from here, the engine answers later
    onInput(c, number);
  };
  const bar = (c) => {
    const one = element("span", {class: "number-bar"},
      element("span", {class: "well"}, element("i")), element("small"));
    if (onInput) {
      const at = ({clientY}) => {
        const {top, height} = one.firstChild.getBoundingClientRect();
        move(c, limit * (1 - 2 * (clientY - top) / height));
      };
      const steps = {ArrowUp: 0.1, ArrowRight: 0.1, ArrowDown: -0.1, ArrowLeft: -0.1, PageUp: 1,
        PageDown: -1, Home: -2 * limit, End: 2 * limit};
      fill(one, {role: "slider", tabindex: 0, "aria-valuemin": -limit, "aria-valuemax": limit,
        "aria-label": `${name}, ${parts[c] ?? "number " + (c + 1)}`, title: parts[c], on: {
          pointerdown: (event) => {
            one.setPointerCapture(event.pointerId);
            at(event);
          },
          pointermove: (event) => one.hasPointerCapture(event.pointerId) && at(event),
          keydown: (event) => {
            if (!(event.key in steps)) return;
            event.preventDefault();
            move(c, shown[c] + steps[event.key]);
          }}});
    }
    return one;
  };
  const set = (numbers) => {
    if (numbers.length !== shown.length) node.replaceChildren(...numbers.map((_, c) => bar(c)));
    shown = numbers;
    numbers.forEach((number, c) => {
      const one = node.children[c], share = Math.max(-1, Math.min(1, number / limit));
      one.querySelector("i").style.transform = `scaleY(${share.toFixed(3)})`;
      one.lastChild.textContent = fixed(number, 2).replace(/\.?0+$/, "");
      if (onInput) one.setAttribute("aria-valuenow", number);
    });
  };
  return {node, set};
}

// The controls of a figure, which set at[name]: a text is a switch, a list of names a choice of one
// (at[name] is its number), {text, min, max, step, show} a slider. What else it has stands before
// them. redraw() is called here for the first time, and after each change.
function panelOf(at, controls, redraw, ...more) {
  const set = (name, value) => {
    at[name] = value;
    redraw();
  };
  const control = ([name, one]) => {
    if (typeof one === "string") return checkOf(one, at[name], (isOn) => set(name, isOn));
    if (Array.isArray(one)) return choicesOf(one, at[name], (i) => set(name, i));
    const {text, show = String, ...range} = one, said = element("output", {}, show(at[name]));
    const input = element("input", {type: "range", ...range, value: at[name], "aria-label": text,
      on: {input: () => {
        said.textContent = show(input.valueAsNumber);
        input.setAttribute("aria-valuetext", said.textContent);
        set(name, input.valueAsNumber);
      }}});
    return element("label", {class: "slide"}, element("span", {}, text), input, said);
  };
  redraw();
  return element("div", {class: "figure-controls"}, more,
    Object.entries(controls ?? {}).map(control));
}

function checkOf(text, checked, onInput) {
  const input = element("input", {type: "checkbox", checked, on: {change: () =>
    onInput(input.checked)}});
  return element("label", {class: "check"}, input, text);
}

const toldLine = () => element("p", {class: "in-words", "aria-live": "polite"});

// Buttons of which one is pressed.
function choicesOf(names, chosen, onChoose) {
  const all = names.map((name, i) => button(name, () => {
    press(i);
    onChoose(i);
  }, {class: "small"}));
  const press = (i) => all.forEach((one, at) => one.setAttribute("aria-pressed", at === i));
  press(chosen);
  return element("div", {class: "controls", role: "group"}, all);
}

const identityRows = (n) =>
  Array.from({length: n}, (_, i) => Array.from({length: n}, (_, j) => Number(i === j)));

// What the engine is asked: the spec as the reader has changed it.
function headQuestion(at) {
  const {x, from, wq, wk, wv, q, k, v, causal = false, scale = true, exclusive, learn, row} =
    {...at, ...at.derive?.(at)};
  const goal = learn && {row, with: learn.towards};
  return JSON.parse(JSON.stringify({x, from, wq, wk, wv, q, k, v, causal, scale, exclusive, goal}));
}

// The words from top to bottom that look, and below them those that are looked at.
function crossPicture(at, out) {
  const {words, from} = at, x = (i) => (i + 0.5) * 560 / Math.max(words.length, from.length);
  const lines = out.weights.flatMap((weights, i) => weights.map((weight, j) => {
    const line = lineThrough([[x(i), 34], [x(j), 126]], "link");
    line.style.strokeWidth = 12 * weight;
    line.style.opacity = i === at.row ? 1 : 0.25;
    return line;
  }));
  return [lines, at.asks.map((text, i) => plotText(x(i), 22, text, {class: "query-ink"})),
  words.map((text, j) => plotText(x(j), 150, text, {class: "key-ink"}))];
}

function headFigure(node, spec) {
  const at = {row: spec.words.length - 1, columns: ["x"], ...structuredClone({...spec, derive: null,
    say: null, after: null})};
  Object.assign(at, {derive: spec.derive, say: spec.say, after: spec.after});
  const start = structuredClone({x: at.x, wq: at.wq, wk: at.wk, wv: at.wv});
  const path = [];
  const picture = makeStage("figure-stage", (j) => {
    if (!spec.fixedRow) at.row = j;
    redraw();
  });
  const cross = spec.from && svgElement("svg", {class: "cross", viewBox: "0 0 560 160", role: "img",
    "aria-label": "Who looks at whom"});
  const inWords = toldLine();
  const table = element("table", {class: "head-table"});
  const box = element("div", {class: "scroll"}, table);
  const asks = spec.from && choicesOf(spec.asks, at.row, (i) => {
    at.row = i;
    redraw();
  });
  const controls = [];
  let rows = [], shown = "";

  const names = {x: "vector", q: "query", k: "key", v: "value"};
  const inks = {x: "plain", q: "query", k: "key", v: "value"};
  const build = () => {
    const {words, columns, learn} = at, limits = {x: 2, q: 3, k: 3, v: 2, ...spec.limits};
    rows = words.map((word, j) => {
      const bars = Object.fromEntries(columns.map((name) => [name, vectorBars(
        name === "x" ? word : `${names[name]} of ${word}`, inks[name], {limit: limits[name],
          parts: name === "x" ? spec.parts : undefined,
          onInput: name === "x" && !spec.still && ((c, number) => {
            at.x[j] = at.x[j].with(c, number);
            redraw();
          })})]));
      const weight = element("i"), cells = {score: element("td"), pull: element("td"),
        weight: element("td", {class: "share"})};
      return {bars, weight, cells, node: element("tr", {}, element("th", {scope: "row"}, bdi(word)),
        columns.map((name) => element("td", {}, bars[name].node)), cells.score,
        learn && cells.pull, element("td", {}, element("span", {class: "track"}, weight)),
        cells.weight)};
    });
    const head = (text, kind) => element("th", {scope: "col", class: kind}, text);
    const output = vectorBars("result", "value", {limit: limits.v, parts: spec.outputs});
    const last = element("tr", {class: "result"}, element("th", {scope: "row"}, ""),
      element("td", {colspan: columns.length + 3 + (learn ? 1 : 0)}, output.node));
    rows.output = {set: output.set, name: last.firstChild};
    table.replaceChildren(element("thead", {}, element("tr", {}, head("word"),
      columns.map((name) => head(names[name], inks[name] + "-ink")),
      spec.fromWeights ? element("td") : head("score"), learn && head("pull"),
      head("weight", "key-ink"), element("td"))),
    element("tbody", {}, rows.map((one) => one.node), last));
  };
  const draw = async (out) => {
    const now = {...at, ...at.derive?.(at)}, {words, row} = now;
    const key = words.join("\u0000");
    if (key !== shown) build();
    shown = key;
    const result = at.after ? at.after(out, now) : out.output[row];
    if (cross) cross.replaceChildren(...crossPicture(now, out).flat(Infinity));
    else picture.draw({tokens: words, attention: [[out.weights]]}, {layer: 0, head: 0, query: row,
      key: -1, guess: -1, hidden: new Set(), causal: now.causal ?? false, height: 150});
    rows.forEach(({bars, weight, cells, node: line}, j) => {
      const values = {x: now.x?.[j], q: cross ? null : out.q[j], k: out.k[j], v: out.v[j]};
      for (const [name, one] of Object.entries(bars)) one.set(values[name] ?? []);
      line.classList.toggle("looks", !cross && j === row);
      const score = out.scores[row][j], share = out.weights[row][j];
      cells.score.textContent = score === null ? "hidden" : spec.fromWeights ? "" : fixed(score, 2);
      cells.weight.textContent = score === null ? "" : fixed(share);
      if (out.gradient) cells.pull.textContent = fixed(out.gradient.scores[row][j], 3);
      weight.style.transform = `scaleX(${share.toFixed(4)})`;
    });
    rows.output.set(result);
    rows.output.name.textContent = `${spec.from ? spec.asks[row] : words[row]} gets`;
    if (spec.triangle) drawPath(out.weights[row]);
    const told = await Promise.resolve(at.say?.(out, now, result)).catch(reportError);
    if (told) inWords.textContent = told;
  };
  const redraw = latest(() => engine.head(headQuestion(at)), draw);

  // The way of a row of three weights in the triangle of all rows.
  const track = spec.triangle && svgElement("svg", {class: "triangle", viewBox: "0 0 560 480",
    role: "img", "aria-label": "The way of the weights"});
  const drawPath = (weights) => {
    path.push(placeOf(weights));
    const [cx, cy] = path.at(-1);
    track.replaceChildren(...triangleBack(spec.words), lineThrough(path),
      svgElement("circle", {class: "drag", r: 11, cx, cy}));
  };
  const climb = async (count) => {
    for (let step = 0; step < count && node.isConnected; ++step) {
      const {gradient} = await engine.head(headQuestion(at));
      for (const name of at.learning)
        at[name] = at[name].map((line, i) =>
          line.map((number, j) => number + spec.learn.rate * gradient[name][i][j]));
      at.steps += 1;
      if (count < 2 || step % 2 === 1) await redraw();
    }
  };
  const again = () => {
    Object.assign(at, structuredClone(start), {steps: 0});
    path.length = 0;
    redraw();
  };
  if (spec.learn) {
    const all = {wq: "Q", wk: "K", wv: "V"}, n = at.x[0].length;
    for (const name of Object.keys(all)) start[name] = at[name] ??= identityRows(n);
    Object.assign(at, {steps: 0, learning: spec.learn.matrices});
    controls.push(button("A step", () => climb(1), {class: "go", id: "climb"}),
      button("20 steps", () => climb(20)), button("Start again", again), "learns:",
      ...Object.entries(all).map(([name, text]) =>
        checkOf(text, at.learning.includes(name), (isOn) => {
          at.learning = at.learning.filter((other) => other !== name).concat(isOn ? name : []);
        })));
  }
  if (spec.choices) controls.push(choicesOf(spec.choices.map(({name}) => name), 0, (i) => {
    Object.assign(at, structuredClone(spec.choices[i]));
    start.x = structuredClone(at.x);
    if (!spec.from) at.row = spec.choices[i].row ?? Math.min(at.row, at.words.length - 1);
    redraw();
  }));
  if (!spec.learn && !spec.still)
    controls.push(button("Start again", again, {class: "small"}));
  const isWide = at.columns.length < 2, top = cross ?? picture.node;
  node.append(...[asks, track ? element("div", {class: "two"}, top, track) : null,
    element("div", {class: isWide && !track ? "two" : ""}, track ? null : top, box), inWords,
    panelOf(at, spec.controls, redraw, controls)].filter(Boolean));
}
