// The time bar: a slider over the snapshots. Everything below it follows. One snapshot needs none.

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
  const play = button("Play", () => (timer ? stop() : start()), {id: "play"});
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
  // Not through select(): what the reader changed in a part stays.
  const theme = button("", () => {
    selection.theme = (modes.indexOf(document.documentElement.dataset.theme) + 1) % 3;
    writeAddress();
    showTheme();
  }, {id: "theme"});
  const showTheme = () => {
    const mode = modes[selection.theme] || "system";
    document.documentElement.dataset.theme = mode;
    theme.textContent = "Colours: " + mode;
  };
  follow((changed) => {
    if (changed.has("theme")) showTheme();
    if (!changed.has("step") && !changed.has("sentence")) return;
    slider.value = selection.step;
    slider.setAttribute("aria-valuetext", stepInWords());
    shown.textContent = stepInWords();
  });
  const controls = [button("Back", move(-1), {id: "back"}), slider,
    button("Forward", move(1), {id: "forward"}), play];
  return element("section", {id: "time", "aria-label": "Step of training"}, last > 0 ? controls : [], shown, theme);
}
