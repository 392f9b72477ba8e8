// Inside the model: what it would say after each part, the map of its words, and what it writes.

function lensPart() {
  const names = ["alone", "+ attention", "+ MLP"];
  const lists = names.map(() => element("ol", {class: "bars"}));
  const part = section("lens", "What each part adds",
    prose("What would it say if it stopped here? First from this # alone, then with what " +
      "attention brought, then after the *MLP*, which has learned to read what attention brings."),
    element("div", {class: "lens"}, names.map((name, i) =>
      element("div", {}, element("h3", {}, name), lists[i]))));
  return follow(async () => {
    const found = await engine.lens(question(), state.layer, state.query);
    found.forEach((words, i) => lists[i].replaceChildren(...words.map(({word, p}) =>
      barRow(nextLabel(word), p, percent(p)).node)));
  }, part);
}

function mapPart() {
  const caption = element("p", {class: "caption"});
  let map = null, lit = [];
  const choose = (id) => {
    lit = [id];
    plot.redraw();
  };
  const plot = makePlot("The map of vectors", 400, (width) =>
    (map ? mapDots(width, map, [...lit, ...seen.ids], choose) : []));
  const part = section("map", "The map of #s",
    prose("Each # has a vector (an *embedding*); no plane shows all of their numbers; this one " +
      "shows the most. Those that are used alike move together."), plot.node, caption);
  return follow(async () => {
    const found = await engine.map();
    map = {...found, ...turned(found, map ?? found)};
    plot.redraw();
    caption.textContent = `The plane shows ${percent(found.share)} of how the vectors differ; ` +
      "its two directions have no names. Tap a dot for its name.";
  }, part);
}

// The chosen words, then the most frequent ones. A name stands on one of four sides of its dot, or
// is left out where it would lie on another; chosen words always have one.
function mapDots(width, {x, y}, chosen, choose) {
  const frequent = model.frequent.slice(0, 60).map((word) => model.words.indexOf(word));
  const order = [...new Set([...chosen, ...frequent])];
  const most = Math.max(1e-9, ...order.map((id) => Math.max(Math.abs(x[id]), Math.abs(y[id]))));
  const dots = order.map((id) => ({id, name: label(model.words[id]),
    px: width / 2 + (width / 2 - 45) * x[id] / most, py: 200 - 180 * y[id] / most}));
  const taken = dots.map(({px, py}) => [px - 4, py - 4, px + 4, py + 4]);
  const isOn = (box, other) =>
    box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3];
  const isFree = (box) => box[0] > 0 && box[2] < width && !taken.some((one) => isOn(box, one));
  return dots.map(({id, name, px, py}) => {
    const wide = 8 * name.length, isChosen = chosen.includes(id);
    const places = [[px + 7, py - 8], [px - 7 - wide, py - 8], [px - wide / 2, py - 23],
      [px - wide / 2, py + 6]].map(([x, y]) => [x, y, x + wide, y + 16]);
    const place = places.find(isFree) ?? (isChosen && places[0]);
    if (place) taken.push(place);
    return svgElement("g", {class: isChosen ? "in-sentence" : "", "data-token": id,
      on: {click: () => choose(id)}}, svgElement("title", {}, name),
    svgElement("circle", {class: "target", cx: px, cy: py, r: 12}),
    svgElement("circle", {cx: px, cy: py, r: isChosen ? 5 : 3.5}),
    place && plotText(place[0] + wide / 2, place[1] + 12, name, {"text-anchor": "middle"}));
  });
}

// The plane may come turned or mirrored at each step: it is turned so that words stay near.
function turned({x, y}, before) {
  if (before.x.length !== x.length) return {x, y};
  const sum = (a, b) => a.reduce((total, number, i) => total + number * b[i], 0);
  const [best] = [1, -1].map((mirror) => {
    const cos = sum(x, before.x) + mirror * sum(y, before.y);
    const sin = sum(x, before.y) - mirror * sum(y, before.x);
    return {mirror, cos, sin, size: Math.hypot(cos, sin) || 1};
  }).sort((a, b) => b.size - a.size);
  const {mirror, cos, sin, size} = best;
  return {x: x.map((u, i) => (cos * u - sin * mirror * y[i]) / size),
    y: x.map((u, i) => (sin * u + cos * mirror * y[i]) / size)};
}

function writePart() {
  const heat = element("input", {type: "range", id: "heat", min: 0, max: 2, step: 0.1, value: 0.8});
  const written = element("p", {id: "written", "aria-live": "polite"});
  let seed = 0;
  const write = async () => {
    const isWords = model.kind === "word", count = isWords ? 30 : 200;
    const text = await engine.write(question(), count, Number(heat.value), ++seed);
    written.replaceChildren(element("bdi", {class: "quiet"}, state.sentence), isWords ? " " : "",
      element("bdi", {}, text));
  };
  return section("write", "Let it write",
    prose("It draws a next #, reads it, and goes on. Cold: always the likeliest one. Hot: rare " +
      "ones too."), element("label", {class: "slide"}, "cold ", heat, " hot"),
    element("div", {class: "controls"},
      button("Write", () => write().catch(reportError), {id: "write-go"})), written);
}
