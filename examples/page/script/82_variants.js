// Break it: models that lack one part.

function variantsPart() {
  const {seeds, floor, rows, source} = page.variants;
  const most = Math.max(...rows.map(({loss}) => loss));
  const bar = (share) => {
    const span = element("span", {class: "bar"});
    span.style.setProperty("--share", (100 * share).toFixed(1) + "%");
    return span;
  };
  const cheat = rows.find(({loss}) => loss < floor);
  return section("variants", "Break it to understand it",
    element("p", {}, "Each model lacks one part, or has matrices that do not learn. The numbers are means of " + seeds +
      " runs; the last two columns count the runs that fill a blank with the right word."),
    element("div", {class: "figure"}, tableOf("loss in nats; weight of 'walk' on 'birds'",
      ["the model", "loss", "", "weight", "'slowly'", "'flying'"],
      rows.map(({name, loss, attention, slowly, flying}) => [name, fixed(loss, 3), bar(loss / most),
        attention === null ? "-" : fixed(attention, 2), slowly + " of " + seeds, flying + " of " + seeds]))),
    cheat && element("p", {}, "The floor of the text is " + fixed(floor, 3) + ": no honest model has a lower loss. The model " + cheat.name +
      " has " + fixed(cheat.loss, 3) + ". It cheats: each word sees the words after it, and the next word is the answer. With a " +
      "prompt there is nothing to copy, and it fails."),
    element("p", {}, "So a low loss does not prove that a model has learned where to look."),
    element("p", {class: "note"}, "Computed by " + source + "."));
}
