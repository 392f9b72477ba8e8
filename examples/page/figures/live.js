// A small model that trains in front of the reader, with an engine of its own and switches.

const linesOf = (count, line) => {
  const draw = drawsOf(3);
  return Array.from({length: count}, () => line((n) => Math.floor(draw() * n))).join("\n") + "\n";
};
// Some words at random, and the same again.
const repeated = () => linesOf(600, (below) => {
  const some = Array.from({length: 4 + below(4)}, () => "abcdefghijkl"[below(12)]);
  return [...some, ...some].join(" ");
});
// What three kinds of animals do sometimes, often, rarely and always, without three of these
// sentences. Mixed: the verbs of another kind, so that kinds mean nothing.
const kinds = (isMixed) => {
  const animals = ["birds hens gulls crows", "carp eels pike trout", "cats dogs foxes lions"];
  const verbs = ["walk fly dive sing", "jump swim rest glide", "sleep run climb howl"];
  const adverbs = ["sometimes", "often", "rarely", "always"], draw = drawsOf(5);
  const held = ["birds often", "eels rarely", "dogs always"];
  const verb = (kind, a) => verbs[isMixed ? Math.floor(3 * draw()) : kind].split(" ")[a];
  return animals.flatMap((some, kind) => some.split(" ").flatMap((animal) =>
    adverbs.map((adverb, a) => `${animal} ${adverb} ${verb(kind, a)}`))).filter((line) =>
    !held.some((pair) => line.startsWith(pair))).join("\n") + "\n";
};

const birdSentences = ["birds sometimes walk", "cats sometimes walk", "but birds are good at"];
const liveSpecs = {
  text_to_text: {sentences: birdSentences},
  held_out_pairs: {texts: {"three kinds": () => kinds(false), "verbs mixed": () => kinds(true)},
    settings: {width: 12, hidden: 24, context: 4, batch: 16}, sentences: ["birds often",
      "eels rarely", "dogs always", "hens often"], off: ["attention"]},
  attention_position_effect: {sentences: birdSentences, off: ["attention", "positions"]},
  break_it: {sentences: birdSentences, off: Object.keys(removable)},
  capacity: {sentences: birdSentences, sizes: {width: [1, 2, 4, 8, 16]}},
  smallest: {sentences: birdSentences, sizes: {width: [3, 5, 8, 16], hidden: [2, 6, 32]}},
  a_real_model: {sentences: birdSentences, settings: {heads: 4}},
  one_message_two_readers: {sizes: {heads: [4, 2, 1]}, sentences: ["birds sometimes walk",
    "but birds are good at", "cats sometimes walk"]},
  two_layers: {text: repeated, settings: {steps: 1400, batch: 32, warmup: 100, rate: 0.01, heads: 2,
    width: 32, hidden: 64, context: 16}, sizes: {layers: [1, 2]},
  sentences: ["a c f b l k a c f", "k d e b a g k d"]}};

function liveFigure(node, spec) {
  const {texts = {}, settings = {}, sentences, off = [], sizes = {}} = spec;
  const own = makeEngine(), hidden = new Set(), runs = [];
  const at = {text: 0,
    ...Object.fromEntries(Object.entries(sizes).map(([name, all]) => [name, all.length - 1]))};
  const names = Object.keys(texts);
  const text = () => (spec.text ?? texts[names[at.text]] ?? (() => page.text))();
  const without = () => off.filter((name) => at[name]);
  const chosen = () =>
    Object.fromEntries(Object.entries(sizes).map(([name, all]) => [name, all[at[name]]]));
  let run = null, sentence = sentences[0], place = 0, turn = 0;
  const picture = makeStage("live-stage", (j) => {
    if (!hidden.delete(j)) hidden.add(j);
    redraw();
  });
  const next = makeNext("live-next"), told = element("p", {class: "caption", role: "status"});
  const bars = element("ol", {class: "bars ladder"});
  const heads = element("select", {"aria-label": "Head", on: {change: () => {
    place = Number(heads.value);
    redraw();
  }}});
  const redraw = latest(async () =>
    run && own.look({sentence, hidden: [...hidden], rows: {}, off: []}, -1), (look) => {
    const {layer, head} = allHeads(run)[place];
    picture.draw(look, {layer, head, query: look.tokens.length - 1, key: -1, guess: -1, hidden,
      causal: !run.without.includes("mask"), height: 150});
    next.draw(look, look.tokens.length - 1);
  });
  const begin = async () => {
    run = await own.begin(text(),
      {...page.settings, ...settings, ...chosen(), without: without()});
    place = run.layers * run.heads - 1;
    heads.replaceChildren(...allHeads(run).map(({name}, i) => element("option", {value: i}, name)));
    heads.value = place;
    heads.hidden = place === 0;
    told.textContent = `${thousands(run.count)} random numbers. It has learned nothing yet.`;
    await redraw();
  };
  const change = () => {
    turn += 1;
    begin().catch(reportError);
    train.textContent = "Train";
  };
  const train = button("Train", async () => {
    const mine = turn += 1, isOn = train.textContent === "Stop";
    train.textContent = isOn ? "Train" : "Stop";
    if (isOn) return;
    const labels = [names[at.text], ...without().map((name) => "without " + name),
      ...Object.entries(chosen()).map(([name, value]) => `${name} ${value}`)].filter(Boolean);
    const one = {name: labels.join(", ") || "whole", losses: [], bar: barRow("", 0, "")};
    if (runs.push(one) > 8) runs.shift();
    try {
      await begin();
      while (mine === turn && node.isConnected) {
        const done = await own.step(stepsAtOnce(run));
        if (!done.length) break;
        one.losses.push(...done);
        const loss = lastLoss(one.losses), {guessing, floor} = run.baselines;
        one.bar = barRow(one.name, loss / guessing, fixed(loss, 2));
        bars.replaceChildren(...runs.map(({bar}) => bar.node));
        told.textContent = `Step ${done.at(-1).step} of ${run.steps}, loss ${fixed(loss, 2)}. ` +
          `A blind guess has ${fixed(guessing, 2)}` + (floor === null ? "." :
          `, the floor is ${fixed(floor, 2)}` + (loss < floor - 0.02 ? ": it cheats." : "."));
        await redraw();
      }
    } catch (error) {
      reportError(error);
    }
    if (mine === turn) train.textContent = "Train";
  }, {class: "go"});
  node.append(choicesOf(sentences, 0, (i) => {
    sentence = sentences[i];
    hidden.clear();
    redraw();
  }), element("div", {class: "figure"}, picture.node, next.node),
  element("p", {class: "caption"}, "A click on a word hides it."), told,
  panelOf(at, {...(names.length > 0 && {text: names}),
    ...Object.fromEntries(off.map((name) => [name, `without ${removable[name]}`])),
    ...Object.fromEntries(Object.entries(sizes).map(([name, all]) => [name, {text: name, min: 0,
      max: all.length - 1, step: 1, show: (i) => String(all[i])}]))}, change, train, heads),
  bars);
  return () => {
    turn += 1;
    own.end();
  };
}
for (const [name, spec] of Object.entries(liveSpecs))
  figures[name] = (node) => liveFigure(node, spec);
