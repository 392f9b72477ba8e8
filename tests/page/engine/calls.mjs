// Makes calls on the module, and on a program with the same functions, compiled for this machine:
//   node calls.mjs fledge.wasm PROGRAM
//
// Each answer must have the same bytes. The folder has the text birds.txt. calls.cpp says what a
// line of the list is.
import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';

const birds = {
  lines: true, tokens: 'word', valid: 0, layers: 1, heads: 1, width: 16, hidden: 32, context: 10,
  batch: 12, rate: 0.04, warmup: 100, decay: 0.01, beta2: 0.999, dropout: 0, steps: 500,
};
const begin = (settings) => `new @birds.txt |${JSON.stringify(settings)}`;
const change = (changes) => `change |${JSON.stringify(changes)}`;
const head = {layer: 0, head: 0};
const parts = ['mask', 'positions', 'scale', 'mlp', 'value', 'attention', 'residual', 'norm'];
// The head that three vectors turn, and one with queries of its own.
const vectors = [[0.1, 0.2, 0.3], [-0.8, 0.3, -0.1], [0.5, -0.1, -0.4]];
const heads = [
  {x: vectors, causal: true, goal: {row: 2, with: vectors[0]}},
  {x: vectors, from: [[0.3, -2]], wq: [[1, 2], [3, 0.5]], wk: [[1, 0], [0, 1], [1, 1]], scale: false},
  {x: vectors, causal: true, exclusive: true},
  {q: [[1, 0]], k: [[1, 0], [0.6, 0.8], [1, 0]], v: [[1], [2], [3]], scale: false, linear: true},
  {q: [[1, 2]], k: [[3, 4], [0.1, 0.7]], v: [[5], [6]], goal: {row: 0, with: [1]}},
].map((spec) => `head |${JSON.stringify(spec)}`);
// What the page lets a reader choose: its own list.
const scripts = new URL('../../../examples/page/script/', import.meta.url);
const ofPage = (file, what) =>
  new Function(readFileSync(new URL(file, scripts), 'utf8') + '; return ' + what)();
const offered = Object.values(ofPage('26_recipes.js', 'recipes'));
const numberFunctions = ofPage('05_numbers.js', 'numberFunctions');
// What the switches of a page train.
const recipes = [
  ...offered.flatMap(({settings}) => [settings, {...settings, heads: 2, layers: 2, seed: 5}]),
  ...parts.map((part) => ({...offered.at(-1).settings, without: [part]})),
  ...parts.map((part) => ({without: [part]})), {without: ['mask', 'positions', 'scale']},
  {forms: {tied_qk: true}}, {freeze: ['q', 'k']}, {heads: 4}, {layers: 2}, {heads: 2, layers: 3, seed: 5},
];
const list = [
  begin(birds), 'baselines', 'step 1', 'save', 'step 499', 'weights', 'loss 0 0',
  'read |birds sometimes walk', 'said', 'attention', 'next -1 0 3 79', 'next 0 0 3 5',
  'next 0 1 3 5', 'cell 0 0 3 1', 'sentence_loss -1', 'gradient 59',
  change({hidden: [1], nudges: [{...head, query: 3, key: 2, by: 0.5}]}),
  'attention', 'next -1 0 3 5', 'cell 0 0 3 1', 'gradient -1',
  change({rows: [{...head, query: 3, weights: [0, 1, 0, 0]}]}),
  'attention', 'next -1 0 3 5', 'gradient 59',
  change({off: [head]}), 'next -1 0 3 5', change({}),
  'read |dragons walk', 'map', 'write 20 0.8 1', 'save',
  'load @saved.safetensors @birds.txt', 'step 20', 'weights',
  ...recipes.flatMap((recipe) => [
    begin({...birds, steps: 150, ...recipe}), 'step 150', 'weights', 'read |but birds are good at',
    'attention', 'next -1 0 5 5', 'cell 0 0 3 1', 'gradient -1', 'loss 0 0',
  ]),
  begin({tokens: 'character', layers: 2, heads: 4, width: 32, context: 32, steps: 40, seed: 7}),
  'baselines', 'step 40', 'weights', 'loss 1 0', 'loss 0 8',
  'read |birds sometimes walk slowly on the gr', 'said', 'attention', 'next -1 0 31 10',
  'next 1 1 31 3', 'cell 1 3 20 4', 'gradient -1', 'map', 'write 40 0.8 3',
  // A reader's own text, as each recipe learns it.
  ...offered.flatMap(({settings}) => [begin({tokens: 'character', seed: 1, ...settings}), 'step 25',
    'weights', 'loss 1 4', 'read |birds sometimes walk', 'next -1 0 9 5', 'cell 0 0 9 4',
    'gradient -1']),
  begin({tokens: 'bpe', symbols: 300, layers: 1}), 'step 10', 'weights', ...heads,
  // Of 17 digits the last is rounded from exactly half: to the even one.
  begin({...birds, rate: 2 ** -25, decay: 3 * 2 ** -25}),
];

const [modulePath, program] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(modulePath));
let exports;
async function start() {
  const text = (at, bytes) => Buffer.from(exports.memory.buffer, at, bytes).toString();
  const fail = (at, bytes) => { throw new Error(text(at, bytes)); };
  const numbers = numberFunctions((at, bytes) => new Uint8Array(exports.memory.buffer, at, bytes));
  // It needs nothing else: no file, no clock.
  ({exports} = await WebAssembly.instantiate(module, {env: {fail, ...numbers}}));
  exports._initialize();
}
await start();

function call(line) {
  const [words, text] = line.split(/\|(.*)/s);
  const [name, ...rest] = words.trim().split(/\s+/);
  const inputs = rest.filter((word) => word[0] === '@').map((word) => readFileSync(word.slice(1)));
  let file = 0;
  const numbers = rest.map((word) => word[0] === '@' ? inputs[file++].length : Number(word));
  if (text !== undefined) {
    inputs.push(Buffer.from(text));
    numbers.push(inputs.at(-1).length);
  }
  const input = Buffer.concat(inputs);
  if (input.length) {
    const at = exports.fledge_input(input.length);
    new Uint8Array(exports.memory.buffer, at, input.length).set(input);
  }
  const result = exports['fledge_' + name](...numbers) ?? 0;
  const at = exports.fledge_output(), bytes = name.endsWith('loss') ? 0 : result;
  return [result, Buffer.from(exports.memory.buffer.slice(at, at + bytes))];
}

// Where two answers differ first, as numbers too.
function report(line, bytes, expected) {
  let at = 0;
  while (at < bytes.length && bytes[at] === expected[at]) ++at;
  const word = at - at % 8;
  const shown = (b) => b.length < word + 8 ? '' : `${b.readDoubleLE(word)}`;
  console.log(`differs: ${line}, at byte ${at} of ${bytes.length}: ${shown(bytes)}, ` +
              `not ${shown(expected)}`);
}

const began = performance.now();
const answers = list.map((line) => {
  const answer = call(line);
  if (line === 'save') writeFileSync('saved.safetensors', answer[1]);
  return answer;
});
console.log(`${list.length} calls of the module: ${Math.round(performance.now() - began)} ms`);
const native = execFileSync(program, {input: list.join('\n'), maxBuffer: 1 << 30});
let at = 0, wrong = 0;
answers.forEach(([result, bytes], i) => {
  const length = native.readUInt32LE(at + 8), expected = native.subarray(at + 12, at + 12 + length);
  const same = Object.is(native.readDoubleLE(at), result) && bytes.equals(expected);
  at += 12 + length;
  if (!same) report(list[i], bytes, expected);
  wrong += !same;
});
console.log(`${list.length - wrong} of ${list.length} calls give the same bytes`);

function check(what, holds) {
  console.log(`${holds ? 'holds' : 'WRONG'}: ${what}`);
  wrong += !holds;
}
// An error reaches the page as its sentence, and a new instance goes on.
let sentence;
try {
  writeFileSync('empty.txt', '');
  call('new @empty.txt |{}');
} catch (error) {
  sentence = error.message;
}
check(`an empty text is refused: ${sentence}`, sentence === 'read_corpus: the text is empty');
await start();
check('a new instance computes the same', call(list[0])[1].equals(answers[0][1]));
let before;
for (let round = 0; round < 12; ++round) {
  for (const layers of [1, 2]) {
    const anew = begin({...birds, steps: 40, warmup: 10, layers});
    [anew, 'step 40', 'read |birds walk', 'gradient -1'].forEach(call);
  }
  if (round === 1) before = exports.memory.buffer.byteLength;
}
check(`ten retrainings take no more memory: ${before} bytes`,
  exports.memory.buffer.byteLength === before);
process.exit(wrong ? 1 : 0);
