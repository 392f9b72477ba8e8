// What the model says next: the likeliest words as bars. A mark says which of them the text has.

function makeNext(id) {
  const rows = new Map(), title = element("p", {class: "caption"});
  const list = element("ol", {class: "bars next", id, "aria-label": "What is likely to come next"});
  const legend = element("p", {class: "caption"}, "\u2713 as in the ",
    element("a", {href: "#own-text"}, "text"));
  const draw = (look, query) => {
    const isLast = query === look.tokens.length - 1, shown = look.next.slice(0, 5);
    const said = new Set(isLast ? look.said : []);
    legend.style.visibility = shown.some(({word}) => said.has(word)) ? "visible" : "hidden";
    title.replaceChildren("after ", bdi(look.tokens[query], {class: "query-ink"}), " it says");
    for (const [word, {node}] of rows) {
      if (shown.some((next) => next.word === word)) continue;
      node.remove();
      rows.delete(word);
    }
    shown.forEach(({word, p}, place) => {
      if (!rows.has(word)) rows.set(word, barRow(nextLabel(word), p, "", {"data-word": word}));
      const {node, set} = rows.get(word);
      if (!node.isConnected) list.append(node);
      set(p, percent(p));
      node.style.transform = `translateY(${100 * place}%)`;
      node.classList.toggle("said", said.has(word));
      node.setAttribute("aria-posinset", place + 1);
    });
  };
  const node = element("div", {class: "next-part"}, title, list, legend);
  return {node, draw};
}
