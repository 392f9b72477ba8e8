// What if: change something in the last layer, and see what follows.

function workedPlace() {
  return page.run.snapshots.findIndex(({step}) => step === page.run.worked.step);
}

// null, or a sentence with a button: what-if and gradient work with one head of the last layer.
function atLastLayer() {
  const last = page.run.model.layers - 1;
  return selection.layer === last && selection.head >= 0 ? null : element("p", {},
    "This works with one head of the last layer. ",
    button("Choose it", () => select({layer: last, head: Math.max(0, selection.head)})));
}

// The same for what-if, which works at the step whose weights the page has.
function atWorkedStep() {
  const place = workedPlace();
  return selection.step === place ? atLastLayer() : paragraph("This works at step " +
    thousands(page.run.snapshots[place].step) + ". ", stepButton(place, "Go there"));
}

function whatIfPart() {
  let edits;
  const fresh = () => ({rows: {}, hidden: new Set(), offHeads: new Set(), vectors: {}, scores: {}});
  const words = element("p", {id: "whatif-words", "aria-live": "polite"}), tools = element("div");
  const result = () => forwardLast(page.run.worked, selection.sentence, edits);
  // "0.99", or "0.99 -> 0.03" if it changed.
  const change = (before, after, decimals) => fixed(before, decimals) +
    (before === after ? "" : " \u2192 " + fixed(after, decimals));
  const say = () => {
    const {sentence, head, query} = selection, ids = idsNow();
    const before = forwardLast(page.run.worked, sentence), after = result();
    const isSame = before.mixed.every((x, i) => x === after.mixed[i]);
    const row = after.weights[head][query].map((weight, j) => [weight, j]).filter(([weight]) => weight > 0.005)
      .map(([weight, j]) => quotedWord(ids[j]) + " " + change(before.weights[head][query][j], weight, 2));
    let text = isSame ? "Nothing is changed yet. " : "";
    text += wordName(sentence, query) + " looks at: " + row.join(", ") + ". ";
    if (after.logits) {
      const [[token, p]] = choicesOf(before.logits[query]), [[other, now]] = choicesOf(after.logits[query]);
      text += "The likeliest next word: " + quotedWord(token) + " " + (other === token ? change(p, now, 2) :
        fixed(p, 2) + " \u2192 " + quotedWord(other) + " " + fixed(now, 2)) + ". ";
      if (before.losses[query] !== null)
        text += "The loss at this word: " + change(before.losses[query], after.losses[query], 3) + ". ";
      text += "The loss of the sentence " + changeInWords(after.loss - before.loss, 3) + ".";
    } else {
      const size = (x) => Math.sqrt(x.reduce((sum, number) => sum + number * number, 0));
      text += "The mixed values change by " + fixed(size(after.mixed.map((x, i) => x - before.mixed[i])) / size(before.mixed), 2) +
        " of their size. The prediction cannot be recomputed here: the weights of the model are too large for the page.";
    }
    words.textContent = text;
    const weights = after.weights[head][query];
    tools.querySelectorAll("[data-key]").forEach((slider) => {
      if (slider !== document.activeElement) slider.value = weights[slider.dataset.key];
      slider.nextSibling.textContent = " " + fixed(weights[slider.dataset.key], 2);
    });
  };
  // The chosen weight is set; the other visible words share the rest as they did before.
  const drag = (key, weight) => {
    const {head, query} = selection, row = result().weights[head][query], rest = 1 - row[key];
    const others = row.map((_, j) => j).filter((j) => j !== key && (!page.run.model.causal || j <= query) &&
      (!edits.hidden.has(j) || j === query));
    edits.rows[[head, query]] = row.map((w, j) => (j === key ? weight : !others.includes(j) ? 0 :
      rest > 1e-9 ? w * (1 - weight) / rest : (1 - weight) / others.length));
    say();
  };
  const toggles = (name, set, count, label) => Array.from({length: count}, (_, i) =>
    element("button", {type: "button", [name]: i, "aria-pressed": false, on: {click: (event) => {
      set().has(i) ? set().delete(i) : set().add(i);
      event.currentTarget.setAttribute("aria-pressed", set().has(i));
      edits.rows = {};
      say();
    }}}, label(i)));
  const draw = () => {
    edits = fresh();
    const elsewhereText = atWorkedStep();
    if (elsewhereText) return tools.replaceChildren(elsewhereText), words.hidden = true;
    words.hidden = false;
    const {head, query, key} = selection, ids = idsNow(), {width, heads, causal} = page.run.model, D = width / heads;
    const base = forwardLast(page.run.worked, selection.sentence);
    const seen = ids.map((_, j) => j).filter((j) => !causal || j <= query);
    const entry = (name, position) => {
      const index = element("input", {type: "number", min: 1, max: D, value: 1, "aria-label": "entry of " + name});
      const place = () => [name, position, head * D + Math.min(Math.max(Math.round(index.value) || 1, 1), D) - 1];
      const read = () => { number.value = (edits.vectors[place()] ?? base[name][position * width + place()[2]]).toFixed(3); };
      const number = element("input", {type: "number", step: 0.1, "data-vector": name, "data-index": 0,
        "aria-label": "number in " + name, on: {input: () => {
          if (number.value === "" || !Number.isFinite(Number(number.value))) return;
          edits.vectors[place()] = Number(number.value);
          edits.rows = {};
          say();
        }}});
      index.addEventListener("input", () => { number.dataset.index = index.value - 1; read(); });
      read();
      return element("label", {}, name + " of " + quotedWord(ids[position]) + ", number ", index, " = ", number);
    };
    tools.replaceChildren(
      element("fieldset", {}, element("legend", {}, "Where " + wordName(selection.sentence, query) + " looks: drag a weight"),
        seen.map((j) => {
          const slider = element("input", {type: "range", min: 0, max: 1, step: 0.01, "data-key": j, disabled: seen.length === 1,
            on: {input: () => drag(j, Number(slider.value))}});
          return element("label", {class: "weight"}, element("bdi", {}, labelOf(ids[j])), " ", slider, element("span"));
        })),
      element("fieldset", {}, element("legend", {}, "Hide a word from the others"),
        toggles("data-hide", () => edits.hidden, ids.length, (i) => element("bdi", {}, labelOf(ids[i])))),
      element("fieldset", {}, element("legend", {}, "Switch a head off"),
        toggles("data-head", () => edits.offHeads, heads, (i) => "head " + i)),
      element("fieldset", {}, element("legend", {}, "Change a number of a query or a key"), entry("q", query), entry("k", key)));
    say();
  };
  follow(draw);
  return section("whatif", "What if it looked elsewhere?",
    paragraph("Change one thing. The page computes everything that follows: the new weights, the mixed values, " +
      "the MLP and the prediction. Attention says where the model looks; this shows whether it matters."),
    tools, words, element("div", {class: "controls"},
      button("Undo all changes", draw, {id: "whatif-reset"})), sourceNote("block"));
}
