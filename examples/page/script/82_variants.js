// Break it: models that lack one part.

function variantsPart() {
  const {seeds, floor, rows, source} = page.variants;
  const cheat = rows.find(({loss}) => loss < floor);
  return section("variants", "Break it to understand it",
    paragraph("Each model lacks one part, or has matrices that do not learn. The numbers are means of " + seeds +
      " runs; the last two columns count the runs that write 'slowly' after 'birds sometimes walk', and 'flying' after 'but birds are good at'."),
    element("div", {class: "figure"}, tableOf("loss in nats; weight of 'walk' on 'birds'",
      ["the model", "loss", "weight", "'slowly'", "'flying'"],
      rows.map(({name, loss, attention, slowly, flying}) => [name, fixed(loss, 3),
        attention === null ? "-" : fixed(attention, 2), slowly + " of " + seeds, flying + " of " + seeds]))),
    cheat && paragraph("The floor of the text is " + fixed(floor, 3) + ": no honest model has a lower loss. The model " + cheat.name +
      " has " + fixed(cheat.loss, 3) + ". It cheats: each word sees the words after it, and the next word is the answer. With a " +
      "prompt there is nothing to copy, and it fails."),
    paragraph("This text is small: without value, positions or scale a model learns it as well. With W_Q and W_K frozen the weight stays " +
      "an even share, and that is enough. So neither a low loss nor a right word proves that a model has learned where to look."),
    element("p", {class: "note"}, "Computed by " + source + "."));
}
