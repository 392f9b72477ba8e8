// The same attention as a graph: arcs from the words that are looked at to the word that looks.

// Saves a picture with the colours that it needs without the page.
function saveSvg(name, svg) {
  svg.prepend(svgElement("style", {}, "path{fill:none;stroke:#999}.lit,.head{stroke:#0072b2}circle{fill:#9bd2f5}" +
    "text{font:13px sans-serif}"));
  download(name, "image/svg+xml", new XMLSerializer().serializeToString(svg));
}

function graphPart() {
  // The words whose arcs are added up.
  const chosen = new Set();
  const threshold = element("input", {type: "range", id: "threshold", min: 0, max: 2, step: 0.1, value: 1,
    on: {input: () => draw()}}), least = element("output", {for: "threshold"});
  const box = element("div", {class: "figure"}), words = element("p", {id: "graph-words"});
  const draw = () => {
    const ids = idsNow(), rows = rowsNow(), lift = Number(threshold.value);
    least.textContent = " " + fixed(lift, 1);
    const space = Math.max(40, ...ids.map((id) => 9 * labelOf(id).length + 16)), width = space * ids.length;
    const height = Math.min(260, 60 + space * ids.length / 4), base = height - 40;
    const x = (i) => space * (i + 0.5);
    const svg = svgElement("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": "Graph of attention. " + attentionInWords(snapshotNow(), selection.sentence, selection.layer,
        selection.head, selection.query)});
    const queries = chosen.size > 0 ? chosen : new Set([selection.query]);
    rows.forEach((row, i) => {
      const shown = row.map((weight, j) => [weight, j])
        .filter(([weight]) => weight >= Math.max(lift * evenShare(i), 0.01))
        .sort((a, b) => b[0] - a[0]).slice(0, lift > 0 ? 3 : undefined);
      for (const [weight, j] of shown) {
        const isLit = queries.has(i);
        const rise = i === j ? 34 : Math.min(base - 14, 30 + Math.abs(x(i) - x(j)) / 2.4);
        const from = i === j ? x(i) - 9 : x(j), to = i === j ? x(i) + 9 : x(i) - 4;
        svg.append(svgElement("path", {class: isLit ? "arc lit" : "arc", "stroke-width": (1 + 7 * weight).toFixed(1),
          d: `M${from},${base} C${from},${base - rise} ${to},${base - rise} ${to},${base}`}));
        if (isLit) svg.append(
          svgElement("path", {class: "head", d: `M${to - 4},${base - 8}L${to},${base}L${to + 4},${base - 8}`}),
          svgElement("text", {x: (from + to) / 2, y: base - 0.75 * rise - 3, "text-anchor": "middle"},
            fixed(weight, 2)));
      }
    });
    ids.forEach((id, i) => svg.append(svgElement("text", {x: x(i), y: base + 18, "text-anchor": "middle",
      class: queries.has(i) ? "lit" : null}, labelOf(id))));
    box.replaceChildren(svg);
    const sums = ids.map((_, j) => [...queries].reduce((sum, i) => sum + rows[i][j], 0));
    words.textContent = queries.size === 1 ? "" : "Together " + [...queries].sort((a, b) => a - b)
      .map((i) => quotedWord(ids[i])).join(", ") + " give " + sums.map((sum, j) => [sum, j])
      .sort((a, b) => b[0] - a[0]).slice(0, 3)
      .map(([sum, j]) => quotedWord(ids[j]) + " " + fixed(sum, 2)).join(", ") + ".";
  };
  const buttons = element("div", {class: "controls", role: "group", "aria-label": "Words whose arcs are shown"});
  follow((changed) => {
    if (changed.has("sentence")) {
      chosen.clear();
      buttons.replaceChildren(...idsNow().map((id, i) => button(element("bdi", {}, labelOf(id)), (event) => {
        chosen.has(i) ? chosen.delete(i) : chosen.add(i);
        event.currentTarget.setAttribute("aria-pressed", chosen.has(i));
        draw();
      }, {"aria-pressed": false})));
    }
    draw();
  });
  return section("graph", "The same as a graph",
    paragraph("Values travel along the arcs, from the word that is looked at to the word that looks. " +
      "This graph is for this sentence at this step only: another sentence gets other arcs. " +
      "Choose several words to add up what they give."),
    buttons, element("label", {for: "threshold"}, "Smallest lift that is drawn ", threshold, least), box, words,
    element("div", {class: "controls"}, button("Save this picture (SVG)", () =>
      saveSvg("graph.svg", box.firstChild.cloneNode(true)), {"data-export": "svg"})), sourceNote("attention"));
}
