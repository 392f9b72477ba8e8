// The reader's own text, and a run as a file.

const mostText = 200000;  // bytes

function textPart() {
  let learned = "";
  const area = element("textarea", {id: "text", rows: 7, spellcheck: "false",
    "aria-label": "Your own text", on: {input: () => describe()},
    placeholder: "Paste a text here, or drop a file anywhere: a poem, names, a diary \u2026"});
  const about = element("p", {class: "caption", id: "about", "aria-live": "polite"});
  const kind = element("select", {id: "kind"}, [["word", "words"], ["character", "characters"]].map(
    ([value, name]) => element("option", {value}, name)));
  const recipe = recipeChoice("recipe", "rotary");
  const start = button("Learn this text", () => useText(area.value, kind.value, recipe.value),
    {class: "go", id: "learn-text", disabled: true});
  const describe = (size = new Blob([area.value.trim()]).size) => {
    start.disabled = size < 20 || size > mostText;
    about.textContent = size === 0 ? "" : thousands(size) + " bytes" + (size < 20 ?
      ": a little more, please." : size > mostText ? `: at most ${thousands(mostText)}.` : ".");
  };
  const open = async (file) => {
    if (file.name.endsWith(".safetensors")) return openRun(file);
    if (file.size > mostText) return describe(file.size);
    area.value = await file.text();
    const words = area.value.split(/\s+/), share = new Set(words).size / words.length;
    kind.value = words.length > 50 && share > 0.4 ? "character" : "word";
    describe();
    area.scrollIntoView({block: "center"});
  };
  const take = (files) => files[0] && open(files[0]).catch(reportError);
  const chooser = (id, accept, text) => element("label", {class: "file"}, text,
    element("input", {type: "file", id, accept, on: {change: ({target}) => take(target.files)}}));
  const save = button("Save this run", () => engine.save().then((bytes) => download(
    "run.safetensors", "application/octet-stream", bytes)).catch(reportError), {id: "save-run"});
  follow(() => {
    save.disabled = !model.trains;  // a page of a long text has a part of it
    // Of bytes, of a run over another text and of a long text there is nothing to show.
    const isShort = model.trains && typeof page.text === "string" && page.text.length <= mostText;
    if (learned === (isShort ? page.text : "")) return;
    area.value = learned = isShort ? page.text : "";
    kind.value = model.kind === "word" ? "word" : "character";
    start.disabled = !isShort;
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  return section("own-text", "Your own text",
    prose("A text that stands here is what the model learned from. Put yours in its place: " +
      "everything on this page works with it. The model is as large as half a minute of " +
      "training allows. Nothing leaves your computer."), area, about,
    element("div", {class: "controls"}, element("label", {}, "It reads ", kind),
      element("label", {}, "It is made like ", recipe), start,
      chooser("text-file", ".txt,.md,text/plain", "a text file ")),
    element("h3", {}, "Keep it"),
    prose("A run is one file. The command fledge opens it, and this page opens those of fledge."),
    element("div", {class: "controls"}, save,
      button("Save the text", () => download("text.txt", "text/plain", page.text),
        {id: "save-text"}),
      chooser("run-file", ".safetensors", "open a run ")));
}

async function useText(text, kind, recipe) {
  await stopLearning();
  const whole = text.toWellFormed?.() ?? text, lines = hasShortLines(whole, kind);
  try {
    await beginRun({tokens: kind, lines, seed: 1, name: "your text", ...recipes[recipe].settings},
      whole);
  } catch (error) {
    return reportError(error);
  }
  await openStory(model.beginning);
  scrollTo({top: 0, behavior: isCalm ? "auto" : "smooth"});
  return learn();
}

// Whether each line is read by itself, as a sentence of the birds is.
function hasShortLines(text, kind) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const [size, most] = kind === "word" ? [(line) => line.split(/\s+/).length, 16] :
    [(line) => [...line].length, 32];
  return lines.length >= 8 && lines.every((line) => size(line) <= most);
}

// The first screen of another text.
async function openStory(sentence) {
  page.story = {title: "What does it look at?", sentence, pairs: [], goes_on: model.goes_on,
    lede: `A model of ${thousands(model.count)} numbers reads this text and learns to guess the ` +
      `next ${unit()}. Watch where it looks for that.`};
  page.notices = [];
  rivals.length = 0;
  document.querySelector("h1").textContent = page.story.title;
  document.querySelector(".lede").textContent = page.story.lede;
  learning.guess = null;
  forgetError();
  await change({sentence, layer: 0, head: 0, ...unchanged()});
}

// A run of fledge over the text of the page, or over another: then it reads a word of that.
async function openRun(file) {
  await stopLearning();
  const {baselines} = model, words = model.words.join();
  model = await engine.load(await file.arrayBuffer(), page.text);
  model.baselines ??= baselines;
  page.settings = model.settings;
  page.notices = [];
  const {step} = model;
  model.steps = model.trains ? Math.max(step, model.steps) : 1;
  const losses = model.trains ? [{step, loss: await engine.loss()}] : [];
  resetLearning({hasBegun: true, last: step, losses});
  state.step = step;
  await keepWeights(state.step);
  if (words === model.words.join()) return change(unchanged());
  return openStory(model.beginning || model.frequent[0]);
}
