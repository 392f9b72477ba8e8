// The heads of the lessons, as data: see headFigure().

const birdVectors = [[0.1, 0.2, 0.3], [-0.8, 0.3, -0.1], [0.5, -0.1, -0.4]];
const birdWords = ["birds", "sometimes", "walk"];
const oneHot = (n, at) => identityRows(n)[at];
const dotOf = (a, b) => a.reduce((sum, x, c) => sum + x * b[c], 0);
const vectorText = (v, digits = 2) =>
  `(${v.map((x) => fixed(x, digits).replace(/\.?0+$/, "")).join(", ")})`;

const headSpecs = {
  why_attention: {
    words: ["the", "mole", "dug"], x: [[0, 0], [1, 1], [2, 0]], parts: ["animals", "chemistry"],
    outputs: ["animals", "chemistry"], row: 1, fixedRow: true, fromWeights: true, share: 0.9,
    choices: [{name: "the mole dug", words: ["the", "mole", "dug"], x: [[0, 0], [1, 1], [2, 0]]},
      {name: "a mole of gas", words: ["a", "mole", "of", "gas"],
        x: [[0, 0], [1, 1], [0, 0], [0, 2]]}],
    controls: {share: {text: "share of the other word", min: 0, max: 1, step: 0.05}},
    // Scores that give these weights: their logarithms.
    derive: ({words, share}) => ({scale: false, q: words.map(() => [1]), k: words.map((_, j) =>
      [Math.log(Math.max(1e-9, j === 1 ? 1 - share : j === words.length - 1 ? share : 0))])}),
    say: (_, {words}, [animal, chemistry]) => `${quoted("mole")} beside ${quoted(words.at(-1))} ` +
      `becomes ${vectorText([animal, chemistry])}: ` + (Math.abs(animal - chemistry) < 0.3 ?
        "a little of both." : animal > chemistry ? "an animal." : "a unit of chemistry.")},
  one_head: {
    words: ["the", "fluffy", "blue", "bird"], parts: ["noun", "adjective", "soft", "blue"],
    x: [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1], [1, 0, 0, 0]], columns: ["x", "q", "k", "v"],
    wq: [[3, 0], [0, 1], [0, 0], [0, 0]], wk: [[0, 1], [2, 0], [0, 0], [0, 0]],
    wv: [[0, 0], [0, 0], [1, 0], [0, 1]], outputs: ["soft", "blue"], causal: true, scale: true,
    controls: {scale: "divide scores by \u221ad", causal: "mask: no later word"},
    say: (out, {words, row}) => {
      const best = strongest(out.weights[row]);
      return `q\u00b7k of ${quoted(words[row])} and ${quoted(words[best])} is ` +
        `${fixed(dotOf(out.q[row], out.k[best]), 2)}, the score ` +
        `${fixed(out.scores[row][best], 2)}, the weight ${fixed(out.weights[row][best])}.`;
    }},
  mask: {
    words: ["birds", "sometimes", "walk", "on", "grass"], row: 2, causal: true,
    x: [[1, 0], [0.2, 0.4], [0.9, 0.7], [0, 0.5], [0.6, 1.2]],
    controls: {causal: "mask: no later word"},
    say: (out, {words, row, causal}) => {
      const later = out.weights[row].slice(row + 1).reduce((a, b) => a + b, 0);
      return causal ? `${quoted(words[row])} sees ${row + 1} of ${words.length} words: the ` +
        "prefix that ends with it. Change a later word: its result stays." :
        `${quoted(words[row])} takes ${percent(later)} from later words: from the answers.`;
    }},
  positions: {
    words: ["dog", "bites", "man"], x: [[1, 0], [1, 1], [0, 2]], row: 1, limits: {x: 3, v: 3},
    places: [[1, 0], [0, 0], [1, 1]], positions: false, still: true, fixedRow: true,
    choices: ["dog bites man", "man bites dog"].map((name, i) => ({name, words: name.split(" "),
      plain: i ? [[0, 2], [1, 1], [1, 0]] : [[1, 0], [1, 1], [0, 2]]})),
    controls: {positions: "add position vectors"},
    derive: ({x, plain = x, places, positions}) => ({x: plain.map((word, t) =>
      word.map((number, c) => number + (positions ? places[t][c] : 0)))}),
    say: (_, {words, positions}, result) => `In ${words.join(" ")}, ${quoted("bites")} ` +
      `gets ${vectorText(result, 3)}. ` + (positions ? "The order counts now." :
      "Exchange the two: is it another vector?")},
  turning_a_head: {
    words: birdWords, x: birdVectors, limits: {x: 1, v: 1}, triangle: true, fixedRow: true,
    learn: {towards: birdVectors[0], rate: 10, matrices: ["wq", "wk"]},
    say: (out, {steps}) => `Step ${steps}: the product with birds is ${fixed(out.goal, 4)}. A ` +
      "score with a positive pull should rise; yet all scores share the matrices."},
  ephemeral_network: {
    words: ["paper", "scissors", "rock"], x: [[0, 1, 0], [0, 0, 1], [1, 0, 0]], still: true,
    columns: ["v"], limits: {v: 4}, causal: true, wq: [[0, 0, 6], [6, 0, 0], [0, 6, 0]],
    wv: [[4, 0], [0, 2], [1, 3]],
    choices: ["paper scissors rock", "rock scissors paper", "paper paper rock"].map((name) =>
      ({name, words: name.split(" "), row: 2, x: name.split(" ").map((word) =>
        oneHot(3, ["rock", "paper", "scissors"].indexOf(word)))})),
    say: (out, {words, row}) => "Three matrices are stored. This input makes a network: the " +
      `edges into ${quoted(words[row])} have the weights ${vectorText(out.weights[row])}.`},
  copy_and_average: {
    words: ["a", "b", "c", "d"], x: [[2, 0], [0, 2], [-1, -1], [1, -1]], row: 0, fixedRow: true,
    gap: 5, both: false,
    controls: {both: "ask for a and b",
      gap: {text: "length of the query", min: 0, max: 20, step: 0.5}},
    derive: ({gap, both}) => ({scale: false, k: identityRows(4),
      q: identityRows(4).map(() => [gap, both ? gap : 0, 0, 0])}),
    say: (out, {both, x}, result) => {
      const aim = both ? x[0].map((number, c) => (number + x[1][c]) / 2) : x[0];
      const far = Math.hypot(...result.map((number, c) => number - aim[c]));
      return `The result is ${fixed(far, 4)} from ${both ? "the mean of a and b" : "value a"}.`;
    }},
  residual_and_block: {
    words: ["dirty", "quantum", "plumbing"], x: [[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]],
    limits: {x: 2, v: 2}, causal: true, residual: true, layers: 1, fixedRow: true,
    wq: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 2 * Math.log(9), 0, 0],
      [0, 2 * Math.log(11), 2 * Math.log(8), 0]],
    wv: [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    controls: {residual: "residual: add the word itself",
      layers: {text: "layers", min: 1, max: 12, step: 1}},
    after: (out, {x, row, residual}) => out.output[row].map((number, c) =>
      number + (residual ? x[row][c] : 0)),
    say: (out, {row, residual, layers}) => {
      const one = out.weights[row][row] + (residual ? 1 : 0);
      return `Of plumbing's own number ${(one ** layers).toPrecision(3)} is left after ` +
        (layers === 1 ? "a layer." : `${layers} such layers.`);
    }},
  many_heads: {
    words: ["red", "blue", "green", "gold"], still: true, causal: true, row: 3, asked: "before",
    outputs: ["red", "blue", "green", "gold"], columns: ["v"], limits: {v: 1},
    choices: [["head 1: the word before", "before"], ["head 2: the first word", "first"],
      ["one head for both", "both"]].map(([name, asked]) => ({name, asked})),
    derive: ({asked}) => ({scale: false, k: identityRows(4), v: identityRows(4), q: identityRows(4)
      .map((_, t) => identityRows(4)[Math.max(0, t - 1)].map((isBefore, j) =>
        8 * (asked === "first" ? j === 0 : asked === "before" ? isBefore : isBefore || j === 0)))}),
    say: (_, {words, row, asked}, result) => asked === "both" ?
      `Two questions, one row of weights: ${quoted(words[row])} gets a mixture of two words, ` +
      "which does not tell which is which." :
      `${quoted(words[row])} gets ${quoted(words[strongest(result)])}, alone.`},
  cross_attention: {
    words: ["we", "like", "red", "birds"], asks: ["1", "2", "3", "4"], from: identityRows(4),
    x: identityRows(4), still: true, row: 0, columns: ["v"], limits: {v: 1}, order: "backwards",
    outputs: ["we", "like", "red", "birds"],
    choices: ["backwards", "forwards", "the first"].map((name) => ({name, order: name})),
    derive: ({order}) => ({scale: false, wq: [0, 1, 2, 3].map((t) =>
      oneHot(4, {backwards: 3 - t, forwards: t, "the first": 0}[order]).map((one) => 6 * one))}),
    say: (out, {words, row}) => `Place ${row + 1} of the new text asks, and writes ` +
      `${quoted(words[strongest(out.weights[row])])}. No word of the new text is a key.`},
  terms_that_interact: {
    words: birdWords, x: birdVectors, still: true, limits: {x: 1, v: 1}, causal: true,
    fixedRow: true, fixedWeights: false, t: 1, u: 1,
    controls: {fixedWeights: "keep the weights as they were",
      t: {text: "birds moves by", min: 0, max: 2, step: 0.1},
      u: {text: "walk moves by", min: 0, max: 2, step: 0.1}},
    derive: ({t, u, fixedWeights}) => {
      const [d, e] = [[0.6, -0.3, -0.6], [0.3, 0.5, -0.2]], [a, b, c] = birdVectors;
      const x = [a.map((n, i) => n + t * d[i]), b, c.map((n, i) => n + u * e[i])];
      return {x, ...(fixedWeights ? {q: birdVectors, k: birdVectors} : {})};
    },
    say: async (_, now, both) => {
      const result = async (t, u) =>
        (await engine.head(headQuestion({...now, q: undefined, k: undefined, t, u}))).output[2];
      const [first, second, none] = await Promise.all([[now.t, 0], [0, now.u], [0, 0]]
        .map((pair) => result(...pair)));
      const left = both.map((number, c) => number - first[c] - second[c] + none[c]);
      return `Both changes together, less each alone, leave ${vectorText(left, 4)}: ` +
        (!(now.t && now.u) ? "move both." : Math.hypot(...left) < 1e-5 ? "they do not interact." :
          "they interact.");
    }}};
headSpecs.rotary_positions = {
  words: birdWords, x: birdVectors, still: true, fixedRow: true, causal: true, columns: ["q", "k"],
  limits: {q: 1, k: 1, v: 1}, before: 0, between: 1,
  controls: {before: {text: "words before the text", min: 0, max: 1000, step: 1},
    between: {text: "words between birds and walk", min: 0, max: 12, step: 1}},
  derive: ({before, between}) => {
    const turned = (t) => [Math.cos(t), Math.sin(t)], end = before + between + 1;
    const hands = [before, before, end].map(turned);
    hands[1] = [0, 0];  // sometimes: no score
    return {scale: false, q: hands, k: hands};
  },
  say: (out, {before, between}) => `birds is word ${before}, walk is word ${before + between + 1}: ` +
    `the score is ${fixed(out.scores[2][0], 3)}, cos(${between + 1}).`};
headSpecs.attend_to_nothing = {
  words: ["red", "blue", "green", "(sink)"], x: [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], row: 2,
  still: true, fixedRow: true, columns: ["v"], limits: {v: 1}, score: -5, sink: false,
  outputs: ["red", "blue", "green"],
  controls: {sink: "a sink with the score 0",
    score: {text: "score of each colour", min: -10, max: 5, step: 0.5}},
  derive: ({score, sink}) => ({scale: false, q: [[1], [1], [1], [1]],
    k: [[score], [score], [score], [sink ? 0 : -1e4]]}),
  say: (out, {row}) => "The head looks for an animal, and there is none. The three colours get " +
    `${percent(1 - out.weights[row][3])} of the weight.`};
headSpecs.exclusive_attention = {
  words: ["birds", "walk"], x: [[1, 2], [2, 0]], row: 1, fixedRow: true, fromWeights: true,
  itself: 0.5, exclusive: true,
  controls: {exclusive: "take out the part along the value of walk",
    itself: {text: "share of walk itself", min: 0, max: 1, step: 0.05}},
  derive: ({itself}) => ({scale: false, q: [[1], [1]],
    k: [1 - itself, itself].map((share) => [Math.log(Math.max(1e-9, share))])}),
  say: (_, {x, itself, exclusive}, result) => {
    const along = dotOf(result, x[1]) / (Math.hypot(...x[1]) || 1);
    return `${quoted("walk")} looks at itself with ${fixed(itself, 2)} and gets ` +
      `${vectorText(result)}, of which ${fixed(along, 2)} is along its own value. ` +
      (exclusive ? "The share changes the length, not the direction." :
        "The more it looks at itself, the more it gets what it has.");
  }};
headSpecs.shared_keys = {
  words: ["red", "blue", "green", "gold", "white"], still: true, fixedRow: true, causal: true,
  row: 4, asked: 1, columns: ["q", "k"], limits: {q: 8, k: 1, v: 1},
  outputs: ["red", "blue", "green", "gold", "white"],
  choices: [1, 2, 3, 4].map((asked) => ({name: `head ${asked}: ${asked} back`, asked})),
  derive: ({asked}) => ({scale: false, k: identityRows(5), v: identityRows(5), q: identityRows(5)
    .map((_, t) => oneHot(5, Math.max(0, t - asked)).map((one) => 8 * one))}),
  say: (out, {words, row, asked}) => `Another head, the same keys: only the query changed. Head ` +
    `${asked} finds ${quoted(words[strongest(out.weights[row])])}.`};
headSpecs.what_can_be_raised = {...headSpecs.turning_a_head,
  learn: {...headSpecs.turning_a_head.learn, rate: 1, matrices: ["wq", "wk", "wv"]},
  say: (out, {steps}) => `Step ${steps}: the product with birds is ${fixed(out.goal, 3)}` +
    (out.goal > 0.1401 ? ", above 0.14, which no looking can reach: the values have changed." :
      "; looking alone reaches 0.14 at most.")};
for (const [name, spec] of Object.entries(headSpecs))
  figures[name] = (node) => headFigure(node, spec);
