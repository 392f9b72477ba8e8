// The loop of training, and the curve of the loss, that is also the slider, with its events.
const mostKept = 8e6;  // bytes of the weights of earlier steps
// kept: [{step, weights}], every `every`-th step; last: the step of the model that learns.
const learning = {guess: null};

function resetLearning(values) {
  Object.assign(learning, {hasBegun: false, isOn: false, isRecorded: false, losses: [], kept: [],
    every: 1, events: [], last: 0}, values);
}

// A new run of the text: random weights, step 0.
async function beginRun(settings, text = page.text) {
  model = await engine.begin(text, settings);
  page.text = text;
  page.settings = settings;
  resetLearning();
  await keepWeights(0);
  state.step = 0;
}

// A run that fledge recorded: the page has its weights at some steps, and shows the first of them.
// bf16 are the upper halves of floats; the kept model itself is exact.
async function openRecorded() {
  model = await engine.load(bytesOf(page.run), page.text);
  model.baselines ??= page.baselines;
  const exact = await engine.weights();
  const widened = ({buffer}) => Uint32Array.from(new Uint16Array(buffer), (half) => half << 16);
  const kept = page.kept.map(({step, bf16}) =>
    ({step, weights: bf16 ? widened(bytesOf(bf16)).buffer : exact}));
  const losses = page.losses.map(([step, loss]) => ({step, loss}));
  model.steps = Math.max(1, kept.at(-1).step, losses.at(-1)?.step ?? 0);
  if (model.trains && !losses.length) losses.push({step: model.steps, loss: await engine.loss()});
  resetLearning({isRecorded: true, kept, losses, last: model.steps});
  await engine.show(kept[0].weights);
  state.step = kept[0].step;
}

// Shows the learner and keeps its weights; when there are too many, every second one goes.
async function keepWeights(step) {
  const first = learning.kept[0]?.step ?? step;
  const isKept = (at) => (at - first) % learning.every === 0 || at === model.steps;
  const [, weights] = await Promise.all([engine.show(null), engine.weights()]);
  if (!isKept(step)) return;
  learning.kept.push({step, weights});
  if (learning.kept.length * weights.byteLength <= mostKept) return;
  learning.every *= 2;
  learning.kept = learning.kept.filter((one) => isKept(one.step));
}

async function learn() {
  if (learning.isOn) return stopLearning().then(refresh);
  await learning.turn;
  if (learning.isOn) return;
  Object.assign(learning, {isOn: true, hasBegun: true});
  document.body.classList.add("live");
  learning.turn = (learning.isRecorded ? play() : train()).catch(reportError);
  await learning.turn;
  if (!learning.isOn) return;
  await stopLearning();
  await send({isKeyChosen: false});
}

// The step that is being made comes to its end.
async function stopLearning() {
  learning.isOn = false;
  document.body.classList.remove("live");
  await learning.turn;
}

async function train() {
  while (learning.isOn && learning.last < model.steps) {
    const done = await engine.step(stepsAtOnce(model));
    learning.losses.push(...done);
    state.step = learning.last = done.at(-1).step;
    await keepWeights(learning.last);
    await refresh();
    noteEvents();
    await new Promise(requestAnimationFrame);
  }
}

async function play() {
  const from = state.step >= learning.kept.at(-1).step ? -1 : state.step;
  for (const {step, weights} of learning.kept.filter((one) => one.step > from)) {
    if (!learning.isOn) return;
    await engine.show(weights);
    await change({step});
    noteEvents();
    await new Promise((resolve) => setTimeout(resolve, 120));
  }
}

// Shows the weights of an earlier step; the model that learns stays where it is.
async function showStep(step) {
  await stopLearning();
  const {isRecorded, kept, last} = learning, distance = (one) => Math.abs(one.step - step);
  const all = isRecorded ? kept : [{step: last, weights: null}, ...kept];
  const near = all.reduce((best, one) => distance(one) < distance(best) ? one : best);
  await engine.show(near.weights);
  await change({step: near.step});
}

// Two events are worth a word: another likeliest word, and half of the attention on one word.
function noteEvents() {
  if (isChanged() || !isLast() || state.sentence !== page.story.sentence) return;
  const best = strongest(row()), [top] = seen.next;
  if (top.p > 0.3) noteEvent("word", top.word);
  if (row()[best] > 0.5) noteEvent("key", best);
}

// What lasts less than a tenth of the run is no event.
function noteEvent(kind, value) {
  const {events} = learning;
  const last = () => events.filter((event) => event[kind] !== undefined).at(-1);
  if (last()?.[kind] === value) return;
  const isShort = last() && state.step - last().step < model.steps / 10;
  if (isShort) events.splice(events.indexOf(last()), 1);
  if (last()?.[kind] !== value) events.push({step: state.step, [kind]: value});
}

function eventButton({step, word, key}) {
  const looksAt = () => (key === state.query ? "itself" : label(seen.tokens[key] ?? ""));
  const text = word === undefined ? ["looks at ", element("b", {class: "key-ink"}, looksAt())] :
    ["says ", element("b", {}, nextLabel(word))];
  return button([element("small", {}, "step " + thousands(step)), " ", text], () => showStep(step),
    {class: "event", "data-step": step});
}

// The loss at the step that is shown; NaN if no step of a trained model has one.
function lossNow() {
  const {losses} = learning, at = losses.findIndex(({step}) => step >= state.step);
  if (at >= 0) return meanLoss(losses, at, 1);
  return state.step === 0 ? model.baselines.guessing : lastLoss(losses);
}

// The curve, two lines to compare with, and the slider on it.
function timePart() {
  const slider = element("input", {type: "range", min: 0, value: 0, id: "time",
    "aria-label": "Step of training", on: {input: () => showStep(Number(slider.value))}});
  const step = element("output", {for: "time", id: "step"}), loss = element("b", {id: "loss-now"});
  const events = element("div", {id: "events"});  // of the story's own sentence
  const isStory = () => state.sentence === page.story.sentence;
  const plot = makePlot("Loss over the steps", 80, (width) => {
    const {guessing, floor} = model.baselines, top = 1.12 * Math.max(guessing, 0.1);
    const x = (at) => width * at / model.steps, y = (at) => 80 - 80 * Math.min(1, at / top);
    const levels = [["blind guess", guessing], ["floor " + fixed(floor, 2), floor]]
      .filter(([, at]) => at !== null);
    return [svgElement("rect", {class: "past", width: x(state.step), height: 80}),
      levels.map(([name, at]) => [lineThrough([[0, y(at)], [width, y(at)]], "level"),
        plotText(width + 14, y(at) + 4, name)]),
      lineThrough(smoothed(learning.losses).map(([at, value]) => [x(at), y(value)])),
      learning.events.filter(isStory).map(({step: at}) =>
        lineThrough([[x(at), 80], [x(at), 71]], "tick")),
      plotText(6, 44, learning.hasBegun ? "" : "the loss will fall here")];
  });
  follow(() => {
    const {kept} = learning, {step: value} = state, max = model.steps;
    Object.assign(slider, {max, value, hidden: kept.length < 2});
    slider.setAttribute("aria-valuetext", "step " + value);
    step.textContent = "step " + thousands(value) + " of " + thousands(max);
    loss.textContent = fixed(lossNow(), 2);
    const last = learning.events.slice(-4), steps = last.map((event) => event.step).join();
    if (events.dataset.steps !== steps) events.replaceChildren(...last.map(eventButton));
    events.dataset.steps = steps;
    events.style.visibility = isStory() ? "" : "hidden";
    for (const one of events.children)
      one.setAttribute("aria-pressed", Number(one.dataset.step) === value);
    plot.redraw();
  });
  const head = element("span", {}, "how wrong it is on its text (", term("loss"), ") ", loss);
  return element("div", {class: "time"}, element("p", {class: "caption time-head"}, head, step),
    element("div", {class: "curve-box"}, plot.node, slider), events);
}
