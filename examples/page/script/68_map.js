// A map of word vectors, on axes that do not move.

function mapPart() {
  const {ids, share, watched} = page.run.map;
  const withMap = page.run.snapshots.filter(({map}) => map);
  if (withMap.length === 0 || ids.length < 3) return null;
  const places = withMap.map(({step, map}) => ({step, at: decodeF32(map)}));
  const all = places.flatMap(({at}) => [...at]), reach = Math.max(...all.map(Math.abs)) * 1.3 || 1;
  const size = 420, scale = (x) => size / 2 + x / reach * size / 2;
  const box = element("div", {class: "figure"}), words = element("p"), near = element("p");
  const pick = element("select", {id: "map-word", on: {change: () => draw()}},
    ids.map((id, i) => element("option", {value: i}, labelOf(id))));
  if (watched[0] !== undefined && ids.includes(watched[0])) pick.value = ids.indexOf(watched[0]);
  const draw = () => {
    const now = places.filter(({step}) => step <= snapshotNow().step).at(-1) || places[0];
    const x = (i) => now.at[2 * i], y = (i) => now.at[2 * i + 1];
    const svg = svgElement("svg", {viewBox: `0 0 ${size} ${size}`, class: "plot map", role: "img",
      "aria-label": "Map of " + ids.length + " word vectors"},
      svgElement("path", {class: "level", d: `M0,${size / 2}H${size}M${size / 2},0V${size}`}));
    for (const id of new Set(watched.filter((token) => ids.includes(token)))) {
      const i = ids.indexOf(id), path = places.filter(({step}) => step <= now.step).map(({at}) => [at[2 * i], at[2 * i + 1]]);
      svg.append(svgElement("path", {class: "curve series-1", d: path.map(([a, b], n) =>
        (n ? "L" : "M") + scale(a).toFixed(1) + "," + scale(-b).toFixed(1)).join("")}));
    }
    ids.forEach((id, i) => svg.append(
      svgElement("circle", {cx: scale(x(i)), cy: scale(-y(i)), r: 2.5}),
      svgElement("text", {x: scale(x(i)) + 4, y: scale(-y(i)) + 4, class: watched.includes(id) ? "lit" : null}, labelOf(id))));
    box.replaceChildren(svg);
    words.textContent = "Step " + thousands(now.step) + ". These two directions keep " + fixed(100 * share, 0) +
      " % of how the vectors differ at the end.";
    const chosen = Number(pick.value);
    const order = ids.map((id, i) => [Math.hypot(x(i) - x(chosen), y(i) - y(chosen)), id]).sort((a, b) => a[0] - b[0]);
    near.textContent = "Nearest to " + quotedWord(ids[chosen]) + " on this map: " +
      order.slice(1, 6).map(([, id]) => quotedWord(id)).join(", ") + ".";
  };
  follow((changed) => changed.has("step") && draw());
  return section("map", "A map of the words",
    paragraph("Each point is the vector of a word in the table of embeddings, seen along the two directions in which " +
      "the last vectors differ most. The lines are the paths of the watched words since step 0."),
    words, box, element("label", {for: "map-word"}, "A word ", pick), near, sourceNote("map"));
}
