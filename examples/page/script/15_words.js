// Sentences in words: the same on the page and for a screen reader. Words of the text are quoted.

// A token as it is shown; a separate direction, so that it cannot turn the sentence around it.
function labelOf(id) {
  return page.run.words[id] ?? "?";
}

function quotedWord(id) {
  const label = labelOf(id);
  return label === "\u23ce" ? "the line end" : "'" + label + "'";
}

// "'walk' (position 3)"; positions count from 0, as in the terminal.
function wordName(sentence, position) {
  return quotedWord(page.run.sentences[sentence].ids[position]) + " (position " + position + ")";
}

function sentenceText(sentence) {
  return page.run.sentences[sentence].ids.map(labelOf).join(" ");
}

// The weight of an even split: what a query gives to each key that it sees.
function evenShare(query) {
  return 1 / (page.run.model.causal ? query + 1 : idsNow().length);
}

function headName(layer, head) {
  const {layers, heads} = page.run.model;
  if (layers === 1 && heads === 1) return "the only head";
  return "layer " + layer + ", " + (head < 0 ? "mean of the heads" : "head " + head);
}

// "reading 'walk' (position 3): 'birds' 0.95, 3.8 times an even share; 'walk' 0.03"
function attentionInWords(snapshot, sentence, layer, head, query, most = 3) {
  const row = attentionRows(snapshot, sentence, layer, head)[query];
  const ids = page.run.sentences[sentence].ids;
  const order = row.map((weight, j) => [weight, j]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const seen = order.filter(([weight, j]) => weight > 0.005 || j === order[0][1]).slice(0, most);
  const parts = seen.map(([weight, j], n) =>
    quotedWord(ids[j]) + " " + fixed(weight, 2) +
    (n === 0 && query > 0 ? ", " + fixed(weight / evenShare(query), 1) + " times an even share" : ""));
  const text = "reading " + wordName(sentence, query) + ": " + parts.join("; ");
  return text + (query === 0 && page.run.model.causal ? " (it sees only itself)" : "") + ".";
}

// "falls by 0.012", "stays the same"
function changeInWords(change, decimals = 4) {
  if (Math.abs(change) < 0.5 * 10 ** -decimals) return "stays the same";
  return (change < 0 ? "falls by " : "rises by ") + Math.abs(change).toFixed(decimals);
}

// The file and the function that compute what is shown.
function sourceNote(...names) {
  const known = names.map((name) => page.run.sources[name]).filter(Boolean);
  return known.length ? element("p", {class: "note"}, "Computed by " + known.join("; ") + ".") : null;
}

function button(text, click, attributes = {}) {
  return element("button", {type: "button", ...attributes, on: {click}}, text);
}

// A button that moves the slider to a snapshot.
function stepButton(place, text) {
  return button(text, () => select({step: place}));
}

// The weights of the chosen sentence, layer and head at this step.
function rowsNow() {
  return attentionRows(snapshotNow(), selection.sentence, selection.layer, selection.head);
}

// The latest snapshot not after the slider's that has this part; the first one if there is none.
function latestWith(has) {
  for (let place = selection.step; place >= 0; --place)
    if (has(page.run.snapshots[place])) return page.run.snapshots[place];
  return page.run.snapshots.find(has) || null;
}

function tableOf(caption, head, rows, attributes = {}) {
  return element("table", attributes, element("caption", {}, caption),
    element("thead", {}, element("tr", {}, head.map((name) =>
      (name ? element("th", {scope: "col"}, name) : element("td"))))),
    element("tbody", {}, rows.map((row) =>
      element("tr", {}, row.map((cell, i) =>
        i === 0 ? element("th", {scope: "row"}, cell) : element("td", {class: "number"}, cell))))));
}
