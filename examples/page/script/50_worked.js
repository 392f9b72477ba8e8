// Every number of the chosen cell: from q and k to the weight, and from the weights to the result.

// "recomputed by your browser: 0.41273 · written by the C++ program: 0.41273", and whether they agree.
function checkLine(id, ours, theirs, tolerance, decimals = 5, what = "") {
  const isRight = Math.abs(ours - theirs) <= tolerance;
  return element("p", {id, class: isRight ? "ok" : "bad", role: "status"},
    (isRight ? "\u2713 equal up to rounding: " : "\u2717 They differ! ") + what + "recomputed by your browser: " + fixed(ours, decimals) +
    " \u00b7 written by the C++ program: " + fixed(theirs, decimals));
}

// Where the vectors of this sentence are, if not at this step: a sentence with a button.
function elsewhere() {
  const places = page.run.snapshots.map((snapshot, place) => [vectorsOf(snapshot, selection.sentence), place])
    .filter(([vectors]) => vectors).map(([, place]) => place);
  const near = places.filter((place) => place >= selection.step)[0] ?? places.at(-1);
  return paragraph("This step has no stored vectors for this sentence. ",
    near === undefined ? null : stepButton(near, "Go to step " + thousands(page.run.snapshots[near].step)));
}

function workedTables() {
  if (selection.head < 0) return [paragraph("The mean of the heads has no query of its own: choose one head. ",
    button("Head 0", () => select({head: 0})))];
  const vectors = vectorsOf(snapshotNow(), selection.sentence);
  if (!vectors) return [elsewhere()];
  const {sentence, layer, head, query, key} = selection, {width, heads, causal} = page.run.model;
  const D = width / heads, scaled = page.run.model.scaled, ids = idsNow(), {q, k, v} = vectors(layer);
  const at = (x, i, c) => x[i * width + head * D + c];
  // Without the division the stored q is larger by sqrt(D), which the same formula takes back.
  const root = Math.sqrt(D), qAt = (c) => at(q, query, c) / (scaled ? 1 : root);
  let sum = 0;
  const products = Array.from({length: D}, (_, c) => {
    const product = qAt(c) * at(k, key, c);
    sum += product;
    return ["dimension " + (c + 1), fixed(qAt(c), 4), fixed(at(k, key, c), 4), fixed(product, 4), fixed(sum, 4)];
  });
  const score = scaled ? sum / root : sum, scores = headScores(q, k, head)[query];
  const seen = ids.map((_, j) => j).filter((j) => !causal || j <= query), most = Math.max(...scores);
  const weights = softmaxOf(scores), total = seen.reduce((all, j) => all + Math.exp(scores[j] - most), 0);
  const words = [quotedWord(ids[query]), quotedWord(ids[key])];
  const mixed = Array.from({length: D}, (_, c) => ["dimension " + (c + 1),
    ...seen.map((j) => fixed(weights[j] * at(v, j, c), 4)), fixed(seen.reduce((all, j) => all + weights[j] * at(v, j, c), 0), 4)]);
  const written = attentionRows(snapshotNow(), sentence, layer, head)[query][key];
  const box = (...children) => element("div", {class: "figure"}, ...children);
  return [
    paragraph("Now: how much does " + words[0] + " look at " + words[1] + " (" + headName(layer, head) + ")?"),
    element("h3", {}, "1. The score: multiply and add"),
    box(tableOf("query of " + words[0] + " times key of " + words[1], ["", "q", "k", "q \u00d7 k", "sum so far"], products)),
    paragraph(scaled ? "Divide by \u221a" + D + ", the square root of the head size: " + fixed(sum, 4) + " \u00f7 " +
      fixed(root, 4) + " = " + fixed(score, 4) + ". This is the score." : "This model does not divide: the sum is the score."),
    element("h3", {}, "2. The weights: exp, then divide by the sum"),
    box(tableOf("all words that " + words[0] + " can see", ["", "score", "minus the largest", "exp", "\u00f7 sum = weight"],
      [...seen.map((j) => [element("bdi", {}, labelOf(ids[j])), fixed(scores[j], 4), fixed(scores[j] - most, 4),
        fixed(Math.exp(scores[j] - most), 4), fixed(weights[j], 5)]),
      ["sum", "", "", fixed(total, 4), fixed(weights.reduce((a, b) => a + b, 0), 5)]])),
    element("h3", {}, "3. The result: weights times values, added up"),
    box(tableOf("what " + words[0] + " receives", ["", ...seen.map((j) => labelOf(ids[j])), "sum"], mixed)),
    checkLine("check", weights[key], written, 1e-5 + 0.5 / 65535)];
}

function workedPart() {
  const box = element("div");
  follow(() => box.replaceChildren(...workedTables()));
  return section("worked", "Every number of the chosen cell",
    paragraph("Choose a cell of the grid. Here its weight is computed again, from the query and the keys. " +
      "Then it is compared with the weight that the program wrote."), box, sourceNote("attention"));
}
