// The gradient of a score: which way each score lowers the loss, and a nudge that proves it.

const fullSlope = 0.05;  // fills a bar, if no slope of the row is larger
const nudges = Array.from({length: 25}, (_, i) => (i - 12) / 4);

function gradientPart() {
  const inWords = element("p", {class: "in-words"}), list = element("ul", {class: "bars pulls"});
  const nudge = element("input", {type: "range", id: "nudge", min: -3, max: 3, step: 0.25, value: 1,
    on: {input: () => draw()}});
  let slopes = [], losses = [];
  const plot = makePlot("Loss for each nudge, and its slope as a straight line", 150, (width) =>
    losses.length === 0 ? [] : nudgeLines(width, losses, slopes[state.key], Number(nudge.value)));
  const draw = () => {
    const by = Number(nudge.value), found = losses[12 + 4 * by] - losses[12];
    inWords.replaceChildren("With the score of ", bdi(seen.tokens[state.query],
      {class: "query-ink"}), " for ", bdi(seen.tokens[state.key], {class: "key-ink"}), " ",
      fixed(Math.abs(by), 2),
      (by < 0 ? " lower" : " higher") + ", the slope foretells ",
      element("b", {id: "foretold"}, changeInWords(slopes[state.key] * by)), "; the engine finds ",
      element("b", {id: "found"}, changeInWords(found)), ".");
    plot.redraw();
  };
  const part = section("gradient", "Which way to learn",
    prose("For each score the engine computes a slope, the *gradient*: how the loss changes if " +
      "the score rises a little. Training goes downhill, for all sentences at once. At the " +
      "end these slopes cancel each other, or are nearly 0."),
    list, inWords, plot.node, element("label", {class: "slide"}, "nudge the score ", nudge));
  return follow(async () => {
    const {layer, head, query, key} = state, asked = question();
    slopes = (await engine.gradient(asked))[layer][head][query];
    losses = await engine.nudged(asked, {layer, head, query, key}, nudges);
    const most = Math.max(...slopes.map(Math.abs), fullSlope);
    const visible = slopes.slice(0, isCausal() ? query + 1 : undefined);
    const hasFocus = list.contains(document.activeElement);
    const isTold = query < seen.tokens.length - 1 || seen.said.length > 0;
    list.replaceChildren(...(isTold ? visible : []).map((slope, j) =>
      element("li", {}, pullButton(j, slope, most))));
    if (hasFocus && isTold) list.children[key].firstChild.focus();
    draw();
    if (!isTold)
      inWords.textContent = "The text never has this beginning: there is no true next " + unit() +
        ", and so no slope.";
  }, part);
}

function pullButton(j, slope, most) {
  const text = Math.abs(slope) < 0.01 * fullSlope ? "nearly 0" :
    slope < 0 ? "look more" : "look less";
  const name = label(seen.tokens[j]), {node} = barRow(name, Math.abs(slope) / most, text);
  return button([...node.childNodes], () => change({key: j}), {
    class: "pull" + (slope < 0 ? " rise" : ""), "data-key": j, "aria-pressed": j === state.key,
    "aria-label": name + ": slope " + slope.toExponential(2) + ", " + text});
}

// "0.012 less loss"
function changeInWords(change) {
  const size = Math.abs(change);
  if (size < 5e-7) return "no change";
  return size.toFixed(size < 0.001 ? 6 : 3) + (change < 0 ? " less loss" : " more loss");
}

function nudgeLines(width, losses, slope, chosen) {
  const low = Math.min(...losses), span = 1.15 * Math.max(Math.max(...losses) - low, 1e-7);
  const x = (by) => 4 + (width - 8) * (by + 3) / 6, y = (loss) => 122 - 100 * (loss - low) / span;
  const straight = nudges.map((by) => [x(by), y(losses[12] + slope * by)])
    .filter(([, at]) => at > 4 && at < 128);
  return [svgElement("path", {class: "axis", d: `M4,128H${width - 4}`}),
    lineThrough(straight, "level"), lineThrough(nudges.map((by, i) => [x(by), y(losses[i])])),
    svgElement("circle", {class: "dot", r: 6, cx: x(chosen), cy: y(losses[12 + 4 * chosen])}),
    plotText(6, 12, "loss of the sentence"), plotText(4, 146, "\u22123"),
    plotText(x(0), 146, "0: as it is", {"text-anchor": "middle"}),
    plotText(width - 4, 146, "+3", {"text-anchor": "end"})];
}
