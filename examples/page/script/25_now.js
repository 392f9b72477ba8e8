// What the model says at this step: its most likely words after a beginning.

function nowPart() {
  if (page.run.prompts.length === 0) return null;
  const texts = page.run.prompts.map(() => element("bdi"));
  follow((changed) => {
    if (changed.has("step")) texts.forEach((text, i) => { text.textContent = snapshotNow().continuations[i] ?? ""; });
  });
  return section("now", "What it says now",
    paragraph("Each line begins with words of the text. The model goes on, always with the word that it " +
      "finds most likely."),
    page.run.prompts.map((prompt, i) => element("p", {class: "sample"}, element("bdi", {}, prompt), " ", texts[i])),
    sourceNote("continuation"));
}
