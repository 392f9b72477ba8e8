// What the page shows now: one object, which all parts follow and which the address keeps, so that a
// link to a finding can be sent. `step` is a place in run.snapshots; head −1 is the mean of the heads.

const page = {kind: "", run: null, triangle: null, variants: null};
const selection = {step: 0, sentence: 0, layer: 0, head: 0, query: 0, key: 0};
const listeners = [];

function snapshotNow() {
  return page.run.snapshots[selection.step];
}

function idsNow() {
  return page.run.sentences[selection.sentence].ids;
}

// f(changed): at once, and after each change; `changed` is the set of the names that changed.
function follow(f) {
  listeners.push(f);
  f(new Set(Object.keys(selection)));
}

// Keeps the selection inside what there is.
function clamp() {
  const within = (name, least, most) => {
    selection[name] = Math.min(Math.max(Math.round(Number(selection[name])) || 0, least), most);
  };
  within("step", 0, page.run.snapshots.length - 1);
  within("sentence", 0, page.run.sentences.length - 1);
  within("layer", 0, page.run.model.layers - 1);
  within("head", -1, page.run.model.heads - 1);
  within("query", 0, idsNow().length - 1);
  within("key", 0, page.run.model.causal ? selection.query : idsNow().length - 1);
}

// The key that the chosen query looks at most.
function likeliestKey() {
  const row = attentionRows(snapshotNow(), selection.sentence, selection.layer, selection.head)[selection.query];
  return row.indexOf(Math.max(...row));
}

function select(values) {
  const before = {...selection};
  Object.assign(selection, values);
  selection.sentence = Math.min(Math.max(selection.sentence, 0), page.run.sentences.length - 1) || 0;
  if (selection.sentence !== before.sentence && values.query === undefined)
    Object.assign(selection, {query: Infinity, key: 0});
  if (selection.query === Infinity) selection.query = idsNow()?.length - 1 || 0;
  clamp();
  if (selection.sentence !== before.sentence && values.key === undefined) selection.key = likeliestKey();
  const changed = new Set(Object.keys(selection).filter((name) => selection[name] !== before[name]));
  if (changed.size === 0) return;
  writeAddress();
  for (const f of listeners) f(changed);
}

const letters = {step: "s", sentence: "t", layer: "l", head: "h", query: "q", key: "k"};

// "#s=400&t=0&l=0&h=0&q=3&k=1"; s is the training step itself.
function writeAddress() {
  const parts = Object.entries(letters).map(([name, letter]) =>
    letter + "=" + (name === "step" ? snapshotNow().step : selection[name]));
  history.replaceState(null, "", "#" + parts.join("&"));
}

function readAddress() {
  const values = new URLSearchParams(location.hash.slice(1));
  const chosen = {};
  for (const [name, letter] of Object.entries(letters))
    if (values.has(letter) && Number.isFinite(Number(values.get(letter)))) chosen[name] = Number(values.get(letter));
  if (chosen.step !== undefined) {
    const at = page.run.snapshots.findIndex((snapshot) => snapshot.step >= chosen.step);
    chosen.step = at < 0 ? page.run.snapshots.length - 1 : at;
  }
  return chosen;
}
