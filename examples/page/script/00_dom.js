// Elements of the page. A text is always a text: no function of this page parses HTML.

const SVG = "http://www.w3.org/2000/svg";

// Sets attributes and children. {on: {click: f}} adds listeners; true is an attribute without a
// value, but "true" for aria-...; null, undefined and false are left out.
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [type, f] of Object.entries(value)) node.addEventListener(type, f);
    else if (name.startsWith("aria-") && value !== null && value !== undefined) node.setAttribute(name, String(value));
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

// element("td", {class: "cell", "aria-label": "birds 0.41"}, "0.41"); a child is a node or a text.
function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function paragraph(...children) {
  return element("p", {}, ...children);
}

function svgElement(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

// "−0.413": a number with a real minus sign; "0.000", never "−0.000".
function fixed(number, decimals = 3) {
  if (!Number.isFinite(number)) return "not a number";
  const text = Math.abs(number).toFixed(decimals);
  return number < 0 && Number(text) !== 0 ? "\u2212" + text : text;
}

// "3,680"
function thousands(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

// Offers a text as a file.
function download(name, type, text) {
  const link = element("a", {download: name, href: URL.createObjectURL(new Blob([text], {type}))});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A part of the page: a heading, and what follows it.
function section(id, title, ...children) {
  return element("section", {id, "aria-labelledby": id + "-title"}, element("h2", {id: id + "-title"}, title), ...children);
}
