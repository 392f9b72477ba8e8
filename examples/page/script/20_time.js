// The time bar: a slider over the snapshots. Everything below it follows.

// The smoothed training loss at the slider's step; of the shown sentence if the run has no curve.
function lossNow() {
  const {step, sentences} = snapshotNow(), {train} = page.run.losses;
  if (train.length === 0) return sentences[selection.sentence].loss;
  return smoothed(train).filter(([at]) => at <= Math.max(step, train[0][0])).at(-1)[1];
}

function stepInWords() {
  return "step " + thousands(snapshotNow().step) + ", loss " + fixed(lossNow(), 2);
}

function timePart() {
  const last = page.run.snapshots.length - 1;
  const slider = element("input", {id: "step", type: "range", min: 0, max: last, "aria-label": "Step of training",
    on: {input: () => select({step: Number(slider.value)})}});
  const shown = element("output", {for: "step"});
  const move = (by) => () => select({step: selection.step + by});
  let timer = 0;
  const play = element("button", {type: "button", id: "play", on: {click: () => (timer ? stop() : start())}}, "Play");
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const start = () => {
    if (selection.step === last) select({step: 0});
    play.textContent = "Pause";
    timer = setInterval(() => (selection.step === last ? stop() : select({step: selection.step + 1})), 125);
  };
  const modes = ["system", "light", "dark"];
  const theme = element("button", {type: "button", id: "theme", on: {click: () => {
    setTheme(modes[(modes.indexOf(document.documentElement.dataset.theme || "system") + 1) % 3]);
  }}}, "Colours: system");
  const setTheme = (mode) => {
    document.documentElement.dataset.theme = mode;
    theme.textContent = "Colours: " + mode;
  };
  follow((changed) => {
    if (!changed.has("step") && !changed.has("sentence")) return;
    slider.value = selection.step;
    slider.setAttribute("aria-valuetext", stepInWords());
    shown.textContent = stepInWords();
  });
  return element("section", {id: "time", "aria-label": "Step of training"},
    element("button", {type: "button", id: "back", on: {click: move(-1)}}, "Back"),
    slider,
    element("button", {type: "button", id: "forward", on: {click: move(1)}}, "Forward"),
    play, shown, theme);
}
