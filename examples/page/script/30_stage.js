// The picture: a sentence, and an arc to each word that looks at another, as thick as the weight.

// choose(j): what a tap on word j does; without it the words are no buttons.
function makeStage(id, choose) {
  const svg = svgElement("svg", {class: "arcs", "aria-hidden": true});
  const line = element("div", {class: "words"});
  const node = element("div", {class: "stage", role: "group", id},
    element("div", {class: "stage-inner"}, svg, line));
  let found = [], arcs = [], shown = "", shownWidth = 0, redraw = () => {};
  const dots = (isThere) => isThere ? [element("span", {class: "goes-on"}, "\u2026")] : [];
  // Its words set its height: in the next frame, since no observer may change what it observes.
  new ResizeObserver(() => requestAnimationFrame(() => redraw())).observe(node);

  const rebuild = ({tokens, cut}, goesOn) => {
    found = tokens.map((token, j) => {
      const inside = [bdi(token, {class: "name"}), element("span", {class: "share"})];
      return choose ? button(inside, () => choose(j), {"data-key": j}) :
        element("span", {}, inside);
    });
    line.replaceChildren(...dots(cut > 0), ...found, ...dots(goesOn));
    arcs = tokens.map((_, j) => makeArc(id + "-" + j));
    svg.replaceChildren(...arcs.map(({arc}) => arc), svgElement("path", {class: "arrow"}));
  };

  // The words as large as they fit, but no smaller than 13 pixels: then the picture scrolls.
  const fit = (width, tokens) => {
    svg.style.width = "0";  // its old width would keep the line wide
    const most = Math.max(19, Math.min(30, width / 22));
    line.classList.toggle("dense", tokens.length > 12);
    line.style.fontSize = most + "px";
    line.style.fontSize = Math.max(13, Math.min(most, most * width / line.scrollWidth)) + "px";
  };

  // at: {layer, head, query, key, hidden, guess, goesOn}; of a figure also causal and the height.
  const draw = (look, at) => {
    redraw = () => draw(look, at);
    if (node.clientWidth === 0) return;  // a part that is not shown
    const {tokens} = look, weights = look.attention[at.layer][at.head][at.query];
    const width = node.clientWidth;
    const height = at.height ?? Math.max(96, Math.min(0.3 * innerHeight, width / 3));
    const text = [look.cut, at.goesOn, ...tokens].join("\u0000"), isNew = text !== shown;
    if (isNew) rebuild(look, at.goesOn);
    found.forEach((word, j) => paintWord(word, j, tokens, weights, at));
    const isOther = isNew || width !== shownWidth;
    if (isOther) fit(width, tokens);
    [shown, shownWidth] = [text, width];
    node.setAttribute("aria-label", lookInWords(tokens, weights, at.query));
    svg.setAttribute("height", height);
    svg.style.width = line.scrollWidth + "px";
    const x = found.map((word) => word.offsetLeft + word.offsetWidth / 2), to = x[at.query];
    if (isOther) node.scrollLeft = to - width + 40;
    svg.lastChild.setAttribute("d", `M${to - 17},${height - 15}h34l-17,15z`);
    arcs.forEach((arc, j) => drawArc(arc, weights[j], arcPath(x, j, at.query, height - 13),
      j === at.query ? [to - 12, to + 12] : [x[j], to], width < 560 ? 15 : 24));
  };
  return {node, draw, send: () => arcs.forEach(sendValue)};
}

function paintWord(word, j, tokens, weights, {query, key, hidden, guess, causal = isCausal()}) {
  const isLater = causal && j > query, share = word.lastChild;
  const marks = {start: j === 0 && tokens[0] === "\n", looks: j === query, later: isLater,
    "hidden-word": hidden.has(j), chosen: j === key, guessed: j === guess};
  word.className = "word " + Object.keys(marks).filter((mark) => marks[mark]).join(" ");
  const isLeft = isLater || (tokens.length > 12 && j !== strongest(weights));
  share.textContent = isLeft ? "\u00a0" : percent(weights[j]);
  share.classList.toggle("faint", weights[j] < 0.15);
  word.setAttribute("aria-label", label(tokens[j]) + (isLater ? ": later, not seen" :
    ": " + quoted(tokens[query]) + " gives it " + percent(weights[j])) +
    (hidden.has(j) ? ", hidden" : ""));
}

// The colour of an arc goes from that of a key to that of a query.
function makeArc(id) {
  const shade = svgElement("linearGradient", {id, gradientUnits: "userSpaceOnUse"},
    svgElement("stop", {offset: "0.15", class: "stop-key"}),
    svgElement("stop", {offset: "1", class: "stop-query"}));
  const path = svgElement("path", {stroke: `url(#${id})`});
  return {arc: svgElement("g", {class: "arc"}, shade, path), shade, path, weight: 0};
}

// From word j, up and over, to the word that looks; a loop if it is the same word.
function arcPath(x, j, query, base) {
  const from = x[j], to = x[query], side = 0.12 * (to - from), top = base - 46;
  if (j === query) return `M${to - 9},${base}C${to - 34},${top} ${to + 34},${top} ${to},${base}`;
  const far = Math.max(...x.map((at) => Math.abs(at - to)));
  const peak = base - (base - 12) * (0.58 + 0.7 * Math.abs(from - to) / far);
  return `M${from},${base + 10}C${from + side},${peak} ${to - side},${peak} ${to},${base}`;
}

function drawArc(arc, weight, d, [from, to], thickest) {
  arc.weight = weight;
  fill(arc.shade, {x1: from, x2: to});
  arc.path.setAttribute("d", d);
  arc.path.style.strokeWidth = weight > 0 ? (1 + thickest * weight).toFixed(2) + "px" : "0";
  arc.path.style.opacity = weight > 0 ? (0.28 + 0.67 * weight).toFixed(3) : 0;
}

// The value travels to the word that looks: a dot as large as its weight.
function sendValue({arc, path, weight}) {
  if (isCalm || weight < 0.03) return;
  const dot = svgElement("circle", {class: "value-dot", r: (3 + 7 * Math.sqrt(weight)).toFixed(1)});
  dot.style.offsetPath = `path("${path.getAttribute("d")}")`;
  arc.append(dot);
  dot.animate([{offsetDistance: "0%", opacity: 0}, {opacity: 1, offset: 0.15},
    {opacity: 1, offset: 0.85}, {offsetDistance: "100%", opacity: 0}],
  {duration: 900, easing: "ease-in-out"}).finished.finally(() => dot.remove());
}
