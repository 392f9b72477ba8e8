// How training will turn this row: the gradient of each score, and a nudge that tests it.

// The score that the nudge moves: the chosen one, or the steepest if that is over 100 times as steep.
function nudgedScore({sentence, head, query, key}) {
  const all = idsNow().map((_, i) => gradientOfRow(snapshotNow(), sentence, head, i).ds);
  const size = (i, j) => Math.abs(all[i][j]);
  let [row, column] = [query, key];
  all.forEach((ds, i) => ds.forEach((_, j) => {
    if (size(i, j) > 100 * size(query, key) && size(i, j) > size(row, column)) [row, column] = [i, j];
  }));
  return {ds: all[row][column], row, column};
}

function gradientPart() {
  const has = ({gradients}) => gradients?.[selection.sentence];
  if (!page.run.snapshots.some(({gradients}) => gradients)) return null;
  const box = element("div");
  const draw = () => {
    const elsewhereText = atLastLayer();
    if (elsewhereText) return box.replaceChildren(elsewhereText);
    const {sentence, head, query, key} = selection, ids = idsNow(), {causal} = page.run.model, {worked} = page.run;
    const row = gradientOfRow(snapshotNow(), sentence, head, query);
    if (!row) {
      const near = page.run.snapshots.findIndex((snapshot, place) => place >= selection.step && has(snapshot));
      return box.replaceChildren(paragraph("This step has no stored gradient of this sentence. ",
        near < 0 ? null : stepButton(near, "Go to step " + thousands(page.run.snapshots[near].step))));
    }
    const {scores, a, vdy, mean, ds, written} = row;
    const seen = ids.map((_, j) => j).filter((j) => !causal || j <= query);
    const far = seen.map((j) => Math.abs(ds[j] - written[j])), worst = seen[far.indexOf(Math.max(...far))];
    const largest = Math.max(...seen.map((j) => Math.abs(written[j])), 1e-3);
    const isWorked = worked.weights && worked.step === snapshotNow().step;
    const words = element("p", {id: "gradient-words", "aria-live": "polite"});
    const nudge = element("input", {type: "range", id: "nudge", min: -1, max: 1, step: 0.05, value: 0.1, on: {input: () => say()}});
    const nudged = nudgedScore(selection);
    const say = () => {
      const by = Number(nudge.value);
      let text = wordName(sentence, nudged.row) + " scores " + quotedWord(ids[nudged.column]) + ", changed by " + fixed(by, 2) + ". Predicted: the loss changes by " +
        fixed(nudged.ds, 8) + " \u00d7 " + fixed(by, 2) + " = " + fixed(nudged.ds * by, 8) + ".";
      if (isWorked) {
        const before = forwardLast(worked, sentence).loss;
        const after = forwardLast(worked, sentence, {scores: {[[head, nudged.row, nudged.column]]: by}}).loss;
        text += " Recomputed: it changes by " + fixed(after - before, 8) + ". Only tiny changes agree exactly.";
      } else if (worked.weights) {
        text += " At step " + thousands(worked.step) + " the page recomputes it.";
      }
      words.textContent = text;
    };
    const turn = (j) => (Math.abs(ds[j]) < 1e-7 ? "stays" : ds[j] < 0 ? "rises" : "falls");
    box.replaceChildren(
      element("div", {class: "figure"}, tableOf("the row of " + wordName(sentence, query) + ", " + headName(selection.layer, head),
        ["", "score s", "weight a", "v\u00b7dy", "v\u00b7dy \u2212 mean", "ds = a \u00d7 that", "in training s"],
        seen.map((j) => [element("bdi", {}, labelOf(ids[j])), fixed(scores[j], 4), fixed(a[j], 4), fixed(vdy[j], 6),
          fixed(vdy[j] - mean, 6), fixed(ds[j], 6), turn(j)]))),
      paragraph("The mean is \u03a3 a \u00d7 v\u00b7dy = " + fixed(mean, 6) + ". dy has the derivatives of the loss with respect to the " +
        "result of this row. Training goes against the gradient: a score with a negative ds rises."),
      checkLine("gradient-check", ds[worst], written[worst], 1e-5 * largest, 7, "ds of " + quotedWord(ids[worst]) + ", "),
      element("label", {for: "nudge"}, "Nudge it: ", nudge), words);
    say();
  };
  follow(draw);
  return section("gradient", "The gradient: where this row will turn",
    paragraph("For each score, the gradient ds says how the loss of the chosen sentence changes if the score " +
      "rises a little. (Training follows all sentences together.) The slider below tests it."), box, sourceNote("gradient", "worked"));
}
