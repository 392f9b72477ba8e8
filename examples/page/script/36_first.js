// The first screen: one question, one sentence, one picture.

const stage = makeStage("stage", chooseWord);

// At step 0 a click on a word is a guess; later it chooses the word to follow.
function chooseWord(j) {
  if (learning.hasBegun)
    return change(isCausal() && j > state.query ? {query: j, key: j} : {key: j});
  learning.guess = j;
  return refresh();
}

// What to say now. It depends on the state alone: going back in time says the same again.
function storyNow() {
  const {tokens, next: [top]} = seen, {hidden, off, query, step} = state, {guess, isOn} = learning;
  const weights = row(), best = strongest(weights), looker = quoted(tokens[query]);
  const bold = (text) => element("b", {}, text);
  const key = (j) => (j === query ? "itself" : bdi(tokens[j], {class: "key-ink"}));
  const says = [bold(nextLabel(top.word)), ", ", percent(top.p)];
  const animals = page.story.pairs.flat(), isBirds = animals.length > 0;
  const isAnimal = (j) => animals.includes(tokens[j]);
  if (!learning.hasBegun)
    return guess === null ?
      [`Before it learns: which ${unit()} should `, looker, " look at? ", bold("Click it.")] :
      ["You say ", key(guess), ". Now let it learn, and see."];
  if (hidden.size > 0) {
    const isWrong = isLast() && seen.said.length > 0 && !seen.said.includes(top.word);
    const isLeft = (_, j) => isAnimal(j) && !hidden.has(j);
    return ["Without ", [...hidden].map((j) => quoted(tokens[j] ?? "")).join(" and "), " it says ",
      says, isWrong && (top.p > 0.5 ? ": sure, but wrong" : ": wrong"),
      isWrong && [...hidden].some(isAnimal) && !tokens.some(isLeft) && ", for no animal is left",
      ". ", looker, " looks at ", key(best), "."];
  }
  if (off.size > 0) return ["A head is off and brings nothing. It says ", says, "."];
  if (step < 0.06 * model.steps)
    return ["Random numbers: it looks everywhere, and says anything at all."];
  const isStory = [state.sentence, swapped()?.sentence].includes(page.story.sentence);
  if (isBirds && isStory && weights[best] < 0.5)
    return ["It knows what may follow ", looker, ", but not that the animal decides: ", says, "."];
  if (isBirds && isOn && weights[best] < 0.8)
    return ["Now ", looker, " turns to ", key(best), "\u2026"];
  const isAsked = guess !== null && isLast() && state.sentence === page.story.sentence;
  const answer = isAsked && (guess === best ? " As you said." :
    ` You said ${quoted(tokens[guess])}` + (isBirds && !isAnimal(guess) ? ": no animal." : "."));
  const j = hideable();
  const hint = !isOn && !isStart(j) && j !== query && [" Now hide ", key(j), "."];
  return [looker, " looks at ", key(best), " ", bold(percent(weights[best])), " and says ", says,
    ".", answer, hint];
}

// A quiet line: what the page leaves out, or what the reader has set.
function notesNow() {
  return [...page.notices,
    !learning.hasBegun && `The arrows bring ${quoted(seen.tokens[state.query])} what it finds.`,
    isLast() && model.trains && seen.said.length === 0 &&
      "The text never has this beginning, so what the model says is a guess.",
    seen.cut > 0 && `It reads the last ${model.context} ${unit()}s, not the ${seen.cut} before.`,
    goesOn() && "In the text it goes on after the \u2026",
    page.settings.batch > model.batch &&
      `A page has room for ${model.batch} windows a step, not ${page.settings.batch}.`,
    Object.keys(state.rows).length > 0 && "Some weights are set by hand."]
    .filter(Boolean).join(" ");
}

// Whether the sentence is the first of the story, and the text goes on within its line.
const goesOn = () => page.story.goes_on && state.sentence === page.story.sentence;

// The line end in front of a line; other tokens can be hidden.
const isStart = (j) => j === 0 && seen.tokens[0] === "\n";

// The word to hide: the chosen one, if another word looks at it; else the one that gets most.
function hideable() {
  const {key, query, hidden} = state, last = seen.tokens.length - 1;
  const isOpen = learning.hasBegun && !learning.isOn;
  if (isOpen && key !== query && !isStart(key) && key <= last) return key;
  if (hidden.size > 0) return [...hidden][0];
  if (!isOpen) return Math.min(1, last);
  return strongest(row().map((weight, j) => (j === query || isStart(j) ? -1 : weight)));
}

// The other animal: {from, to, sentence}, or undefined for a sentence without one.
function swapped() {
  const words = state.sentence.split(" ");
  const pairs = page.story.pairs.flatMap(([a, b]) => [[a, b], [b, a]]);
  const pair = pairs.find(([from]) => words.includes(from));
  if (!pair) return undefined;
  const [from, to] = pair;
  return {from, to, sentence: words.map((word) => (word === from ? to : word)).join(" ")};
}

const oneSpaced = (text) => (model.kind === "word" ? text.trim().replace(/\s+/g, " ") : text);

// A picture of another sentence than the one that is typed says so.
function markStale(typed) {
  const plain = oneSpaced(typed), shown = oneSpaced(state.sentence);
  const isStale = plain !== "" && ![plain, plain.toLowerCase()].includes(shown);
  document.querySelector("#first .figure").classList.toggle("stale", isStale);
  if (!isStale && document.querySelector("#trouble:not(.everywhere)")) forgetError();
}

// The sentence as it is typed: it is read when the model knows all of its words, if need be without
// capitals.
async function readSentence(text, isDone) {
  const sentence = oneSpaced(text), small = sentence.toLowerCase();
  forgetError();
  if (sentence === "") return markStale(text);
  const unknown = await engine.unknown(sentence);
  if (unknown.length === 0) await change({sentence});
  else if ((await engine.unknown(small)).length === 0) await change({sentence: small});
  else {
    markStale(text);
    if (isDone || text.endsWith(" ") || unknown.length > 1) reportError({unknown});
  }
}

function allHeads({layers, heads} = model) {
  return Array.from({length: layers * heads}, (_, i) => {
    const layer = Math.floor(i / heads), head = i % heads;
    return {layer, head, at: layer + "," + head, name: `layer ${layer + 1}, head ${head + 1}`};
  });
}

// Changes the state, and lets the values travel again.
async function send(values) {
  await change(values);
  stage.send();
}

// A run that is over begins anew from other random numbers.
async function learnOrAgain() {
  forgetError();
  if (!learning.isOn && learning.last >= model.steps && !learning.isRecorded) {
    learning.guess = null;
    await beginRun({...page.settings, seed: (model.seed ?? 1) + 1});
  }
  return learn();
}

function controls() {
  const go = button("", learnOrAgain, {class: "go", id: "go"});
  const anew = button("Train it here", async () => {
    await stopLearning();
    page.notices = [];
    await beginRun(page.settings).then(learn, reportError);
  }, {id: "anew"});
  const hide = button("", () => send({hidden: toggled(state.hidden, hideable())}), {id: "hide"});
  const other = button("", () => send({sentence: swapped().sentence}), {id: "other"});
  const undo = button("Undo", () => send(unchanged()), {id: "undo"});
  const choices = element("select", {id: "head", "aria-label": "Head", on: {change: () => {
    const [layer, head] = choices.value.split(",").map(Number);
    send({layer, head});
  }}});
  const own = element("input", {id: "own", type: "text", autocomplete: "off", spellcheck: "false",
    "aria-label": "Your own sentence",
    on: {focus: () => own.value === state.sentence && own.select(),
      input: () => readSentence(own.value, false)}});
  const submit = (event) => {
    event.preventDefault();
    readSentence(own.value, true).then(stage.send);
  };
  follow(() => {
    const {isOn, isRecorded, hasBegun, last} = learning;
    const isOver = last >= model.steps && !isRecorded;
    go.textContent = isOn ? "Pause" : isRecorded ? "Play" : isOver ? "Again" :
      hasBegun ? "Go on" : "Let it learn";
    go.title = isOver ? "from other random numbers" : "";
    go.hidden = isRecorded && learning.kept.length < 2;  // nothing to play
    anew.hidden = !isRecorded;
    const j = hideable(), isHidden = state.hidden.has(j), pair = swapped(), heads = allHeads();
    hide.replaceChildren(isHidden ? "Show " : "Hide ", bdi(seen.tokens[j]));
    hide.setAttribute("aria-pressed", isHidden);
    hide.disabled = seen.tokens.length < 2;
    other.hidden = !pair;
    if (pair) other.replaceChildren(bdi(pair.from), " \u2192 ", bdi(pair.to));
    undo.hidden = !isChanged();
    if (document.activeElement !== own) own.value = state.sentence;
    markStale(own.value);
    if (choices.length !== heads.length)
      choices.replaceChildren(...heads.map(({at, name}) => element("option", {value: at}, name)));
    choices.hidden = heads.length === 1;
    choices.value = state.layer + "," + state.head;
  });
  return element("div", {class: "controls"}, go, anew, hide, other, undo, choices,
    element("form", {class: "own", on: {submit}},
      element("label", {for: "own", class: "caption"}, "your sentence"), own));
}

function firstPart() {
  const told = element("p", {id: "say", "aria-live": "polite"}), next = makeNext("next");
  const note = element("p", {id: "note", class: "caption"});
  follow(() => {
    const {hasBegun, guess, isOn} = learning;
    const [key, shown] = hasBegun && !isOn ? [state.key, -1] : [-1, guess];
    stage.draw(seen, {...state, key, guess: shown, goesOn: goesOn()});
    next.draw(seen, state.query);
    const story = element("p", {}, storyNow());
    told.setAttribute("aria-busy", isOn);
    if (told.textContent !== story.textContent) told.replaceChildren(...story.childNodes);
    note.textContent = notesNow();
    note.hidden = note.textContent === "";
  });
  return element("header", {id: "first"},
    element("h1", {}, page.story.title), element("p", {class: "lede"}, page.story.lede),
    element("div", {class: "card"}, element("div", {class: "figure"}, stage.node, next.node), told,
      controls(),
      element("p", {id: "trouble", role: "alert", hidden: true, on: {click: forgetError}}), note,
      timePart()), waysOn());
}

// The ways on from the first screen: a lesson, if the page has the course, and parts of it.
function waysOn() {
  const lesson = nextLesson(), link = (href, ...inside) => element("a", {href}, inside);
  return element("nav", {id: "on", "aria-label": "Where to go on"},
    lesson && bookLink(lesson.name, "Next lesson: ", lesson.title),
    link("#switches", "Take a part out"), link(lesson ? "#laboratory" : "#grid", "Laboratory"),
    link("#own-text", "Your own text"));
}
