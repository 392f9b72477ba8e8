// What the model says at this step: its most likely words after a beginning.

function nowPart() {
  if (page.run.prompts.length === 0) return null;
  const rows = page.run.prompts.map((prompt) => {
    const text = element("bdi", {class: "continuation"});
    return {text, row: element("p", {class: "sample"}, element("bdi", {}, prompt),
      " ", text)};
  });
  follow((changed) => {
    if (changed.has("step"))
      rows.forEach(({text}, i) => { text.textContent = snapshotNow().continuations[i] ?? ""; });
  });
  return section("now", "What it says now",
    element("p", {}, "Each line begins with words of the text. The model goes on, always with the word that it " +
      "finds most likely. At step 0 it has learned nothing."),
    rows.map(({row}) => row), sourceNote("continuation"));
}
