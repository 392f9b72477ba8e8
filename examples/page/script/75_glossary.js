// The words, what the page does not show, and how it was made.

function glossaryPart() {
  const {run} = page;
  return section("glossary", "Words, limits, and how this page was made",
    element("dl", {}, run.glossary.map(([term, meaning]) => [element("dt", {}, term), element("dd", {}, meaning)])),
    element("h3", {}, "What this page does not show"),
    paragraph("A large weight does not prove that a word matters: look at its effect. The sentences are few, " +
      "chosen by the program or by you. What-if changes the last layer only. Weights are stored with 16 bits, so the fifth " +
      "digit may be off by one."),
    element("h3", {}, "How it was made"),
    paragraph(run.version + ", seed " + run.seed + ": ", element("code", {}, run.command), ". The same run gives the same bytes."),
    run.notices.map((notice) => element("p", {class: "note"}, notice)),
    element("ul", {}, Object.entries(run.sources).map(([name, place]) => element("li", {}, name + ": ", element("code", {}, place)))));
}
