// The loss over the steps, with lines for what is easy to reach and for what cannot be passed.

// A plot of curves over the steps. {curves: [{points, name, className}], lines: [[y, name]]}.
function curvePlot({width = 640, height = 240, curves, lines = [], name, low = null}) {
  const left = 46, right = 150, top = 12, bottom = 24;
  const all = curves.flatMap(({points}) => points).concat(lines.map(([y]) => [0, y]));
  const most = Math.max(...all.map(([, y]) => y)), least = low ?? Math.min(...all.map(([, y]) => y));
  const lastStep = Math.max(1, ...page.run.snapshots.map(({step}) => step), ...all.map(([step]) => step));
  const x = (step) => left + (width - left - right) * step / lastStep;
  const y = (value) => top + (height - top - bottom) * (most - value) / (most - least || 1);
  const svg = svgElement("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name, class: "plot"});
  for (const value of [least, (least + most) / 2, most])
    svg.append(svgElement("text", {x: left - 6, y: y(value) + 4, "text-anchor": "end"}, fixed(value, 2)));
  svg.append(svgElement("path", {class: "axis", d: `M${left},${top}V${height - bottom}H${width - right}`}),
    svgElement("text", {x: left, y: height - 6}, "step 0"),
    svgElement("text", {x: width - right, y: height - 6, "text-anchor": "end"}, "step " + thousands(lastStep)));
  const labels = [];
  for (const [value, text] of lines) {
    svg.append(svgElement("path", {class: "level", d: `M${left},${y(value)}H${width - right}`}));
    labels.push([y(value), text]);
  }
  for (const {points, text, className} of curves) {
    if (points.length === 0) continue;
    svg.append(svgElement("path", {class: "curve " + className,
      d: "M" + points.map(([step, value]) => x(step).toFixed(1) + "," + y(value).toFixed(1)).join("L")}));
    if (text) labels.push([y(points.at(-1)[1]), text]);
  }
  // Labels do not cover each other.
  let below = -Infinity;
  for (const [at, text] of labels.sort((a, b) => a[0] - b[0])) {
    below = Math.max(at + 4, below + 13);
    svg.append(svgElement("text", {x: width - right + 6, y: below}, text));
  }
  const marker = svgElement("path", {class: "marker"});
  svg.append(marker);
  follow((changed) => {
    if (changed.has("step")) marker.setAttribute("d", `M${x(snapshotNow().step)},${top}V${height - bottom}`);
  });
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const step = ((event.clientX - box.left) / box.width * width - left) / (width - left - right) * lastStep;
    const steps = page.run.snapshots.map((snapshot) => Math.abs(snapshot.step - step));
    select({step: steps.indexOf(Math.min(...steps))});
  });
  return element("div", {class: "figure"}, svg);
}

// The mean of up to 21 losses around each: one of earlier losses alone would lag.
function smoothed(points) {
  return points.map(([step], i) => {
    const n = Math.min(10, i, points.length - 1 - i);
    return [step, points.slice(i - n, i + n + 1).reduce((sum, [, loss]) => sum + loss, 0) / (2 * n + 1)];
  });
}

function lossPart() {
  const {losses, baselines} = page.run;
  if (losses.train.length === 0) return null;
  const {uniform, unigram, bigram, trigram, fourgram, floor} = baselines;
  const table = [bigram, trigram, fourgram].filter((loss) => loss !== null).sort((a, b) => a - b)[0] ?? null;
  const lines = [[uniform, "guessing blindly"], [unigram, "token counts only"], [table, "best table of counts"],
    [floor, "floor of the text"]].filter(([loss]) => loss !== null);
  const readout = element("p", {id: "loss-words"});
  follow((changed) => {
    if (!changed.has("step")) return;
    readout.textContent = "At step " + thousands(snapshotNow().step) + " the training loss is about " +
      fixed(lossNow(), 2) + " nats. That is like choosing blindly among " + fixed(Math.exp(lossNow()), 1) + " tokens.";
  });
  return section("loss", "The loss",
    paragraph("How wrong the predictions are: the mean of \u2212ln p, where p is the " +
      "probability of the true next word." +
      (page.run.snapshots.length > 1 ? " Click the curve to move the slider." : "")),
    readout,
    curvePlot({name: "Loss over the steps", lines, curves: [
      {points: losses.train, className: "faint"},
      {points: smoothed(losses.train), className: "series-1", text: "training loss"},
      {points: losses.held_out, className: "series-2", text: "held-out loss"}]}),
    floor === null ? null : element("p", {class: "note"},
      "The floor: the text itself leaves the next word open in places, so no honest model can have a lower loss on all of it. The grey line is " +
      "the loss of each step."),
    losses.gradient.length === 0 ? null : element("details", {open: true},
      element("summary", {}, "Norm of the gradient"),
      paragraph("How steep the loss is. If it keeps growing, training fails."),
      curvePlot({name: "Norm of the gradient over the steps", height: 140, low: 0,
        curves: [{points: losses.gradient, className: "series-3", text: "gradient norm"}]})),
    sourceNote("loss", "floor"));
}
