// What the page shows: one state, one look of the engine at it, and the parts that draw both.
// No part keeps a number of its own: after each change the engine reads the sentence again, and
// every part draws what the engine answered.

const page = {};  // the data of the file
// rows: {"layer,head,query": weights set by hand}; off: {"layer,head"}; hidden: positions.
const state = {step: 0, sentence: "", hidden: new Set(), rows: {}, off: new Set(),
  layer: 0, head: 0, query: -1, key: 0, isKeyChosen: false};
const engine = makeEngine();
let model = null;  // the run, as the engine describes it
let seen = null;   // the engine's last look: tokens, attention, next words, what the text says
const parts = [];  // {draw, isNear}
const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
// How many steps a run takes between two pictures of it; with little motion there are few.
const stepsAtOnce = ({steps}) => Math.max(1, Math.round(steps / (isCalm ? 24 : 100)));

// The part is drawn after each look; with a node, which comes back, while the model learns only if
// this is near the window.
function follow(draw, node) {
  const part = {draw, isNear: !node};
  parts.push(part);
  if (node) new IntersectionObserver(([{isIntersecting}]) => {
    part.isNear = isIntersecting;
    if (isIntersecting) refresh();
  }, {rootMargin: "200px"}).observe(node);
  return node;
}

// What the engine is asked: the sentence, and what the reader changed in it.
function question() {
  const {sentence, hidden, rows, off} = state;
  return {sentence, hidden: [...hidden], rows, off: [...off]};
}

// A function that computes and draws, one call after the other: what is called meanwhile runs once,
// with the newest state. draw(found, isOld) may ask whether there is a newer state.
function latest(compute, draw) {
  let running = null, isOld = false;
  const run = async () => {
    while (isOld) {
      isOld = false;
      const found = await compute().catch(reportError);
      if (found && !isOld) await draw(found, () => isOld);
    }
  };
  return () => {
    isOld = true;
    return running ??= run().catch(reportError).finally(() => { running = null; });
  };
}

const refresh = latest(() => engine.look(question(), state.query), async (now, isOld) => {
  accept(now);
  // What fails because the state has changed meanwhile is drawn again.
  const report = (error) => isOld() || reportError(error);
  for (const {draw, isNear} of parts)
    if ((isNear || !learning.isOn) && !isOld()) await Promise.resolve(draw()).catch(report);
});

function accept(now) {
  seen = now;
  const last = seen.tokens.length - 1;
  state.layer = Math.min(state.layer, model.layers - 1);
  state.head = Math.min(state.head, model.heads - 1);
  if (state.query < 0 || state.query > last) state.query = last;
  if (!state.isKeyChosen || state.key > (isCausal() ? state.query : last))
    state.key = strongest(row());
}

// Another sentence forgets what was changed in the last one.
function change(values) {
  if (values.sentence !== undefined && values.sentence !== state.sentence)
    Object.assign(state, {hidden: new Set(), rows: {}, query: -1, isKeyChosen: false});
  if (values.key !== undefined) state.isKeyChosen = true;
  Object.assign(state, values);
  const drawn = refresh();
  writeAddress();
  return drawn;
}

const isCausal = () => !model.without.includes("mask");
const unchanged = () => ({hidden: new Set(), rows: {}, off: new Set()});

function isChanged() {
  return state.hidden.size + state.off.size + Object.keys(state.rows).length > 0;
}

function toggled(set, item) {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}

// The weights of the word that looks, in the chosen head.
function row() {
  return seen.attention[state.layer][state.head][state.query];
}

// Whether the word that looks is the last one: then the model guesses what comes next.
const isLast = () => state.query === seen.tokens.length - 1;

const strongest = (weights) => weights.indexOf(Math.max(...weights));

// "#t=birds+sometimes+walk&l=0&h=0&x=1": a link to what is shown.
function writeAddress() {
  const {sentence, layer, head, hidden} = state;
  const values = {...bookAddress(), t: sentence, l: layer, h: head, x: [...hidden].join(" ")};
  const hash = "#" + String(new URLSearchParams(values)).replaceAll("%2F", "/");
  try {
    if (hash !== location.hash) history.replaceState(null, "", hash);
  } catch { /* Safari allows 100 in 30 seconds. */ }
}

function readAddress() {
  const values = new URLSearchParams(location.hash.slice(1));
  const numbers = (name) => (values.get(name) ?? "").match(/\d+/g)?.map(Number) ?? [];
  Object.assign(state, {sentence: values.get("t") || page.story.sentence,
    layer: numbers("l")[0] ?? 0, head: numbers("h")[0] ?? 0, hidden: new Set(numbers("x"))});
}
