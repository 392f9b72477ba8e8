// Exercises that can be done on the page. The files in examples/exercises/ have more.

function exercise({number, question, fields, check, hint}) {
  const inputs = fields.map((name) => element("input", {type: "number", step: "any", "aria-label": name}));
  const answer = element("p", {role: "status"}), help = element("details", {}, element("summary", {}, "Hint"), paragraph(hint));
  return element("form", {class: "exercise", on: {submit: (event) => {
    event.preventDefault();
    const numbers = inputs.map((input) => (input.value === "" ? NaN : Number(input.value)));
    const [isRight, text] = numbers.every(Number.isFinite) ? check(numbers) : [false, "Fill every field with a number."];
    answer.className = isRight ? "ok" : "bad";
    answer.textContent = (isRight ? "\u2713 Right. " : "\u2717 Not yet. ") + text;
  }}}, element("h3", {}, number), paragraph(question),
  element("div", {class: "controls"}, inputs.map((input, i) => element("label", {}, fields[i] + " ", input)), element("button", {}, "Check")),
  answer, help);
}

function exercisesPart() {
  const v = page.triangle.vectors, start = page.triangle.ways[0].rows[0];
  const products = v.map((x) => x.reduce((sum, number, c) => sum + number * v[0][c], 0));
  const rowFields = ["'birds'", "'sometimes'", "'walk'"];
  const legal = (row, then) => {
    const sum = row.reduce((a, b) => a + b, 0);
    if (row.some((weight) => weight < 0)) return [false, "A weight is negative. A softmax gives positive numbers only."];
    if (Math.abs(sum - 1) > 1e-3) return [false, "The weights add up to " + fixed(sum, 3) + ". A row of attention adds up to 1."];
    return then(mixedBy(row));
  };
  const mixture = start.reduce((sum, a, j) => sum + a * products[j], 0), gradient = start[0] * (products[0] - mixture);
  return section("exercises", "Try it yourself",
    paragraph("The vectors are those of the triangle."),
    exercise({number: "1. Forget 'birds'", fields: rowFields, hint: "Before attention the product was \u22120.09. Which of the three products is " +
      "the lowest?", question: "Find the row for which v3'\u00b7v1 is lowest: 'walk' forgets 'birds'.",
      check: (row) => legal(row, ({product}) => [product <= -0.09 + 1e-9, "v3'\u00b7v1 is " + fixed(product, 4) + "."])}),
    exercise({number: "2. The largest association", fields: ["v3'\u00b7v1"], hint: "A weighted mean is never above its largest number.",
      question: "How large can v3'\u00b7v1 become with a row that a softmax can give?",
      check: ([x]) => [Math.abs(x - 0.14) < 1e-6, Math.abs(x - 0.14) < 1e-6 ? "It is the product of the corner 'birds', v1\u00b7v1." :
        x > 0.14 ? "No legal row reaches so much." : "Another row reaches more."]}),
    exercise({number: "3. The control", fields: rowFields, hint: "Mixing pulls v3' toward every word that is mixed in. Look at the corner 'birds'.",
      question: "The row should raise v3'\u00b7v1 above 0, and the control v3'\u00b7v2 must stay at \u22120.05 or below.",
      check: (row) => legal(row, ({product, control}) => [product > 0 && control <= -0.05 + 1e-9,
        "v3'\u00b7v1 is " + fixed(product, 4) + ", v3'\u00b7v2 is " + fixed(control, 4) + "."])}),
    exercise({number: "4. The gradient of a score", fields: ["ds1"], hint: "ds1 = a1 \u00d7 (v1\u00b7v1 \u2212 v3'\u00b7v1), where v3'\u00b7v1 is the mean of the " +
      "three products with these weights.", question: "At the start the weights are " + start.map((a) => fixed(a, 4)).join(", ") +
      ", and the products v1\u00b7v1, v2\u00b7v1, v3\u00b7v1 are " + products.map((x) => fixed(x, 2)).join(", ") +
      ". The goal is to raise v3'\u00b7v1. What is the gradient of the score of 'birds', to three decimals?",
      check: ([x]) => [Math.abs(x - gradient) < 6e-4, Math.abs(x - gradient) < 6e-4 ? "Exactly: " + fixed(gradient, 5) +
        ". It is positive, so 'walk' turns toward 'birds'." : Math.abs(x + gradient) < 6e-4 ? "The sign is wrong: the score rises if v3'\u00b7v1 is to rise." :
        Math.abs(x - start[0] * products[0]) < 6e-4 ? "This is what 'birds' adds now. The other weights fall when this one rises." : "Look at the hint."]}));
}
