// Break it: the same text, trained again without a part or with other sizes, beside this model.

const removable = {mask: "the mask: it sees what is later", positions: "positions: no order",
  scale: "the division by \u221aD", residual: "the residual: parts replace, not add",
  mlp: "the MLP", attention: "attention: each alone", norm: "the layer norm"};
const sizeLimits = {seed: {min: 0}, rate: {min: 0, step: "any"}, steps: {min: 1, max: 20000},
  layers: {min: 1, max: 4}, heads: {min: 1, max: 8}, width: {min: 4, max: 128}};

function switchesPart() {
  const check = (name) => element("input", {type: "checkbox", name}), tie = check("tied_qk");
  const boxes = Object.entries(removable).map(([name, text]) => ({input: check(name), text}));
  const sizes = Object.entries(sizeLimits).map(([id, limits]) =>
    ({id, input: element("input", {type: "number", id: "set-" + id, ...limits})}));
  const recipe = recipeChoice("set-recipe", "", "as this model");
  const current = (id) => page.settings[id] ?? model[id];
  const ours = sidePicture("mine"), theirs = sidePicture("rival");
  const sideBySide = element("div", {class: "side-by-side"}, ours.node, theirs.node);
  const trouble = element("p", {role: "alert", class: "key-ink"});
  let rival = null, look = null, drawnEngine = null;

  // The settings of the other model, and its name.
  const chosen = () => {
    const without = boxes.filter(({input}) => input.checked).map(({input}) => input.name);
    const changed = sizes.map(({id, input}) => [id, input.valueAsNumber])
      .filter(([id, value]) => !Number.isNaN(value) && value !== current(id));
    const other = recipes[recipe.value];
    const names = [...(other ? ["made like " + other.name] : []),
      ...without.map((name) => "without " + name), ...(tie.checked ? ["Q = K"] : []),
      ...changed.map(([id, value]) => id + " " + value)];
    const set = Object.fromEntries(changed);
    if (set.steps) set.warmup = undefined;  // it is chosen for these steps
    return {name: names.join(", ") || "the same again",
      settings: {...page.settings, ...set, ...other?.settings, without,
        forms: {...(other?.settings ?? page.settings).forms, tied_qk: tie.checked}}};
  };
  const end = () => {
    rival = null;
    sideBySide.classList.remove("live");
    train.textContent = "Train it beside this one";
  };
  const train = button("", () => {
    if (rival) end();
    else if (sizes.every(({input}) => input.reportValidity())) race(chosen());
  }, {class: "go", id: "train"});
  const race = async ({name, settings}) => {
    const own = rival = makeEngine(), run = {name, losses: []}, {text} = page;
    train.textContent = "Stop";
    sideBySide.classList.add("live");
    trouble.textContent = "";
    rivals.push(run);
    try {
      if (!learning.isOn && state.step !== learning.last) await showStep(learning.last);
      const its = await own.begin(text, settings);
      for (let done = [null]; rival === own && text === page.text && done.length > 0;) {
        const before = drawnEngine;
        [drawnEngine, look] = [own, {run: its, text, title: titleOf(run)}];
        await refresh();
        if (before !== own) sideBySide.scrollIntoView({block: "nearest"});
        if (before !== own) before?.end();  // now nobody waits for its answer
        done = await own.step(stepsAtOnce(its));
        run.losses.push(...done);
        await new Promise(requestAnimationFrame);
      }
    } catch ({message, unknown}) {
      run.losses = [];  // it has no bar
      if (drawnEngine === own) look = null;
      trouble.textContent = name + ": " + (unknown ? "it never reads " + unknown : message);
    }
    if (rival === own) end();
    await refresh();
    if (drawnEngine !== own) own.end();
  };
  const part = section("switches", "Break it",
    prose("What is each part for? Take it away, or take another recipe, train again in seconds, " +
      "and compare. A low *loss* is not always honest: a model that sees later #s copies the " +
      "answer, and falls below the *floor*."),
    element("div", {class: "break"}, element("fieldset", {}, element("legend", {}, "Without"),
        [...boxes, {input: tie, text: "two matrices: Q and K are the same"}].map(({input, text}) =>
          element("label", {class: "check"}, input, text))),
      element("fieldset", {class: "sizes"}, element("legend", {}, "Sizes and steps"),
        sizes.map(({id, input}) =>
          element("label", {}, id === "rate" ? "learning rate" : id, input)))),
    element("div", {class: "controls"}, element("label", {}, "Made like ", recipe), train),
    trouble, sideBySide);
  end();
  return follow(async () => {
    for (const {id, input} of sizes) input.placeholder = current(id);
    sideBySide.hidden = look?.text !== page.text;
    if (sideBySide.hidden) return;
    const asked = {...question(), rows: {}, off: []};  // those are of this model
    theirs.draw({...look, ...await drawnEngine.look(asked, -1)});
    const title = titleOf({name: "this model", losses: [{step: state.step, loss: lossNow()}]});
    ours.draw({...await engine.look(question(), -1), run: model, title});
  }, part);
}

// "without mask: step 500, loss 0.00, below the floor: it cheats"
function titleOf({name, losses}) {
  const loss = lastLoss(losses), {floor} = model.baselines, step = losses.at(-1)?.step ?? 0;
  const isBelow = floor !== null && loss < floor - 0.02;
  return `${name}: step ${thousands(step)}, loss ${fixed(loss, 2)}` +
    (isBelow ? ", below the floor: it cheats" : "");
}

// One of two models side by side: its last layer, its first head, its last word.
function sidePicture(id) {
  const picture = makeStage(id + "-stage"), next = makeNext(id + "-next"), title = element("h3");
  const draw = (look) => {
    const query = look.tokens.length - 1, {hidden} = state;
    title.textContent = look.title;
    if (look.run.without.includes("attention"))
      look.attention.flat(2).forEach((weights) => weights.fill(0));
    picture.draw(look, {layer: look.run.layers - 1, head: 0, query, key: -1, guess: -1, hidden});
    next.draw(look, query);
  };
  return {node: element("div", {class: "side", id}, title, picture.node, next.node), draw};
}
