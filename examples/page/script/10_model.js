// The model's arithmetic, done again in the page: decoding, and the last block from its input to the
// prediction. C++: nn/layers/attention.cpp, block.h, layers.h; all sums here are doubles.

function decodeBytes(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

function decodeF32(base64) {
  return new Float32Array(decodeBytes(base64).buffer);
}

function decodeU16(base64) {
  return new Uint16Array(decodeBytes(base64).buffer);
}

// f(…) once for each key; the pages keep thousands of small tables.
function cached(f) {
  const known = new Map();
  return (...arguments_) => {
    const key = arguments_.map((a) => (typeof a === "object" ? a.step : a)).join();
    if (!known.has(key)) known.set(key, f(...arguments_));
    return known.get(key);
  };
}

// The weights of a head as T rows of T numbers, 0 where the mask hides; head -1: mean of the heads.
const attentionRows = cached((snapshot, sentence, layer, head) => {
  const {heads, causal} = page.run.model, T = page.run.sentences[sentence].ids.length;
  if (head < 0) {
    const all = Array.from({length: heads}, (_, h) => attentionRows(snapshot, sentence, layer, h));
    return all[0].map((row, i) => row.map((_, j) => all.reduce((sum, rows) => sum + rows[i][j] / heads, 0)));
  }
  const stored = decodeU16(snapshot.sentences[sentence].attention);
  const size = causal ? T * (T + 1) / 2 : T * T;
  let at = (layer * heads + head) * size;
  return Array.from({length: T}, (_, i) =>
    Array.from({length: T}, (_, j) => (causal && j > i ? 0 : stored[at++] / 65535)));
});

// The five likeliest next tokens at a position, and the true one: [token, probability].
function topWords(snapshot, sentence, position) {
  const stored = decodeU16(snapshot.sentences[sentence].top);
  const pairs = [];
  for (let n = 0; n < 6; ++n) {
    const at = (position * 6 + n) * 2;
    pairs.push(stored[at] === 65535 ? null : [stored[at], stored[at + 1] / 65535]);
  }
  return {likeliest: pairs.slice(0, 5).filter(Boolean), truth: pairs[5]};
}

// null, or a function of the layer: {q, k, v}, each T rows of C numbers, one row after the other.
function vectorsOf(snapshot, sentence) {
  const stored = snapshot.vectors?.[sentence];
  if (!stored) return null;
  const numbers = decodeF32(stored), size = page.run.sentences[sentence].ids.length * page.run.model.width;
  return (layer) => {
    const part = (n) => numbers.subarray((3 * layer + n) * size, (3 * layer + n + 1) * size);
    return {q: part(0), k: part(1), v: part(2)};
  };
}

function dotProduct(a, b, aAt, bAt, count) {
  let sum = 0;
  for (let c = 0; c < count; ++c) sum += a[aAt + c] * b[bAt + c];
  return sum;
}

// exp(s - max) divided by its sum; a score of -Infinity gets 0.
function softmaxOf(scores) {
  const most = Math.max(...scores);
  if (most === -Infinity) return scores.map(() => 0);
  const powers = scores.map((score) => Math.exp(score - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

// [token, probability] of the next token, the likeliest first. A token without text is never drawn.
// C++: nn/generate/sampler.cpp, choices.
function choicesOf(logits, temperature = 1) {
  const never = new Set(page.run.model.without_text);
  return softmaxOf(logits.map((z, token) => (never.has(token) ? -Infinity : z / temperature)))
    .map((p, token) => [token, p]).filter(([, p]) => p > 0).sort((a, b) => b[1] - a[1]);
}

// y = x.W + b for `rows` rows; W (n, m).
function linear(x, rows, weights, name) {
  const W = weights[name + ".weight"], b = weights[name + ".bias"];
  const n = x.length / rows, m = W.length / n;
  const y = new Float64Array(rows * m);
  for (let r = 0; r < rows; ++r)
    for (let j = 0; j < m; ++j) {
      let sum = b ? b[j] : 0;
      for (let i = 0; i < n; ++i) sum += x[r * n + i] * W[i * m + j];
      y[r * m + j] = sum;
    }
  return y;
}

// Ba, Kiros & Hinton 2016: (x - mean) / sqrt(variance + epsilon), times weight, plus bias.
function layerNorm(x, rows, weights, name) {
  const {norm, epsilon} = page.run.model, n = x.length / rows;
  if (!norm) return Float64Array.from(x);
  const weight = weights[name + ".weight"], bias = weights[name + ".bias"];
  const y = new Float64Array(x.length);
  for (let r = 0; r < rows; ++r) {
    let mean = 0, variance = 0;
    for (let i = 0; i < n; ++i) mean += x[r * n + i] / n;
    for (let i = 0; i < n; ++i) variance += (x[r * n + i] - mean) ** 2 / n;
    for (let i = 0; i < n; ++i)
      y[r * n + i] = (x[r * n + i] - mean) / Math.sqrt(variance + epsilon) * weight[i] + (bias ? bias[i] : 0);
  }
  return y;
}

// Hendrycks & Gimpel 2016, the tanh form, as GPT-2 has it.
function gelu(x) {
  return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
}

function sumOf(a, b) {
  return Float64Array.from(a, (number, i) => number + b[i]);
}

const decodedWeights = cached((worked) =>
  Object.fromEntries(Object.entries(worked.weights).map(([name, block]) => [name, decodeF32(block)])));

// The weights of one head from q and k (T, C). edits: rows {"h,i": weights}, hidden (positions of
// keys), offHeads, scores {"h,i,j": what is added}.
function headScores(q, k, h, edits = {}) {
  const {heads, width, causal} = page.run.model, D = width / heads, T = q.length / width;
  return Array.from({length: T}, (_, i) => Array.from({length: T}, (_, j) => {
    if ((causal && j > i) || (edits.hidden?.has(j) && j !== i)) return -Infinity;
    const score = dotProduct(q, k, i * width + h * D, j * width + h * D, D) / Math.sqrt(D);
    return score + (edits.scores?.[[h, i, j]] || 0);
  }));
}

// sum_j w_j v_j of every head, side by side (T, C).
function mixedValues(weights, v, offHeads) {
  const {heads, width} = page.run.model, D = width / heads, T = v.length / width;
  const mixed = new Float64Array(v.length);
  for (let h = 0; h < heads; ++h) {
    if (offHeads?.has(h)) continue;
    for (let i = 0; i < T; ++i)
      for (let j = 0; j < T; ++j)
        for (let c = h * D; c < (h + 1) * D; ++c) mixed[i * width + c] += weights[h][i][j] * v[j * width + c];
  }
  return mixed;
}

// Everything that follows from the input of the last block. Without the weights of the model it ends
// with the mixed values, from the stored q, k and v. vectors: {"q,i,c": number} replaces an entry.
function forwardLast(worked, sentence, edits = {}) {
  const {width, heads, layers, scaled, residual} = page.run.model;
  const ids = page.run.sentences[sentence].ids, T = ids.length;
  const weights = worked.weights && decodedWeights(worked);
  const x = decodeF32(worked.inputs[sentence]);
  const own = {};
  if (weights) {
    const qkv = linear(layerNorm(x, T, weights, "ln_1"), T, weights, "attn.c_attn");
    ["q", "k", "v"].forEach((name, n) => {
      own[name] = new Float64Array(T * width);
      const factor = name === "q" && !scaled ? Math.sqrt(width / heads) : 1;
      for (let i = 0; i < T; ++i)
        for (let c = 0; c < width; ++c) own[name][i * width + c] = factor * qkv[i * 3 * width + n * width + c];
    });
  } else {
    const snapshot = page.run.snapshots.find(({step}) => step === worked.step);
    Object.entries(vectorsOf(snapshot, sentence)(layers - 1)).forEach(([name, numbers]) => {
      own[name] = Float64Array.from(numbers);
    });
  }
  for (const [place, number] of Object.entries(edits.vectors || {})) {
    const [name, i, c] = place.split(",");
    own[name][Number(i) * width + Number(c)] = number;
  }
  const scores = [], attention = [];
  for (let h = 0; h < heads; ++h) {
    scores.push(headScores(own.q, own.k, h, edits));
    attention.push(scores[h].map((row, i) => edits.rows?.[[h, i]] || softmaxOf(row)));
  }
  const mixed = mixedValues(attention, own.v, edits.offHeads);
  const result = {...own, scores, weights: attention, mixed};
  if (!weights) return result;
  const attended = linear(mixed, T, weights, "attn.c_proj");
  const seen = residual ? sumOf(x, attended) : attended;
  const hidden = linear(layerNorm(seen, T, weights, "ln_2"), T, weights, "mlp.c_fc").map(gelu);
  const thought = linear(hidden, T, weights, "mlp.c_proj");
  const y = layerNorm(residual ? sumOf(seen, thought) : thought, T, weights, "ln_f");
  const table = weights["wte.weight"], V = table.length / width;
  result.logits = ids.map((_, i) =>
    Array.from({length: V}, (_, token) => dotProduct(y, table, i * width, token * width, width)));
  const targets = [...ids.slice(1), page.run.sentences[sentence].next];
  result.losses = targets.map((target, i) => (target === null ? null : -Math.log(softmaxOf(result.logits[i])[target])));
  const counted = result.losses.filter((loss) => loss !== null);
  result.loss = counted.reduce((a, b) => a + b, 0) / Math.max(counted.length, 1);
  return result;
}

// ds_j = a_j (v_j.dy - sum_k a_k v_k.dy) for the row of a query in the last layer, with dy =
// dLoss/d(mixed); null where the snapshot has no gradients of this sentence.
function gradientOfRow(snapshot, sentence, head, query) {
  const stored = snapshot.gradients?.[sentence], vectors = vectorsOf(snapshot, sentence);
  if (!stored || !vectors) return null;
  const {heads, width, layers} = page.run.model, D = width / heads;
  const {q, k, v} = vectors(layers - 1), scores = headScores(q, k, head)[query], a = softmaxOf(scores);
  const dMixed = decodeF32(stored.d_mixed);
  const vdy = a.map((_, j) => dotProduct(v, dMixed, j * width + head * D, query * width + head * D, D));
  const mean = a.reduce((sum, weight, j) => sum + weight * vdy[j], 0), T = a.length;
  return {scores, a, vdy, mean, ds: a.map((weight, j) => weight * (vdy[j] - mean)),
    written: decodeF32(stored.d_scores).subarray((head * T + query) * T, (head * T + query + 1) * T)};
}
