// The likeliest next words at the chosen position.

function nextPart() {
  const box = element("div"), heat = element("input", {type: "range", id: "temperature", min: 0.2, max: 2, step: 0.1, value: 1,
    on: {input: () => draw()}});
  const heatText = element("span"), heatRow = element("label", {for: "temperature"}, "Temperature ", heat, heatText);
  const draw = () => {
    const {sentence, query} = selection, {worked} = page.run;
    let {likeliest, truth} = topWords(snapshotNow(), sentence, query);
    const isWorked = worked.weights && worked.step === snapshotNow().step;
    heatRow.hidden = !isWorked;
    heatText.textContent = " " + fixed(Number(heat.value), 1);
    if (isWorked && Number(heat.value) !== 1) {
      const choices = choicesOf(forwardLast(worked, sentence).logits[query], Number(heat.value));
      likeliest = choices.slice(0, 5);
      truth = truth && (choices.find(([token]) => token === truth[0]) || [truth[0], 0]);
    }
    const rows = likeliest.map(([token, p]) => [labelOf(token), p, truth?.[0] === token]);
    if (truth && !rows.some(([, , isTrue]) => isTrue)) rows.push([labelOf(truth[0]), truth[1], true]);
    rows.push(["everything else", Math.max(0, 1 - rows.reduce((sum, [, p]) => sum + p, 0)), false]);
    box.replaceChildren(paragraph("After " + wordName(sentence, query) + ":"),
      element("table", {class: "bars"}, rows.map(([name, p, isTrue]) => {
        const bar = element("span", {class: "bar"});
        bar.style.setProperty("--share", (100 * p).toFixed(1) + "%");
        return element("tr", {}, element("th", {scope: "row"}, element("bdi", {}, name), isTrue ? " (the text)" : ""),
          element("td", {class: "wide"}, bar), element("td", {class: "number"}, fixed(p, 3)));
      })));
  };
  follow(draw);
  return section("next", "The next word",
    paragraph("The probabilities of the next word at the chosen position. The word that stands in the text is marked. " +
      "For the model that the run kept, a temperature below 1 prefers the likeliest words, one above 1 makes all more equal."),
    box, heatRow, sourceNote("continuation"));
}
