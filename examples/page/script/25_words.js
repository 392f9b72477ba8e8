// Sentences about what is shown, and the meaning of a term at a tap.

// A token as it stands in a picture. The line end begins each sentence: it is called "start".
function label(token) {
  return token === "\n" ? "start" : token.replaceAll(" ", "\u2423").replaceAll("\n", "\u23ce");
}

// A next token; there the line end means that the sentence ends.
function nextLabel(token) {
  return token === "\n" ? "(end)" : label(token);
}

// "“birds”"; an isolate keeps a direction that the token sets inside the quotes.
function quoted(token) {
  const name = /^[ -~]*$/.test(token) ? label(token) : "\u2068" + label(token) + "\u2069";
  return token === "\n" ? "the start" : "\u201c" + name + "\u201d";
}

// A token in an element of its own direction, so that it cannot turn the sentence around it.
function bdi(token, attributes) {
  return element("bdi", attributes, label(token));
}

// "word", "character", "byte" or "token": what the model reads.
const unit = () => (model.kind === "bpe" ? "token" : model.kind);

// "“walk” looks at “birds” 93 %, at itself 1 %"
function lookInWords(tokens, weights, query, most = 3) {
  const largest = weights.map((weight, j) => ({weight, j})).filter(({weight}) => weight > 0.005)
    .sort((a, b) => b.weight - a.weight).slice(0, most);
  return quoted(tokens[query]) + " looks at " + largest.map(({weight, j}) =>
    (j === query ? "itself" : quoted(tokens[j])) + " " + percent(weight)).join(", at ");
}

// prose("The *loss* of the next #"): a paragraph in which "loss" has its meaning, and
// # is "word", or what else the model reads.
function prose(text) {
  return element("p", {}, inline(text));
}

function inline(text) {
  return text.split(/(\*.*?\*|#)/).map((part) => (part === "#" ? element("span", {class: "unit"}) :
    part.startsWith("*") ? term(part.slice(1, -1)) : part));
}

follow(() => document.querySelectorAll(".unit").forEach((node) => { node.textContent = unit(); }));

// A term with its meaning, which is shown while a pointer or the focus is on it, and after a tap.
// That of the glossary speaks of words: of what the model reads.
function term(name, own) {
  const meaning = own ?? glossary[name];
  if (!meaning) return name;
  const box = element("span", {id: "meaning", role: "tooltip"});
  const hide = () => {
    box.remove();
    node.removeAttribute("aria-describedby");
  };
  const show = () => {
    const home = node.closest("p, caption");
    document.getElementById("meaning")?.remove();
    box.textContent = own ?? meaning.replace(/\bword/g, unit());
    home.classList.add("tells");
    home.append(box);
    box.classList.toggle("below", box.getBoundingClientRect().top < 0);
    node.setAttribute("aria-describedby", "meaning");
  };
  const node = button(name, show, {class: "term"});
  const keydown = (event) => event.key === "Escape" && hide();
  return fill(node, {on: {mouseenter: show, focus: show, mouseleave: hide, blur: hide, keydown}});
}

function reportError({unknown, message}) {
  const box = document.getElementById("trouble") ?? element("p", {id: "failed"});
  if (!box.isConnected) document.getElementById("page").prepend(box);
  box.hidden = false;
  box.classList.toggle("everywhere", !unknown);  // an unknown word is told beside the sentence
  box.textContent = unknown ? refusalOf(unknown) : message;
}

// The words that the story is about stand before the most frequent ones, and no punctuation; then
// the line of the text that has most of the words that were typed.
function refusalOf(unknown) {
  const list = (words) => words.map(quoted).join(", ");
  const known = [...new Set([...page.story.pairs.flat(), ...model.frequent])]
    .filter((token) => model.kind !== "word" || /\p{L}/u.test(token)).slice(0, 12);
  const typed = document.getElementById("own").value.split(" ");
  const lines = model.kind === "word" && typeof page.text === "string" ? page.text.split("\n") : [];
  const common = (line) => line.split(" ").filter((word) => typed.includes(word)).length;
  const like = lines.reduce((best, line) => common(line) > common(best) ? line : best, lines[0]);
  return `The model has never read ${list(unknown)}. It knows ${list(known)} \u2026 ` +
    (like ? `A line of its text begins: \u201c${like.split(" ", 6).join(" ")}\u201d. ` : "") +
    "The picture is still that of the sentence before.";
}

function forgetError() {
  document.getElementById("trouble").hidden = true;
}
