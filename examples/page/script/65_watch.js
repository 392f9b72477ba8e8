// The watched pairs over training: where one word looks, and whether it matters.

function watchPart() {
  if (page.run.watch.length === 0) return null;
  const points = (pair, name) => page.run.snapshots.map(({step, watch}) => [step, watch[pair]?.[name]])
    .filter(([, value]) => value !== null && value !== undefined);
  const parts = page.run.watch.map(({word, looks_at, control}, pair) => {
    const words = element("p", {class: "watch-words"});
    follow((changed) => {
      const now = snapshotNow().watch[pair];
      if (!changed.has("step")) return;
      words.hidden = !now;
      if (!now) return;
      if (now.attention === null) {
        words.textContent = "In the text that was read, '" + looks_at + "' never stands before '" + word + "'.";
        return;
      }
      words.textContent = "At step " + thousands(snapshotNow().step) + " '" + word + "' gives '" + looks_at + "' " + fixed(now.attention, 2) +
        " of its attention (mean over the text that was read); an even share is " + fixed(now.chance, 2) + ", and '" + control + "' gets " + fixed(now.control, 2) + "." +
        (now.effect === null ? "" : " Hiding '" + looks_at + "' lowers ln p of the next word by " + fixed(now.effect, 2) + ".");
    });
    const effect = points(pair, "effect");
    return [element("h3", {}, "'" + word + "' looks at '" + looks_at + "'"), words,
      curvePlot({name: "Attention of '" + word + "' to '" + looks_at + "'", height: 170, low: 0, curves: [
        {points: points(pair, "attention"), className: "series-1", text: "to '" + looks_at + "'"},
        {points: points(pair, "control"), className: "series-2", text: "control '" + control + "'"},
        {points: points(pair, "chance"), className: "faint", text: "even share"}]}),
      curvePlot({name: "Cosine of the two word vectors", height: 130, curves: [
        {points: points(pair, "cosine"), className: "series-3", text: "cosine"}], lines: [[0, "0"]]}),
      effect.length === 0 ? null : curvePlot({name: "Effect of hiding the word", height: 130, lines: [[0, "no effect"]],
        curves: [{points: effect, className: "series-4", text: "effect"}]})];
  });
  return section("watch", "The watched words",
    paragraph("Attention says where the model looked. The effect says whether it mattered: how much ln p of the " +
      "next word falls if the word is hidden (Jain & Wallace 2019). The cosine compares the two word vectors of the table."),
    parts, sourceNote("watch", "effect"));
}
