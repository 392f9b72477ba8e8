// The engine: the C++ of the terminal as WebAssembly, in a worker. This is the only file that knows
// the worker and the module (../engine/interface.h); the others call the functions of makeEngine().

// Runs in the worker; it is sent there as text, so it uses nothing of the page.
function engineWorker(numberFunctions) {
  const utf8 = new TextEncoder(), text = new TextDecoder();
  let bytes = null, engine = null, run = null, asked = "";
  let begun = null, file = null, shown = null;  // what a new instance goes on from

  // Writes texts or bytes where the engine reads them, and gives the size of each.
  function put(...inputs) {
    const parts = inputs.map((input) => (input.buffer ? input : utf8.encode(input)));
    const sizes = parts.map((part) => part.byteLength);
    const at = engine.fledge_input(sizes.reduce((a, b) => a + b)), {buffer} = engine.memory;
    parts.reduce((to, part) => {
      new Uint8Array(buffer, to, part.byteLength).set(part);
      return to + part.byteLength;
    }, at);
    return sizes;
  }
  const out = (size, at = engine.fledge_output()) => engine.memory.buffer.slice(at, at + size);
  const json = (size) => JSON.parse(text.decode(out(size)));

  async function start() {
    const module = await WebAssembly.compile(bytes), wasi_snapshot_preview1 = {};
    const refuse = (sentence) => { throw new Error(sentence); };
    for (const {name} of WebAssembly.Module.imports(module))
      wasi_snapshot_preview1[name] = () => refuse("The engine asked for a file or a clock.");
    const env = {fail: (at, size) => refuse(text.decode(out(size, at))),
      ...numberFunctions((at, size) => new Uint8Array(engine.memory.buffer, at, size))};
    engine = (await WebAssembly.instantiate(module, {env, wasi_snapshot_preview1})).exports;
    engine._initialize();
    asked = "";
  }

  const take = (found) => { run = {...found.settings, ...found}; };

  // After an error the instance is of no more use: a new one goes on from the last saved run.
  async function mend() {
    await start();
    if (file) take(json(engine.fledge_load(...put(file, begun[0]))));
    else if (begun) take(json(engine.fledge_new(...put(...begun))));
    if (shown) engine.fledge_show(...put(shown));
  }

  // Every call with a question reads its sentence and its changes first.
  function read(question) {
    const key = JSON.stringify(question), numbers = (at) => at.split(",").map(Number);
    if (key === asked) return;
    asked = "";
    const found = json(engine.fledge_read(...put(question.sentence)));
    if (found.unknown.length) throw Object.assign(new Error("unknown"), {unknown: found.unknown});
    const rows = Object.entries(question.rows).map(([at, weights]) => {
      const [layer, head, query] = numbers(at);
      return {layer, head, query, weights};
    });
    const off = question.off.map(numbers).map(([layer, head]) => ({layer, head}));
    const {hidden, nudges = []} = question;
    engine.fledge_change(...put(JSON.stringify({hidden, rows, off, nudges})));
    const said = json(engine.fledge_said());
    Object.assign(run, {sentence: found, said, target: said[0]?.token ?? -1});
    asked = key;
  }

  // Numbers (layers, heads, T, T) as lists in lists.
  function nested(size) {
    const numbers = new Float32Array(out(size)).values(), T = run.sentence.tokens.length;
    const list = (length, f) => Array.from({length}, f);
    const rows = () => list(T, () => list(T, () => numbers.next().value));
    return list(run.layers, () => list(run.heads, rows));
  }

  // The run, with its words as a list, the most frequent first.
  function opened(found, next, saved) {
    take(found);
    [asked, shown] = ["", null];
    const {words, counts} = run;
    const frequent = [...words.keys()].sort((a, b) => counts[b] - counts[a])
      .map((token) => words[token]).filter((word) => word !== "\n");
    const baselines = run.trains ? json(engine.fledge_baselines()) : null;
    [begun, file] = [next, saved];
    return {...run, frequent, baselines};
  }

  const calls = {
    async module(packed) {
      const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
      bytes = await new Response(inflated).arrayBuffer();
      await start();
    },
    begin(source, settings) {
      const next = [source, JSON.stringify(settings)];
      return opened(json(engine.fledge_new(...put(...next))), next, null);
    },
    load(saved, source) {
      const next = new Uint8Array(saved);
      return opened(json(engine.fledge_load(...put(next, source))), [source, "{}"], next);
    },
    step(count) {
      const numbers = new Float64Array(out(engine.fledge_step(count)));
      file = new Uint8Array(calls.save());
      return Array.from({length: numbers.length / 4}, (_, i) =>
        ({step: numbers[4 * i], loss: numbers[4 * i + 1]}));
    },
    look(_, query) {
      const {words: tokens, tokens: ids, cut} = run.sentence, last = tokens.length - 1;
      const at = query < 0 ? last : Math.min(query, last);
      return {tokens, ids, cut, said: run.said.map(({word}) => word),
        attention: nested(engine.fledge_attention()), next: json(engine.fledge_next(-1, 0, at, 8))};
    },
    unknown(sentence) {
      asked = "";
      return json(engine.fledge_read(...put(sentence))).unknown;
    },
    cell: (_, ...place) => json(engine.fledge_cell(...place)),
    gradient: () => nested(engine.fledge_gradient(run.target)),
    // The losses of the sentence if the score is changed by each of these numbers; 0: it has none.
    nudged: (question, place, amounts) => amounts.map((by) => {
      read({...question, nudges: [{...place, by}]});
      return engine.fledge_sentence_loss(run.target) || 0;
    }),
    // The likeliest words as if the model ended before attention, behind it, behind the MLP.
    lens: (_, layer, query) =>
      [0, 1, 2].map((part) => json(engine.fledge_next(layer, part, query, 3))),
    write: (_, ...how) => json(engine.fledge_write(...how)).text,
    map() {
      const [share, ...places] = new Float64Array(out(engine.fledge_map())), V = places.length / 2;
      return {share, x: places.slice(0, V), y: places.slice(V)};
    },
    loss: () => engine.fledge_loss(0, 20),
    head: (spec) => json(engine.fledge_head(...put(JSON.stringify(spec)))),
    weights: () => out(engine.fledge_weights()),
    show(weights) {
      const next = weights && new Uint8Array(weights);
      engine.fledge_show(...put(next ?? ""));
      shown = next;
      asked = "";
    },
    save: () => out(engine.fledge_save())};

  let turn = Promise.resolve();
  onmessage = ({data: [id, name, values]}) => {
    turn = turn.then(async () => {
      try {
        if (values[0]?.rows) read(values[0]);
        postMessage([id, await calls[name](...values)]);
      } catch (error) {
        if (!error.unknown) await mend().catch(() => {});
        postMessage([id, null, {message: error.message, unknown: error.unknown}]);
      }
    });
  };
}

// The page starts workers from its own script alone.
const workerPolicy = window.trustedTypes?.createPolicy("fledge", {createScriptURL: (url) => url});

// An engine with a run of its own: await engine.begin(text, settings), await engine.step(10), …
// Its worker starts with the first call and ends with end().
function makeEngine() {
  const waiting = new Map();
  let count = 0, worker = null;
  const send = (name, values) => new Promise((resolve, reject) => {
    waiting.set(++count, {resolve, reject});
    worker.postMessage([count, name, values]);
  });
  const fail = ({message}) => waiting.forEach(({reject}) =>
    reject(new Error(message ?? "The worker does not start.")));
  const start = () => {
    const source = new Blob([`(${engineWorker})(${numberFunctions})`], {type: "text/javascript"});
    const url = URL.createObjectURL(source);
    worker = new Worker(workerPolicy?.createScriptURL(url) ?? url);
    URL.revokeObjectURL(url);
    worker.onmessage = ({data: [id, value, error]}) => {
      const asked = waiting.get(id);
      waiting.delete(id);
      error ? asked?.reject(Object.assign(new Error(error.message), error)) : asked?.resolve(value);
    };
    worker.onerror = fail;
    send("module", [bytesOf(document.getElementById("engine").textContent)]).catch(fail);
  };
  return new Proxy({}, {get: (_, name) => (...values) => {
    if (name === "end") return worker?.terminate();
    if (!worker) start();
    return send(name, values);
  }});
}
