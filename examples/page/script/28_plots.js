// Plots and bars that several parts draw.

// A plot in the pixels of its box: its letters stay as large as those of the text around it.
// draw(width) gives its elements.
function makePlot(name, height, draw) {
  const node = svgElement("svg", {class: "plot", role: "img", "aria-label": name, height});
  let width = 0;
  const redraw = () => width > 0 && node.replaceChildren(...draw(width).flat(Infinity));
  new ResizeObserver(([{contentRect}]) => {
    width = contentRect.width;
    redraw();
  }).observe(node);
  return {node, redraw};
}

// A line through points [x, y].
function lineThrough(points, kind = "curve") {
  const d = points.map(([x, y]) => x.toFixed(1) + "," + y.toFixed(1)).join("L");
  return svgElement("path", {class: kind, d: d && "M" + d});
}

const plotText = (x, y, text, attributes = {}) => svgElement("text", {x, y, ...attributes}, text);

// At most 300 points [step, loss]: the losses of single batches jump, so each is a mean.
function smoothed(losses) {
  const width = Math.max(1, Math.ceil(losses.length / 300));
  return losses.flatMap(({step}, i) =>
    (i % width === 0 ? [[step, meanLoss(losses, i, width)]] : []));
}

// The mean of `width` losses from i on, and of four on each side of them.
function meanLoss(losses, i, width) {
  const some = losses.slice(Math.max(0, i - 4), i + width + 4);
  return some.reduce((sum, {loss}) => sum + loss, 0) / some.length;
}

// A row of a list of bars: a token, a bar, and words beside it.
function barRow(token, share, text, attributes) {
  const bar = element("i"), words = element("span", {class: "share"});
  const set = (now, said) => {
    bar.style.transform = `scaleX(${Math.max(now, 0.004).toFixed(4)})`;
    words.textContent = said;
  };
  set(share, text);
  const node = element("li", attributes, element("bdi", {}, token),
    element("span", {class: "track"}, bar), words);
  return {node, set};
}

// Bars up and down, one for each dimension; lanes: [name, numbers, ink]. Values and their parts
// have one scale, other lanes one each. One dimension may be marked.
function dimensionBars(lanes, chosen = -1) {
  const high = 58, wide = 560 / lanes[0][1].length;
  const bars = lanes.map(([, numbers, ink], lane) => {
    const scaled = lanes.filter(([, own, other]) => own === numbers || other === "value");
    const most = Math.max(...scaled.flatMap(([, own]) => own.map(Math.abs))) || 1;
    const middle = (lane + 0.5) * high;
    return [svgElement("path", {class: "axis", d: `M0,${middle}h560`}), numbers.map((number, c) => {
      const height = Math.max(0.5, Math.abs(number) / most * 23);
      return svgElement("rect", {class: ink + "-ink", x: (c + 0.14) * wide, width: wide * 0.72,
        y: number > 0 ? middle - height : middle, height});
    })];
  });
  const names = lanes.map(([name, , ink]) => element("span", {class: ink + "-ink"}, name));
  return element("div", {class: "lanes"}, element("div", {class: "lane-names"}, names),
    svgElement("svg", {class: "dims", "aria-hidden": true, preserveAspectRatio: "none",
      viewBox: `0 0 560 ${lanes.length * high}`},
    svgElement("rect", {class: "pick", x: chosen * wide, width: wide, height: "100%"}), bars));
}
