// Histograms of the parameters.

function tensorsPart() {
  if (!page.run.snapshots.some(({tensors}) => tensors)) return null;
  const box = element("div", {class: "small-multiples"}), words = element("p");
  follow((changed) => {
    if (!changed.has("step")) return;
    const snapshot = latestWith(({tensors}) => tensors);
    const stats = decodeF32(snapshot.tensors.stats), bins = decodeBytes(snapshot.tensors.bins);
    words.textContent = "Step " + thousands(snapshot.step) + ".";
    box.replaceChildren(...page.run.tensors.map((name, n) => {
      const [mean, deviation, low, high] = stats.subarray(4 * n, 4 * n + 4);
      return element("figure", {}, svgElement("svg", {viewBox: "0 0 96 40", "aria-hidden": true},
        Array.from({length: 24}, (_, i) => svgElement("rect", {x: 4 * i, width: 3.4,
          y: 40 - bins[24 * n + i] / 255 * 40, height: bins[24 * n + i] / 255 * 40}))),
      element("figcaption", {}, name, element("br"), "mean " + fixed(mean, 3) + ", sd " + fixed(deviation, 3),
        element("br"), "from " + fixed(low, 2) + " to " + fixed(high, 2)));
    }));
  });
  return section("tensors", "The parameters",
    paragraph("How the numbers of each parameter are spread, with mean and standard deviation (sd). A parameter " +
      "that stays at 0 does not learn. One that grows without end means that training fails."),
    words, element("details", {}, element("summary", {}, "All " + page.run.tensors.length + " parameters"), box),
    sourceNote("snapshot"));
}
