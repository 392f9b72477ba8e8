// Formulas of the lessons as MathML. They are written as text, which a terminal shows as it is:
// W_Q, v1 and v3' have an index and a prime, k^T is raised, x.y is a product of vectors, sqrt(…)
// a root, and a / b a fraction of the factors beside the line. Other words are words.

// Lines without a sign of mathematics are numbers and words; lines of a drawing stay as they are.
const isDrawing = (line) => /--|\\|^[\s/|^v]+$/.test(line);
const hasMath = (line) => /[=^<>*]|[A-Za-z]_|\w\.[a-z]|sqrt\(| [-+] |\d x \d/.test(line);
const isFormula = (lines) => !lines.some(isDrawing) && lines.some(hasMath);

// One row for each line; cells where two blanks stand, or before the "=", if all lines have one.
function formula(lines) {
  const isEquation = lines.every((line) => /^[^<>]* = /.test(line));
  const cells = (line) => {
    const all = line.trim().split(/\s{2,}/), equals = all[0].indexOf(" = ");
    if (/^\s/.test(line)) return ["", ...all];
    return isEquation && all.length === 1 ?
      [line.slice(0, equals), line.slice(equals + 1)] : all;
  };
  const table = math("mtable", lines.map((line) =>
    math("mtr", cells(line).map((cell) => math("mtd", mathOf(cell))))));
  return element("div", {class: "scroll formula", tabindex: 0, role: "group",
    "aria-label": "Formula"}, fill(math("math", table), {alttext: lines.join("\n")}));
}

const mathTokens = new RegExp([/\s+/, /['"][^'"\s]+['"]/, /\d+(?:,\d{3})*(?:\.\d+)?/,
  /[A-Za-z]+(?:_[A-Za-z0-9]+|\d+)?'?/, /\.\.\.|->|<-|<=|>=/, /./u].map(({source}) => source)
  .join("|"), "gu");
const mathSigns = {"-": "\u2212", "*": "\u22c5", "...": "\u2026", "->": "\u2192", "<-": "\u2190",
  "<=": "\u2264", ">=": "\u2265", x: "\u00d7"};
const greek = {alpha: "\u03b1", beta: "\u03b2"};

// The nodes of a text.
function mathOf(text) {
  const tokens = text.match(mathTokens) ?? [];
  let at = 0;
  // Items: {node, is}; `is`: "atom", "group" (in parentheses), "word", "sign", "dot" or "gap".
  const item = (is, ...nodes) => ({is, node: nodes.length === 1 ? nodes[0] : math("mrow", nodes)});
  const isMath = (one) => one?.is === "atom" || one?.is === "group";

  // The items up to a closing parenthesis or the end.
  function row() {
    const items = [];
    while (at < tokens.length && tokens[at] !== ")") {
      const one = next(items);
      const isGap = one.is === "gap" && (!items.length || items.at(-1).isOperator ||
        /^[-+*/=<>^.]/.test(tokens[at] ?? "="));
      if (!isGap) items.push(one);
    }
    return items;
  }
  function next(before) {
    const token = tokens[at++], last = before.at(-1);
    if (/^\s/.test(token)) return item("gap", math("mtext", "\u00a0"));
    if (/^['"]./.test(token)) return item("word", math("mtext", token));
    if (/^\d/.test(token)) return item("atom", math("mn", token));
    const isTimes = token === "x" && /^\d/.test(tokens[at - 3]) && /^\d/.test(tokens[at + 1]);
    if (isTimes && last.is === "gap") before.pop();
    if (/^[A-Za-z]/.test(token) && !isTimes) return named(token);
    if (token === "(") return group();
    if (token === "." && /^[A-Za-z(]/.test(tokens[at] ?? "") && isMath(last))
      return item("dot", math("mo", "\u22c5"));
    if (token === "^" && isMath(last)) {
      before.pop();
      const {node} = last, base = node.localName === "msub" ? [...node.childNodes] : [node];
      return item("atom", math(base.length > 1 ? "msubsup" : "msup", base, inner(operand())));
    }
    if (token === "/" && isMath(last)) {
      const above = factor(before);
      if (/^\s/.test(tokens[at] ?? "")) ++at;
      const below = [operand()];
      while (tokens[at] === "." && /^[A-Za-z(]/.test(tokens[at + 1] ?? ""))
        below.push(next(below), operand());
      return item("atom", math("mfrac", above, below.length === 1 ? inner(below[0]) :
        math("mrow", below.map(({node}) => node))));
    }
    return {...item("sign", math("mo", mathSigns[token] ?? token)),
      isOperator: !/[\])|]/.test(token)};
  }
  // An atom, with the parentheses of a function behind its name.
  function operand() {
    const one = next([]);
    if (!one.isName || tokens[at] !== "(") return one;
    ++at;
    return item("atom", one.node, group().node);
  }
  // Takes the last factor: an atom, exp(…), or a product of vectors.
  function factor(items) {
    const taken = [items.pop()];
    while (items.length && (items.at(-1).is === "dot" || taken[0].is === "dot" ||
      (taken[0].is === "group" && items.at(-1).isName))) taken.unshift(items.pop());
    return taken.length === 1 ? inner(taken[0]) : math("mrow", taken.map(({node}) => node));
  }
  const inner = ({node, inside}) => inside ?? node;  // without parentheses, where a line stands
  function group() {
    const items = row().map(({node}) => node), isClosed = tokens[at] === ")" && ++at;
    const stretchy = String(items.some((one) => one.localName === "mfrac"));
    const sign = (text) => fill(math("mo", text), {stretchy});
    const all = [sign("("), ...items, isClosed && sign(")")];
    const inside = math("mrow", items.map((one) => one.cloneNode(true)));
    return {...item("group", ...all), inside};
  }
  // "W_Q", "v3'", "dW_Q", "exp", or a word.
  function named(token) {
    const [, word, below, digits, prime] =
      token.match(/^([A-Za-z]+?)(?:_([A-Za-z0-9]+)|(\d+))?('?)$/), index = below ?? digits;
    const isCalled = tokens[at] === "(", isDelta = /^d[WEkqs]$/.test(word);
    if (word === "sqrt" && isCalled && ++at) return item("atom", math("msqrt", group().inside));
    if (word.length > 1 && !isDelta && !index && !isCalled && !greek[word] && word !== "ln")
      return item("word", math("mtext", token));
    const letter = math("mi", isDelta ? word[1] : greek[word] ?? word);
    const low = index && math(/^\d/.test(index) ? "mn" : "mi", index);
    const dash = prime && math("mo", "\u2032");
    const node = low && dash ? math("msubsup", letter, low, dash) : low ?
      math("msub", letter, low) : dash ? math("msup", letter, dash) : letter;
    return {...item("atom", ...(isDelta ? [math("mi", "d"), node] : [node])),
      isName: word.length > 1 && isCalled};
  }
  return row().map(({node}) => node);
}
