// The book: the lessons of the course, one at a time. The address has the lesson that is open, and
// the reader's guesses: #lesson=attention/mask&attention/mask=36|6.

const figures = {};  // figures/*.js: name -> (node, lesson) => a function that ends it, or nothing
const book = {open: null, guesses: {}, endFigure: null};

const lessonAt = (name) => page.book.findIndex((lesson) => lesson.name === name);
const bookLink = (name, ...inside) => element("a", {href: "#lesson=" + name}, inside);
const guessesOf = ({name}) => book.guesses[name] ?? [];
const nextLesson = () => page.book.find((lesson) => !isGuessed(lesson)) ?? page.book[0];
const isGuessed = (lesson) => lesson.guesses.every((_, i) => guessesOf(lesson)[i]);

// The part of the address that is the book's.
function bookAddress() {
  const given = Object.entries(book.guesses).map(([name, all]) => [name, all.join("|")]);
  return {...(book.open ? {lesson: book.open.name} : {}), ...Object.fromEntries(given)};
}

// The lesson of the address, and guesses that are new.
function readBook() {
  const values = new URLSearchParams(location.hash.slice(1));
  for (const {name} of page.book)
    if (values.has(name)) book.guesses[name] = values.get(name).split("|");
  return openLesson(values.get("lesson"));
}

// Opens a lesson: then the page has nothing else. "" closes it.
function openLesson(name) {
  const lesson = page.book[lessonAt(name)] ?? null, box = document.getElementById("lesson");
  if (lesson === book.open) return;
  book.endFigure?.();
  Object.assign(book, {open: lesson, endFigure: null});
  document.body.classList.toggle("reading", lesson !== null);
  box.replaceChildren(...(lesson ? lessonParts(lesson) : []));
  drawContents();
  writeAddress();
  scrollTo({top: 0, behavior: "instant"});
  if (lesson) box.querySelector("h1").focus();
  else document.getElementById("book").scrollIntoView();
}

function bookPart() {
  addEventListener("hashchange", readBook);
  return [element("section", {id: "book", "aria-labelledby": "book-title"}),
    element("article", {id: "lesson"})];
}

// The chapters, in two tracks.
function drawContents() {
  const tracks = [...new Set(page.book.map(({name}) => name.split("/")[0]))];
  const next = nextLesson();
  const done = page.book.filter((lesson) => lesson.guesses.length && isGuessed(lesson)).length;
  const row = (lesson) => element("li", {}, bookLink(lesson.name, lesson.title),
    lesson.guesses.length > 0 && isGuessed(lesson) && element("b", {class: "value-ink"}, " \u2713"),
    element("p", {class: "caption"}, lesson.question));
  const chapters = tracks.flatMap((track) => {
    const isIn = ({name}) => name.startsWith(track + "/");
    return [element("h3", {}, track === "engine" ? "The engine: how gradients are computed" :
      "Attention: how a word looks at other words"),
    element("ol", {class: "chapters", start: 1 + page.book.findIndex(isIn)},
      page.book.filter(isIn).map(row))];
  });
  document.getElementById("book").replaceChildren(
    element("h2", {id: "book-title"}, "The course"),
    element("p", {}, `${page.book.length} lessons, each with a question, your guess and a ` +
      "figure that you move."),
    element("p", {class: "controls begin"}, bookLink(next.name, element("b", {}, done ? "Go on: " :
      "Begin: "), next.title), done > 0 && element("span", {class: "caption"}, `${done} guessed`)),
    ...chapters);
}

function lessonParts(lesson) {
  const at = lessonAt(lesson.name), [before, after] = [page.book[at - 1], page.book[at + 1]];
  const rest = element("div", {}), box = element("div", {class: "card figure-box"});
  const verdict = element("div", {class: "verdict"});
  const link = (to, text) => to && bookLink(to.name, element("small", {}, text), to.title);
  const {figure, exercise} = lesson, draw = figures[figure?.name];
  const list = (title, items, row) => items.length > 0 && [element("h2", {}, title),
    element("ul", {class: "plain"}, items.map((item) => element("li", {}, row(item))))];
  const code = (text) => element("code", {}, text);
  const show = () => {
    verdict.replaceChildren(...lesson.guesses.map((guess, i) => verdictOn(guess,
      guessesOf(lesson)[i], lesson)).filter(Boolean));
    if (rest.childNodes.length > 0) return;
    rest.append(...[
      draw && [element("h2", {}, "Try it"), element("p", {}, rich(figure.what, lesson)), box],
      element("h2", {}, lesson.guesses.length ? "What happened, against your guess" : "Why"),
      verdict, blocksOf(lesson),
      exercise && [element("h2", {}, "Exercise"),
        element("p", {}, rich(exercise.what, lesson)),
        element("p", {class: "caption"}, code(`make exercises N=${exercise.number}`))],
      list("Read in the code", lesson.reading, ({file, name, what}) =>
        [code(file), ", ", code(name), ": ", rich(what, lesson)]),
      list("Try in the terminal", lesson.trials, ({command, what}) =>
        [code(command), ": ", rich(what, lesson)])].flat(Infinity).filter(Boolean));
    if (draw) book.endFigure = draw(box, lesson) ?? null;
  };
  const ask = guessPart(lesson, show);
  if (isGuessed(lesson)) show();
  return [
    element("p", {class: "caption crumbs"}, element("a", {href: "#lesson="}, "The course"),
      ` \u203a lesson ${at + 1} of ${page.book.length}`),
    element("h1", {tabindex: -1}, lesson.title),
    element("p", {class: "lede"}, rich(lesson.question, lesson)), ask, rest,
    element("nav", {class: "turn", "aria-label": "Lessons"}, link(before, "\u2190 previous"),
      link(after, "next \u2192"))].filter(Boolean);
}

// A number is written, a choice is pressed; when all guesses are made, the rest is shown.
function guessPart(lesson, show) {
  const given = [...guessesOf(lesson)], said = element("p", {class: "caption", role: "status"});
  const skip = button("Show me", () => {
    show();
    skip.hidden = true;
  }, {class: "small", id: "skip"});
  const take = (i, value) => {
    given[i] = value.trim();
    book.guesses[lesson.name] = lesson.guesses.map((_, at) => given[at] ?? "");
    writeAddress();
    if (!isGuessed(lesson)) return;
    said.textContent = "Kept. Now try it below, and read what happened.";
    skip.hidden = true;
    show();
  };
  const rows = lesson.guesses.map(({label: text, choices}, i) => {
    if (choices.length === 0) {
      const input = element("input", {type: "text", inputmode: "decimal", class: "number",
        id: "guess-" + i, value: given[i], autocomplete: "off"});
      const submit = (event) => {
        event.preventDefault();
        if (input.value.trim() !== "") take(i, input.value);
      };
      return element("form", {class: "controls", on: {submit}},
        element("label", {for: "guess-" + i}, rich(text, lesson)), input,
        element("button", {class: "go"}, "Guess"),
        element("span", {class: "caption"}, "a number: 0.5 or 0,5"));
    }
    const row = choicesOf(choices.map((choice) => rich(choice, lesson)),
      choices.indexOf(given[i]), (at) => take(i, choices[at]));
    row.prepend(element("span", {}, ...rich(text, lesson)));
    return fill(row, {"aria-label": text.replace(/[`*]/g, "")});
  });
  skip.hidden = isGuessed(lesson);
  return element("div", {class: "card guess"}, element("h2", {}, "Your guess"),
    element("p", {}, rich(lesson.prediction ?? "", lesson)), rows,
    element("div", {class: "controls"}, said, skip));
}

// "You guessed 36; it is 21." and what 36 would have meant.
function verdictOn({label: text, choices, answer, others}, guess, lesson) {
  const numberOf = (from) => from.includes("/") ?  // 3/10
    from.split("/").map(numberOf).reduce((a, b) => a / b) :
    Number(from.replace("\u2212", "-")  // 1,024 and 0,18
    .replace(/^-?[1-9]\d{0,2}(,\d{3})+/, (whole) => whole.replaceAll(",", "")).replace(",", ".")
    .replace(/ *%$/, "")) / (from.endsWith("%") ? 100 : 1);  // 60 %
  const a = numberOf(answer), g = numberOf(guess ?? "x");
  const near = Number.isInteger(a) && Math.abs(a) < 1000 ? 1e-9 : 0.02 * Math.abs(a);
  const isRight = guess === answer || (choices.length === 0 && Math.abs(g - a) <= near);
  const is = ([other]) => other === guess || numberOf(other) === g;
  const meant = Object.entries(others).find(is)?.[1] ?? others.other;
  const name = lesson.guesses.length > 1 ? [rich(text.replace(/\?$/, ""), lesson), ": "] : [];
  const told = !guess ? ["it is ", element("b", {}, answer), "."] :
    isRight ? ["you guessed ", element("b", {}, guess), ", and it is ", answer, "."] :
      ["you guessed ", element("b", {}, guess), "; it is ", element("b", {}, answer),
        rich(meant ? ": " + meant : ".", lesson)];
  return element("p", {class: isRight ? "in-words right" : "in-words"}, name, told);
}

// The words of earlier lessons that this one does not explain itself: {name: meaning}.
function wordsBefore(lesson) {
  const wordsOf = ({blocks}) => blocks.filter(({kind}) => kind === "word");
  const own = new Set(wordsOf(lesson).map(({text}) => text));
  return new Map(page.book.slice(0, lessonAt(lesson.name)).flatMap(wordsOf)
    .filter(({text}) => !own.has(text)).map(({text, meaning}) => [text, meaning]));
}

// A function that makes the first of these words in a paragraph a term, and takes it from them.
function markOne(words) {
  let isDone = false;
  return (text) => {
    const names = [...words.keys()].sort((a, b) => b.length - a.length)
      .map((name) => name.replace(/[^\w ]/g, "\\$&")).join("|");
    const found = !isDone && names && text.match(new RegExp(`\\b(${names})s?\\b`));
    if (!found) return text;
    const [whole, name] = found, end = found.index + whole.length;
    const node = term(whole, words.get(name).replace(/[`*]/g, ""));
    isDone = words.delete(name);
    return [text.slice(0, found.index), node, text.slice(end)];
  };
}

// `code`, **bold**, *words of a text*, [a lesson](mask.md), and W_Q with its index below; mark(text)
// is made of what is none of these.
function rich(text, lesson, mark = (plain) => plain) {
  const marks = [/`[^`]+`/, /\*\*[^*]+\*\*/, /\*[^*\s][^*]*\*/, /\[[^\]]+\]\([\w./]+\.md\)/,
    /\bd?[a-zA-Z]_[A-Za-z0-9]\b/].map(({source}) => source).join("|");
  return text.split(new RegExp(`(${marks})`)).map((part, i) => {
    if (i % 2 === 0) return mark(part);
    if (part[0] === "`") return element("code", {}, part.slice(1, -1));
    if (part.startsWith("**")) return element("b", {}, part.slice(2, -2));
    if (part[0] === "*") return element("em", {}, part.slice(1, -1));
    if (part[0] !== "[") return [part.split("_")[0], element("sub", {}, part.split("_")[1])];
    const [, inside, path] = part.match(/\[(.*)\]\((.*)\.md\)/);
    const name = new URL(path, "file:///" + lesson.name).pathname.slice(1);
    return lessonAt(name) < 0 ? inside : bookLink(name, inside);
  });
}

// Lines without the blanks in which all begin. The rules of a table lie over those of its rows.
function withoutMargin(lines) {
  const starts = lines.map((line) => line.search(/[^\s\u2500]/)).filter((at) => at >= 0);
  const margin = starts.length ? Math.min(...starts) : 0;
  return lines.map((line) => line.slice(margin)).join("\n");
}

// Lines one below the other are one formula or picture; claims are folded together.
function blocksOf(lesson) {
  const nodes = [], groups = [], words = wordsBefore(lesson);
  for (const block of lesson.blocks) {
    const {kind} = block;
    if (groups.at(-1)?.kind !== kind) groups.push({kind, blocks: []});
    groups.at(-1).blocks.push(block);
  }
  const folded = (summary, kind, ...inside) => element("details", {class: kind},
    element("summary", {}, summary), inside);
  for (const {kind, blocks} of groups) {
    const texts = blocks.map(({text}) => text), each = (row) => blocks.map(row);
    if (kind === "line" && isFormula(texts)) nodes.push(formula(texts));
    else if (kind === "line" || kind === "picture")
      nodes.push(element("pre", {class: "scroll", tabindex: 0, role: "group",
        "aria-label": "Numbers"}, withoutMargin(texts.join("\n").split("\n"))));
    else if (kind === "claim") {
      const wrong = blocks.filter(({holds}) => !holds).length, count = blocks.length;
      const mark = (holds) => element("b", {class: holds ? "value-ink" : "key-ink"},
        holds ? "ok " : "FALSE ");
      nodes.push(folded(wrong ? `FALSE: ${wrong} of ${count} claims` :
        count === 1 ? "1 claim, checked" : `${count} claims, all checked`, "claims",
      element("ul", {class: "plain"}, each(({text, holds}) =>
        element("li", {}, mark(holds), rich(text, lesson))))));
    } else if (kind === "word") {
      nodes.push(element("dl", {class: "define"}, each(({text, meaning}) =>
        [element("dt", {}, element("dfn", {}, text)), element("dd", {}, rich(meaning, lesson))])));
    } else {
      nodes.push(...texts.map((text) =>
        kind === "part" ? element("h3", {}, rich(text, lesson)) :
          element("p", {}, rich(text, lesson, markOne(words)))));
    }
  }
  return nodes;
}
